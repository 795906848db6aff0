"""Spreadsheets: what people write is read or refused with its place, and what is written can be read again."""

import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter

from reinflect.data.features import Bundle, Labels
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import COLUMNS_2017, COLUMNS_2023, COLUMNS_AUTO, Columns, Item, read_items, write_items
from reinflect.data.sheet_file import NUMBER, Row, Sheet, letters_of, write_rows
from reinflect.data.sheets import sheet_bundles
from reinflect.data.workbook import _fill_merged
from reinflect.errors import InputError, OutputError
from tests.cli import Reinflect
from tests.data import Fields, fields, written

Rows = Sequence[Sequence[Any]]

GO: Fields = [("gehen", "V;PST", "ging"), ("sehen", "V;PST", "sah")]
LABELS = Labels((("past", "V;PST"), ("3sg", "V;PRS;3;SG")))
PARADIGMS: Fields = [
    (lemma, f"{tense};{person}", f"{lemma}{number}{person}")
    for lemma in ("gehen", "sehen")
    for number, tense in enumerate(["PRS", "PST"])
    for person in ("1SG", "2SG")
]
CELLS = [[lemma, *(form for word, _, form in PARADIGMS if word == lemma)] for lemma in ("gehen", "sehen")]
VERB, WHOLLY_OTHER = (
    f"taking column '{name}' for the lemma (--columns lemma=… chooses another)" for name in ("Verb", "Ganz anders")
)
NO_FORMS, ROW_3 = "ignored columns (not inflected forms)", "using row 3 as headings"


def items_of(rows: Fields) -> list[Item]:
    return [Item(lemma, Bundle(features), form) for lemma, features, form in rows]


def csv_file(folder: Path, text: str | bytes, name: str = "verbs.csv") -> Path:
    return written(folder / name, text)


def workbook(folder: Path, *sheets: Rows, merged: Sequence[str] = (), name: str = "verbs.xlsx") -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet{number}")
        for row in rows:
            sheet.append(row)
        for cells in merged:
            sheet.merge_cells(cells)
    book.save(folder / name)
    return folder / name


def as_workbook(folder: Path, text: str) -> Path:
    """A workbook with the cells of a CSV file."""
    separator = max("\t;,", key=text.splitlines()[-1].count)
    return workbook(folder, [*csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=separator)])


def read(path: Path, columns: Columns = COLUMNS_AUTO, **options: Any) -> tuple[Fields, list[str]]:
    """The items, and the notes without the place that they begin with."""
    notes: list[str] = []
    items = read_items(path, columns, note=notes.append, **options)
    return fields(items), [note.partition(": ")[2].partition(": ")[2] for note in notes]


# What is written can be read again

letter = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")
printed = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
bundle_names = st.sampled_from(["V;PST", "V;PRS;3;SG", "V; PST", "N", "1SG", "= 1", "Mai 1"])


def some_items(letters: st.SearchStrategy[str]) -> st.SearchStrategy[Fields]:
    odd = ["=1+1", "1", "0.5", "TRUE", "#N/A", " a ", '"', "''"]
    word = st.text(letters, min_size=1, max_size=6) | st.sampled_from(odd)
    return st.lists(st.tuples(word, bundle_names, word), min_size=1, max_size=6)


@pytest.mark.parametrize("name", ["items.csv", "items.XLSX"])
@settings(max_examples=50)
@given(data=st.data(), columns=st.sampled_from([COLUMNS_2017, COLUMNS_2023]))
def test_a_sheet_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject, columns: Columns
) -> None:
    rows = data.draw(some_items(letter if name == "items.csv" else printed))
    path = tmp_path_factory.mktemp("sheet") / name
    write_items(path, items_of(rows), columns)
    assert fields(read_items(path, replace(columns, rules=AS_WRITTEN))) == rows


@settings(max_examples=60)
@given(some_items(printed), st.sampled_from(["w.csv", "w.xlsx"]), st.booleans())
def test_a_wide_sheet_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Fields, name: str, labelled: bool
) -> None:
    columns = Columns(COLUMNS_2017.order, labels=LABELS if labelled else Labels(), rules=AS_WRITTEN)
    rows = [row for row in rows if not labelled or row[1] in ("V;PST", "V;PRS;3;SG")] or GO
    if not labelled:  # a column of numbers is not one of forms, unless its name is clear
        rows = [row for row in rows if ";" in row[1] or not NUMBER.fullmatch(row[2])] or GO
    path = tmp_path_factory.mktemp("wide") / name
    write_items(path, items_of(rows), columns, wide=True)
    assert sorted(fields(read_items(path, columns))) == sorted(rows)


def test_texts_stay_texts_in_a_workbook_and_numbers_numbers(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.xlsx", ["form", "confidence"], [["=1+1", 0.25], ["", 1.0]])
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    (form, confidence), (empty, _) = sheet.iter_rows(min_row=2)
    assert (form.value, form.data_type, form.number_format) == ("=1+1", "s", "@")
    assert (confidence.value, confidence.data_type) == (0.25, "n")
    assert empty.number_format == "@"
    assert sheet.freeze_panes == "A2"
    assert sheet["A1"].font.bold


@pytest.mark.parametrize(
    ("name", "item", "wide", "message"),
    [
        ("x.xlsx", ("a\x01", "V", "b"), False, "an XLSX file cannot hold 'a\\x01'"),
        ("x.xlsx", ("a", "V", "b" * 40_000), False, "an XLSX file cannot hold"),
        ("x.csv", ("a", "form", "b"), True, "the features 'form' cannot be the name of a column"),
        ("x.csv", ("a", "", "b"), True, "the features '' cannot be the name of a column"),
        ("x.tsv", ("a", "V", "b"), True, "only a spreadsheet can be wide"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, name: str, item: tuple[str, str, str], wide: bool, message: str
) -> None:
    with pytest.raises(OutputError, match=re.escape(message)):
        write_items(tmp_path / name, items_of([item]), wide=wide)
    assert not list(tmp_path.iterdir())


def test_columns_have_the_letters_of_spreadsheets() -> None:
    assert [letters_of(column) for column in range(800)] == [get_column_letter(column + 1) for column in range(800)]


# What people write

SAME = [
    ("lemma,form,features\ngehen,ging,V;PST\nsehen,sah,V;PST\n", ""),
    ("\ufefflemma,form,features\r\ngehen,ging,V;PST\r\n\r\nsehen,sah,V;PST\r\n", ""),
    ('lemma;form;features\ngehen;ging;"V;PST"\nsehen;sah;"V;PST"\n', ""),
    ("lemma\tform\tfeatures\ngehen\tging\tV;PST\nsehen\tsah\tV;PST\n", ""),
    ('Features,LEMMA,gloss,Word-Form\nV;PST,gehen,"go, past",ging\nV;PST,sehen,see,sah\n', "ignored columns: gloss"),
    ("MSD,citation form,inflected_form,,,\nV;PST,gehen,ging\nV;PST,sehen,sah,,,\n", ""),
    ("gehen,ging,V;PST\nsehen,sah,V;PST\n", ""),
    ('"gehen";"ging";"V;PST"\n"sehen";"sah";"V;PST"\n', ""),
    ("lemma,V;PST\ngehen,ging\nsehen,sah\n", ""),
    ('lemma;"V;PST"\ngehen;ging\nsehen;sah\n', ""),
    ("notes,lemma,V;PST,V;PRS\nirregular,gehen,ging,\n,sehen,sah\n", "ignored columns (not inflected forms): notes"),
    ('lemma,features,notes,form\ngehen,V;PST,"two\nlines",ging\nsehen,V;PST,,sah\n', "ignored columns: notes"),
    ("gehen,ging,V;PST,\nsehen,sah,V;PST,\n", ""),
    # Titles, glosses, numbers
    ("German verbs\n\nNo.,lemma,Gloss,V;PST\n1,gehen,go,ging\n2,sehen,see,sah\n", f"{ROW_3}; {NO_FORMS}: No., Gloss"),
    (
        'Title\nlemma;form;features;Page\ngehen;ging;"V;PST";12\nsehen;sah;"V;PST";13\n',
        "using row 2 as headings; ignored columns: Page",
    ),
    ('German verbs,,\n"of 2019, by me",,\nlemma,form,features\ngehen,ging,V;PST\nsehen,sah,V;PST\n', ROW_3),
    ("Verb,Gloss (E),form,features\ngehen,go,ging,V;PST\nsehen,see,sah,V;PST\n", f"{VERB}; ignored columns: Gloss (E)"),
    ("Ganz anders,Frequency,V;PST\ngehen,12,ging\nsehen,3,sah\n", f"{WHOLLY_OTHER}; {NO_FORMS}: Frequency"),
    ("My list,,\n,,\nNo.,Verb,V;PST\n1,gehen,ging\n2,sehen,sah\n", f"{ROW_3}; {VERB}; {NO_FORMS}: No."),
    (
        "lemma,Rang,V;PST,English meaning,Anmerkung\ngehen,12,ging,go,\nsehen,3,sah,see,x\n",
        f"{NO_FORMS}: Rang, English meaning, Anmerkung",
    ),
]

NAMED = "lemma=Verb,form=Says,features=Tags"
CALLED = [
    (NAMED, "Verb,Gloss,Tags,Says\ngehen,go,V;PST,ging\nsehen,see,V;PST,sah\n", "ignored columns: Gloss"),
    ("lemma=Verb", "Verb,V;PST\ngehen,ging\nsehen,sah\n", ""),
    ("lemma=Wort", "T,,\n,,\nWort,Nr,V;PST\ngehen,x,ging\nsehen,y,sah\n", f"{ROW_3}; {NO_FORMS}: Nr"),
]


@pytest.mark.parametrize(("columns", "text", "note"), [*(("auto", *same) for same in SAME), *CALLED])
def test_all_these_are_the_same_items(tmp_path: Path, columns: str, text: str, note: str) -> None:
    """In a CSV file and in a workbook; one line says what is around them."""
    for path in (csv_file(tmp_path, text), as_workbook(tmp_path, text)):
        assert read(path, Columns.parse(columns)) == (GO, [note] if note else []), path.name


words = st.text(st.characters(categories=["Ll"]), min_size=1, max_size=5)


@settings(max_examples=60)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.integers(0, 5), st.sampled_from(["PST", "V;PST"]))
def test_titles_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], titles: int, features: str
) -> None:
    folder = tmp_path_factory.mktemp("titles")
    rows = "".join(f"{lemma},{form},{features}\n" for lemma, form in pairs)
    for heading, body in (("lemma,form,features\n", rows), (f"lemma,{features}\n", rows.replace(f",{features}", ""))):
        plain = read(csv_file(folder, heading + body), COLUMNS_2017)
        assert plain == ([(lemma, features, form) for lemma, form in pairs], [])
        note = [f"using row {titles + 1} as headings"] if titles else []
        assert read(csv_file(folder, "Some title\n" * titles + heading + body), COLUMNS_2017) == (plain[0], note)


@pytest.mark.parametrize(
    ("text", "bundles", "items", "note"),
    [
        (
            "lemma,PAST,3sg,V;INF\ngehen,ging,geht,gehen\n",
            "V;PST V;PRS;3;SG V;INF",
            [("gehen", "V;PST", "ging"), ("gehen", "V;PRS;3;SG", "geht"), ("gehen", "V;INF", "gehen")],
            "taking 'PAST' for labels, whatever the case",
        ),
        (
            "lemma,past,region,N;PL\ngehen,ging,north,\nHaus,,south,Häuser\n",
            "V;PST N;PL",
            [("gehen", "V;PST", "ging"), ("Haus", "N;PL", "Häuser")],
            "ignored columns (no label): region",
        ),
        ("Verb,past,3sg,V;INF\ngehen,ging,,\nsehen,sah,,\n", "V;PST V;PRS;3;SG V;INF", GO, VERB),
    ],
)
def test_labels_name_the_columns_of_a_wide_sheet(
    tmp_path: Path, text: str, bundles: str, items: Fields, note: str
) -> None:
    columns = replace(COLUMNS_AUTO, labels=LABELS)
    for path in (csv_file(tmp_path, text), as_workbook(tmp_path, text)):
        assert read(path, columns) == (items, [note])
        assert sheet_bundles(path, columns) == tuple(bundles.split())


def test_blanks_are_kept_and_named(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "lemma,form,features\ngehen,ging ,V;PST\n sehen,sah\u00a0,V;PST\n")
    notes: list[str] = []
    items = fields(read_items(path, note=notes.append))
    assert items == [("gehen", "V;PST", "ging "), (" sehen", "V;PST", "sah\u00a0")]
    example = f"{path}, row 2, column B ('form'): 'ging '"
    assert notes == [f"note: 3 fields begin or end with a blank, which is kept as a letter ({example})"]


def test_only_the_first_sheet_that_is_not_empty_is_read(tmp_path: Path) -> None:
    rows: Rows = [[None], ["lemma", "V;PST"], [], ["gehen", "ging"], ["sehen", "sah"]]
    notes: list[str] = []
    items = read_items(workbook(tmp_path, [], rows, [["notes"]]), note=notes.append)
    assert fields(items) == GO
    assert [item.line for item in items] == [4, 5]  # as the spreadsheet numbers them
    path = f"{tmp_path}/verbs.xlsx"
    assert notes == [f"note: {path}, sheet 'Sheet2': only this first sheet was read; ignored sheets: 'Sheet3'"]


def test_numbers_of_a_workbook_are_no_forms(tmp_path: Path) -> None:
    headings = ["Nr.", "lemma", "tokens", "V;PST"]
    rows: Rows = [["Verbs of 2019"], [], headings, [1, "gehen", 12, "ging"], [2, "sehen", 3.5, "sah"]]
    assert read(workbook(tmp_path, rows, merged=["A1:D1"])) == (GO, [f"{ROW_3}; {NO_FORMS}: Nr., tokens"])
    mixed = workbook(tmp_path, [["lemma", "past"], ["gehen", "ging"], ["sehen", 3]])
    with pytest.raises(InputError, match=r"row 3, column B \('past'\): found the number 3"):
        read_items(mixed)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (3, "the number 3; format the column as text"),
        (0.5, "the number 0.5"),
        (True, "the truth value TRUE"),
        (date(2024, 5, 1), "the date or time 2024-05-01"),
        ('=A2&"te"', "the formula '=A2&\"te\"'; copy the cell and paste it back as values only"),
        ("#N/A", "the error #N/A"),
    ],
)
def test_what_is_not_text_is_named_with_its_place(tmp_path: Path, value: object, found: str) -> None:
    headings = ["notes", "lemma", "form", "features"]
    path = workbook(tmp_path, [headings, [value, "gehen", value, "V;PST"]])
    place = f"{path}, sheet 'Sheet1', row 2, column C ('form')"
    with pytest.raises(InputError, match="^" + re.escape(f"{place}: found {found}")):
        read_items(path)
    assert read(workbook(tmp_path, [headings, [value, "gehen", "ging", "V;PST"]]))[0] == GO[:1]


def test_merged_cells_count_for_all_their_rows_and_columns(tmp_path: Path) -> None:
    items = [("gehen", "V;PRS", "gehe"), GO[0], ("sehen", "V;PRS", "sehe"), GO[1]]
    rows: Rows = [["lemma", "features", "form"], items[0], (None, *items[1][1:]), items[2], (None, *items[3][1:])]
    note = "merged cells (A2:A3, A4:A5) count for all their rows and columns"
    assert read(workbook(tmp_path, rows, merged=["A2:A3", "A4:A5"])) == (items, [note])
    wide = workbook(tmp_path, [["lemma", "V;1", "V;3"], ["gehen", "ging", None]], merged=["B2:C2"])
    assert read(wide)[0] == [("gehen", "V;1", "ging"), ("gehen", "V;3", "ging")]


def test_absurd_merged_cells_are_refused_or_harmless() -> None:
    def sheet() -> Sheet:
        return Sheet("verbs.xlsx", "Verbs", rows=[Row(number, ["x", "y"], 2) for number in range(1, 400)])

    tall = sheet()
    _fill_merged(tall, ["A2:A1048576"])
    assert len(tall.rows) == 399
    with pytest.raises(InputError, match="unmerge them"):
        _fill_merged(sheet(), ["B2:XFD1048576"])


@pytest.mark.parametrize("title", [0, 1])
@pytest.mark.parametrize("lemma_above", [True, False])
def test_headings_of_two_rows(tmp_path: Path, title: int, lemma_above: bool) -> None:
    upper = ["lemma" if lemma_above else "", "PRS", "", "PST", "", ""]
    lower = ["" if lemma_above else "lemma", "1SG", "2SG", "1SG", "2SG", "Gloss"]
    rows = [["A title"]] * title + [upper, lower, *([*row, "x"] for row in CELLS)]
    top = 1 + title
    using = f"using rows {top} and {top + 1} as headings (such as 'PRS;1SG')"
    path = csv_file(tmp_path, "".join(",".join(row) + "\n" for row in rows))
    assert read(path) == (PARADIGMS, [f"{using}; {NO_FORMS}: Gloss"])
    merged = [f"B{top}:C{top}", f"D{top}:E{top}", *([f"A{top}:A{top + 1}"] if lemma_above else [])]
    items, (note,) = read(workbook(tmp_path, [[cell or None for cell in row] for row in rows], merged=merged))
    assert items == PARADIGMS
    assert note.startswith(using)
    assert note.endswith(f"{NO_FORMS}: Gloss")


REFUSED = [
    ("", "verbs.csv: found no items"),
    ("lemma,form,features\n", "verbs.csv: found no items"),
    ("Verb,Says,Tags\ngehen,ging,PST\n", "row 1: found 'Verb', 'Says', 'Tags' in the first row, and cannot tell"),
    ("lemma,form\ngehen,ging\n", "row 1: found 'lemma', 'form' in the first row, and cannot tell"),
    ("lemma,features\ngehen,V\n", "found no column of forms among 'lemma', 'features'; name it form"),
    ("lemma,headword,form,features\na,b,c,d\n", "found 2 columns that could be the lemma: 'lemma', 'headword'"),
    ("T\nlemma,headword,V;PST\na,b,c\n", "row 2: found 2 columns that could be the lemma: 'lemma', 'headword'"),
    ("lemma,form,features\n,b,V\n", "row 2, column A ('lemma'): found an empty lemma; give every row a lemma (a CSV"),
    ("lemma,V;PST\ngehen,ging\n,sah\n", "row 3, column A ('lemma'): found an empty lemma"),
    ("lemma,form,features\ngehen,,V\n", "found no items with a form (such as row 2, column B ('form'): '')"),
    ("lemma,form,features\ngehen,ging,V,x\n", "row 2: found 4 columns, but 3 in the first row; put a field"),
    ("Title\nlemma,form,features\ngehen,ging,V,x\n", "row 3: found 4 columns, but 3 in row 2; put a field"),
    ('lemma,form,features\ngehen,"ging,V\n', "this is not a CSV file (unexpected end of data)"),
    ('lemma,form,features\ngehen,"gi\nng",V\n', "row 2, column B ('form'): found a tab or line end in 'gi\\nng'"),
    ("lemma,V;PST,\ngehen,ging,ging\n", "row 2, column C: found text in a column without a name"),
    ("lemma,V;PST,,x\na,b\na,b,c\na,b,d\n", "row 3, column C: found text in a column without a name"),
    ("lemma,gloss\ngehen,go\n", "found no column of features and no column of forms among 'lemma', 'gloss'"),
    (b"lemma,form,features\ngehen,g\xe4ng,V\n", "line 2: found the byte 0xE4, which is not UTF-8"),
    ("a,b\tc,d\te\n" * 2, "cannot tell which of comma, semicolon, tab separates the columns"),
    ("Title\nVerb,Says,Tags\ngehen,ging,PST\n", "row 2: found 'Verb', 'Says', 'Tags' in row 2, and cannot tell which"),
    ("Title\nA,B,V;PST\nx,gehen,ging\n", "row 2: found 'A', 'B', 'V;PST' in row 2, and cannot tell which"),
    ("gehen,V;PST\nsehen,V;PST\n", "and cannot tell which column is which; name them lemma, form and features"),
    (f"lemma,form,features\na,{'b' * 20_000},V\n", "row 2, column B ('form'): found 20,000 characters in a cell"),
    ("\t\t", "cannot tell which column is which"),
    (";;\n;", "cannot tell which column is which"),
    (",\t", "cannot tell which column is which"),
    ("\n\t\n", "cannot tell which column is which"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_sheet_that_cannot_be_used_says_where_and_why(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_items(csv_file(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "name", "message"),
    [
        *((few, "verbs.csv", f"found the columns '{few}'") for few in ("lemma=Verb,form=Says", "lemma=Verb,Tags")),
        ("form=Says,features=Tags", "verbs.csv", "found the columns"),
        ("lemma=Verb,lemma=Verb", "verbs.csv", "found the columns"),
        (NAMED.replace("Tags", "Nowhere"), "verbs.csv", "found no column called 'Nowhere'; the columns are 'Verb', '"),
        (NAMED, "verbs.tsv", "found names of columns"),
    ],
)
def test_names_of_columns_that_are_not_there(tmp_path: Path, columns: str, name: str, message: str) -> None:
    path = csv_file(tmp_path, "Verb,Says,Tags\ngehen,ging,V;PST\n", name)
    with pytest.raises(InputError, match=re.escape(message)):
        read_items(path, Columns.parse(columns))


@pytest.mark.parametrize("name", ["verbs.xls", "verbs.ods", "verbs.XLSM"])
def test_other_kinds_of_spreadsheets_are_refused_both_ways(tmp_path: Path, name: str) -> None:
    path = csv_file(tmp_path, "x", name)
    for use in (lambda: read_items(path), lambda: write_items(path, items_of(GO))):
        with pytest.raises(InputError, match=r"save it as \.xlsx or as \.csv"):
            use()
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not an XLSX file (it is empty); save it"),
        (b"lemma,form", "not an XLSX file, although its name ends in .xlsx; open it"),
        (b"PK\x03\x04 and then nothing", "not a valid XLSX file (truncated or damaged); open it"),
        (None, "not a valid XLSX file (truncated or damaged); open it"),
    ],
)
def test_a_damaged_xlsx_file_is_one_line_in_words(tmp_path: Path, raw: bytes | None, message: str) -> None:
    path = workbook(tmp_path, [["lemma", "V;PST"], ["gehen", "ging"]])
    path.write_bytes(path.read_bytes()[:-100] if raw is None else raw)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: {re.escape(message)}"):
        read_items(path)


def test_without_openpyxl_there_is_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, [["lemma", "V;PST"], ["gehen", "ging"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for use in (lambda: read_items(path), lambda: write_items(tmp_path / "new.xlsx", items_of(GO))):
        with pytest.raises(InputError, match=r"pip install 'reinflect\[sheets\]'"):
            use()
    assert not (tmp_path / "new.xlsx").exists()


def test_commands_take_labels(tmp_path: Path, reinflect: Reinflect) -> None:
    labels = csv_file(tmp_path, "past\tV;PST\n", "labels.tsv")
    train = csv_file(tmp_path, "lemma,past\nlachen,lachte\nsagen,sagte\n", "train.csv")
    queries = csv_file(tmp_path, "fragen\t\tpast\n", "queries.tsv")
    result = reinflect("baseline", "--train", train, "--input", queries, "--labels", labels)
    assert result.stdout == "fragen\tfragte\tpast\n", result.output
    result = reinflect("baseline", "--train", train, "--input", queries, "--labels", "no")
    assert "there is no such file" in result.stderr
