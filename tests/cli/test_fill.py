"""`reinflect fill`: gaps are filled and marked, and nothing else in the user's sheet changes."""

from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill

from reinflect.data.form_cells import FormRules
from reinflect.data.items import read_items
from tests.cli import Reinflect, refused, succeeded
from tests.cli.test_transcripts import GOLDEN

MODEL = GOLDEN / "files" / "words.reinflect"
"""Copies the lemma."""
PST, PL = "V;PST;3;SG", "N;PL"
WIDE = f'Paradigms,,,\r\nlemma,Gloss,{PST},{PL}\r\ngehen,go,,-\r\nlegen,"lay, put",legt,\r\nhand,hand,?,\r\n'


def test_a_wide_sheet_keeps_everything_but_its_gaps(tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out = tmp_path / "mine.csv", tmp_path / "filled.csv"
    sheet.write_text(WIDE, encoding="utf-8-sig", newline="")
    result = succeeded(reinflect("fill", MODEL, sheet, "--output", out))
    expected = WIDE.replace("gehen,go,,-", "gehen,go,ging,-")
    expected = expected.replace(",legt,\r", ",legt,legen ?\r").replace("hand,hand,?,\r", "hand,hand,?,hände\r")
    assert out.read_bytes() == expected.encode("utf-8-sig")
    assert sheet.read_bytes() == WIDE.encode("utf-8-sig")
    assert "using row 2 as headings; ignored columns (not inflected forms): Gloss" in result.stderr
    assert f"written: {out} (guesses: 1, marked by ?; attested forms: 2)" in result.stderr


def test_guesses_are_not_learnt_when_the_sheet_is_read_again(tmp_path: Path, reinflect: Reinflect) -> None:
    sheet, out, notes = tmp_path / "mine.csv", tmp_path / "filled.csv", list[str]()
    sheet.write_text(WIDE, encoding="utf-8")
    for beside in ([], ["--beside"]):
        reinflect("fill", MODEL, sheet, "--output", out, "--force", *beside)
        forms = [item.form for item in read_items(out, note=notes.append)]
        assert forms == (["legt"] if beside else ["ging", "legt", "hände"])
    assert "a mark of doubt" in " ".join(notes)
    assert FormRules().read("ba?a ?", "ba?").forms == (), "a question mark that is a letter"


def workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Verbs"
    for row in [["My verbs"], ["lemma", "Gloss", PST, PL, "count"], ["gehen", "go"], ["legen", None, "legte"]]:
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


def test_a_workbook_keeps_its_formatting(tmp_path: Path, reinflect: Reinflect) -> None:
    workbook(tmp_path / "mine.xlsx")
    out = tmp_path / "filled.xlsx"
    succeeded(reinflect("fill", MODEL, tmp_path / "mine.xlsx", "--output", out))
    book: Any = openpyxl.load_workbook(out)
    sheet = book["Verbs"]
    assert [cell.value for cell in sheet[4]] == ["legen", None, "legte", "legen ?", "=E3+1"]
    assert [cell.value for cell in sheet[3]] == ["gehen", "go", "ging", "gehen ?", 3]
    assert (sheet["A1"].font.bold, sheet["A1"].font.color.rgb, sheet["D4"].font.italic) == (True, "00FF0000", True)
    assert sheet["C4"].fill.fgColor.rgb == "0000FF00"
    assert sheet["C4"].comment.text == "heard it"
    assert (sheet.column_dimensions["B"].width, sheet.freeze_panes) == (33, "B3")
    assert [str(cells) for cells in sheet.merged_cells.ranges] == ["A1:C1"]
    assert sheet["D4"].fill.fgColor.rgb == "00FFE699"
    assert sheet["C3"].fill.fgColor.rgb == "00C6E0B4"
    assert sheet["B4"].fill.fill_type is None
    assert book["confidence"]["A1"].value == "mine"
    rows = [[cell.value for cell in row] for row in book["confidence1"]]
    assert rows[0] == ["row", "column", "lemma", "features", "form", "confidence"]
    assert rows[1] == [3, "C", "gehen", PST, "ging", "attested"]
    assert rows[3][:5] == [4, "D", "legen", PL, "legen"]
    assert 0 < rows[3][5] < 1
    assert [item.form for item in read_items(out)] == ["ging", "legte"]


def test_a_heading_that_is_a_number_is_an_error_of_its_cell(reinflect: Reinflect, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["lemma", 1, PST], ["gehen", None, None]):
        book.active.append(row)
    book.save(tmp_path / "mine.xlsx")
    result = reinflect("fill", MODEL, tmp_path / "mine.xlsx", "--output", tmp_path / "filled.xlsx")
    refused(result, "row 1, column B: found the number 1; format the column as text")
    assert not (tmp_path / "filled.xlsx").exists()
