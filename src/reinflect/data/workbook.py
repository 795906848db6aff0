"""XLSX files, read and written by openpyxl, which the extra `sheets` installs."""

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from reinflect.data.sheet_file import LIMITS, NOT_TEXT, Entry, Note, NotText, Sheet, SheetCell, too_much
from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import read_bytes, write_bytes

LONGEST_FIELD = 32767
"""Characters in a cell."""
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROW, CELL, STRING, MERGED = f"{MAIN} row", f"{MAIN} c", f"{MAIN} si", f"{MAIN} mergeCell"
COUNTED = {ROW: ["rows"], CELL: ["cells", "columns"], STRING: ["shared strings"]}
ELEMENTS = "elements of XML in one row, or outside of rows"
SAVE_AGAIN = "open it in a spreadsheet and save it again, or copy it again from where it came"
DAMAGED = ("not a valid XLSX file (truncated or damaged)", SAVE_AGAIN)
EMPTY = ("not an XLSX file (it is empty)", "save it again in a spreadsheet")
ANOTHER_KIND = (
    "not an XLSX file, although its name ends in .xlsx",
    "open it in a spreadsheet and save it as .xlsx, or correct its ending, for example to .csv",
)


def openpyxl_for(path: Path | str) -> Any:
    try:
        import openpyxl
    except ImportError:
        remedy = "install it (pip install 'reinflect[sheets]'), or use a .csv file"
        raise InputError("openpyxl, which reads and writes XLSX files, is not installed", remedy, path=path) from None
    return openpyxl


def read_workbook(path: Path | str) -> list[Sheet]:
    openpyxl, raw = openpyxl_for(path), read_bytes(path)
    with _opened(path, raw) as parts:
        if sum(part.file_size for part in parts.infolist()) > LIMITS["bytes when unpacked"]:  # ZipFile unpacks no more
            raise too_much("bytes when unpacked", path)
        merged = _check_parts(parts, path)
        sheets = []
        for part in openpyxl.load_workbook(BytesIO(raw), read_only=True).worksheets:
            part.reset_dimensions()  # those stored in the file can be wrong
            rows = part.iter_rows(max_row=LIMITS["rows"])
            sheets.append(Sheet.of(([_content(cell) for cell in row] for row in rows), path, part.title))
            _fill_merged(sheets[-1], merged[part._worksheet_path])
    return sheets


@contextmanager
def _opened(path: Path | str, raw: bytes) -> Iterator[ZipFile]:
    """The parts of a workbook; every error within the block is the file's fault."""
    try:
        with ZipFile(BytesIO(raw)) as parts, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about drop-down lists and the like, which are not data
            yield parts
    except InputError:
        raise
    except Exception:  # any of the errors that ZIP archives, XML and workbooks can cause
        problem, remedy = DAMAGED if raw.startswith(b"PK") else ANOTHER_KIND if raw else EMPTY  # ZIP archives are PK…
        raise InputError(problem, remedy, path=path) from None


def _check_parts(parts: ZipFile, path: Path | str) -> defaultdict[str, list[str]]:
    """Count rows, cells and strings, because openpyxl builds a row, or all strings, at once; return merged cells.

    Parts without valid XML are left to openpyxl.
    """
    from xml.parsers import expat

    counts, merged = Counter[str](), defaultdict[str, list[str]](list)

    def start(name: str, attributes: dict[str, str]) -> None:
        if name in (ROW, STRING):
            counts["columns"] = counts[ELEMENTS] = 0
            counts["rows"] = max(counts["rows"], int(attributes.get("r", 1)) - 1)  # a row can claim any number
        elif name == MERGED and ":" in attributes.get("ref", ""):
            merged[part.filename].append(attributes["ref"])
        for what in (*COUNTED.get(name, ()), ELEMENTS):
            counts[what] += 1
            if counts[what] > LIMITS[what]:
                raise too_much(what, path)

    for part in parts.infolist():
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = start
        with parts.open(part) as file, suppress(expat.ExpatError):
            parser.ParseFile(file)
    return merged


def _content(cell: Any) -> SheetCell:
    value, kind = cell.value, cell.data_type
    if value is None or kind not in NOT_TEXT:
        return "" if value is None else str(value)
    texts = {"f": quoted(value) if isinstance(value, str) else "", "b": str(value).upper()}
    return NotText(kind, texts.get(kind, str(value)))


def _fill_merged(sheet: Sheet, ranges: Iterable[str]) -> None:
    """Put the text of merged cells into all rows and columns that they cover."""
    from openpyxl.worksheet.cell_range import CellRange

    total = 0
    for name in ranges:
        cells = CellRange(name)
        left, right = cells.min_col - 1, cells.max_col
        rows = [row for row in sheet.rows if cells.min_row <= row.number <= cells.max_row]
        text = rows[0].cell(left) if rows and rows[0].number == cells.min_row else ""
        total += len(sheet.rows) + len(rows) * (right - left) * bool(text)
        if total > LIMITS["cells"]:
            raise sheet.error(f"found the merged cells {quoted(name)}", "unmerge them in the spreadsheet")
        if text:
            sheet.merged.append((cells.max_row, name))
            for row in rows:
                row.cells += [""] * (right - len(row.cells))
                row.cells[left:right] = [cell or text for cell in row.cells[left:right]]
                row.width = max(row.width, len(row.cells))


def write_workbook(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    openpyxl = openpyxl_for(path)
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    if len(rows) >= LIMITS["rows"]:
        raise OutputError(path, f"an XLSX file cannot hold {len(rows)} rows", "write a .csv file")
    _check_texts(path, (value for row in (header, *rows) for value in row))
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("items")
    sheet.freeze_panes = "A2"
    for column, name in enumerate(header, start=1):
        longest = max((len(str(row[column - 1])) for row in rows[:1000]), default=0)
        sheet.column_dimensions[get_column_letter(column)].width = min(60, max(len(name), longest) + 3)
    _append(sheet, [header], Font(bold=True))
    _append(sheet, rows)
    _save(book, path)


def fill_workbook(
    output: Path | str, sheet: Sheet, entries: Sequence[Entry], more: Sequence[Sequence[str | float]], note: Note
) -> None:
    openpyxl, raw = openpyxl_for(sheet.path), read_bytes(sheet.path)
    from openpyxl.cell.cell import MergedCell
    from openpyxl.styles import PatternFill

    _check_texts(output, [*(entry.value for entry in entries), *(value for row in more for value in row)])
    with _opened(sheet.path, raw) as parts:  # again, because it was read in a simpler way
        drawn = any(re.match("xl/(drawings/drawing|charts/|media/)", name) for name in parts.namelist())
        book = openpyxl.load_workbook(BytesIO(raw), rich_text=True)
    if drawn:
        note(f"note: {sheet.location()}: charts and pictures are not kept")
    for entry in entries:
        cell = book[sheet.name].cell(entry.row, entry.column + 1)
        if not isinstance(cell, MergedCell):  # which has no text of its own
            _filled(cell, entry.value)
            if entry.colour:
                cell.fill = PatternFill("solid", fgColor=entry.colour)
    _append(book.create_sheet("confidence"), more)  # with a number after it if there is such a sheet
    _save(book, output)


def _append(sheet: Any, rows: Iterable[Sequence[str | float]], font: Any = None) -> None:
    from openpyxl.cell import WriteOnlyCell

    for row in rows:
        sheet.append([_filled(WriteOnlyCell(sheet), value, font) for value in row])


def _check_texts(path: Path | str, values: Iterable[str | float]) -> None:
    for text in values:
        if isinstance(text, str) and (len(text) > LONGEST_FIELD or NOT_IN_XML.search(text)):
            raise OutputError(path, f"an XLSX file cannot hold {quoted(text)}", "write a .csv file")


def _filled(cell: Any, value: str | float, font: Any = None) -> Any:
    cell.value = value
    if font:
        cell.font = font
    if isinstance(value, str):
        cell.data_type = "s"  # even if it begins with =
        cell.number_format = "@"  # keeps it text when a user types over it
    return cell


def _save(book: Any, path: Path | str) -> None:
    from openpyxl.writer.excel import ExcelWriter

    raw = BytesIO()
    ExcelWriter(book, _Archive(raw, "w")).save()
    write_bytes(path, raw.getvalue())


class _Archive(ZipFile):
    """A ZIP archive without times, which are not allowed before 1980 and after 2107, whatever the clock says."""

    def writestr(self, name: Any, data: Any, *_: Any) -> None:
        super().writestr(ZipInfo(name), data, ZIP_DEFLATED)

    def write(self, path: Any, name: Any = None, *_: Any) -> None:
        self.writestr(name, Path(path).read_bytes())
