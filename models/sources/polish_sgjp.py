"""Polish of SGJP, the Grammatical Dictionary of Polish, by the generator Morfeusz 2.

A tag has sets of values, `subst:sg:gen.acc:m1`: it is a row for each case and gender. The generator has no list of its
words: it is asked for the lemmas of the other sources. It gives the stems of the past tense (*robił*, and *niósł*
beside *niosł-*), which persons of the past (*robiłem*) and of the conditional (*robiłbym*) are made of.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package, printed

SOURCE = Source(
    "polish",
    "morfeusz2 1.99.15 with SGJP 2026.06.01 (Woliński, Saloni, Wołosz, Gruszczyński, Skowrońska, Bronk)",
    "BSD-2-Clause",
    (Package("morfeusz2", "1.99.15", "089a83ab03a137a57e23d9d42028d80b8858d1a4de78f1db86a18ba504400a98"),),
)
CASES = {"nom": "NOM", "gen": "GEN", "dat": "DAT", "acc": "ACC", "inst": "INS", "loc": "ESS", "voc": "VOC"}
NUMBERS = {"sg": "SG", "pl": "PL"}
PERSONS = {"pri": "1", "sec": "2", "ter": "3"}
GENDERS = {"m1": "MASC;HUM", "m2": "MASC;ANIM", "m3": "MASC;INAN", "f": "FEM", "n": "NEUT"}
ENDINGS = {"sg": ("m", "ś", ""), "pl": ("śmy", "ście", "")}
DEGREES = {"pos": "", "com": ";CMPR", "sup": ";SPRL"}
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import morfeusz2
generator = morfeusz2.Morfeusz(analyse=False)
for lemma in open(sys.argv[2], encoding="utf-8").read().splitlines():
    for form, base, tag, names, labels in generator.generate(lemma):
        if base.partition(":")[0] == lemma and not set(labels) & {"daw.", "gwar.", "arch.", "rzad."}:
            print(lemma, form, tag, sep="\\t")
"""


def rows(package: Path, lemmas: Path) -> Iterator[Row]:
    """Of the lemmas in a file, one a line."""
    yield from parsed(printed([sys.executable, "-c"], [package, lemmas], PROGRAM))


def parsed(lines: Iterable[list[str]]) -> Iterator[Row]:
    """Of lines of lemma, form and tag."""
    for lemma, form, tag in lines:
        if tag.startswith("praet:"):
            yield from past(lemma, form, tag)
        for bundle in bundles_of(tag):
            yield Row(lemma, form, bundle)


def past(lemma: str, stem: str, tag: str) -> Iterator[Row]:
    """Past and conditional of a stem, without the genders that sound alike."""
    _, number, genders, _, *kind = tag.split(":")
    for gender in dict.fromkeys(_past_gender(gender, number) for gender in genders.split(".")):
        for person, ending in enumerate(ENDINGS[number], 1):
            third = person == 3
            vowel = "e" if number == "sg" and stem.endswith("ł") and not third else ""
            bundle = f"{person};{NUMBERS[number]}{gender}"
            if not kind or kind == ["nagl" if third else "agl"]:
                yield Row(lemma, stem + vowel + ending, f"V;PST;{bundle}")
            if kind != ["agl"]:
                yield Row(lemma, f"{stem}by{ending}", f"V;COND;{bundle}")


def bundles_of(tag: str) -> Iterable[str]:
    """All that a tag says, in the atoms of UniMorph."""
    kind, *values = (part.split(".") for part in tag.split(":"))
    if kind == ["subst"]:
        numbers, cases, *_ = values
        return [f"N;{CASES[case]};{NUMBERS[number]}" for number, case in product(numbers, cases)]
    if kind == ["adj"]:
        numbers, cases, genders, degrees = values
        return {
            f"ADJ;{_gender(gender, number, case)}{CASES[case]};{NUMBERS[number]}{DEGREES[degree]}"
            for number, case, gender, degree in product(numbers, cases, genders, degrees)
            if case != "voc"
        }
    if kind == ["inf"]:
        return ["V;NFIN"]
    if kind in (["fin"], ["bedzie"]):
        numbers, persons, (aspect, *_) = values
        tense = "PRS" if kind == ["fin"] and aspect == "imperf" else "FUT"
        return [f"V;{tense};{PERSONS[person]};{NUMBERS[number]}" for number, person in product(numbers, persons)]
    if kind == ["impt"]:
        numbers, persons, *_ = values
        return [f"V;IMP;{PERSONS[person]};{NUMBERS[number]}" for number, person in product(numbers, persons)]
    return ["V.MSDR"] if tag.startswith("ger:sg:nom") and tag.endswith("aff") else []


def _gender(gender: str, number: str, case: str) -> str:
    """Of an adjective: animacy matters in the accusative alone, in the plural only men stand apart."""
    if number == "pl":
        return "MASC;HUM;" if gender == "m1" and case in ("nom", "acc") else ""
    return f"{GENDERS[gender] if case == 'acc' else GENDERS[gender].partition(';')[0]};"


def _past_gender(gender: str, number: str) -> str:
    if number == "pl":
        return ";MASC;HUM" if gender == "m1" else ""
    return f";{GENDERS[gender].partition(';')[0]}"
