"""Items in spreadsheets: CSV and XLSX files, one form a row or one lemma a row.

A *long* sheet has a column for each of lemma, form and features, found by its name in the first row. A *wide* one has a
lemma column, and every other column is a cell: its name is a label or the features, and below are the forms. Fields are
kept code point for code point, as in tab-separated files.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.items import NAMES, Column, Columns, Item, blanks_note, plain_name
from reinflect.data.labels import Labels
from reinflect.data.lines import LONGEST_LINE
from reinflect.data.tables import (
    MOST_CELLS,
    SEPARATORS,
    Note,
    Row,
    Sheet,
    Unusable,
    kind_of_sheet,
    listed,
    read_csv,
    read_xlsx,
    write_table,
)
from reinflect.errors import InputError, OutputError, quoted

Forms = Literal["required", "optional"]

NO_CELLS = frozenset(
    "id no nr # gloss glosses translation meaning english note notes comment comments remark remarks source speaker "
    "consultant example date pos class guess confidence".split()
)
"""Columns of a wide sheet that nobody means as features."""


def read_sheet(path: Path | str, columns: Columns, *, forms: Forms, note: Note) -> list[Item]:
    """All items of a spreadsheet.

    In a wide one, an empty cell is passed over, or with `forms="optional"` one that is asked for.
    """
    sheet = _read(path, columns, note)
    reader = _Reader(sheet, columns.labels)
    found = _named_columns(sheet, columns)
    if "features" in found:
        items = reader.long(sheet.rows[1:], found, forms)
    elif "lemma" in found:
        items = reader.wide(found, forms, note)
    elif _first_row_is_data(sheet, columns, forms):
        width = len(sheet.rows[0].cells)
        order = columns.order if width == len(columns.order) else columns.covered()
        items = reader.long(sheet.rows, {column: place for place, column in enumerate(order)}, forms)
    else:
        raise _no_names(sheet)
    if not items:
        raise InputError("found no items", "give at least one lemma with its features and form", path=sheet.place())
    if reader.blanks:
        note(blanks_note(reader.blanks))
    return items


def read_lemma_column(path: Path | str, columns: Columns) -> list[str] | None:
    """The lemmas of a sheet that has nothing but lemmas to offer; None where there are cells as well."""
    sheet = _read(path, columns, lambda _: None)
    found = _named_columns(sheet, columns)
    if found.keys() != {"lemma"} or _cell_columns(sheet, found["lemma"], columns.labels, lambda _: None):
        return None
    reader = _Reader(sheet, columns.labels)
    return [lemma for row in sheet.rows[1:] if (lemma := reader.text(row, found["lemma"], "lemma"))]


def _read(path: Path | str, columns: Columns, note: Note) -> Sheet:
    return read_xlsx(path, note) if kind_of_sheet(path) == ".xlsx" else _chosen(*read_csv(path), columns)


class _Reader:
    """Makes items of rows, and remembers cells that begin or end with a blank."""

    def __init__(self, sheet: Sheet, labels: Labels) -> None:
        self._sheet, self._labels = sheet, labels
        self._bundles: dict[str, Bundle] = {}
        self.blanks: list[str] = []

    def text(self, row: Row, column: int, called: str) -> str:
        cell = row.cell(column)

        def place() -> str:
            return self._sheet.place(row.number, column, called)

        if isinstance(cell, Unusable):
            raise InputError(f"found {cell.found}", cell.remedy, path=place())
        if "\t" in cell or "\n" in cell or "\r" in cell:
            raise InputError(f"found a tab or line end in {quoted(cell)}", "take it out", path=place())
        if len(cell) > LONGEST_LINE:
            found = f"found {len(cell):,} characters in a cell"
            raise InputError(found, f"write {LONGEST_LINE:,} at most", path=place())
        if cell != cell.strip():
            self.blanks.append(f"{place()}: {quoted(cell)}")
        return cell

    def long(self, rows: Sequence[Row], columns: Mapping[Column, int], forms: Forms) -> list[Item]:
        if "form" not in columns and forms == "required":
            raise InputError(
                f"found no column of forms among {listed(self._sheet.header)}",
                "call it form in the first row, or say --columns 'lemma=…,form=…,features=…'",
                path=self._sheet.place(),
            )
        items = []
        for row in rows:
            fields = {name: self.text(row, column, name) for name, column in columns.items()}
            self._check_lemma(row, fields["lemma"], columns["lemma"])
            form = fields.get("form", "")
            if not form and forms == "required":
                raise InputError(
                    f"found no form for {quoted(fields['lemma'])}",
                    "give every row a form",
                    path=self._sheet.place(row.number, columns["form"], "form"),
                )
            items.append(Item(fields["lemma"], self._bundle(fields["features"]), form, row.number))
        return items

    def wide(self, columns: Mapping[Column, int], forms: Forms, note: Note) -> list[Item]:
        first, rows = self._sheet.rows[0], self._sheet.rows[1:]
        names = {
            column: self.text(first, column, "")
            for column in _cell_columns(self._sheet, columns["lemma"], self._labels, note)
        }
        if not names:
            raise InputError(
                f"found no column of features, and none for a cell, among {listed(self._sheet.header)}",
                "add a column called features, or one column for each cell with its features or label as its name",
                path=self._sheet.place(),
            )
        if forms == "optional" and len(rows) * len(names) > MOST_CELLS:
            raise InputError(
                f"found {len(rows):,} lemmas with {len(names):,} cells each",
                f"ask for {MOST_CELLS:,} forms at most",
                path=self._sheet.place(),
            )
        items = []
        for row in rows:
            lemma = self.text(row, columns["lemma"], "lemma")
            self._check_lemma(row, lemma, columns["lemma"])
            for column, name in names.items():
                form = self.text(row, column, name)
                if form or forms == "optional":
                    items.append(Item(lemma, self._bundle(name), form, row.number))
        return items

    def _check_lemma(self, row: Row, lemma: str, column: int) -> None:
        if not lemma:
            raise InputError(
                "found an empty lemma", "give every row a lemma", path=self._sheet.place(row.number, column, "lemma")
            )

    def _bundle(self, text: str) -> Bundle:
        if text not in self._bundles:
            self._bundles[text] = Bundle(self._labels.to_features(text))
        return self._bundles[text]


def _named_columns(sheet: Sheet, columns: Columns) -> dict[Column, int]:
    """Which column is which, by the names in the first row."""
    header = sheet.header
    if columns.headers:
        found = {}
        for column, name in columns.headers:
            places = [place for place, own in enumerate(header) if own == name]
            if len(places) != 1:
                raise InputError(
                    f"found {'no column' if not places else f'{len(places)} columns'} called {quoted(name)}",
                    f"the columns are {listed(header)}",
                    path=sheet.place(sheet.rows[0].number),
                )
            found[column] = places[0]
        return found
    plain = [plain_name(name) for name in header]
    found = {}
    for column, names in NAMES.items():
        places = [place for place, name in enumerate(plain) if name in names]
        if len(places) > 1:
            raise InputError(
                f"found {len(places)} columns that could be the {column}: {listed([header[p] for p in places])}",
                f"say which, such as --columns 'lemma=…,form=…,features=…' with {quoted(header[places[0]])} in it",
                path=sheet.place(sheet.rows[0].number),
            )
        if places:
            found[column] = places[0]
    if "lemma" not in found or ("form" in found and "features" not in found):
        return {}
    return found


def _cell_columns(sheet: Sheet, lemma: int, labels: Labels, note: Note) -> list[int]:
    """The columns of a wide sheet that are cells; with labels, only what is a label or looks like features."""
    cells, passed = [], []
    filled = {column: row.number for row in reversed(sheet.rows) for column, cell in enumerate(row.cells) if cell}
    for column in range(max(len(row.cells) for row in sheet.rows)):
        name = sheet.rows[0].cell(column)
        if column == lemma:
            continue
        if name == "":
            if column in filled:
                raise InputError(
                    "found something in a column without a name",
                    f"name the column in row {sheet.rows[0].number}, or empty it",
                    path=sheet.place(filled[column], column),
                )
        elif isinstance(name, str) and (
            name.casefold().strip() in NO_CELLS
            if not labels
            else not (labels.knows(name) or SEPARATOR in name or labels.to_features(name) != name)
        ):
            passed.append(name)
        else:
            cells.append(column)
    if passed:
        why = "without a label" if labels else "which are no cells by their names"
        note(f"note: {sheet.place()}: columns passed over, {why}: {listed(passed)}")
    return cells


def _first_row_is_data(sheet: Sheet, columns: Columns, forms: Forms, *, sure: bool = False) -> bool:
    """Whether a sheet has no names in its first row: its features then look like some, or other rows have them too."""
    widths = {len(columns.order): columns.order} | ({2: columns.covered()} if forms == "optional" else {})
    order = widths.get(len(sheet.rows[0].cells))
    if order is None or columns.headers or any(len(row.cells) > len(order) for row in sheet.rows):
        return False
    place = order.index("features")
    first = sheet.rows[0].cell(place)
    if not isinstance(first, str):
        return False
    return (
        SEPARATOR in first
        or columns.labels.knows(first)
        or (not sure and any(row.cell(place) == first for row in sheet.rows[1:]))
    )


def _no_names(sheet: Sheet) -> InputError:
    return InputError(
        f"found {listed(sheet.header)} in the first row, and cannot tell which column is which",
        "call them lemma, form and features there, or say --columns 'lemma=…,form=…,features=…' with their names",
        path=sheet.place(sheet.rows[0].number),
    )


def _chosen(sheets: Sequence[Sheet], errors: Sequence[InputError], columns: Columns) -> Sheet:
    """A CSV file with the separator that makes sense of it; more than one that does is an error."""
    likely = [sheet for sheet in sheets if _header_fits(sheet, columns)]
    for sure in (True, False):
        likely = likely or [sheet for sheet in sheets if _first_row_is_data(sheet, columns, "optional", sure=sure)]
    if errors and not likely:
        raise errors[0]
    if any(sheet.rows != likely[0].rows for sheet in likely):
        raise InputError(
            f"cannot tell which of {', '.join(SEPARATORS.values())} separates the columns",
            "call the columns lemma, form and features in a first row",
            path=sheets[0].path,
        )
    # Without any that makes sense, the one with the most columns is the one to complain about.
    sheet = likely[0] if likely else max(sheets, key=lambda sheet: len(sheet.rows[0].cells))
    width = sheet.rows[0].width
    for row in sheet.rows if likely else ():
        if len(row.cells) > width:
            raise InputError(
                f"found {len(row.cells)} columns, but {width} in the first row",
                'put a field that has the separator in it between quotation marks ("…")',
                path=sheet.place(row.number),
            )
    return sheet


def _header_fits(sheet: Sheet, columns: Columns) -> bool:
    if columns.headers:
        return all(name in sheet.header for _, name in columns.headers)
    return bool(_named_columns(sheet, columns))


def write_sheet(path: Path | str, items: Iterable[Item], columns: Columns, *, wide: bool) -> None:
    """Items as a spreadsheet, with the user's labels where there are some."""
    if wide:
        header, rows = _wide(items, path, columns.labels)
        write_table(path, header, rows)
        return
    rows = []
    for item in items:
        fields = {"lemma": item.lemma, "form": item.form, "features": columns.labels.to_label(item.features.spelling)}
        rows.append([fields[column] for column in columns.order])
    write_table(path, columns.order, rows)


def _wide(items: Iterable[Item], path: Path | str, labels: Labels) -> tuple[list[str], list[list[str]]]:
    """One lemma a row, one column a bundle, both in the order of the items; a second form of a cell has a row more."""
    columns: dict[str, int] = {}
    lemmas: dict[str, list[dict[str, str]]] = {}
    for item in items:
        name = labels.to_label(item.features.spelling)
        if name not in columns:
            _check_name(name, path, labels)
            columns[name] = len(columns)
        rows = lemmas.setdefault(item.lemma, [{}])
        row = next((row for row in rows if name not in row), None)
        if row is None:
            rows.append(row := {})
        row[name] = item.form
    table = [[lemma, *(row.get(name, "") for name in columns)] for lemma, rows in lemmas.items() for row in rows]
    return ["lemma", *columns], table


def _check_name(name: str, path: Path | str, labels: Labels) -> None:
    taken = {own for names in NAMES.values() for own in names} | (frozenset() if labels else NO_CELLS)
    if not name.strip() or name.casefold().strip() in taken:
        raise OutputError(
            path,
            f"the features {quoted(name)} cannot be the name of a column",
            "write the sheet without --wide, or give them a label",
        )
