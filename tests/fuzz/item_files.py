"""Files that hold items, or what goes with them: tab-separated ones, labels, lists, and spreadsheets."""

import csv
import datetime
import io
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import openpyxl

from reinflect.cli.models import read_bundles
from reinflect.data.corrections import Corrected, corrected, swapped_columns_note, variants_note
from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import COLUMNS_2017, COLUMNS_2023, COLUMNS_AUTO, Columns, Item, read_items, write_items
from reinflect.data.lexicon import Lexicon, read_lemmas
from reinflect.errors import OutputError, ReinflectError
from reinflect.score.report import EvaluationReport
from reinflect.score.scores import evaluate
from tests.fuzz import texts
from tests.fuzz.campaign import Kind, refusal, trial

LABELS = Labels((("1sg past", "V;IND;PST;1;SG"), ("pl", "PL"), ("sg", "SG")))
ORDERS = (COLUMNS_2017, COLUMNS_AUTO, COLUMNS_2023, Columns(COLUMNS_2017.order, labels=LABELS))
NAMED = (*ORDERS, Columns.parse("lemma=lemma,form=form,features=features"), Columns.parse("lemma=Wort"))
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = "xl/worksheets/sheet1.xml"


class TextFile(NamedTuple):
    """A file of items, and how it is read."""

    content: bytes
    columns: Columns
    forms: Literal["required", "optional"]
    name: str = "items.tsv"

    def saved(self, folder: Path) -> Path:
        (folder / self.name).write_bytes(self.content)
        return folder / self.name


def _forms(rng: Random) -> Literal["required", "optional"]:
    return "required" if rng.random() < 0.5 else "optional"


def _item_text(rng: Random, columns: Columns, *, covered: bool) -> str:
    lines = []
    for _ in range(rng.choice([1, 2, 3, 3, 8])):
        fields = {"lemma": texts.word(rng), "form": texts.word(rng), "features": texts.bundle(rng)}
        order = columns.covered() if covered and rng.random() < 0.5 else columns.order
        lines.append("\t".join(fields[column] for column in order))
    return "\n".join(lines) + rng.choice(["\n", ""])


def item_file(rng: Random) -> TextFile:
    columns, forms = rng.choice(ORDERS), _forms(rng)
    text = _item_text(rng, columns, covered=forms == "optional")
    return TextFile(texts.spoilt(rng, text), columns, forms)


def sheet_file(rng: Random) -> TextFile:
    """A CSV file, long or wide, with or without names for its columns."""
    columns = rng.choice(NAMED) if rng.random() < 0.4 else COLUMNS_2017
    return TextFile(texts.spoilt(rng, _csv(rng)), columns, _forms(rng), "items.csv")


def _rows(rng: Random) -> list[list[str]]:
    if rng.random() < 0.5:
        names = ["lemma", "form", "features"]
        rows = [[texts.word(rng), texts.word(rng), texts.bundle(rng)] for _ in range(rng.randrange(1, 5))]
        order = rng.sample(range(3), 3)
        return [[row[place] for place in order] for row in ([names] if rng.random() < 0.8 else []) + rows]
    cells = [rng.choice([*texts.BUNDLES, "gloss", "note"]) for _ in range(rng.randrange(1, 5))]
    rows = [[texts.word(rng), *(rng.choice(["", texts.word(rng)]) for _ in cells)] for _ in range(rng.randrange(1, 4))]
    return [[rng.choice(["lemma", "Lemma", "Wort"]), *cells], *rows]


def _csv(rng: Random) -> str:
    text = io.StringIO(newline="")
    quoting: Sequence[Literal[0, 1]] = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    csv.writer(text, delimiter=rng.choice(",;\t"), quoting=rng.choice(quoting)).writerows(_rows(rng))
    return text.getvalue()


def _read(folder: Path, made: TextFile) -> list[Item]:
    notes: list[str] = []
    path = made.saved(folder)
    items = read_items(path, made.columns, forms=made.forms, note=notes.append)
    notes += filter(None, (variants_note(items, path), swapped_columns_note(items, path, made.columns)))
    for note in notes:
        assert note.isprintable(), note
    assert items
    return items


def _read_again(folder: Path, made: TextFile, items: list[Item]) -> None:
    """Items are the same when they have been written and read again."""
    for ending in {"items.tsv": [".tsv"], "items.csv": [".tsv", ".csv"], "items.xlsx": [".xlsx"]}[made.name]:
        try:
            write_items(folder / f"again{ending}", items)
        except OutputError as error:
            assert ending == ".xlsx"  # which cannot hold every character
            refusal(error)
            continue
        again = read_items(folder / f"again{ending}", COLUMNS_2017, forms=made.forms)
        assert [(i.lemma, i.features, i.form) for i in again] == [(i.lemma, i.features, i.form) for i in items]


class Pair(NamedTuple):
    """Two files, one of which may be good."""

    first: bytes
    second: bytes

    def items(self, folder: Path) -> tuple[list[Item], list[Item]]:
        (folder / "first.tsv").write_bytes(self.first)
        (folder / "second.tsv").write_bytes(self.second)
        return read_items(folder / "first.tsv"), read_items(folder / "second.tsv", forms="optional")


def pair_of_files(rng: Random) -> Pair:
    text = _item_text(rng, COLUMNS_2017, covered=False)
    other = text if rng.random() < 0.5 else _item_text(rng, COLUMNS_2017, covered=True)
    return Pair(texts.spoilt(rng, text) if rng.random() < 0.3 else text.encode(), texts.spoilt(rng, other))


def _score(_folder: Path, _made: Pair, items: tuple[list[Item], list[Item]]) -> None:
    score = evaluate(*items, name="gold.tsv")
    assert 0 <= score.accuracy <= 100
    assert score.levenshtein >= 0
    EvaluationReport("said.tsv", score, by="features", mistakes=3).text().encode()


def _correct(folder: Path, made: Pair) -> tuple[int, Corrected]:
    items, corrections = made.items(folder)
    return len(items), corrected(items, corrections, folder / "second.tsv")


def _check_corrections(_folder: Path, _made: Pair, result: tuple[int, Corrected]) -> None:
    before, after = result
    assert len(after.items) <= before + after.added
    assert after.note("second.tsv").isprintable()


def labels_file(rng: Random) -> tuple[str, bytes]:
    pairs = [(texts.word(rng), texts.bundle(rng)) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.7:
        return "labels.tsv", texts.spoilt(rng, "".join(f"{label}\t{features}\n" for label, features in pairs))
    quote = rng.choice("\"'")
    text = "".join(f"{quote}{label}{quote} = {quote}{features}{quote}\n" for label, features in pairs)
    if rng.random() < 0.02:
        text += f"deep = {'[' * rng.choice([100, 5000])}"
    if rng.random() < 0.02:
        text += f"large = {'9' * 5000}"
    return "labels.toml", texts.spoilt(rng, text)


def _read_labels(folder: Path, made: tuple[str, bytes]) -> Labels:
    (folder / made[0]).write_bytes(made[1])
    return Labels.read(folder / made[0])


def _check_labels(_folder: Path, _made: object, labels: Labels) -> None:
    for label, features in labels.pairs:
        assert labels.to_features(label) == features
        # What is shown for features stands for the same features, in whatever order.
        shown = labels.to_features(labels.to_label(features))
        assert sorted(shown.replace(" ", "").split(";")) == sorted(features.replace(" ", "").split(";"))


def list_file(rng: Random) -> TextFile:
    """A list of lemmas, or something that could be taken for one."""
    columns, how = rng.choice(NAMED), rng.randrange(4)
    if how < 2:
        text = "".join(f"{texts.word(rng)}\n" for _ in range(rng.randrange(1, 6)))
        name = rng.choice(["lemmas.txt", "lemmas.txt", "lemmas.csv"])
        return TextFile(texts.spoilt(rng, text), columns, "optional", name)
    text = _item_text(rng, COLUMNS_2017, covered=True) if how == 2 else _csv(rng)
    return TextFile(texts.spoilt(rng, text), columns, "optional", "lemmas.txt" if how == 2 else "lemmas.csv")


def _check_lemmas(_folder: Path, _made: object, lexicon: Lexicon) -> None:
    assert lexicon.lemmas
    assert len(set(lexicon.lemmas)) == len(lexicon.lemmas)


def bundles_file(rng: Random) -> bytes:
    return texts.spoilt(rng, "".join(f"{texts.bundle(rng)}\n" for _ in range(rng.randrange(1, 6))))


def _read_bundles(folder: Path, made: bytes) -> None:
    (folder / "features.txt").write_bytes(made)
    assert read_bundles(str(folder / "features.txt"), (NO_LABELS if len(made) % 2 else LABELS).to_features)


def long_file(rng: Random) -> TextFile:
    """A file of a few million bytes that has far too many, or far too long, pieces of some sort."""
    piece = rng.choice(["a", "\t", "\n", ";", ",", '"', "\r", "a\n", "a\tb\n", "V;", "a,", "\ufeff", "a\tb\tV;PST\n"])
    text = piece * rng.choice([100_000, 400_000])
    if rng.random() < 0.7:
        text = rng.choice(["a\tb\tV\n", "lemma,form,features\n", "lemma,V;PST\n", "lemma\n"]) + text
    if rng.random() < 0.5:
        text += "\n" + "a\n" * rng.choice([1, 100_000])
    return TextFile(text.encode(), rng.choice(ORDERS), _forms(rng), rng.choice(["items.tsv", "items.csv"]))


def _read_anything(folder: Path, made: TextFile) -> None:
    """Read a file as each of the things it could be: one must be good."""
    path = made.saved(folder)
    readers: list[Callable[[], object]] = [
        lambda: read_items(path, made.columns, forms=made.forms),
        lambda: read_lemmas(path, made.columns),
        lambda: read_bundles(str(path), made.columns.labels.to_features),
        lambda: Labels.read(path),
    ]
    errors: list[ReinflectError] = []
    for read in readers:
        try:
            read()
        except ReinflectError as error:
            refusal(error)
            errors.append(error)
    if len(errors) == len(readers):
        raise errors[0]


@cache
def good_workbook(number: int) -> bytes:
    """One of a few workbooks with cells of every kind."""
    rng, raw = Random(number), io.BytesIO()
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in _rows(rng):
        sheet.append(row)
    odd = [1, 1.5, True, datetime.date(2026, 11, 15), "=A1", "", None, " x ", "a\nb", "#REF!", "e\u0301", "x" * 3000]
    for value in rng.sample(odd, rng.choice([0, 0, 1, 2])):
        sheet.cell(rng.randrange(1, 5), rng.randrange(1, 5), value)
    if number % 3 == 0:
        book.create_sheet("more").append(["lemma", "V;PST"])
    book.save(raw)
    return raw.getvalue()


def parts_of(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        return {name: book.read(name) for name in book.namelist()}


def zipped(parts: dict[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return raw.getvalue()


def workbook(rng: Random) -> TextFile:
    """An XLSX file with a changed byte, or with something changed in the XML within, and whole around it."""
    raw, columns = good_workbook(rng.randrange(40)), rng.choice(NAMED) if rng.random() < 0.2 else COLUMNS_2017
    how = rng.randrange(10)
    if how < 2:
        raw = rng.choice(texts.OF_BYTES[:3])(rng, raw)
    elif how < 9:
        parts = parts_of(raw)
        name = rng.choice([*parts] if rng.random() < 0.4 else [SHEET])
        content = _changed_xml(rng, parts.pop(name).decode()).encode("utf-8", "surrogatepass")
        if rng.random() >= 0.1:
            parts[name if rng.random() < 0.97 else f"../{name}"] = content
        raw = zipped(parts)
    return TextFile(raw, columns, _forms(rng), "items.xlsx")


RANGES = "A1:B2 A1:XFD1048576 B2:A1 A1 A1: ZZZZ1:A9".split()
PLACES = ["", ' r="XFE1"', ' r="1A"', ' r="a1"', ' r="0"', ' r="x"']
"""Of cells and rows, as no program writes them."""
SWAPS = (
    *(('t="s"', 't="n"'), ('t="inlineStr"', 't="s"'), ("<v>", "<v>9"), ("<v>", "<v>-"), ("<v>", "<v>1e999")),
    *(("A1", "XFD1048576"), ("A1", "A0"), ("B2", "ZZZZ9"), ('r="1"', 'r="1048576"'), ('r="2"', 'r="999999999999"')),
    *(("<c ", "<c s='99999' "), ("<is>", "<is><r>"), ("</row>", ""), ('"', "'"), ("sheet1", "sheet9"), ("xml", "x")),
    *(("</sheetData>", f'</sheetData><mergeCells><mergeCell ref="{cells}"/></mergeCells>') for cells in RANGES),
    *((old, place) for old in (' r="A1"', ' r="B2"', ' r="1"') for place in PLACES),
    *(("</row>", f"{flood * 20_000}</row>") for flood in ("<c/>", '<c t="s"><v>0</v></c>', "</row><row>")),
    *(("<v>", f"<v>{value}") for value in ("NaN", "x", "1e400", "9" * 40)),
    *(('t="s"', f't="{kind}"') for kind in ("b", "e", "str", "inlineStr", "zz", "")),
    ("<?xml", '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]><?xml'),
)


def _changed_xml(rng: Random, xml: str) -> str:
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.6:
            old, new = rng.choice(SWAPS)
            xml = xml.replace(old, new, rng.choice([-1, 1]))
        else:
            xml = rng.choice(texts.OF_TEXT[:7])(rng, xml)
    return xml


TEXTS = (
    Kind("items", 40_000, item_file, trial(_read, _read_again)),
    Kind("scores", 10_000, pair_of_files, trial(lambda folder, made: made.items(folder), _score)),
    Kind("corrections", 10_000, pair_of_files, trial(_correct, _check_corrections)),
    Kind("labels", 10_000, labels_file, trial(_read_labels, _check_labels)),
    Kind("csv", 20_000, sheet_file, trial(_read, _read_again)),
    Kind("lemmas", 6_000, list_file, trial(lambda to, made: read_lemmas(made.saved(to), made.columns), _check_lemmas)),
    Kind("features", 4_000, bundles_file, trial(_read_bundles)),
)
"""Small files, a hundred thousand of them."""
MORE = (
    Kind("long", 200, long_file, trial(_read_anything)),
    Kind("xlsx", 2_500, workbook, trial(_read, _read_again)),
)
