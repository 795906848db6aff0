"""Spreadsheet files as rows of cells: reading and writing CSV and XLSX.

Here a cell is one field of a sheet. A cell that a spreadsheet has turned into a number, a date or a formula is kept as
`Unusable`, because the text that the user typed cannot be recovered from it.
"""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from reinflect.errors import InputError, OutputError, quoted, source_name
from reinflect.files import BYTE_ORDER_MARK, LONGEST_LINE, read_bytes, read_text, write_bytes, write_text

Note = Callable[[str], None]
"""Receives one sentence for the user."""

OTHER_KINDS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
LONGEST_FIELD = 32767
"""Characters in a cell of an XLSX file."""
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
"""Limits of XLSX; no real CSV file has more columns either."""
MOST_CELLS = 5_000_000
"""Cells of a sheet, with the empty ones between others: a small file can claim thousands of millions."""
MOST_STRINGS = 2_000_000
"""Strings that the cells of an XLSX file share."""
MOST_ELEMENTS = 500_000
"""XML elements of one row or shared string, or outside of them, such as formats."""
MOST_BYTES = 200_000_000
"""Unpacked size of an XLSX file, which can be a thousand times its packed size."""
ZIP = b"PK"
"""The first bytes of an XLSX file, which is a ZIP archive."""
ROW, CELL, STRING, MERGE = (
    f"http://schemas.openxmlformats.org/spreadsheetml/2006/main {tag}" for tag in ("row", "c", "si", "mergeCell")
)
"""XML elements of an XLSX file."""
MERGED = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

NUMBER_FOUND = "the number"
AS_TEXT = "format the column as text and type the cell again"
NUMBER = re.compile(r"[\d\s.,%+-]*\d[\d\s.,%+-]*")


def kind_of_sheet(path: Path | str) -> str | None:
    """`.csv` or `.xlsx` by the ending of the file's name; None for a file that is not a spreadsheet."""
    ending = Path(path).suffix.lower()
    if ending in OTHER_KINDS:
        found = f"found the ending {ending}, a kind of spreadsheet that reinflect does not read or write"
        raise InputError(found, "save it as .xlsx or as .csv (UTF-8)", path=path)
    return ending if ending in (".csv", ".xlsx") else None


def check_sheet(path: Path | str) -> None:
    """Raise now what writing a file of this kind would raise later."""
    if kind_of_sheet(path) == ".xlsx":
        _openpyxl(path)


class Finding(NamedTuple):
    """Something about a sheet that the user should know: a sentence, and all its places."""

    note: str
    places: Sequence[str] = ()


class Unusable(NamedTuple):
    """The content of a cell that is not text."""

    found: str
    remedy: str


Cell = str | Unusable


class Row(NamedTuple):
    number: int
    cells: Sequence[Cell]
    """Without the empty cells at the end, which programs write or omit at will."""
    width: int
    """The number of cells, with the empty ones at the end."""

    def cell(self, column: int) -> Cell:
        return self.cells[column] if column < len(self.cells) else ""


@dataclass(frozen=True)
class Sheet:
    """The rows of a spreadsheet that are not empty."""

    path: Path | str
    name: str | None
    rows: list[Row] = field(default_factory=list)
    places: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The fields read so far that the user should know of, with their places, by what is unusual about them."""
    merged: list[tuple[int, str]] = field(default_factory=list)
    """The last row of each range of merged cells, and the range."""
    separator: str = ""
    """Of the columns of a CSV file."""

    @property
    def header(self) -> list[str]:
        return [cell if isinstance(cell, str) else "" for row in self.rows[:1] for cell in row.cells]

    def below(self, first: int) -> "Sheet":
        """The sheet from one of its rows on."""
        return Sheet(self.path, self.name, self.rows[first:], separator=self.separator)

    def has_numbers(self, column: int) -> bool:
        """Whether a column has numbers only, below its heading."""
        cells = [cell for row in self.rows[1:] if (cell := row.cell(column))]
        numbers = (
            cell.found.startswith(NUMBER_FOUND) if isinstance(cell, Unusable) else NUMBER.fullmatch(cell)
            for cell in cells
        )
        return bool(cells) and all(numbers)

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

    def error(self, found: str, remedy: str, *place: Any) -> InputError:
        """An error about the sheet, or about the row and column given as to `place`."""
        return InputError(found, remedy, path=self.place(*place))

    def found(self, what: str, row: Row, column: int, called: str) -> None:
        """Remember the place of a field for a note."""
        place = self.place(row.number, column, called).removeprefix(f"{self.place()}, ")
        self.places[what].append(f"{place}: {quoted(str(row.cell(column)))}")

    def text(self, row: Row, column: int, called: str) -> str:
        """A cell that can be a field of an item, with a note of blanks around it."""
        cell = self.raw_text(row, column, called)
        if cell != cell.strip():
            self.found("blanks", row, column, called)
        return cell

    def raw_text(self, row: Row, column: int, called: str) -> str:
        """A cell that can be a field of an item."""
        cell, place = row.cell(column), (row.number, column, called)
        if isinstance(cell, Unusable):
            raise self.error(f"found {cell.found}", cell.remedy, *place)
        if "\t" in cell or "\n" in cell or "\r" in cell:
            raise self.error(f"found a tab or line end in {quoted(cell)}", "remove it", *place)
        if len(cell) > LONGEST_LINE:
            raise self.error(f"found {len(cell):,} characters in a cell", f"write {LONGEST_LINE:,} at most", *place)
        return cell


def letters_of(column: int) -> str:
    """The name of a column in a spreadsheet: A to Z, AA, AB, …"""
    letters, left = "", column + 1
    while left:
        left, letter = divmod(left - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(quoted(name) for name in names[:most] if name)
    return (shown or "nothing") + (", …" if len(names) > most else "")


def _sheet(path: Path | str, name: str | None, rows: Iterable[Sequence[Cell]]) -> Sheet:
    """A sheet without its empty rows; one with too many columns or cells is refused."""
    sheet, total = Sheet(path, name), 0
    for number, cells in enumerate(rows, start=1):
        total += len(cells)
        if len(cells) > MOST_COLUMNS:
            raise sheet.error(f"found {len(cells):,} columns", f"use {MOST_COLUMNS:,} at most", number)
        if total > MOST_CELLS:
            found = f"found more than {MOST_CELLS:,} cells, empty ones included"
            raise sheet.error(found, "remove unneeded cells, or split the sheet", number)
        end = max((place for place, cell in enumerate(cells, start=1) if cell), default=0)
        if end:
            sheet.rows.append(Row(number, cells[:end], len(cells)))
    return sheet


def read_csv(path: Path | str) -> tuple[list[Sheet], list[InputError]]:
    """The sheets that each separator makes of a CSV file, at least one, and the errors of the other separators."""
    text = read_text(path)
    sheets: list[Sheet] = []
    errors: list[InputError] = []
    for separator in SEPARATORS:
        try:
            sheets.append(replace(_sheet(path, None, _csv_rows(text, separator, path)), separator=separator))
        except InputError as error:
            errors.append(error)
    full = [sheet for sheet in sheets if sheet.rows]  # a line of tabs is empty only if tabs separate
    if not full:
        raise errors[0] if errors else _empty(path)
    return full, errors


def _csv_rows(text: str, separator: str, path: Path | str) -> Iterator[list[str]]:
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        remedy = 'close every quotation mark that opens a field, and write "" for one within a field'
        raise InputError(f"this is not a CSV file ({error})", remedy, path=path, line=rows.line_num) from None


def read_xlsx(path: Path | str, note: Note) -> Sheet:
    """The first sheet of a workbook that is not empty."""
    openpyxl, raw = _openpyxl(path), read_bytes(path)
    with _opened(path, raw) as parts:
        unpacked = sum(part.file_size for part in parts.infolist())  # ZipFile unpacks no more than this
        if unpacked > MOST_BYTES:
            remedy = f"use files of at most {MOST_BYTES:,} bytes, or save it as .csv"
            raise InputError(f"this would be {unpacked:,} bytes when unpacked", remedy, path=path)
        merged = _check_parts(parts, path)
        book = openpyxl.load_workbook(BytesIO(raw), read_only=True)
        sheets = [
            _unmerged(_sheet(path, sheet.title, _xlsx_rows(sheet, path)), merged[sheet._worksheet_path])
            for sheet in book.worksheets
        ]
    full = [sheet for sheet in sheets if sheet.rows]
    if not full:
        raise _empty(path)
    if len(full) > 1:
        others = listed([sheet.name or "" for sheet in full[1:]])
        note(f"note: {full[0].place()}: only this first sheet was read; ignored sheets: {others}")
    return full[0]


@contextmanager
def _opened(path: Path | str, raw: bytes) -> Iterator[ZipFile]:
    """The parts of a workbook; whatever goes wrong with them, or with the workbook, is the file's fault."""
    import warnings

    try:
        with ZipFile(BytesIO(raw)) as parts, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about drop-down lists and the like, which are not data
            yield parts
    except InputError:
        raise
    except Exception:  # any of the errors that ZIP archives, XML and workbooks can cause
        found = "not a valid XLSX file (truncated or damaged)"
        remedy = "open it in a spreadsheet and save it again, or copy it again from where it came"
        if not raw:
            found, remedy = "not an XLSX file (it is empty)", "save it again in a spreadsheet"
        elif not raw.startswith(ZIP):
            found = "not an XLSX file, although its name ends in .xlsx"
            remedy = "open it in a spreadsheet and save it as .xlsx, or correct its ending, for example to .csv"
        raise InputError(found, remedy, path=path) from None


def _unmerged(sheet: Sheet, ranges: Sequence[str]) -> Sheet:
    """A sheet with the text of merged cells in each row and column that they cover."""
    from openpyxl.utils import column_index_from_string

    rows = {row.number: row for row in sheet.rows}
    total = 0
    for own in ranges:
        if not (found := MERGED.fullmatch(own)):
            continue
        left, right = (column_index_from_string(letters) - 1 for letters in found.group(1, 3))
        first, last = int(found[2]), int(found[4])
        text = rows[first].cell(left) if first in rows else ""
        covered = [row for row in rows if first <= row <= last] if text else []
        total += len(rows) + len(covered) * (right - left + 1)
        if right >= MOST_COLUMNS or total > MOST_CELLS:
            raise sheet.error(f"found the merged cells {quoted(own)}", "unmerge them in the spreadsheet")
        for number in covered:
            cells = [*rows[number].cells, *[""] * (right + 1 - len(rows[number].cells))]
            cells[left : right + 1] = [cell or text for cell in cells[left : right + 1]]
            rows[number] = Row(number, cells, max(rows[number].width, len(cells)))
        if covered:
            sheet.merged.append((last, own))
    sheet.rows[:] = rows.values()
    return sheet


def _check_parts(parts: ZipFile, path: Path | str) -> defaultdict[str, list[str]]:
    """Count rows, cells and strings of a workbook as they stream; openpyxl builds a whole row, or all strings, at once.

    Parts without valid XML are left to openpyxl. Returns the merged cells of each part.
    """
    from xml.parsers import expat

    counts = Counter[str]()
    merged = defaultdict[str, list[str]](list)
    elements = "elements of XML in one row, or outside of rows"

    def count(what: str, most: int) -> None:
        counts[what] += 1
        if counts[what] > most:
            remedy = "remove what is not needed, split it into several files, or save it as .csv"
            raise InputError(f"found more than {most:,} {what}", remedy, path=path)

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == CELL:
            count("cells", MOST_CELLS)
            count("cells in a row", MOST_COLUMNS)
        elif name in (ROW, STRING):
            counts["cells in a row"] = counts[elements] = 0
            count(*(("rows", MOST_ROWS) if name == ROW else ("shared strings", MOST_STRINGS)))
        elif name == MERGE:
            merged[part.filename].append(attributes.get("ref", ""))
        count(elements, MOST_ELEMENTS)

    for part in parts.infolist():
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = start
        with parts.open(part) as file, suppress(expat.ExpatError):
            parser.ParseFile(file)
    return merged


def _xlsx_rows(sheet: Any, path: Path | str) -> Iterator[list[Cell]]:
    sheet.reset_dimensions()  # those stored in the file can be wrong
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
        return Unusable(f"the error {value}", "correct the cell in the spreadsheet")
    if isinstance(value, bool):
        return Unusable(f"the truth value {str(value).upper()}", AS_TEXT)
    if kind == "d":
        return Unusable(f"the date or time {value}", AS_TEXT)
    return value if isinstance(value, str) else Unusable(f"{NUMBER_FOUND} {value}", AS_TEXT)


def _empty(path: Path | str) -> InputError:
    return InputError("found no items", "give at least a row of names and a row with a lemma", path=path)


def _openpyxl(path: Path | str) -> Any:
    try:
        import openpyxl
    except ImportError:
        remedy = "install it (pip install 'reinflect[sheets]'), or use a .csv file"
        raise InputError("openpyxl, which reads and writes XLSX files, is not installed", remedy, path=path) from None
    return openpyxl


def write_rows(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    """Write a CSV or XLSX file, whole or not at all. Text stays text, even if it looks like a date."""
    if kind_of_sheet(path) == ".xlsx":
        _write_xlsx(path, header, rows)
        return
    text = StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    # Excel needs the mark to recognise UTF-8; other readers of CSV accept it.
    write_text(path, BYTE_ORDER_MARK + text.getvalue())


def _write_xlsx(path: Path | str, header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    openpyxl = _openpyxl(path)
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    if len(rows) >= MOST_ROWS:
        raise OutputError(path, f"an XLSX file cannot hold {len(rows)} rows", "write a .csv file")
    _check_texts(path, (value for row in (header, *rows) for value in row))
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("items")
    sheet.freeze_panes = "A2"
    for column, name in enumerate(header):
        longest = max((len(str(row[column])) for row in rows[:1000]), default=0)
        sheet.column_dimensions[letters_of(column)].width = min(60, max(len(name), longest) + 3)

    for number, row in enumerate((header, *rows)):
        cells = [WriteOnlyCell(sheet) for _ in row]
        for cell, value in zip(cells, row, strict=True):
            _fill(cell, value)
            if number == 0:
                cell.font = Font(bold=True)
        sheet.append(cells)
    _save(book, path)


def _fill(cell: Any, value: str | float) -> None:
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"  # even if it begins with =
        cell.number_format = "@"  # keeps it text when a user types over it


def _check_texts(path: Path | str, values: Iterable[str | float]) -> None:
    for text in values:
        if isinstance(text, str) and (len(text) > LONGEST_FIELD or NOT_IN_XML.search(text)):
            raise OutputError(path, f"an XLSX file cannot hold {quoted(text)}", "write a .csv file")


class Entry(NamedTuple):
    """A value to be put into an empty field of a sheet, and the colour of the field in an XLSX file."""

    row: int
    column: int
    value: str | float
    colour: str | None = None


def write_entries(
    output: Path | str, sheet: Sheet, entries: Sequence[Entry], more: Sequence[Sequence[str | float]], note: Note
) -> None:
    """Write a sheet with entries in it, and everything else as it is; in an XLSX file `more` is a further sheet."""
    if sheet.separator:
        whole = read_bytes(sheet.path).decode("utf-8")
        text = whole.removeprefix(BYTE_ORDER_MARK)
        rows = [*_csv_rows(text, sheet.separator, sheet.path)]
        for entry in entries:
            own = rows[entry.row - 1]
            own += [""] * (entry.column + 1 - len(own))
            own[entry.column] = str(entry.value)
        new, end = StringIO(newline=""), "\r\n" if "\r\n" in text else "\n"
        csv.writer(new, delimiter=sheet.separator, lineterminator=end).writerows(rows)
        write_text(output, BYTE_ORDER_MARK * whole.startswith(BYTE_ORDER_MARK) + new.getvalue())
        return
    openpyxl, raw = _openpyxl(sheet.path), read_bytes(sheet.path)
    from openpyxl.cell.cell import MergedCell
    from openpyxl.styles import PatternFill

    _check_texts(output, [*(entry.value for entry in entries), *(value for row in more for value in row)])
    with _opened(sheet.path, raw) as parts:  # again, because `read_xlsx` has read it in a simpler way
        drawn = any(re.match("xl/(drawings/drawing|charts/|media/)", name) for name in parts.namelist())
        book = openpyxl.load_workbook(BytesIO(raw), rich_text=True)
    if drawn:
        note(f"note: {sheet.place()}: charts and pictures are not kept")
    own = book[sheet.name]

    for entry in entries:
        cell = own.cell(entry.row, entry.column + 1)
        if not isinstance(cell, MergedCell):  # which has no text of its own
            _fill(cell, entry.value)
            if entry.colour:
                cell.fill = PatternFill("solid", fgColor=entry.colour)
    further = book.create_sheet("confidence")  # with a number after it if there is such a sheet
    for number, row in enumerate(more, start=1):
        for column, value in enumerate(row, start=1):
            _fill(further.cell(number, column), value)
    _save(book, output)


def _save(book: Any, path: Path | str) -> None:
    from openpyxl.writer.excel import ExcelWriter

    raw = BytesIO()
    ExcelWriter(book, _Archive(raw, "w")).save()
    write_bytes(path, raw.getvalue())


class _Archive(ZipFile):
    """Gives its files no time of their own: ZIP has none before 1980 or after 2107, whatever the clock says."""

    def writestr(self, name: Any, data: Any, *_: Any) -> None:
        super().writestr(ZipInfo(name), data, ZIP_DEFLATED)

    def write(self, path: Any, name: Any = None, *_: Any) -> None:
        self.writestr(name, Path(path).read_bytes())
