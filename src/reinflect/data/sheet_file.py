"""CSV and XLSX files as rows of cells, read and written; `workbook` has what only XLSX files need."""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from reinflect.errors import InputError, quoted, source_name
from reinflect.files import BYTE_ORDER_MARK, LONGEST_LINE, kind_of_sheet, read_bytes, read_text, write_text

Note = Callable[[str], None]
"""Receives a sentence for the user."""

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
LIMITS = {
    "columns": 16_384,  # of XLSX; no real CSV file has more either
    "cells": 5_000_000,  # with the empty ones between others: a small file can claim thousands of millions
    "rows": 1_048_576,
    "shared strings": 2_000_000,
    "elements of XML in one row, or outside of rows": 500_000,
    "bytes when unpacked": 200_000_000,  # which can be a thousand times its packed size
}
"""What a sheet may have; the last four are limits of XLSX files only."""
NUMBER = re.compile(r"[\d\s.,%+-]*\d[\d\s.,%+-]*")
AS_TEXT = "format the column as text and type the cell again"
NOT_TEXT = {
    "n": ("the number", AS_TEXT),
    "b": ("the truth value", AS_TEXT),
    "d": ("the date or time", AS_TEXT),
    "f": ("the formula", "copy the cell and paste it back as values only"),
    "e": ("the error", "correct the cell in the spreadsheet"),
}
"""The kinds of XLSX cells that are not text: what each holds, and the remedy."""


class NotText(NamedTuple):
    """A cell that a spreadsheet program has made into one of NOT_TEXT: what the user typed cannot be recovered."""

    kind: str
    content: str


SheetCell = str | NotText


class Finding(NamedTuple):
    """A sentence for the user about a file, and all its places."""

    note: str
    places: Sequence[str] = ()


@dataclass(slots=True)
class Row:
    number: int
    cells: list[SheetCell]
    """Without the empty cells at the end, which programs write or omit at will."""
    width: int
    """Cells with the empty ones at the end."""

    @property
    def texts(self) -> list[str]:
        return [cell if isinstance(cell, str) else "" for cell in self.cells]

    def cell(self, column: int) -> SheetCell:
        return self.cells[column] if column < len(self.cells) else ""


@dataclass(frozen=True)
class Sheet:
    """The rows of a spreadsheet that are not empty."""

    path: Path | str
    name: str = ""
    """In a workbook."""
    separator: str = ""
    """Of the columns of a CSV file."""
    rows: list[Row] = field(default_factory=list)
    merged: list[tuple[int, str]] = field(default_factory=list)
    """The last row of each range of merged cells, and the range."""
    unusual: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Places of fields by what is unusual about them."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[SheetCell]], path: Path | str, name: str = "", separator: str = "") -> "Sheet":
        sheet, total = cls(path, name, separator), 0
        for number, cells in enumerate(rows, start=1):
            total += len(cells)
            for what, size in (("columns", len(cells)), ("cells", total)):
                if size > LIMITS[what]:
                    raise too_much(what, sheet.location(number))
            if end := max((column for column, cell in enumerate(cells, start=1) if cell), default=0):
                sheet.rows.append(Row(number, [*cells[:end]], len(cells)))
        return sheet

    @property
    def header(self) -> list[str]:
        return self.rows[0].texts if self.rows else []

    def below(self, first: int) -> "Sheet":
        """The sheet from one of its rows on."""
        return replace(self, rows=self.rows[first:])

    def has_numbers(self, column: int) -> bool:
        """Whether a column has only numbers below its heading."""
        cells = [cell for row in self.rows[1:] if (cell := row.cell(column))]
        return bool(cells) and all(NUMBER.fullmatch(c) if isinstance(c, str) else c.kind == "n" for c in cells)

    def location(self, row: int | None = None, column: int | None = None, heading: str = "") -> str:
        """Such as `verbs.xlsx, sheet 'Verbs', row 3, column C ('form')`."""
        words = [source_name(self.path), f"sheet {quoted(self.name)}" if self.name else "", f"row {row}" if row else ""]
        if column is not None:
            words.append(f"column {letters_of(column)}" + (f" ({quoted(heading)})" if heading else ""))
        return ", ".join(filter(None, words))

    def error(self, problem: str, remedy: str, *location: Any) -> InputError:
        """An error about the sheet, or about a `location` in it."""
        return InputError(problem, remedy, path=self.location(*location))

    def remember(self, kind: str, row: Row, column: int, heading: str) -> None:
        location = self.location(row.number, column, heading).removeprefix(f"{self.location()}, ")
        self.unusual[kind].append(f"{location}: {quoted(str(row.cell(column)))}")

    def text(self, row: Row, column: int, heading: str, *, blanks: bool = True) -> str:
        """The text of a cell; `blanks` around it are remembered."""
        cell, location = row.cell(column), (row.number, column, heading)
        if isinstance(cell, NotText):
            what, remedy = NOT_TEXT[cell.kind]
            raise self.error(f"found {what} {cell.content}".rstrip(), remedy, *location)
        if "\t" in cell or "\n" in cell or "\r" in cell:
            raise self.error(f"found a tab or line end in {quoted(cell)}", "remove it", *location)
        if len(cell) > LONGEST_LINE:
            raise self.error(f"found {len(cell):,} characters in a cell", f"write {LONGEST_LINE:,} at most", *location)
        if blanks and cell != cell.strip():
            self.remember("blanks", row, column, heading)
        return cell


def too_much(what: str, location: Path | str) -> InputError:
    remedy = "remove what is not needed, empty cells included, or split it into several files"
    return InputError(f"found more than {LIMITS[what]:,} {what}", remedy, path=location)


def letters_of(column: int) -> str:
    """The name of a column: A to Z, AA, AB, …"""
    before, letter = divmod(column, 26)
    return (letters_of(before - 1) if before else "") + chr(ord("A") + letter)


def listed(names: Sequence[str], most: int = 6) -> str:
    text = ", ".join(quoted(name) for name in names[:most] if name)
    return (text or "nothing") + (", …" if len(names) > most else "")


def check_sheet(path: Path | str) -> None:
    """Raise now what writing such a file would raise later."""
    if kind_of_sheet(path) == ".xlsx":
        from reinflect.data.workbook import openpyxl_for

        openpyxl_for(path)


def read_sheets(path: Path | str, note: Note) -> tuple[list[Sheet], list[InputError]]:
    """The first sheet of a workbook, or a CSV file as each separator cuts it, and the errors of those that cannot."""
    sheets, errors = list[Sheet](), list[InputError]()
    if kind_of_sheet(path) == ".xlsx":
        from reinflect.data.workbook import read_workbook

        sheets = [sheet for sheet in read_workbook(path) if sheet.rows]
        if len(sheets) > 1:
            ignored = listed([sheet.name for sheet in sheets[1:]])
            note(f"note: {sheets[0].location()}: only this first sheet was read; ignored sheets: {ignored}")
            del sheets[1:]
    else:
        text = read_text(path)
        for separator in SEPARATORS:
            try:
                sheet = Sheet.of(_csv_rows(text, separator, path), path, separator=separator)
                sheets += [sheet] if sheet.rows else []  # a line of tabs is empty only if tabs separate
            except InputError as error:
                errors.append(error)
    if not sheets:
        empty = InputError("found no items", "give at least a row of names and a row with a lemma", path=path)
        raise errors[0] if errors else empty
    return sheets, errors


def _csv_rows(text: str, separator: str, path: Path | str) -> Iterator[list[str]]:
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        remedy = 'close every quotation mark that opens a field, and write "" for one within a field'
        raise InputError(f"this is not a CSV file ({error})", remedy, path=path, line=rows.line_num) from None


def write_rows(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    """Write a CSV or XLSX file, whole or not at all. Text stays text, even if it looks like a date."""
    if kind_of_sheet(path) == ".xlsx":
        from reinflect.data.workbook import write_workbook

        write_workbook(path, header, rows)
        return
    text = StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    # Excel needs the mark to recognise UTF-8; other readers of CSV accept it.
    write_text(path, BYTE_ORDER_MARK + text.getvalue())


class Entry(NamedTuple):
    """A value for an empty field of a sheet, and the colour that the field gets in an XLSX file."""

    row: int
    column: int
    value: str | float
    colour: str | None = None


def write_entries(
    output: Path | str, sheet: Sheet, entries: Sequence[Entry], more: Sequence[Sequence[str | float]], note: Note
) -> None:
    """Write a sheet with entries in it and all else as it is; `more` becomes a further sheet of an XLSX file."""
    if not sheet.separator:
        from reinflect.data.workbook import fill_workbook

        fill_workbook(output, sheet, entries, more, note)
        return
    whole = read_bytes(sheet.path).decode("utf-8")
    text = whole.removeprefix(BYTE_ORDER_MARK)
    rows = [*_csv_rows(text, sheet.separator, sheet.path)]
    for entry in entries:
        row = rows[entry.row - 1]
        row += [""] * (entry.column + 1 - len(row))
        row[entry.column] = str(entry.value)
    filled, end = StringIO(newline=""), "\r\n" if "\r\n" in text else "\n"
    csv.writer(filled, delimiter=sheet.separator, lineterminator=end).writerows(rows)
    write_text(output, BYTE_ORDER_MARK * whole.startswith(BYTE_ORDER_MARK) + filled.getvalue())
