"""`reinflect fill`: gaps are filled and marked, and nothing else in the user's sheet changes."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import Result
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill

from reinflect.data.features import Bundle
from reinflect.data.form_cells import FormRules
from reinflect.data.items import Item, read_items
from reinflect.data.labels import Labels
from reinflect.ensemble.confidence import USUAL, Confidence
from reinflect.inflector.inflector import Inflector
from reinflect.systems.symbols import Inventory
from tests.inflector.test_inflector import a_member

Reinflect = Callable[..., Result]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """HAEM that copies the lemma and stops."""
    member = a_member("haem", "naive", inventory=Inventory(tuple("aeghns"), ("N", "PL", "PST", "V")))
    for array in member.parameters.values():
        array[:] = 0
    member.parameters["output.bias"][:5] = [3.0, 1.0, 30.0, 0.5, 0.2]
    Inflector(
        (member,),
        {},
        "vote",
        {"vote": ("haem-naive-1",)},
        {"vote": Confidence(USUAL, 30)},
        labels=Labels((("past", "V;PST"),)),
        attested=(Item("gehen", Bundle("V;PST"), "ging"),),
    ).save(tmp_path / "copies.reinflect")
    return tmp_path / "copies.reinflect"


def rows(path: Path, separator: str = ",") -> list[list[str]]:
    return [*csv.reader(path.read_text(encoding="utf-8-sig").splitlines(), delimiter=separator)]


WIDE = 'Paradigms,,,\r\nlemma,Gloss,V;PST,N;PL\r\ngehen,go,,-\r\nsehen,"see, look",sah,\r\nhand,hand,?,\r\n'


def test_a_wide_sheet_keeps_everything_but_its_gaps(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out = tmp_path / "mine.csv", tmp_path / "filled.csv"
    sheet.write_text(WIDE, encoding="utf-8-sig", newline="")
    result = reinflect("fill", model, sheet, "--output", out)
    assert result.exit_code == 0, result.stderr
    expected = WIDE.replace("gehen,go,,-", "gehen,go,ging,-")
    expected = expected.replace(",sah,\r", ",sah,sehen ?\r").replace("hand,hand,?,\r", "hand,hand,?,hand ?\r")
    assert out.read_bytes() == expected.encode("utf-8-sig")
    assert sheet.read_bytes() == WIDE.encode("utf-8-sig")
    assert "using row 2 as headings; ignored columns (no label): Gloss" in result.stderr
    assert f"written: {out} (guesses: 2, marked by ?; attested forms: 1)" in result.stderr


def test_guesses_are_not_learnt_when_the_sheet_is_read_again(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out, notes = tmp_path / "mine.csv", tmp_path / "filled.csv", list[str]()
    sheet.write_text(WIDE, encoding="utf-8")
    for beside in ([], ["--beside"]):
        reinflect("fill", model, sheet, "--output", out, "--force", *beside)
        items = read_items(out, note=notes.append)
        known = [("gehen", "ging"), ("sehen", "sah")]
        assert [(item.lemma, item.form) for item in items] == known[len(beside) :]
    assert "a mark of doubt" in " ".join(notes)
    assert FormRules().read("ba?a ?", "ba?").forms == (), "a question mark that is a letter"


def test_guesses_can_have_columns_of_their_own(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out = tmp_path / "mine.csv", tmp_path / "filled.csv"
    sheet.write_text("lemma;past;N;PL\n".replace("N;PL", '"N;PL"') + "gehen;;x\nsehen;;\n", encoding="utf-8")
    assert reinflect("fill", model, sheet, "--output", out, "--beside").exit_code == 0
    first, gehen, sehen = rows(out, ";")
    assert first == ["lemma", "past", "N;PL", "guess: past", "confidence: past", "guess: N;PL", "confidence: N;PL"]
    assert gehen == ["gehen", "", "x", "ging", "attested"]
    assert sehen[:4] == ["sehen", "", "", "sehen"]
    assert 0 < float(sehen[4]) < 1
    assert sehen[5] == "sehen"


def test_a_long_sheet(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out = tmp_path / "mine.csv", tmp_path / "filled.csv"
    sheet.write_text("page,features,form,lemma\n7,past,,sehen\n8,N;PL,,hand\n\n9,N;PL,hands,hand\n", encoding="utf-8")
    assert reinflect("fill", model, sheet, "--output", out).exit_code == 0
    assert rows(out) == [
        ["page", "features", "form", "lemma"],
        ["7", "past", "sehen ?", "sehen"],
        ["8", "N;PL", "", "hand"],  # the cell has a form in another row
        [],
        ["9", "N;PL", "hands", "hand"],
    ]
    assert reinflect("fill", model, sheet, "--output", tmp_path / "b.csv", "--beside").exit_code == 0
    assert rows(tmp_path / "b.csv")[0] == ["page", "features", "form", "lemma", "guess", "confidence"]


def workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Verbs"
    for row in [["My verbs"], ["lemma", "Gloss", "V;PST", "N;PL", "count"], ["gehen", "go"], ["sehen", None, "sah"]]:
        sheet.append(row)
    sheet["E3"], sheet["E4"] = 3, "=E3+1"
    sheet["A1"].font, sheet["C4"].fill = Font(bold=True, color="FF0000"), PatternFill("solid", fgColor="00FF00")
    sheet["C4"].comment = Comment("heard it", "me")
    sheet["D4"].font = Font(italic=True)
    sheet.column_dimensions["B"].width = 33
    sheet.merge_cells("A1:C1")
    sheet.freeze_panes = "B3"
    book.create_sheet("confidence")["A1"] = "mine"
    book.save(path)


def test_a_workbook_keeps_its_formatting(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    workbook(tmp_path / "mine.xlsx")
    out = tmp_path / "filled.xlsx"
    result = reinflect("fill", model, tmp_path / "mine.xlsx", "--output", out)
    assert result.exit_code == 0, result.stderr
    book: Any = openpyxl.load_workbook(out)
    sheet = book["Verbs"]
    assert [cell.value for cell in sheet[4]] == ["sehen", None, "sah", "sehen ?", "=E3+1"]
    assert [cell.value for cell in sheet[3]] == ["gehen", "go", "ging", "gehen ?", 3]
    assert (sheet["A1"].font.bold, sheet["A1"].font.color.rgb, sheet["D4"].font.italic) == (True, "00FF0000", True)
    assert sheet["C4"].fill.fgColor.rgb == "0000FF00"
    assert sheet["C4"].comment.text == "heard it"
    assert (sheet.column_dimensions["B"].width, sheet.freeze_panes) == (33, "B3")
    assert [str(own) for own in sheet.merged_cells.ranges] == ["A1:C1"]
    assert sheet["D4"].fill.fgColor.rgb == "00FFE699"
    assert sheet["C3"].fill.fgColor.rgb == "00C6E0B4"
    assert sheet["B4"].fill.fill_type is None
    assert book["confidence"]["A1"].value == "mine"
    made = [[cell.value for cell in row] for row in book["confidence1"]]
    assert made[0] == ["row", "column", "lemma", "features", "form", "confidence"]
    assert made[1] == [3, "C", "gehen", "past", "ging", "attested"]
    assert made[3][:5] == [4, "D", "sehen", "N;PL", "sehen"]
    assert 0 < made[3][5] < 1
    assert [item.form for item in read_items(out)] == ["ging", "sah"]


def test_columns_that_the_model_knows_nothing_about_stay_empty(
    model: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    sheet = tmp_path / "mine.csv"
    sheet.write_text("lemma,V;PST,A;B\nsehen,,\n", encoding="utf-8")
    result = reinflect("fill", model, sheet, "--output", tmp_path / "out.csv")
    assert "not filled, as MODEL knows none of these features: 'A;B'" in result.stderr
    assert rows(tmp_path / "out.csv")[1] == ["sehen", "sehen ?", ""]


def test_a_heading_that_is_a_number_is_an_error_of_its_cell(model: Path, reinflect: Reinflect, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["lemma", 1, "V;PST"], ["gehen", None, None]):
        book.active.append(row)
    book.save(tmp_path / "mine.xlsx")
    result = reinflect("fill", model, tmp_path / "mine.xlsx", "--output", tmp_path / "filled.xlsx")
    assert result.exit_code == 2
    assert "row 1, column B: found the number 1; format the column as text" in result.stderr
    assert not (tmp_path / "filled.xlsx").exists()


@pytest.mark.parametrize(
    ("name", "text", "out", "message"),
    [
        ("a.tsv", "gehen\tV;PST\n", "b.csv", "a.tsv: only a spreadsheet can be filled; give a .csv or .xlsx file"),
        ("a.csv", "lemma,V;PST\ngehen,\n", "b.xlsx", "b.xlsx: a filled .csv file is one as well; give --output a name"),
        ("a.csv", "lemma,V;PST\ngehen,\n", "a.csv", "a.csv: this file is read from; choose another --output"),
        ("a.csv", "lemma,V;PST\ngehen,\n", "old.csv", "old.csv: a file of this name exists; choose another"),
        ("a.csv", "lemma,V;PST\ngehen,-\n", "b.csv", "a.csv: found no gap to fill; leave the fields of wanted forms"),
        ("a.csv", "lemma,features\ngehen,V;PST\n", "b.csv", "found no column of forms among 'lemma', 'features'"),
        ("a.csv", "lemma,V;PST\ngehen,\n,x\n", "b.csv", "a.csv, row 3, column A ('lemma'): found an empty lemma"),
    ],
)
def test_misuse(
    name: str, text: str, out: str, message: str, model: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "old.csv").write_text("mine\n", encoding="utf-8")
    result = reinflect("fill", model, tmp_path / name, "--output", tmp_path / out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not (tmp_path / "b.csv").exists()
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "mine\n"
