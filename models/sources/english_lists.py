"""English words of the SPECIALIST Lexicon (LemmInflect), of AGID (pyInflect) and of WordNet (english-plurals-list).

LemmInflect has *ox, oxes*; the list of plurals, which comes first, has *oxen*. Its nouns are also names: only those in
small letters are taken. The rows of `be` are pyInflect's. A noun that has no plural is its own plural in LemmInflect.
"""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package

SOURCE = Source(
    "english",
    "LemmInflect 0.2.3 (NIH SPECIALIST Lexicon), pyInflect 0.5.1 (AGID), english-plurals-list 3.4.0 (WordNet)",
    "MIT; Apache 2.0 and WordNet's licence for the list of plurals",
    (
        Package(
            "english-plurals-list", "3.4.0", "5e7a0d6889e9077aac7e9349c46107ffcf02c1058fa3053cab2eb7978cfb1b47", "npm"
        ),
        Package("lemminflect", "0.2.3", "1cf470efa783733ca5654cc1a6ee1de774e59031e61bf6210467625e84a8cf1c"),
        Package("pyinflect", "0.5.1", "94f052d48939bd4748942d807b2b87f15dcb94acb32b99d7162dba5d37188ea8"),
    ),
)
COLUMNS = {
    "noun": ("N;PL",),
    "adj": ("ADJ;CMPR", "ADJ;SPRL"),
    "verb": ("V;PST", "V.PTCP;PST", "V.PTCP;PRS", "V;3;SG;PRS"),
}
PARTS = {"N": "noun", "A": "adj", "V": "verb"}
LEMMA = {"noun": "N;SG", "adj": "ADJ", "verb": "V;NFIN"}
BE = {"V;PST": "was", "V.PTCP;PST": "been", "V.PTCP;PRS": "being", "V;3;SG;PRS": "is", "V;NFIN": "be"}
"""In the five cells of an English verb; *were*, *am* and *are* have none of their own."""


def rows(plurals: Path, lemminflect: Path, pyinflect: Path) -> Iterator[Row]:
    """The sources in the order of trust; the first form of a cell is the usual one."""
    for singular, plural in json.loads((plurals / "package" / "dist" / "plurals.json").read_text("utf-8")).items():
        yield Row(singular, plural, "N;PL")
    yield from (Row("be", form, bundle) for bundle, form in BE.items())
    with gzip.open(lemminflect / "lemminflect" / "resources" / "infl_lu.csv.gz", "rt", encoding="utf-8") as file:
        for lemma, part, *forms in csv.reader(file):
            yield from _rows(lemma, part, forms)
    with (pyinflect / "pyinflect" / "infl.csv").open(encoding="utf-8", newline="") as file:
        for lemma, letter, *forms in csv.reader(file):
            if letter in PARTS:
                yield from _rows(lemma, PARTS[letter], forms)


def _rows(lemma: str, part: str, forms: list[str]) -> Iterator[Row]:
    """Of one line: variants of a cell are parted by a stroke. A participle that is missing is the past form."""
    if part not in COLUMNS or not lemma.islower() or lemma == "be":
        return
    yield Row(lemma, lemma, LEMMA[part])
    if len(forms) == len(COLUMNS[part]):
        for bundle, variants in zip(COLUMNS[part], forms, strict=True):
            present = forms[0] if part == "verb" and variants in ("", "<>") else variants
            for form in present.split("/"):
                if form:
                    yield Row(lemma, form, bundle)
