"""The verbs of verbs.tsv: one verb per line, with its principal parts."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, cast, get_args

from reinflect.errors import InputError, quoted

VerbClass = Literal["weak", "mixed", "I", "II", "III", "IV", "V", "VI", "VII", "preterite-present", "irregular"]

VERBS_FILE = "verbs.tsv"
COLUMNS = ("infinitive", "class", "present", "preterite", "subjunctive", "participle", "imperative")
SEAM = "|"
REGULAR = "-"
NONE = "none"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's principal parts. All but the participle omit a separable prefix: `an|kommen`, kam, angekommen."""

    prefix: str
    infinitive: str
    verb_class: VerbClass
    present: str
    preterite: str
    subjunctive: str
    participle: str
    imperative: str | None
    """None if it follows from the other parts or does not exist."""
    has_imperative: bool = True

    @property
    def lemma(self) -> str:
        return self.prefix + self.infinitive


def read_verbs() -> list[Verb]:
    """The verbs of verbs.tsv in the order of the file."""
    return parse_verbs((files(__package__) / VERBS_FILE).read_text(encoding="utf-8"))


def parse_verbs(text: str, path: str = VERBS_FILE) -> list[Verb]:
    """One verb per line after the header; lines that begin with # are comments."""
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
        remedy = f"fill {len(COLUMNS)} columns ({', '.join(COLUMNS)}) with one tab between each"
        raise InputError(f"found {quoted(line)}", remedy, path=path, line=number)
    written, name, present, preterite, subjunctive, participle, imperative = fields
    if name not in get_args(VerbClass):
        remedy = f"use one of {', '.join(get_args(VerbClass))}"
        raise InputError(f"found the class {quoted(name)}", remedy, path=path, line=number)
    prefix, _, infinitive = written.rpartition(SEAM)
    return Verb(
        prefix=prefix,
        infinitive=infinitive,
        verb_class=cast(VerbClass, name),
        present=present,
        preterite=preterite,
        subjunctive=preterite if subjunctive == REGULAR else subjunctive,
        participle=participle,
        imperative=None if imperative in (REGULAR, NONE) else imperative,
        has_imperative=imperative != NONE,
    )
