"""Spreadsheets: what is written can be read again, and what cannot be read is named with its place."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import COLUMNS_2017, COLUMNS_2023, Columns, Item, read_items, write_items
from reinflect.data.labels import Labels
from reinflect.data.sheet_file import NUMBER, letters_of, write_rows
from reinflect.data.sheets import sheet_bundles
from reinflect.errors import InputError, OutputError

Reinflect = Callable[..., Result]
Fields = list[tuple[str, str, str]]

GO: Fields = [("gehen", "V;PST", "ging"), ("sehen", "V;PST", "sah")]
LABELS = Labels((("past", "V;PST"), ("3sg", "V;PRS;3;SG")))


def fields(items: Sequence[Item]) -> Fields:
    return [(item.lemma, item.features.spelling, item.form) for item in items]


def items_of(rows: Fields) -> list[Item]:
    return [Item(lemma, Bundle(features), form) for lemma, features, form in rows]


def csv_file(folder: Path, text: str | bytes, name: str = "verbs.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def workbook(folder: Path, *sheets: Sequence[Sequence[Any]], name: str = "verbs.xlsx") -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet{number}")
        for row in rows:
            sheet.append(row)
    book.save(folder / name)
    return folder / name


letter = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")
printed = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
bundle_names = st.sampled_from(["V;PST", "V;PRS;3;SG", "V; PST", "N", "1SG", "= 1", "Mai 1"])


def some_items(letters: st.SearchStrategy[str]) -> st.SearchStrategy[Fields]:
    word = st.text(letters, min_size=1, max_size=6) | st.sampled_from(
        ["=1+1", "1", "0.5", "TRUE", "#N/A", " a ", '"', "''"]
    )
    return st.lists(st.tuples(word, bundle_names, word), min_size=1, max_size=6)


@settings(max_examples=60)
@given(some_items(letter), st.sampled_from([COLUMNS_2017, COLUMNS_2023]))
def test_a_csv_file_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Fields, columns: Columns
) -> None:
    path = tmp_path_factory.mktemp("csv") / "items.csv"
    write_items(path, items_of(rows), columns)
    assert fields(read_items(path, replace(columns, rules=AS_WRITTEN))) == rows


@settings(max_examples=40)
@given(some_items(printed), st.sampled_from([COLUMNS_2017, COLUMNS_2023]))
def test_an_xlsx_file_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Fields, columns: Columns
) -> None:
    path = tmp_path_factory.mktemp("xlsx") / "items.XLSX"
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


@pytest.mark.parametrize(
    "text",
    [
        "lemma,form,features\ngehen,ging,V;PST\nsehen,sah,V;PST\n",
        "\ufefflemma,form,features\r\ngehen,ging,V;PST\r\n\r\nsehen,sah,V;PST\r\n",
        'lemma;form;features\ngehen;ging;"V;PST"\nsehen;sah;"V;PST"\n',
        "lemma\tform\tfeatures\ngehen\tging\tV;PST\nsehen\tsah\tV;PST\n",
        'Features,LEMMA,gloss,Word-Form\nV;PST,gehen,"go, past",ging\nV;PST,sehen,see,sah\n',
        "MSD,citation form,inflected_form,,,\nV;PST,gehen,ging\nV;PST,sehen,sah,,,\n",
        "gehen,ging,V;PST\nsehen,sah,V;PST\n",
        '"gehen";"ging";"V;PST"\n"sehen";"sah";"V;PST"\n',
        "lemma,V;PST\ngehen,ging\nsehen,sah\n",
        'lemma;"V;PST"\ngehen;ging\nsehen;sah\n',
        "notes,lemma,V;PST,V;PRS\nirregular,gehen,ging,\n,sehen,sah\n",
        'lemma,features,notes,form\ngehen,V;PST,"two\nlines",ging\nsehen,V;PST,,sah\n',
        "gehen,ging,V;PST,\nsehen,sah,V;PST,\n",
    ],
)
def test_all_these_are_the_same_items(tmp_path: Path, text: str) -> None:
    assert fields(read_items(csv_file(tmp_path, text))) == GO


def test_columns_can_be_called_anything(tmp_path: Path) -> None:
    long = csv_file(tmp_path, "Verb,Gloss,Tags,What they say\ngehen,go,V;PST,ging\nsehen,see,V;PST,sah\n", "a.csv")
    assert fields(read_items(long, Columns.parse("lemma=Verb,form=What they say,features=Tags"))) == GO
    wide = csv_file(tmp_path, "Verb,V;PST\ngehen,ging\nsehen,sah\n", "b.csv")
    assert fields(read_items(wide, Columns.parse("lemma=Verb"))) == GO


def test_an_empty_cell_of_a_wide_sheet_is_ignored_or_covered(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "lemma,V;PST,V;PRS\ngehen,ging,\nsehen,,sehe\n")
    given_ones = [("gehen", "V;PST", "ging"), ("sehen", "V;PRS", "sehe")]
    assert fields(read_items(path)) == given_ones
    asked = fields(read_items(path, forms="optional"))
    assert sorted(asked) == sorted([*given_ones, ("gehen", "V;PRS", ""), ("sehen", "V;PST", "")])


def test_headings_are_labels_whatever_their_case(tmp_path: Path) -> None:
    path, notes = csv_file(tmp_path, "lemma,PAST,present,V;INF\ngehen,ging,geht,gehen\n"), list[str]()
    labels = Labels((("Past", "V;PST"), ("present", "V;PRS")))
    items = read_items(path, Columns(COLUMNS_2017.order, labels=labels), note=notes.append)
    assert [(item.features.spelling, item.form) for item in items] == [
        ("V;PST", "ging"),
        ("V;PRS", "geht"),
        ("V;INF", "gehen"),
    ]
    assert notes == [f"note: {path}: taking 'PAST' for labels, whatever the case"]
    assert sheet_bundles(path, Columns(COLUMNS_2017.order, labels=labels)) == ("V;PST", "V;PRS", "V;INF")


def test_labels_name_the_columns_of_a_wide_sheet_and_other_columns_are_ignored(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "lemma,past,region,N;PL\ngehen,ging,north,\nHaus,,south,Häuser\n")
    notes: list[str] = []
    items = read_items(path, Columns(COLUMNS_2017.order, labels=LABELS), note=notes.append)
    assert fields(items) == [("gehen", "V;PST", "ging"), ("Haus", "N;PL", "Häuser")]
    assert notes == [f"note: {path}: ignored columns (no label): region"]


def test_rows_are_numbered_as_in_the_spreadsheet(tmp_path: Path) -> None:
    path = workbook(tmp_path, [[None], ["lemma", "form", "features"], [], ["gehen", "ging", "V;PST"]])
    assert [item.line for item in read_items(path)] == [4]


def test_blanks_are_kept_and_named(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "lemma,form,features\ngehen,ging ,V;PST\n sehen,sah\u00a0,V;PST\n")
    notes: list[str] = []
    items = read_items(path, note=notes.append)
    assert fields(items) == [("gehen", "V;PST", "ging "), (" sehen", "V;PST", "sah\u00a0")]
    place = f"{path}, row 2, column B ('form')"
    assert notes == [f"note: 3 fields begin or end with a blank, which is kept as a letter ({place}: 'ging ')"]


def test_only_the_first_sheet_that_is_not_empty_is_read(tmp_path: Path) -> None:
    rows = [["lemma", "V;PST"], ["gehen", "ging"], ["sehen", "sah"]]
    notes: list[str] = []
    assert fields(read_items(workbook(tmp_path, [], rows, [["notes"]]), note=notes.append)) == GO
    assert notes == [
        f"note: {tmp_path}/verbs.xlsx, sheet 'Sheet2': only this first sheet was read; ignored sheets: 'Sheet3'"
    ]


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
    path = workbook(tmp_path, [["notes", "lemma", "form", "features"], [value, "gehen", value, "V;PST"]])
    with pytest.raises(InputError) as caught:
        read_items(path)
    assert str(caught.value).startswith(f"{path}, sheet 'Sheet1', row 2, column C ('form'): found {found}")
    fine = workbook(tmp_path, [["notes", "lemma", "form", "features"], [value, "gehen", "ging", "V;PST"]])
    assert fields(read_items(fine)) == GO[:1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "verbs.csv: found no items"),
        ("lemma,form,features\n", "verbs.csv: found no items"),
        ("Verb,Says,Tags\ngehen,ging,PST\n", "row 1: found 'Verb', 'Says', 'Tags' in the first row, and cannot tell"),
        ("lemma,form\ngehen,ging\n", "row 1: found 'lemma', 'form' in the first row, and cannot tell"),
        ("lemma,features\ngehen,V\n", "found no column of forms among 'lemma', 'features'; name it form"),
        ("lemma,headword,form,features\na,b,c,d\n", "found 2 columns that could be the lemma: 'lemma', 'headword'"),
        ("lemma,form,features\n,ging,V\n", "row 2, column A ('lemma'): found an empty lemma"),
        ("lemma,form,features\ngehen,,V\n", "found no items with a form (such as row 2, column B ('form'): '')"),
        ("lemma,form,features\ngehen,ging,V,x\n", "row 2: found 4 columns, but 3 in the first row; put a field"),
        ('lemma,form,features\ngehen,"ging,V\n', "this is not a CSV file (unexpected end of data)"),
        ('lemma,form,features\ngehen,"gi\nng",V\n', "row 2, column B ('form'): found a tab or line end in 'gi\\nng'"),
        ("lemma,V;PST,\ngehen,ging,ging\n", "row 2, column C: found text in a column without a name"),
        ("lemma,gloss\ngehen,go\n", "found no column of features and no column of forms among 'lemma', 'gloss'"),
        (b"lemma,form,features\ngehen,g\xe4ng,V\n", "line 2: found the byte 0xE4, which is not UTF-8"),
        ("a,b\tc,d\te\n" * 2, "cannot tell which of comma, semicolon, tab separates the columns"),
    ],
)
def test_a_sheet_that_cannot_be_used_says_where_and_why(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_items(csv_file(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("lemma=Verb,form=Says", "found the columns 'lemma=Verb,form=Says'"),
        ("form=Says,features=Tags", "found the columns"),
        ("lemma=Verb,Tags", "found the columns"),
        ("lemma=Verb,lemma=Verb", "found the columns"),
        ("lemma=Verb,form=Said,features=Tags", "found no column called 'Said'; the columns are 'Verb', 'Says', 'Tags'"),
    ],
)
def test_names_of_columns_that_are_not_there(tmp_path: Path, columns: str, message: str) -> None:
    path = csv_file(tmp_path, "Verb,Says,Tags\ngehen,ging,V;PST\n")
    with pytest.raises(InputError) as caught:
        read_items(path, Columns.parse(columns))
    assert message in str(caught.value)


def test_names_of_columns_are_for_spreadsheets_only(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "gehen\tging\tV;PST\n", "verbs.tsv")
    with pytest.raises(InputError, match="found names of columns"):
        read_items(path, Columns.parse("lemma=Verb,form=Says,features=Tags"))


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
    ],
)
def test_a_damaged_xlsx_file_is_one_line_in_words(tmp_path: Path, raw: bytes, message: str) -> None:
    path = csv_file(tmp_path, raw, "verbs.xlsx")
    with pytest.raises(InputError) as caught:
        read_items(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "Error" not in str(caught.value)
    assert "BadZip" not in str(caught.value)


def test_a_truncated_workbook_is_not_valid(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["lemma", "V;PST"], ["gehen", "ging"]])
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"not a valid XLSX file \(truncated"):
        read_items(path)


def test_without_openpyxl_there_is_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, [["lemma", "V;PST"], ["gehen", "ging"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for use in (lambda: read_items(path), lambda: write_items(tmp_path / "new.xlsx", items_of(GO))):
        with pytest.raises(InputError, match=r"pip install 'reinflect\[sheets\]'"):
            use()
    assert not (tmp_path / "new.xlsx").exists()


@pytest.mark.parametrize(
    ("name", "item", "wide", "message"),
    [
        ("x.xlsx", ("a\x01", "V", "b"), False, "an XLSX file cannot hold 'a\\x01'"),
        ("x.xlsx", ("a", "V", "b" * 40_000), False, "an XLSX file cannot hold"),
        ("x.csv", ("a", "form", "b"), True, "the features 'form' cannot be the name of a column"),
        ("x.csv", ("a", "", "b"), True, "the features '' cannot be the name of a column"),
        ("x.tsv", ("a", "V", "b"), True, "only a spreadsheet can be wide"),
    ],
    ids=["control character", "long", "a name of ours", "no name", "tab-separated"],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, name: str, item: tuple[str, str, str], wide: bool, message: str
) -> None:
    with pytest.raises(OutputError) as caught:
        write_items(tmp_path / name, items_of([item]), wide=wide)
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_texts_stay_texts_in_a_workbook_and_numbers_numbers(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.xlsx", ["form", "confidence"], [["=1+1", 0.25], ["", 1.0]])
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    (form, confidence), (empty, _) = sheet.iter_rows(min_row=2)
    assert (form.value, form.data_type, form.number_format) == ("=1+1", "s", "@")
    assert (confidence.value, confidence.data_type) == (0.25, "n")
    assert empty.number_format == "@"
    assert sheet.freeze_panes == "A2"


def test_columns_have_the_letters_of_spreadsheets() -> None:
    from openpyxl.utils import get_column_letter

    assert [letters_of(column) for column in range(800)] == [get_column_letter(column + 1) for column in range(800)]


def test_commands_read_and_write_spreadsheets_by_their_ending(tmp_path: Path, reinflect: Reinflect) -> None:
    verbs, guesses = tmp_path / "verbs.xlsx", tmp_path / "guesses.csv"
    assert reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", verbs).exit_code == 0
    wide = tmp_path / "wide.csv"
    assert reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", wide, "--wide").exit_code == 0
    assert sorted(fields(read_items(verbs))) == sorted(fields(read_items(wide)))
    result = reinflect("baseline", "--train", verbs, "--input", wide, "--output", guesses, "--wide")
    assert result.exit_code == 0, result.output
    result = reinflect("evaluate", wide, guesses)
    assert result.exit_code == 0, result.output
    assert result.stdout.split()[5] == "100"
    assert "\n|" in reinflect("align", guesses.with_name("verbs.xlsx"), "--limit", 1, "--method", "naive").stdout


def test_commands_take_labels(tmp_path: Path, reinflect: Reinflect) -> None:
    labels = csv_file(tmp_path, "past\tV;PST\n", "labels.tsv")
    train = csv_file(tmp_path, "lemma,past\nlachen,lachte\nsagen,sagte\n", "train.csv")
    asked = csv_file(tmp_path, "fragen\t\tpast\n", "asked.tsv")
    result = reinflect("baseline", "--train", train, "--input", asked, "--labels", labels)
    assert result.stdout == "fragen\tfragte\tpast\n", result.output
    assert "there is no such file" in reinflect("baseline", "--train", train, "--input", asked, "--labels", "no").stderr


@pytest.mark.parametrize("text", ["\t\t", ";;\n;", ",\t", "\n\t\n"])
def test_a_file_of_separators_only_has_no_items(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read_items(csv_file(tmp_path, text), forms="optional")


def test_a_cell_that_is_far_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 2, column B \('form'\): found 20,000 characters in a cell"):
        read_items(csv_file(tmp_path, f"lemma,form,features\na,{'b' * 20_000},V\n"))


def test_text_in_a_column_without_a_name_is_reported_with_its_first_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 3, column C: found text in a column without a name"):
        read_items(csv_file(tmp_path, "lemma,V;PST,,x\na,b\na,b,c\na,b,d\n"))
