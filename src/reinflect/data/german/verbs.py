"""The bundled splits from the principal parts of German verbs: the 29 cells of German verbs in the CoNLL 2017 data.

Where German has two good forms, we follow the shared task: the imperative has no -e unless the stem needs it (`mach`,
but `arbeite`), the subjunctives keep theirs (`flögest`, `sammele`), and the preterite has one only after -t and -d
(`hieltest`, `fandest`, but `last`, not `lasest`). One choice is ours: verbs in -ern keep their full stem
(`ich wandere`, not the rarer `ich wandre`).
"""

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from reinflect.data.features import Bundle
from reinflect.data.items import Item, parse_items

SEED = 2019
"""The first seed from 2017 on with which the hundred items of train-low contain every cell at least once."""
LOW, MEDIUM, DEV, TEST = 100, 1000, 300, 300
SHOWN = ("fliegen", "V;IND;PST;3;SG")
"""The cell that the demo shows, which is always in the test split: fliegen, flog."""
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
CELLS = (
    "V;NFIN",
    "V.PTCP;PRS",
    "V.PTCP;PST",
    "V;IMP;2;SG",
    "V;IMP;2;PL",
    *(f"V;{mood};{tense};{person}" for tense in ("PRS", "PST") for mood in ("IND", "SBJV") for person in PERSONS),
)

# After these a bare -t or -st cannot be pronounced: arbeit-et, atm-et, öffn-et, rechn-et; but film-t, lern-t, wohn-t.
NEEDS_E = re.compile(r"([td]|(ch|[^aeiouyäöülrhmn])[mn])$")
SWALLOWS_S = re.compile(r"[sßzx]$")
TAKES_E = re.compile(r"[^aeiou]ig$")  # entschuldig-e


class Verb(NamedTuple):
    """A line of verbs.tsv. All parts but the participle omit a separable prefix: `an|kommen`, kam, angekommen."""

    prefix: str
    infinitive: str
    verb_class: str
    present: str
    preterite: str
    written_subjunctive: str
    participle: str
    imperative: str
    """`-` if it follows from the other parts, `none` if there is none."""

    @property
    def lemma(self) -> str:
        return self.prefix + self.infinitive

    @property
    def subjunctive(self) -> str:
        return self.preterite if self.written_subjunctive == "-" else self.written_subjunctive


def read_verbs() -> list[Verb]:
    """The verbs of verbs.tsv in the order of the file, without its comments and its header."""
    text = (files(__package__) / "verbs.tsv").read_text(encoding="utf-8")
    lines = [line.rpartition("|") for line in text.splitlines() if line and not line.startswith("#")]
    return [Verb(prefix, *rest.split("\t")) for prefix, _, rest in lines[1:]]


def draw_splits(seed: int = SEED) -> dict[str, list[Item]]:
    """The splits by name, drawn uniformly from all cells of all verbs; the past of fliegen is never trained on."""

    def lot(item: Item) -> tuple[bool, bytes]:
        # A digest is the same in every version of Python, and a new verb leaves the order of the others unchanged.
        shown = (item.lemma, item.features.spelling) == SHOWN
        return not shown, sha256(f"{seed}\t{item.lemma}\t{item.features}".encode()).digest()

    drawn = sorted((item for verb in read_verbs() for item in paradigm(verb)), key=lot)
    trained = [item for item in drawn[TEST + DEV :] if item.lemma != SHOWN[0] or "PST" not in item.features.atoms]
    return {
        "train-low": trained[:LOW],
        "train-medium": trained[:MEDIUM],
        "dev": drawn[TEST : TEST + DEV],
        "test": drawn[:TEST],
    }


def paradigm(verb: Verb) -> list[Item]:
    """All cells of a verb in the order of CELLS; the modals lack the two imperatives."""
    forms = _regular_forms(verb) | _exceptions().get(verb.lemma, {})
    return [Item(verb.lemma, Bundle(cell), forms[cell]) for cell in CELLS if cell in forms]


def _regular_forms(verb: Verb) -> dict[str, str]:
    stem, finite = _stem(verb), dict[str, str]()
    for cell, forms in (
        ("V;IND;PRS", _present(verb)),
        ("V;IND;PST", _preterite(verb.preterite)),
        ("V;SBJV;PRS", [stem + "e", stem + "est", stem + "e", verb.infinitive, stem + "et", verb.infinitive]),
        ("V;SBJV;PST", _preterite(verb.subjunctive)),
    ):
        finite |= {f"{cell};{person}": form for person, form in zip(PERSONS, forms, strict=True)}
    if verb.imperative != "none":
        finite["V;IMP;2;SG"] = _imperative(verb) if verb.imperative == "-" else verb.imperative
        finite["V;IMP;2;PL"] = finite["V;IND;PRS;2;PL"]
    parted = {cell: f"{form} {verb.prefix}".rstrip() for cell, form in finite.items()}
    return parted | {"V;NFIN": verb.lemma, "V.PTCP;PRS": f"{verb.lemma}d", "V.PTCP;PST": verb.participle}


def _stem(verb: Verb) -> str:
    """`mach` of machen, `sammel` of sammeln, `tu` of tun."""
    return verb.infinitive.removesuffix("n").removesuffix("e")


def _before_e(verb: Verb) -> str:
    """The stem as it stands before the -e of `ich sammle` and of the imperative."""
    stem = _stem(verb)
    return stem[:-2] + "l" if verb.infinitive.endswith("eln") else stem


def _present(verb: Verb) -> list[str]:
    stem, plural = _stem(verb), verb.infinitive
    first, second = _before_e(verb) + "e", _with_st(stem)
    if verb.verb_class == "preterite-present":
        first, second = verb.present, _with_st(verb.present)
    elif _changes(verb):
        changed = _changed_stem(verb)  # du gibst, fährst, hältst, liest
        second = changed + ("t" if SWALLOWS_S.search(changed) else "st")
    return [first, second, verb.present, plural, _with_t(stem), plural]


def _changes(verb: Verb) -> bool:
    """Whether the 3rd person has a stem of its own: gibt, fährt, hat."""
    return verb.present != _with_t(_stem(verb))


def _changed_stem(verb: Verb) -> str:
    """`gib` of gibt, `läd` of lädt; but `hält`, `tritt`: there the -t is the stem's own."""
    return verb.present if _stem(verb).endswith("t") else verb.present[:-1]


def _imperative(verb: Verb) -> str:
    stem = _stem(verb)
    if verb.infinitive.endswith(("eln", "ern")):
        return _before_e(verb) + "e"
    if _changes(verb) and not re.search("[äö]", verb.present):  # gib, lies, nimm; but fahr, lauf, stoß
        return _changed_stem(verb)
    return stem + "e" if NEEDS_E.search(stem) or TAKES_E.search(stem) else stem


def _preterite(first: str) -> list[str]:
    """The six persons of a preterite or subjunctive II from the first person: machte, machtest; fand, fandest."""
    plural = first + ("n" if first.endswith("e") else "en")
    return [first, _with_st(first), first, plural, _with_t(first), plural]


def _with_st(stem: str) -> str:
    if NEEDS_E.search(stem):
        return stem + "est"
    return stem + ("t" if SWALLOWS_S.search(stem) else "st")


def _with_t(stem: str) -> str:
    return stem + ("et" if NEEDS_E.search(stem) else "t")


@cache
def _exceptions() -> dict[str, dict[str, str]]:
    """The forms that the rules do not give, by lemma and cell."""
    known: dict[str, dict[str, str]] = {}
    for item in parse_items((files(__package__) / "exceptions.tsv").read_text(encoding="utf-8"), "exceptions.tsv"):
        known.setdefault(item.lemma, {})[item.features.spelling] = item.form
    return known
