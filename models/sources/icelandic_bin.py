"""Icelandic of BÍN, the Database of Icelandic Morphology, in the package islenska-data; islenska reads it.

islenska needs cffi, whose wheel here is that of Python 3.11 on Linux. The seven million rows take seven gigabytes.

A mark such as `GM-FH-NT-3P-ET` has one atom a piece (active, indicative, present, third person, singular); case, number
and article are written together: `ÞGFETgr` is the dative singular with the article. A digit at the end is a variant.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package, printed

SOURCE = Source(
    "icelandic",
    "islenska-data 5.0.0, BÍN of the Árni Magnússon Institute for Icelandic Studies",
    "CC BY-SA 4.0",
    (
        Package("islenska", "2.1.0", "42d1d9c1862d3ae82c5911d51d3a1ed50692a86ae3887c76d7d03bb4578d63e2"),
        Package("islenska-data", "5.0.0", "89f3d1b7cfa13efb9f717ca419d4b8b696b69c31b7c8df898ab6ed1352e7105f"),
        Package("cffi", "2.1.1", "34e261f78cb6ceaaa36f42f2613f4380d94d9c759a9c73c769ee6e0247364632"),
    ),
)
PARTS = {"kk": "N", "kvk": "N", "hk": "N", "lo": "ADJ", "so": "V"}
CASES = {"NF": "NOM", "ÞF": "ACC", "ÞGF": "DAT", "EF": "GEN"}
NUMBERS = {"ET": "SG", "FT": "PL"}
CELL = re.compile("(NF|ÞF|ÞGF|EF)(ET|FT)(gr)?")
DEGREES = {"FSB": "STRONG", "FVB": "WEAK", "MST": "WEAK;CMPR", "ESB": "STRONG;SPRL", "EVB": "WEAK;SPRL"}
GENDERS = {"KK": "MASC", "KVK": "FEM", "HK": "NEUT"}
MOODS = {"FH": "IND", "VH": "SBJV"}
TENSES = {"NT": "PRS", "ÞT": "PST"}
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
from islenska.bincompress import BinCompressed
reader = BinCompressed()
for number in range(1, reader._max_bin_id + 1):
    for row in reader.lookup_id(number) or ():
        if row.ofl in ("kk", "kvk", "hk", "lo", "so"):
            print(row.ord, row.ofl, row.bmynd, row.mark, sep="\\t")
"""


def rows(*packages: Path) -> Iterator[Row]:
    """Nouns, adjectives and verbs without the middle voice and without pronouns that have grown on (*ertu*)."""
    yield from parsed(printed([sys.executable, "-c"], list(packages), PROGRAM))


def parsed(lines: Iterable[list[str]]) -> Iterator[Row]:
    """Of lines of lemma, part of speech, form and mark."""
    for lemma, part, form, mark in lines:
        if bundle := bundle_of(PARTS[part], mark):
            yield Row(lemma, form, bundle)


def bundle_of(part: str, mark: str) -> str | None:
    """In the atoms of UniMorph; None for cells that we do not have."""
    pieces = re.sub("[0-9]$", "", mark).split("-")
    if part == "N" and (match := CELL.fullmatch(pieces[-1])) and len(pieces) == 1:
        case, number, article = match.groups()
        return f"N;{'DEF' if article else 'INDF'};{CASES[case]};{NUMBERS[number]}"
    if part == "ADJ" and len(pieces) == 3 and pieces[0] in DEGREES and (match := CELL.fullmatch(pieces[2])):
        case, number, _ = match.groups()
        return f"ADJ;{DEGREES[pieces[0]]};{GENDERS[pieces[1]]};{CASES[case]};{NUMBERS[number]}"
    if part == "V" and pieces[0] == "GM":
        if pieces[1:] == ["NH"]:
            return "V;NFIN"
        if pieces[1:] == ["SAGNB"]:
            return "V.CVB"
        if len(pieces) == 5 and pieces[1] in MOODS:
            return f"V;{MOODS[pieces[1]]};{TENSES[pieces[2]]};{pieces[3][0]};{NUMBERS[pieces[4]]}"
        if len(pieces) == 3 and pieces[1] == "BH" and pieces[2] in NUMBERS:
            return f"V;IMP;2;{NUMBERS[pieces[2]]}"
    return "V.PTCP;PRS" if part == "V" and mark == "LHNT" else None
