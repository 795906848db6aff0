"""Spreadsheets made for people: titles, glosses, numbers and merged cells are found out and said, or refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.data.items import COLUMNS_2017, Columns, read_items
from reinflect.data.labels import Labels
from reinflect.data.lexicon import read_lemmas
from reinflect.data.sheet_file import Row, Sheet, _unmerged
from reinflect.errors import InputError

Rows = Sequence[Sequence[Any]]
Fields = list[tuple[str, str, str]]
GO: Fields = [("gehen", "V;PST", "ging"), ("sehen", "V;PST", "sah")]
PARADIGMS: Fields = [
    (lemma, f"{tense};{person}", f"{lemma}{number}{person}")
    for lemma in ("gehen", "sehen")
    for number, tense in enumerate(["PRS", "PST"])
    for person in ("1SG", "2SG")
]
CELLS = [[lemma, *(form for own, _, form in PARADIGMS if own == lemma)] for lemma in ("gehen", "sehen")]


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "verbs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def workbook(folder: Path, rows: Rows, *merged: str) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Verbs"
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    book.save(folder / "verbs.xlsx")
    return folder / "verbs.xlsx"


def told(path: Path, columns: Columns = COLUMNS_2017) -> tuple[Fields, list[str]]:
    notes: list[str] = []
    items = read_items(path, columns, note=notes.append)
    return [(item.lemma, item.features.spelling, item.form) for item in items], [
        note.partition(": ")[2].partition(": ")[2] for note in notes
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "German verbs\n\nNo.,lemma,Gloss,V;PST\n1,gehen,go,ging\n2,sehen,see,sah\n",
            "using row 3 as headings; ignored columns (not inflected forms): No., Gloss",
        ),
        (
            'German verbs,,\n"collected 2019, by me",,\nlemma,form,features\ngehen,ging,V;PST\nsehen,sah,V;PST\n',
            "using row 3 as headings",
        ),
        (
            'Title\nlemma;form;features;Page\ngehen;ging;"V;PST";12\nsehen;sah;"V;PST";13\n',
            "using row 2 as headings; ignored columns: Page",
        ),
        (
            "Verb,Gloss (English),form,features\ngehen,go,ging,V;PST\nsehen,see,sah,V;PST\n",
            "taking column 'Verb' for the lemma (--columns lemma=… chooses another); ignored columns: Gloss (English)",
        ),
        (
            "Ganz anders,Frequency,V;PST\ngehen,12,ging\nsehen,3,sah\n",
            "taking column 'Ganz anders' for the lemma (--columns lemma=… chooses another); ignored columns (not "
            "inflected forms): Frequency",
        ),
        (
            "My list,,\n,,\nRegion,Verb,V;PST\nnorth,gehen,ging\nsouth,sehen,sah\n",
            "using row 3 as headings; taking column 'Verb' for the lemma (--columns lemma=… chooses another)",
        ),
        (
            "lemma,Rang,V;PST,English meaning,Anmerkung\ngehen,12,ging,go,\nsehen,3,sah,see,x\n",
            "ignored columns (not inflected forms): Rang, English meaning, Anmerkung",
        ),
    ],
)
def test_what_is_around_the_items_is_said_in_one_line(tmp_path: Path, text: str, note: str) -> None:
    found, notes = told(csv_file(tmp_path, text))
    assert [item for item in found if item[1] != "Region"] == GO
    assert notes == [note]


def test_numbers_of_a_workbook_are_no_forms(tmp_path: Path) -> None:
    rows: Rows = [
        ["Verbs of 2019"],
        [],
        ["Nr.", "lemma", "tokens", "V;PST"],
        [1, "gehen", 12, "ging"],
        [2, "sehen", 3.5, "sah"],
    ]
    found, notes = told(workbook(tmp_path, rows, "A1:D1"))
    assert found == GO
    assert notes == ["using row 3 as headings; ignored columns (not inflected forms): Nr., tokens"]
    mixed = workbook(tmp_path, [["lemma", "past"], ["gehen", "ging"], ["sehen", 3]])
    with pytest.raises(InputError, match=r"row 3, column B \('past'\): found the number 3"):
        read_items(mixed)


def test_names_of_columns_are_found_below_a_title(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "A title,,\nStichwort,Says,V;PST\ngehen,x,ging\nsehen,y,sah\n")
    found, notes = told(path, Columns.parse("lemma=Stichwort"))
    assert [item for item in found if item[1] == "V;PST"] == GO
    assert notes == ["using row 2 as headings"]
    with pytest.raises(InputError, match="found no column called 'Wort'"):
        read_items(path, Columns.parse("lemma=Wort"))


def test_a_lemma_column_by_labels(tmp_path: Path) -> None:
    labels = Columns(COLUMNS_2017.order, labels=Labels((("past", "V;PST"),)))
    found, notes = told(csv_file(tmp_path, "Eintrag,past\ngehen,ging\nsehen,sah\n"), labels)
    assert found == GO
    assert notes == ["taking column 'Eintrag' for the lemma (--columns lemma=… chooses another)"]


def test_merged_lemmas_count_for_all_their_rows(tmp_path: Path) -> None:
    rows: Rows = [
        ["lemma", "form", "features"],
        ["gehen", "gehe", "V;PRS"],
        [None, "ging", "V;PST"],
        ["sehen", "sehe", "V;PRS"],
        [None, "sah", "V;PST"],
    ]
    found, notes = told(workbook(tmp_path, rows, "A2:A3", "A4:A5"))
    assert found == [("gehen", "V;PRS", "gehe"), GO[0], ("sehen", "V;PRS", "sehe"), GO[1]]
    assert notes == ["merged cells (A2:A3, A4:A5) count for all their rows and columns"]


def test_a_merged_form_is_that_of_all_its_cells(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["lemma", "V;1", "V;3"], ["gehen", "ging", None]], "B2:C2")
    assert told(path)[0] == [("gehen", "V;1", "ging"), ("gehen", "V;3", "ging")]


@pytest.mark.parametrize("title", [0, 1])
@pytest.mark.parametrize("lemma_above", [True, False])
def test_headings_of_two_rows_in_a_workbook(tmp_path: Path, title: int, lemma_above: bool) -> None:
    upper = ["lemma" if lemma_above else None, "PRS", None, "PST", None]
    lower = [None if lemma_above else "lemma", "1SG", "2SG", "1SG", "2SG"]
    top = 1 + title
    merged = [f"B{top}:C{top}", f"D{top}:E{top}", *([f"A{top}:A{top + 1}"] if lemma_above else [])]
    found, notes = told(workbook(tmp_path, [["A title"]] * title + [upper, lower, *CELLS], *merged))
    assert found == PARADIGMS
    assert notes[0].startswith(f"using rows {top} and {top + 1} as headings (such as 'PRS;1SG')")


@pytest.mark.parametrize(
    "upper", ["lemma,PRS,,PST,,\n,1SG,2SG,1SG,2SG,Gloss\n", ",PRS,,PST,,\nlemma,1SG,2SG,1SG,2SG,Gloss\n"]
)
def test_headings_of_two_rows_in_a_csv_file(tmp_path: Path, upper: str) -> None:
    found, notes = told(csv_file(tmp_path, upper + "".join(",".join(row) + ",x\n" for row in CELLS)))
    assert found == PARADIGMS
    assert notes == ["using rows 1 and 2 as headings (such as 'PRS;1SG'); ignored columns (not inflected forms): Gloss"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Title\nVerb,Says,Tags\ngehen,ging,PST\n",
            "row 2: found 'Verb', 'Says', 'Tags' in row 2, and cannot tell which",
        ),
        ("Title\nA,B,V;PST\nx,gehen,ging\n", "row 2: found 'A', 'B', 'V;PST' in row 2, and cannot tell which"),
        ("gehen,V;PST\nsehen,V;PST\n", "and cannot tell which column is which; name them lemma, form and features"),
        ("Title\nlemma,form,features\ngehen,ging,V,x\n", "row 3: found 4 columns, but 3 in row 2; put a field"),
        (
            "lemma,V;PST\ngehen,ging\n,sah\n",
            "row 3, column A ('lemma'): found an empty lemma; give every row a lemma (a CSV",
        ),
        ("T\nlemma,headword,V;PST\na,b,c\n", "row 2: found 2 columns that could be the lemma: 'lemma', 'headword'"),
    ],
)
def test_what_cannot_be_told_leads_to_the_answer(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_items(csv_file(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_absurd_merged_cells_are_refused_or_harmless() -> None:
    def sheet() -> Sheet:
        return Sheet("verbs.xlsx", "Verbs", [Row(number, ["x", "y"], 2) for number in range(1, 400)])

    assert len(_unmerged(sheet(), ["A2:A1048576", "nonsense", ""]).rows) == 399
    for cells in ("B2:XFD1048576", "B2:ZZZ3"):
        with pytest.raises(InputError, match="unmerge them"):
            _unmerged(sheet(), [cells])


def test_lemmas_below_a_title(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "My words,\nlemma,Gloss\ngehen,go\nsehen,see\n")
    assert read_lemmas(path).lemmas == ("gehen", "sehen")


words = st.text(st.characters(categories=["Ll"]), min_size=1, max_size=5)


@settings(max_examples=60)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.integers(0, 5), st.sampled_from(["PST", "V;PST"]))
def test_titles_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], titles: int, features: str
) -> None:
    folder = tmp_path_factory.mktemp("titles")
    rows = "".join(f"{lemma},{form},{features}\n" for lemma, form in pairs)
    for heading, own in (("lemma,form,features\n", rows), (f"lemma,{features}\n", rows.replace(f",{features}", ""))):
        plain = told(csv_file(folder, heading + own))
        assert plain == ([(lemma, features, form) for lemma, form in pairs], [])
        found, notes = told(csv_file(folder, "Some title\n" * titles + heading + own))
        assert found == plain[0]
        assert notes == ([f"using row {titles + 1} as headings"] if titles else [])
