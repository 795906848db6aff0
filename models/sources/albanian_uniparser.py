"""Albanian of the analyser uniparser-albanian: its lexicon, with all forms that its paradigms give."""

import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package, printed

SOURCE = Source(
    "albanian",
    "uniparser-albanian 2.3.0 (Timofey Arkhangelskiy and Maria Morozova)",
    "MIT",
    (
        Package("uniparser-morph", "2.11.0", "d8ababecdaac225ac3530ed7929986dee0f47580c657d3960bec4234c3467226"),
        Package("uniparser-albanian", "2.3.0", "115552882c507dc73b840248e50eff0d08b9dbc40cf5089484949bfe0c70744f"),
    ),
)
ATOMS = {
    "NOUN": "N",
    "N": "N",
    "V": "V",
    "sg": "SG",
    "pl": "PL",
    "def": "DEF",
    "indef": "NDEF",
    "nom": "NOM",
    "acc": "ACC",
    "gen": "GEN",
    "dat": "DAT",
    "abl": "ABL",
    "1": "1",
    "2": "2",
    "3": "3",
    "ind": "IND",
    "imp": "IMP",
    "opt": "OPT",
    "sbjv": "SBJV",
    "adm": "ADM",
    "pres": "PRS",
    "ipf": "IPFV",
    "impf": "IPFV",
    "aor": "PST",
    "ptcp": "V.PTCP",
}
PASSED_OVER = {"m", "f", "n", "act", "inanim", "anim", "hum", "alb", "vi", "vt"}
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
from types import ModuleType
sys.modules["textdistance"] = ModuleType("textdistance")  # only for spelling errors
from uniparser_albanian import AlbanianAnalyzer
for lexeme in AlbanianAnalyzer(mode="strict").g.lexemes:
    for word in lexeme.generate_wordforms():
        if isinstance(word.wf, str) and "nonst" not in word.gramm:
            print(lexeme.lemma, word.wf, word.gramm.strip(), sep="\\t")
"""


def rows(*packages: Path) -> Iterator[Row]:
    """Nouns and verbs; `gen_dat` is two cells."""
    yield from parsed(printed([sys.executable, "-c"], list(packages), PROGRAM))


def parsed(lines: Iterable[list[str]]) -> Iterator[Row]:
    """Of lines of lemma, form and grammar."""
    for lemma, form, tag in lines:
        pieces = [piece for piece in tag.split(",") if piece not in PASSED_OVER]
        sets = [[ATOMS.get(value) for value in piece.split("_")] for piece in pieces]
        if sets and sets[0][0] in ("N", "V") and all(None not in values for values in sets):
            for values in product(*sets):
                yield Row(lemma, form, ";".join(filter(None, values)))
