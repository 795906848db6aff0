"""Files that hold items, or what goes with them: tab-separated ones, labels, lists, and spreadsheets."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from reinflect.cli.models import read_bundles
from reinflect.data.corrections import corrected
from reinflect.data.items import (
    COLUMNS_2017,
    COLUMNS_2023,
    COLUMNS_AUTO,
    Columns,
    Item,
    read_items,
    swapped_columns_note,
    variants_note,
    write_items,
)
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.lexicon import read_lemmas
from reinflect.errors import OutputError, ReinflectError
from reinflect.score.report import EvaluationReport
from reinflect.score.scores import evaluate
from tests.fuzz import texts
from tests.fuzz.campaign import Attempt, Kind, refusal

LABELS = Labels((("1sg past", "V;IND;PST;1;SG"), ("pl", "PL"), ("sg", "SG")))
ORDERS = (COLUMNS_2017, COLUMNS_AUTO, COLUMNS_2023, Columns(COLUMNS_2017.order, labels=LABELS))
NAMED = (*ORDERS, Columns.parse("lemma=lemma,form=form,features=features"), Columns.parse("lemma=Wort"))


class TextFile(NamedTuple):
    """A file of items, and how it is read."""

    content: bytes
    columns: Columns
    forms: Literal["required", "optional"]
    name: str = "items.tsv"


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


@contextmanager
def _reading(folder: Path) -> Iterator[Attempt]:
    """Reads items. Those of a file that can be used are the same when they have been written and read again."""

    def attempt(made: TextFile) -> str:
        path = folder / made.name
        path.write_bytes(made.content)
        notes: list[str] = []
        try:
            items = read_items(path, made.columns, forms=made.forms, note=notes.append)
        except ReinflectError as error:
            return refusal(error)
        assert items
        notes += filter(None, (variants_note(items, path), swapped_columns_note(items, path, made.columns)))
        for note in notes:
            assert note.isprintable(), note
        for again in (
            (folder / "again.tsv", folder / "again.csv") if made.name.endswith(".csv") else (folder / "again",)
        ):
            write_items(again, items)
            assert _plain(read_items(again, COLUMNS_2017, forms=made.forms)) == _plain(items)
        return "used"

    yield attempt


def _plain(items: Sequence[Item]) -> list[tuple[str, str, str]]:
    return [(item.lemma, item.features.spelling, item.form) for item in items]


class Pair(NamedTuple):
    """Two files, one of which may be good."""

    first: bytes
    second: bytes


def pair_of_files(rng: Random) -> Pair:
    text = _item_text(rng, COLUMNS_2017, covered=False)
    other = text if rng.random() < 0.5 else _item_text(rng, COLUMNS_2017, covered=True)
    return Pair(texts.spoilt(rng, text) if rng.random() < 0.3 else text.encode(), texts.spoilt(rng, other))


@contextmanager
def _scoring(folder: Path) -> Iterator[Attempt]:
    gold, said = folder / "gold.tsv", folder / "said.tsv"

    def attempt(made: Pair) -> str:
        gold.write_bytes(made.first)
        said.write_bytes(made.second)
        try:
            right, predicted = read_items(gold), read_items(said, forms="optional")
        except ReinflectError as error:
            return refusal(error)
        score = evaluate(right, predicted, name="gold.tsv")
        assert 0 <= score.accuracy <= 100
        assert score.levenshtein >= 0
        EvaluationReport("said.tsv", score, by="features", mistakes=3).text().encode()
        return "used"

    yield attempt


@contextmanager
def _correcting(folder: Path) -> Iterator[Attempt]:
    train, path = folder / "train.tsv", folder / "corrections.tsv"

    def attempt(made: Pair) -> str:
        train.write_bytes(made.first)
        path.write_bytes(made.second)
        try:
            items = read_items(train)
            found = corrected(items, read_items(path, forms="optional"), path)
        except ReinflectError as error:
            return refusal(error)
        assert len(found.items) <= len(items) + found.added
        assert found.note(path).isprintable()
        return "used"

    yield attempt


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


@contextmanager
def _labelling(folder: Path) -> Iterator[Attempt]:
    def attempt(made: tuple[str, bytes]) -> str:
        name, content = made
        (folder / name).write_bytes(content)
        try:
            labels = Labels.read(folder / name)
        except ReinflectError as error:
            return refusal(error)
        for label, features in labels.pairs:
            assert labels.to_features(label) == features
            # What is shown for features stands for the same features, in whatever order.
            shown = labels.to_features(labels.to_label(features))
            assert sorted(shown.replace(" ", "").split(";")) == sorted(features.replace(" ", "").split(";"))
        return "used"

    yield attempt


def list_file(rng: Random) -> TextFile:
    """A list of lemmas, or something that could be taken for one."""
    columns = rng.choice(NAMED)
    made = rng.randrange(4)
    if made < 2:
        text = "".join(f"{texts.word(rng)}\n" for _ in range(rng.randrange(1, 6)))
        name = rng.choice(["lemmas.txt", "lemmas.txt", "lemmas.csv"])
        return TextFile(texts.spoilt(rng, text), columns, "optional", name)
    text = _item_text(rng, COLUMNS_2017, covered=True) if made == 2 else _csv(rng)
    return TextFile(texts.spoilt(rng, text), columns, "optional", "lemmas.txt" if made == 2 else "lemmas.csv")


@contextmanager
def _listing(folder: Path) -> Iterator[Attempt]:
    def attempt(made: TextFile) -> str:
        path = folder / made.name
        path.write_bytes(made.content)
        try:
            lexicon = read_lemmas(path, made.columns)
        except ReinflectError as error:
            return refusal(error)
        assert lexicon.lemmas
        assert len(set(lexicon.lemmas)) == len(lexicon.lemmas)
        return "used"

    yield attempt


def bundles_file(rng: Random) -> bytes:
    return texts.spoilt(rng, "".join(f"{texts.bundle(rng)}\n" for _ in range(rng.randrange(1, 6))))


@contextmanager
def _bundling(folder: Path) -> Iterator[Attempt]:
    path = folder / "features.txt"

    def attempt(made: bytes) -> str:
        path.write_bytes(made)
        try:
            found = read_bundles(str(path), (NO_LABELS if len(made) % 2 else LABELS).to_features)
        except ReinflectError as error:
            return refusal(error)
        assert found
        return "used"

    yield attempt


def long_file(rng: Random) -> TextFile:
    """A file of a few million bytes that has far too many, or far too long, pieces of some sort."""
    many = rng.choice([100_000, 400_000])
    piece = rng.choice(["a", "\t", "\n", ";", ",", '"', "\r", "a\n", "a\tb\n", "V;", "a,", "\ufeff", "a\tb\tV;PST\n"])
    text = piece * many
    if rng.random() < 0.7:
        text = rng.choice(["a\tb\tV\n", "lemma,form,features\n", "lemma,V;PST\n", "lemma\n"]) + text
    if rng.random() < 0.5:
        text += "\n" + "a\n" * rng.choice([1, 100_000])
    name = rng.choice(["items.tsv", "items.csv"])
    return TextFile(text.encode(), rng.choice(ORDERS), _forms(rng), name)


@contextmanager
def _reading_anything(folder: Path) -> Iterator[Attempt]:
    """Reads a file as each of the things it could be."""

    def attempt(made: TextFile) -> str:
        path, outcome = folder / made.name, "refused"
        path.write_bytes(made.content)
        readers: list[Callable[[], object]] = [
            lambda: read_items(path, made.columns, forms=made.forms),
            lambda: read_lemmas(path, made.columns),
            lambda: read_bundles(str(path), made.columns.labels.to_features),
            lambda: Labels.read(path),
        ]
        for read in readers:
            try:
                read()
                outcome = "used"
            except ReinflectError as error:
                refusal(error)
        return outcome

    yield attempt


@cache
def good_workbook(number: int) -> bytes:
    """One of a few workbooks with cells of every kind."""
    import datetime

    import openpyxl

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


def workbook(rng: Random) -> TextFile:
    """An XLSX file with a changed byte, or with something changed in the XML within, and whole around it."""
    raw, columns = good_workbook(rng.randrange(40)), rng.choice(NAMED) if rng.random() < 0.2 else COLUMNS_2017
    how = rng.randrange(10)
    if how < 2:
        raw = rng.choice(texts.OF_BYTES[:3])(rng, raw)
    elif how < 9:
        raw = _rezipped(rng, raw)
    return TextFile(raw, columns, _forms(rng), "items.xlsx")


def _rezipped(rng: Random, raw: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as book, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as changed:
        names = book.namelist()
        chosen = rng.choice(names if rng.random() < 0.4 else ["xl/worksheets/sheet1.xml"])
        for name in names:
            content = book.read(name)
            if name == chosen:
                content = _changed_xml(rng, content.decode()).encode("utf-8", "surrogatepass")
                if rng.random() < 0.1:
                    continue
            changed.writestr(name if name != chosen or rng.random() < 0.97 else f"../{name}", content)
    return made.getvalue()


def _changed_xml(rng: Random, xml: str) -> str:
    swaps = (
        *(('t="s"', 't="n"'), ('t="inlineStr"', 't="s"'), ("<v>", "<v>9"), ("<v>", "<v>-"), ("<v>", "<v>1e999")),
        *(("A1", "XFD1048576"), ("A1", "A0"), ("B2", "ZZZZ9"), ('r="1"', 'r="1048576"'), ('r="2"', 'r="999999999999"')),
        *(
            ("<c ", "<c s='99999' "),
            ("<is>", "<is><r>"),
            ("</row>", ""),
            ('"', "'"),
            ("sheet1", "sheet9"),
            ("xml", "x"),
        ),
        ("<?xml", '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]><?xml'),
    )
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.6:
            old, new = rng.choice(swaps)
            xml = xml.replace(old, new, rng.choice([-1, 1]))
        else:
            xml = rng.choice(texts.OF_TEXT[:7])(rng, xml)
    return xml


def cell_stream(rng: Random) -> TextFile:
    """An XLSX file whose rows, cells and shared strings come as no program writes them, or far too many of them."""
    strings = ["lemma", "form", "features", "gehen", "ging", "V;PST"]
    many = rng.choice([0] * 12 + [20_000, 200_000])
    flood = rng.choice(["<c/>", '<c r="A1"/>', '<c t="s"><v>0</v></c>', "<c><v>1</v></c>", "</row><row>"]) * many
    rows = []
    for number in range(1, rng.randrange(3, 6)):
        cells = []
        for column, letter in enumerate("ABC"):
            place, value, kind = f' r="{letter}{number}"', str(column + 3 * (number > 1)), "s"
            if rng.random() < 0.06:
                place = rng.choice(["", ' r="A1"', f' r="{letter}1048577"', ' r="XFE1"', ' r="1A"', ' r="a1"'])
            if rng.random() < 0.06:
                value = rng.choice(["6", "-1", "x", "", "9" * 40, "1e400", "NaN"])
            if rng.random() < 0.06:
                kind = rng.choice(["n", "b", "e", "str", "inlineStr", "zz", ""])
            inside = f"<is><t>{strings[column]}</t></is>" if kind == "inlineStr" else f"<v>{value}</v>"
            cells.append(f'<c{place} t="{kind}">{inside}</c>')
        mark = rng.choice([f' r="{number}"'] * 20 + ["", ' r="0"', ' r="1048577"', ' r="x"', ' r="1"'])
        rows.append(f"<row{mark}>{''.join(cells)}</row>")
    rows.insert(rng.randrange(len(rows) + 1), f"<row>{flood}</row>" if many else "")
    merged = rng.choice([""] * 9 + ["A1:B2", "A1:XFD1048576", "B2:A1", "A1", "A1:", "ZZZZ1:A9"])
    ranges = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' * rng.choice([1, 1, 1000])
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = f"<worksheet {space}><sheetData>{''.join(rows)}</sheetData>{ranges if merged else ''}</worksheet>"
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings) * rng.choice([1] * 20 + [50_000])
    count = rng.choice([6, 6, 6, 0, -1, 10**12])
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good_workbook(1))) as book, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        parts = {name: book.read(name).decode() for name in book.namelist()}
        parts["xl/worksheets/sheet1.xml"] = sheet
        parts["xl/sharedStrings.xml"] = f'<sst {space} count="{count}" uniqueCount="{count}">{shared}</sst>'
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
        known = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace("</Types>", known)
        for name, text in parts.items():
            new.writestr(name, text)
    return TextFile(made.getvalue(), COLUMNS_2017, _forms(rng), "items.xlsx")


@contextmanager
def _reading_workbooks(folder: Path) -> Iterator[Attempt]:
    def attempt(made: TextFile) -> str:
        path = folder / made.name
        path.write_bytes(made.content)
        notes: list[str] = []
        try:
            items = read_items(path, made.columns, forms=made.forms, note=notes.append)
            for note in notes:
                assert note.isprintable(), note
            write_items(folder / "again.xlsx", items, COLUMNS_2017)
            assert _plain(read_items(folder / "again.xlsx", forms=made.forms)) == _plain(items)
        except OutputError as error:
            refusal(error)
            return "used"
        except ReinflectError as error:
            return refusal(error)
        return "used"

    yield attempt


TEXTS = (
    Kind("items", 40_000, item_file, _reading),
    Kind("scores", 10_000, pair_of_files, _scoring),
    Kind("corrections", 10_000, pair_of_files, _correcting),
    Kind("labels", 10_000, labels_file, _labelling),
    Kind("csv", 20_000, sheet_file, _reading),
    Kind("lemmas", 6_000, list_file, _listing),
    Kind("features", 4_000, bundles_file, _bundling),
)
"""Small files, a hundred thousand of them."""
MORE = (
    Kind("long", 200, long_file, _reading_anything),
    Kind("xlsx", 2_000, workbook, _reading_workbooks),
    Kind("cells", 500, cell_stream, _reading_workbooks),
)
