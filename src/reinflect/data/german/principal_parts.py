"""The verbs as they are written down in verbs.tsv: one verb a line, by its principal parts."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, get_args

from reinflect.errors import InputError, quoted

VerbClass = Literal["weak", "mixed", "I", "II", "III", "IV", "V", "VI", "VII", "preterite-present", "irregular"]

VERBS_FILE = "verbs.tsv"
COLUMNS = ("infinitive", "class", "present", "preterite", "subjunctive", "participle", "imperative")
SEAM = "|"
REGULAR = "-"
NONE = "none"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's principal parts. All but the participle leave a parting prefix out: `an|kommen`, kam, angekommen."""

    prefix: str
    infinitive: str
    verb_class: VerbClass
    present: str
    preterite: str
    subjunctive: str
    participle: str
    imperative: str | None
    """What is written down; None: it follows from the other parts, or there is none."""
    has_imperative: bool = True

    @property
    def lemma(self) -> str:
        return self.prefix + self.infinitive


def read_verbs() -> list[Verb]:
    """The verbs of verbs.tsv in the order of the file."""
    return parse_verbs((files(__package__) / VERBS_FILE).read_text(encoding="utf-8"))


def parse_verbs(text: str, path: str = VERBS_FILE) -> list[Verb]:
    """One verb a line after the header; lines that begin with # are for human readers."""
    verbs: dict[str, Verb] = {}
    header = "\t".join(COLUMNS)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line == header or line.startswith("#"):
            continue
        verb = _parse_verb(line, path, number)
        if verb.lemma in verbs:
            raise InputError(f"found {quoted(verb.lemma)} again", "keep one of the two lines", path=path, line=number)
        verbs[verb.lemma] = verb
    return list(verbs.values())


def _parse_verb(line: str, path: str, number: int) -> Verb:
    fields = line.split("\t")
    if len(fields) != len(COLUMNS) or not all(fields):
        raise InputError(
            f"found {quoted(line)}",
            f"fill {len(COLUMNS)} columns ({', '.join(COLUMNS)}) with one tab between each",
            path=path,
            line=number,
        )
    written, name, present, preterite, subjunctive, participle, imperative = fields
    verb_class = next((known for known in get_args(VerbClass) if known == name), None)
    if verb_class is None:
        classes = ", ".join(get_args(VerbClass))
        raise InputError(f"found the class {quoted(name)}", f"use one of {classes}", path=path, line=number)
    prefix, _, infinitive = written.rpartition(SEAM)
    return Verb(
        prefix=prefix,
        infinitive=infinitive,
        verb_class=verb_class,
        present=present,
        preterite=preterite,
        subjunctive=preterite if subjunctive == REGULAR else subjunctive,
        participle=participle,
        imperative=None if imperative in (REGULAR, NONE) else imperative,
        has_imperative=imperative != NONE,
    )
