"""Items in spreadsheets (CSV and XLSX): one form per row, or one lemma per row.

A *long* sheet has columns for lemma, form and features, found by their names in the first row. A *wide* sheet has a
lemma column, and every other column holds forms: its name is a label or the features. Fields are kept code point for
code point, as in tab-separated files.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.form_cells import USUAL_RULES, FormRules
from reinflect.data.items import NAMES, Column, Columns, Forms, Item, blanks_note, fields_of, plain_name
from reinflect.data.labels import Labels
from reinflect.data.sheet_files import (
    MOST_CELLS,
    SEPARATORS,
    Finding,
    Note,
    Row,
    Sheet,
    kind_of_sheet,
    listed,
    read_csv,
    read_xlsx,
    write_rows,
)
from reinflect.errors import InputError, OutputError, quoted, shortened

NOT_FORMS = frozenset(
    "id no nr # gloss glosses translation meaning english note notes comment comments remark remarks source speaker "
    "consultant example date pos class guess confidence".split()
)
"""Names of columns of a wide sheet that are never meant as features."""


def read_sheet(path: Path | str, columns: Columns, *, forms: Forms, note: Note) -> list[Item]:
    """All items of a spreadsheet; `note` receives a sentence about everything unusual in it."""
    return parse_sheet(path, columns, forms=forms, record=lambda finding: note(finding.note))


def parse_sheet(path: Path | str, columns: Columns, *, forms: Forms, record: Callable[[Finding], None]) -> list[Item]:
    """All items of a spreadsheet; `record` receives what is unusual in it, with all places."""

    def note(text: str) -> None:
        record(Finding(text))

    sheet = _read(path, columns, note)
    found = _named_columns(sheet, columns)
    if "features" in found:
        items = _long(sheet, sheet.rows[1:], found, columns, forms)
    elif "lemma" in found:
        items = _wide(sheet, found["lemma"], columns, forms, note)
    elif _first_row_is_data(sheet, columns, forms):
        order = columns.order if len(sheet.rows[0].cells) == len(columns.order) else columns.covered()
        places = {column: place for place, column in enumerate(order)}
        items = _long(sheet, sheet.rows, places, columns, forms)
    else:
        raise sheet.error(
            f"found {listed(sheet.header)} in the first row, and cannot tell which column is which",
            "name them lemma, form and features there, or give --columns 'lemma=…,form=…,features=…' with their names",
            sheet.rows[0].number,
        )
    for finding in _findings(sheet, columns.rules):
        record(finding)
    if not items:
        empty = [place for kind in ("missing", "doubtful", "variants") for place in sheet.places[kind]]
        why = f" with a form (such as {empty[0]})" if empty else ""
        raise sheet.error(f"found no items{why}", "give at least one lemma with its features and form")
    return items


def _findings(sheet: Sheet, rules: FormRules) -> Iterator[Finding]:
    """What is unusual about the fields of a sheet, each kind in one sentence."""
    several = {"all": "each is a form of its cell", "first": "the first is taken", "skip": "none is taken"}
    others = ", ".join(choice for choice in several if choice != rules.variants) + " or keep"
    as_forms = "--missing none takes them as forms"
    kinds = {
        "variants": ("several forms", f"{several.get(rules.variants, '')} (--variants {others} changes that)"),
        "remark": ("a remark in brackets", "the form is taken without it (--variants keep takes both)"),
        "missing": ("no form", f"left out as missing ({as_forms})"),
        "doubtful": ("a mark of doubt or brackets", f"left out as missing ({as_forms})"),
        "letters": ("marks that the lemma has too", "taken for letters"),
        "lemma": ("unusual marks in a lemma", "taken as they are"),
    }
    for kind, (what, then) in kinds.items():
        if places := sheet.places[kind]:
            many = f"{len(places)} field{' has' if len(places) == 1 else 's have'} {what}"
            shown = "; ".join(places[:3]) + ("; …" if len(places) > 3 else "")
            yield Finding(f"note: {sheet.place()}: {many} ({shown}); {then}", places)
    if places := sheet.places["blanks"]:
        yield Finding(blanks_note([f"{sheet.place()}, {place}" for place in places]), places)


def read_lemma_column(path: Path | str, columns: Columns) -> list[str] | None:
    """The lemmas of a sheet without forms and features; None if it has some."""
    sheet = _read(path, columns, lambda _: None)
    found = _named_columns(sheet, columns)
    if found.keys() != {"lemma"} or _form_columns(sheet, found["lemma"], columns.labels, lambda _: None):
        return None
    return [lemma for row in sheet.rows[1:] if (lemma := sheet.text(row, found["lemma"], "lemma"))]


def _read(path: Path | str, columns: Columns, note: Note) -> Sheet:
    return read_xlsx(path, note) if kind_of_sheet(path) == ".xlsx" else _chosen(*read_csv(path), columns)


def _long(
    sheet: Sheet, rows: Sequence[Row], places: Mapping[Column, int], columns: Columns, forms: Forms
) -> list[Item]:
    if "form" not in places and forms == "required":
        found = f"found no column of forms among {listed(sheet.header)}"
        raise sheet.error(found, "name it form in the first row, or give --columns 'lemma=…,form=…,features=…'")
    bundle = cache(lambda text: Bundle(columns.labels.to_features(text)))
    items = []
    for row in rows:
        lemma = _lemma(sheet, row, places["lemma"])
        features = bundle(sheet.text(row, places["features"], "features"))
        if "form" in places and not row.cell(places["form"]) and forms == "required":
            sheet.found("missing", row, places["form"], "form")
        read = _forms(sheet, row, places.get("form"), "form", lemma, columns.rules, forms)
        items += [Item(lemma, features, form, row.number) for form in read]
    return items


def _forms(
    sheet: Sheet, row: Row, column: int | None, called: str, lemma: str, rules: FormRules, forms: Forms
) -> Sequence[str]:
    """The forms in a field; an item without one is left out, or covered."""
    covered = () if forms == "required" else ("",)
    if column is None or forms == "ignored" or not (field := sheet.raw_text(row, column, called)):
        return covered
    found, kind = rules.read(field, lemma)
    if kind != "plain":
        sheet.found(kind, row, column, called)
    if kind in ("plain", "letters") and field != field.strip():
        sheet.found("blanks", row, column, called)
    return found or covered


def _wide(sheet: Sheet, lemma_column: int, columns: Columns, forms: Forms, note: Note) -> list[Item]:
    first, *rows = sheet.rows
    labels = columns.labels
    names = {column: sheet.text(first, column, "") for column in _form_columns(sheet, lemma_column, labels, note)}
    if not names:
        raise sheet.error(
            f"found no column of features and no column of forms among {listed(sheet.header)}",
            "add a column named features, or one column for each cell, named by its features or label",
        )
    if forms != "required" and len(rows) * len(names) > MOST_CELLS:
        found = f"found {len(rows):,} lemmas with {len(names):,} cells each"
        raise sheet.error(found, f"ask for {MOST_CELLS:,} forms at most")
    bundles = {name: Bundle(labels.to_features(name)) for name in names.values()}
    items = []
    for row in rows:
        lemma = _lemma(sheet, row, lemma_column)
        for column, name in names.items():
            read = _forms(sheet, row, column, name, lemma, columns.rules, forms)
            items += [Item(lemma, bundles[name], form, row.number) for form in read]
    return items


def _lemma(sheet: Sheet, row: Row, column: int) -> str:
    lemma = sheet.text(row, column, "lemma")
    if not lemma:
        raise sheet.error("found an empty lemma", "give every row a lemma", row.number, column, "lemma")
    if USUAL_RULES.read(lemma, "").kind != "plain":
        sheet.found("lemma", row, column, "lemma")
    return lemma


def _named_columns(sheet: Sheet, columns: Columns) -> dict[Column, int]:
    """The places of the columns by their names in the first row; empty if the names are not enough."""
    header, first_row = sheet.header, sheet.rows[0].number
    found: dict[Column, int] = {}
    for column, name in columns.headers:
        places = [place for place, own in enumerate(header) if own == name]
        if len(places) != 1:
            many = f"{len(places)} columns" if places else "no column"
            raise sheet.error(f"found {many} called {quoted(name)}", f"the columns are {listed(header)}", first_row)
        found[column] = places[0]
    if found:
        return found
    plain = [plain_name(name) for name in header]
    for column, names in NAMES.items():
        places = [place for place, name in enumerate(plain) if name in names]
        if len(places) > 1:
            raise sheet.error(
                f"found {len(places)} columns that could be the {column}: {listed([header[p] for p in places])}",
                f"choose one, such as --columns 'lemma=…,form=…,features=…' with {quoted(header[places[0]])} in it",
                first_row,
            )
        if places:
            found[column] = places[0]
    return {} if "lemma" not in found or ("form" in found and "features" not in found) else found


def _form_columns(sheet: Sheet, lemma: int, labels: Labels, note: Note) -> list[int]:
    """The columns of a wide sheet that hold forms; with labels, only those named by a label or by features."""
    columns, ignored = [], []
    filled = {column: row.number for row in reversed(sheet.rows) for column, cell in enumerate(row.cells) if cell}
    for column in sorted(filled.keys() - {lemma}):
        name = sheet.rows[0].cell(column)
        if name == "":
            remedy = f"name the column in row {sheet.rows[0].number}, or empty it"
            raise sheet.error("found text in a column without a name", remedy, filled[column], column)
        if isinstance(name, str) and (
            name.casefold().strip() in NOT_FORMS
            if not labels
            else not (labels.knows(name) or SEPARATOR in name or labels.to_features(name) != name)
        ):
            ignored.append(shortened(name, 40))
        else:
            columns.append(column)
    if ignored:
        why, more = "no label" if labels else "not inflected forms", ", …" if len(ignored) > 6 else ""
        note(f"note: {sheet.place()}: ignored columns ({why}): {', '.join(ignored[:6])}{more}")
    return columns


def _first_row_is_data(sheet: Sheet, columns: Columns, forms: Forms, *, sure: bool = False) -> bool:
    """Whether the first row is an item: its features look like some, or (unless `sure`) other rows repeat them."""
    widths = {len(columns.order): columns.order} | ({2: columns.covered()} if forms != "required" else {})
    order = widths.get(len(sheet.rows[0].cells))
    if order is None or columns.headers or any(len(row.cells) > len(order) for row in sheet.rows):
        return False
    place = order.index("features")
    first = sheet.rows[0].cell(place)
    return isinstance(first, str) and (
        SEPARATOR in first
        or columns.labels.knows(first)
        or (not sure and any(row.cell(place) == first for row in sheet.rows[1:]))
    )


def _chosen(sheets: Sequence[Sheet], errors: Sequence[InputError], columns: Columns) -> Sheet:
    """A CSV file cut by the separator that makes sense of it; several that do are an error."""
    wanted = {name for _, name in columns.headers}
    likely = [sheet for sheet in sheets if (wanted <= {*sheet.header} if wanted else _named_columns(sheet, columns))]
    for sure in (True, False):
        likely = likely or [sheet for sheet in sheets if _first_row_is_data(sheet, columns, "optional", sure=sure)]
    if not likely:
        if errors:
            raise errors[0]
        return max(sheets, key=lambda sheet: len(sheet.rows[0].cells))  # the best one to complain about
    sheet = likely[0]
    if any(other.rows != sheet.rows for other in likely):
        found = f"cannot tell which of {', '.join(SEPARATORS.values())} separates the columns"
        raise sheet.error(found, "name the columns lemma, form and features in a first row")
    width = sheet.rows[0].width
    for row in sheet.rows:
        if len(row.cells) > width:
            found = f"found {len(row.cells)} columns, but {width} in the first row"
            remedy = 'put a field that contains the separator between quotation marks ("…")'
            raise sheet.error(found, remedy, row.number)
    return sheet


def write_sheet(path: Path | str, items: Iterable[Item], columns: Columns, *, wide: bool) -> None:
    """Write items to a spreadsheet, with the user's labels if there are any."""
    if wide:
        write_rows(path, *_wide_rows(items, path, columns.labels))
        return
    fields = (fields_of(item, columns.labels) for item in items)
    write_rows(path, columns.order, [[own[column] for column in columns.order] for own in fields])


def _wide_rows(items: Iterable[Item], path: Path | str, labels: Labels) -> tuple[list[str], list[list[str]]]:
    """One row per lemma and one column per bundle, in the order of the items; a second form of a cell adds a row."""
    taken = {"", *NAMES["lemma"], *NAMES["form"], *NAMES["features"], *(() if labels else NOT_FORMS)}
    columns: dict[str, None] = {}
    lemmas: dict[str, list[dict[str, str]]] = {}
    for item in items:
        name = labels.to_label(item.features.spelling)
        if name.casefold().strip() in taken:
            found = f"the features {quoted(name)} cannot be the name of a column"
            raise OutputError(path, found, "write the sheet without --wide, or give them a label")
        columns[name] = None
        rows = lemmas.setdefault(item.lemma, [{}])
        row = next((row for row in rows if name not in row), None)
        if row is None:
            rows.append(row := {})
        row[name] = item.form
    filled = [[lemma, *(row.get(name, "") for name in columns)] for lemma, rows in lemmas.items() for row in rows]
    return ["lemma", *columns], filled
