"""Russian of OpenCorpora, as pymorphy3 has it: all words of its dictionary, with their forms.

Perfective and imperfective verbs are lemmas of their own. Words keep the letter ё. Old, colloquial and doubtful forms
are left out, and so are names, abbreviations and second cases (*в лесу*).
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package, printed

SOURCE = Source(
    "russian",
    "pymorphy3-dicts-ru 2.4.417150.4580142, from OpenCorpora 0.92",
    "CC BY-SA 3.0",
    (
        Package("dawg2-python", "0.9.0", "4fab6fc097bd176cd783cd8421b757348ea5a460789e53b0f6bb64831380bab5"),
        Package("pymorphy3", "2.0.6", "0254317c02ce3ea17e080b7fc9d675e44662b3a5296bae68605b7a41d25b36c3"),
        Package(
            "pymorphy3-dicts-ru",
            "2.4.417150.4580142",
            "718bac64c73c10c16073a199402657283d9b64c04188b694f6d3e9b0d85440f4",
        ),
    ),
)
ATOMS = {
    "NOUN": "N",
    "ADJF": "ADJ",
    "ADJS": "ADJ;LGSPEC1",
    "INFN": "V;NFIN",
    "VERB": "V",
    "PRTF": "V.PTCP",
    "PRTS": "V.PTCP;LGSPEC1",
    "GRND": "V.CVB",
    "nomn": "NOM",
    "gent": "GEN",
    "datv": "DAT",
    "accs": "ACC",
    "ablt": "INS",
    "loct": "ESS",
    "sing": "SG",
    "plur": "PL",
    "masc": "MASC",
    "femn": "FEM",
    "neut": "NEUT",
    "anim": "ANIM",
    "inan": "INAN",
    "1per": "1",
    "2per": "2",
    "3per": "3",
    "pres": "PRS",
    "past": "PST",
    "futr": "FUT",
    "impr": "IMP",
    "actv": "ACT",
    "pssv": "PASS",
}
LEFT_OUT = {"Arch", "Infr", "Slng", "Erro", "Dist", "V-oy", "V-ey", "V-be", "V-sh", "V-en", "V-ie", "V-bi", "Fimp"}
LEFT_OUT |= {"Name", "Surn", "Patr", "Geox", "Orgn", "Trad", "Abbr", "Init", "gen2", "loc2", "acc2", "gen1", "incl"}
LEFT_OUT |= {"Supr", "Cmp2", "Anum", "Apro", "Subx", "voct"}
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
import pymorphy3
analyzer = pymorphy3.MorphAnalyzer(path=sys.argv[3] + "/pymorphy3_dicts_ru/data", lang="ru")
for form, tag, lemma, _, _ in analyzer.dictionary.iter_known_words(""):
    print(lemma, form, str(tag).replace(" ", ","), sep="\\t")
"""


def rows(*packages: Path) -> Iterator[Row]:
    """Nouns, adjectives and verbs; participles are forms of their verb, without their own cases."""
    yield from parsed(printed([sys.executable, "-c"], list(packages), PROGRAM))


def parsed(lines: Iterable[list[str]]) -> Iterator[Row]:
    """Of lines of lemma, form and grammemes."""
    for lemma, form, tag in lines:
        grammemes = tag.split(",")
        if grammemes[0] not in ATOMS or LEFT_OUT & set(grammemes):
            continue
        # A noun's gender and animacy are its own; an adjective's animacy tells accusatives apart.
        lexical = {"masc", "femn", "neut", "anim", "inan"} if grammemes[0] == "NOUN" else set()
        if grammemes[0] not in ("PRTF", "PRTS") or {"masc", "nomn"} <= set(grammemes):
            yield Row(lemma, form, ";".join(ATOMS[item] for item in grammemes if item in ATOMS and item not in lexical))
