"""Spreadsheet files as rows of cells: CSV and XLSX, in and out.

What a spreadsheet has made into something else than text (a number, a date, a formula) is kept as such, and refused by
whoever needs it: what was typed cannot be told from it any more.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from reinflect.errors import InputError, OutputError, quoted, source_name
from reinflect.files import BYTE_ORDER_MARK, atomic_path, read_bytes, read_text, write_text

Note = Callable[[str], None]
"""Hears what a user should know."""

OTHER_KINDS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
LONGEST_FIELD = 32767
"""Characters in a cell of an XLSX file."""
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
"""Of an XLSX file, too; nor is there any use for a CSV file with more."""
MOST_CELLS = 5_000_000
"""In a sheet, empty ones between others included: a small file can claim to have thousands of millions."""
MOST_BYTES = 200_000_000
"""In an XLSX file when unpacked; packed, it can be a thousand times smaller."""
ZIP = b"PK"
"""What an XLSX file begins with, being an archive of others."""
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

AS_TEXT = "format the column as text and type the cell again"


def kind_of_sheet(path: Path | str) -> str | None:
    """`.csv` or `.xlsx` by the file's ending; None for all that is not a spreadsheet."""
    ending = Path(path).suffix.lower()
    if ending in OTHER_KINDS:
        raise InputError(
            f"found the ending {ending}, a kind of spreadsheet reinflect does not read or write",
            "save it as .xlsx or as .csv (UTF-8)",
            path=path,
        )
    return ending if ending in (".csv", ".xlsx") else None


def check_sheet(path: Path | str) -> None:
    """Raise now what writing to a file of this ending would raise later."""
    if kind_of_sheet(path) == ".xlsx":
        _openpyxl(path)


class Unusable(NamedTuple):
    """What stands in a cell in the place of text."""

    found: str
    remedy: str


Cell = str | Unusable


class Row(NamedTuple):
    number: int
    cells: Sequence[Cell]
    """Without the empty ones at the end, which spreadsheets write or leave out as they like."""
    width: int
    """With them."""

    def cell(self, column: int) -> Cell:
        return self.cells[column] if column < len(self.cells) else ""


@dataclass(frozen=True)
class Sheet:
    """The rows of a spreadsheet that have anything in them."""

    path: Path | str
    name: str | None
    rows: list[Row]

    @property
    def header(self) -> list[str]:
        return [cell if isinstance(cell, str) else "" for cell in self.rows[0].cells]

    def place(self, row: int | None = None, column: int | None = None, called: str = "") -> str:
        """Such as `verbs.xlsx, sheet 'Verbs', row 3, column C ('form')`."""
        words = [source_name(self.path)]
        if self.name is not None:
            words.append(f"sheet {quoted(self.name)}")
        if row is not None:
            words.append(f"row {row}")
        if column is not None:
            words.append(f"column {letters_of(column)}" + (f" ({quoted(called)})" if called else ""))
        return ", ".join(words)


def letters_of(column: int) -> str:
    """A column as spreadsheets call it: A to Z, AA, AB, …"""
    letters, left = "", column + 1
    while left:
        left, letter = divmod(left - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(quoted(name) for name in names[:most] if name)
    return (shown or "nothing") + (", …" if len(names) > most else "")


def _kept(path: Path | str, name: str | None, rows: Iterable[Sequence[Cell]]) -> Sheet:
    """A sheet without its empty rows."""
    kept = []
    for number, cells in enumerate(_counted(path, name, rows), start=1):
        end = len(cells)
        while end and not cells[end - 1]:
            end -= 1
        if end:
            kept.append(Row(number, cells[:end], len(cells)))
    return Sheet(path, name, kept)


def _counted(path: Path | str, name: str | None, rows: Iterable[Sequence[Cell]]) -> Iterator[Sequence[Cell]]:
    """The rows, until there are more of them, or of their cells, than anyone means to have."""
    sheet, total = Sheet(path, name, []), 0
    for number, cells in enumerate(rows, start=1):
        total += len(cells)
        if len(cells) > MOST_COLUMNS:
            raise InputError(
                f"found {len(cells):,} columns", f"use {MOST_COLUMNS:,} at most", path=sheet.place(row=number)
            )
        if total > MOST_CELLS:
            raise InputError(
                f"found more than {MOST_CELLS:,} cells, empty ones included",
                "empty what is not needed, or split the sheet",
                path=sheet.place(row=number),
            )
        yield cells


def read_csv(path: Path | str) -> tuple[list[Sheet], list[InputError]]:
    """A CSV file as each separator cuts it, at least one way with rows in it, and why others cannot cut it."""
    text = read_text(path)
    sheets: list[Sheet] = []
    errors: list[InputError] = []
    for separator in SEPARATORS:
        try:
            sheets.append(_kept(path, None, _rows_of(text, separator, path)))
        except InputError as error:
            errors.append(error)
    full = [sheet for sheet in sheets if sheet.rows]  # a line of tabs has nothing in it only if tabs separate
    if not full:
        raise errors[0] if errors else _empty(path)
    return full, errors


def _rows_of(text: str, separator: str, path: Path | str) -> Iterator[list[str]]:
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise InputError(
            f"this is not a CSV file ({error})",
            'end every quotation mark that begins a field, and write "" for one within it',
            path=path,
            line=rows.line_num,
        ) from None


def read_xlsx(path: Path | str, note: Note) -> Sheet:
    """The first sheet of a workbook that has anything in it."""
    import warnings

    openpyxl, raw = _openpyxl(path), read_bytes(path)
    try:
        with ZipFile(BytesIO(raw)) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())  # what is more than this is not unpacked
        if unpacked > MOST_BYTES:
            raise InputError(
                f"this would be {unpacked:,} bytes when unpacked",
                f"use files of {MOST_BYTES:,} at most, or save it as .csv",
                path=path,
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of drop-down lists and the like, which are no data
            book = openpyxl.load_workbook(BytesIO(raw), read_only=True)
            sheets = [_kept(path, sheet.title, _xlsx_rows(sheet, path)) for sheet in book.worksheets]
    except InputError:
        raise
    except Exception:  # whatever a zip archive, XML or a workbook can have wrong with it
        raise _no_workbook(path, raw) from None
    full = [sheet for sheet in sheets if sheet.rows]
    if not full:
        raise _empty(path)
    if len(full) > 1:
        others = listed([sheet.name or "" for sheet in full[1:]])
        note(f"note: {full[0].place()}: read this one; not looked at: {others} (the first sheet counts)")
    return full[0]


def _xlsx_rows(sheet: Any, path: Path | str) -> Iterator[list[Cell]]:
    sheet.reset_dimensions()  # what the file says of them is not always so
    for number, row in enumerate(sheet.iter_rows(max_row=MOST_ROWS + 1), start=1):
        if number > MOST_ROWS:
            raise InputError(f"found more than {MOST_ROWS:,} rows", "save it again in a spreadsheet", path=path)
        yield [_xlsx_cell(cell) for cell in row]


def _xlsx_cell(cell: Any) -> Cell:
    value, kind = cell.value, cell.data_type
    if value is None:
        return ""
    if kind == "f":
        shown = f" {quoted(value)}" if isinstance(value, str) else ""
        return Unusable(f"the formula{shown}", "copy the cell and paste it back as values only")
    if kind == "e":
        return Unusable(f"the error {value}", "put the cell right in the spreadsheet")
    if isinstance(value, bool):
        return Unusable(f"the truth value {str(value).upper()}", AS_TEXT)
    if kind == "d":
        return Unusable(f"the date or time {value}", AS_TEXT)
    if not isinstance(value, str):
        return Unusable(f"the number {value}", AS_TEXT)
    return value


def _no_workbook(path: Path | str, raw: bytes) -> InputError:
    """What to say of a file that cannot be read as XLSX: whether it is another kind of file, or a damaged one."""
    if not raw:
        return InputError("this is no XLSX file: there is nothing in it", "save it again in a spreadsheet", path=path)
    if not raw.startswith(ZIP):
        return InputError(
            "this is no XLSX file, though its name ends in .xlsx",
            "open it in a spreadsheet and save it as .xlsx, or give it the ending it should have, such as .csv",
            path=path,
        )
    return InputError(
        "this is no whole XLSX file: a part of it is missing or damaged",
        "open it in a spreadsheet and save it again, or copy it again from where it came",
        path=path,
    )


def _empty(path: Path | str) -> InputError:
    return InputError("found no items", "give at least a row of names and a row with a lemma", path=path)


def _openpyxl(path: Path | str) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            "openpyxl, which reads and writes XLSX files, is not installed",
            "install it (pip install 'reinflect[sheets]'), or use a .csv file",
            path=path,
        ) from None
    return openpyxl


def write_table(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    """A table as a CSV or XLSX file, whole or not at all. Texts are kept as texts, even one that looks like a date."""
    if kind_of_sheet(path) == ".xlsx":
        raw = _xlsx(path, header, rows)
        with atomic_path(path) as part:
            part.write_bytes(raw)
        return
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    # The mark tells Excel that this is UTF-8; what else reads CSV knows it, too.
    write_text(path, BYTE_ORDER_MARK + text.getvalue())


def _xlsx(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> bytes:
    openpyxl = _openpyxl(path)
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    if len(rows) >= MOST_ROWS:
        raise OutputError(path, f"an XLSX file cannot hold {len(rows)} rows", "write a .csv file")
    for text in (value for row in (header, *rows) for value in row if isinstance(value, str)):
        if len(text) > LONGEST_FIELD or NOT_IN_XML.search(text):
            raise OutputError(path, f"an XLSX file cannot hold {quoted(text)}", "write a .csv file")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("items")
    sheet.freeze_panes = "A2"
    for column, name in enumerate(header):
        longest = max((len(str(row[column])) for row in rows[:1000]), default=0)
        sheet.column_dimensions[letters_of(column)].width = min(60, max(len(name), longest) + 3)

    def cell(value: str | float, font: Any = None) -> Any:
        if not isinstance(value, str):
            return WriteOnlyCell(sheet, value)
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"  # even what begins with =
        made.number_format = "@"  # so that it stays text when someone types over it
        if font:
            made.font = font
        return made

    bold = Font(bold=True)
    sheet.append([cell(name, bold) for name in header])
    for row in rows:
        sheet.append([cell(value) for value in row])
    raw = BytesIO()
    book.save(raw)
    return raw.getvalue()
