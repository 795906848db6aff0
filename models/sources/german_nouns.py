"""German nouns of de.wiktionary, in the package german-nouns."""

import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package

SOURCE = Source(
    "german",
    "german-nouns 1.2.5, from de.wiktionary.org",
    "CC BY-SA 4.0",
    (Package("german-nouns", "1.2.5", "0f113c59ea331aae750bc03c7b6c7217bae975c6677b4df8d8932093093f509f"),),
)
CASES = {"nominativ": "NOM", "genitiv": "GEN", "dativ": "DAT", "akkusativ": "ACC"}
NUMBERS = {"singular": "SG", "plural": "PL"}
VARIANTS = ("", " 1", " 2", " 3", " 4", " stark")
"""Endings of the names of columns, the usual form first; nouns inflected like adjectives have three declensions."""


def rows(folder: Path) -> Iterator[Row]:
    """Nouns without names of people and places, and without parts of words."""
    with (folder / "german_nouns" / "nouns.csv").open(encoding="utf-8", newline="") as file:
        for record in csv.DictReader(file):
            kinds = set(record["pos"].split(","))
            lemma = record["lemma"]
            if kinds & {"Nachname", "Vorname", "Toponym", "Suffix", "Affix", "Abkürzung"} or lemma.startswith("-"):
                continue
            for (case, case_atom), (number, number_atom) in product(CASES.items(), NUMBERS.items()):
                for variant in VARIANTS:
                    if form := record.get(f"{case} {number}{variant}"):
                        yield Row(lemma, form, f"N;{case_atom};{number_atom}")
