"""Italian verbs, nouns and adjectives of morph-it, in three packages of npm.

Infinitives and gerunds there have pronouns (*andarvi*, *andandosi*): they are left out. *essere*, *avere*, *buono* and
*bello* are missing.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.sources import Row, Source
from models.sources.packages import Package

SOURCE = Source(
    "italian",
    "italian-verbs-dict, italian-words-dict and italian-adjectives-dict 3.4.0, from morph-it (Baroni and Zanchetta)",
    "CC BY-SA 2.0 or later",
    (
        Package(
            "italian-verbs-dict", "3.4.0", "eeb5e913fb201c4b759ac16979761ba3920808443812220c02728c7e2751ede2", "npm"
        ),
        Package(
            "italian-words-dict", "3.4.0", "206140def521b43aa2b73f425caca5025e6d616e393f819c6e4fa159a3e25aa2", "npm"
        ),
        Package(
            "italian-adjectives-dict",
            "3.4.0",
            "06daedcdef8d70140f7da82f77ebd688ad3ca94d0e5990b998ae248e21418e2b",
            "npm",
        ),
    ),
)
TENSES = {
    ("ind", "pres"): "V;IND;PRS;{}",
    ("ind", "past"): "V;IND;PST;{};PFV",
    ("ind", "impf"): "V;IND;PST;{};IPFV",
    ("ind", "fut"): "V;IND;FUT;{}",
    ("cond", "pres"): "V;COND;{}",
    ("sub", "pres"): "V;SBJV;PRS;{}",
    ("sub", "impf"): "V;SBJV;PST;{}",
    ("impr", "pres"): "V;POS;IMP;{}",
}
PERSONS = {
    f"{letter}{person}": f"{person};{letter}{rest}" for letter, rest in (("S", "G"), ("P", "L")) for person in "123"
}
PARTICIPLES = {"S": "MASC;SG", "SF": "FEM;SG", "P": "MASC;PL", "PF": "FEM;PL"}
ADJECTIVES = {"MS": "MASC;SG", "FS": "FEM;SG", "MP": "MASC;PL", "FP": "FEM;PL"}


def rows(verbs: Path, nouns: Path, adjectives: Path) -> Iterator[Row]:
    """All three, as the files have them."""
    for lemma, moods in _read(verbs, "verbs").items():
        for (mood, tense), bundle in TENSES.items():
            for person, form in moods.get(mood, {}).get(tense, {}).items():
                yield from _rows(lemma, form, bundle.format(PERSONS[person]))
        for gender, form in moods.get("part", {}).get("past", {}).items():
            yield from _rows(lemma, form, f"V.PTCP;PST;{PARTICIPLES[gender]}")
    for lemma, noun in _read(nouns, "words").items():
        yield Row(lemma, lemma, "N;SG")
        yield from _rows(lemma, noun.get("P"), "N;PL")
    for lemma, forms in _read(adjectives, "adjectives").items():
        yield Row(lemma, lemma, "ADJ;MASC;SG")
        for gender, form in forms.items():
            if gender in ADJECTIVES:
                yield from _rows(lemma, form, f"ADJ;{ADJECTIVES[gender]}")


def _read(package: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((package / "package" / "dist" / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _rows(lemma: str, forms: str | list[str] | None, bundle: str) -> Iterator[Row]:
    for form in [forms] if isinstance(forms, str) else forms or ():
        yield Row(lemma, form, bundle)
