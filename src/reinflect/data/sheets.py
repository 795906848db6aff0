"""Items in spreadsheets (CSV and XLSX), with a form or a lemma in each row, as `sheet_layout` says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from reinflect.data.corrections import question
from reinflect.data.features import Bundle, Labels
from reinflect.data.form_cells import USUAL_RULES, FormRules
from reinflect.data.items import COLUMNS_2017, NAMES, Columns, Forms, Item, blanks_note, fields_of, normalised
from reinflect.data.sheet_file import LIMITS, Finding, Note, Row, Sheet, listed, write_rows
from reinflect.data.sheet_layout import Layout, is_aside, read_layout
from reinflect.errors import OutputError, quoted

LEMMA_REMEDY = "give every row a lemma (a CSV file has the text of merged cells only once: fill them, or save as .xlsx)"
NO_COLUMN = LIMITS["columns"]
"""Beyond all others: its fields are empty."""


class Field(NamedTuple):
    """A field for a form, and whose form it is."""

    row: Row
    column: int
    heading: str
    lemma: str
    features: Bundle


def fields_in(layout: Layout, labels: Labels) -> Iterator[Field]:
    """The fields for forms: one in each row of a long sheet, one for each lemma and column of a wide one."""
    sheet, places = layout.sheet, layout.places
    bundle = cache(lambda text: Bundle(labels.to_features(text)))  # thousands of rows share a few hundred
    columns = [(column, name, Bundle(labels.of_heading(name))) for column, name in layout.cells.items()]
    for row in layout.rows:
        lemma = sheet.text(row, places["lemma"], "lemma")
        if not lemma:
            raise sheet.error("found an empty lemma", LEMMA_REMEDY, row.number, places["lemma"], "lemma")
        if USUAL_RULES.read(lemma, "").kind != "plain":
            sheet.remember("lemma", row, places["lemma"], "lemma")
        if "features" in places:
            features = bundle(sheet.text(row, places["features"], "features"))
            columns = [(places.get("form", NO_COLUMN), "form", features)]
        for column, name, features in columns:
            yield Field(row, column, name, lemma, features)


def parse_sheet(path: Path | str, columns: Columns, *, forms: Forms, record: Callable[[Finding], None]) -> list[Item]:
    """All items of a spreadsheet; `record` receives what is unusual in it, with all places."""

    def note(text: str) -> None:
        record(Finding(text))

    layout = read_layout(path, columns, forms, note)
    sheet, rows, cells = layout.sheet, len(layout.rows), len(layout.cells)
    if forms == "required":
        _check_form_column(layout, "name it form in the first row, or give --columns 'lemma=…,form=…,features=…'")
    if "features" not in layout.places and not cells:
        remedy = "add a column named features, or one column for each cell, named by its features or label"
        raise sheet.error(f"found no column of features and no column of forms among {listed(sheet.header)}", remedy)
    if forms != "required" and rows * cells > LIMITS["cells"]:
        problem = f"found {rows:,} lemmas with {cells:,} cells each"
        raise sheet.error(problem, f"ask for {LIMITS['cells']:,} forms at most")
    items = [
        Item(field.lemma, field.features, form, field.row.number)
        for field in fields_in(layout, columns.labels)
        for form in _forms(layout, field, columns.rules, forms)
    ]
    layout.note_remarks(note)
    for finding in _findings(sheet, columns.rules):
        record(finding)
    if not items:
        unusual = (field for kind in ("missing", "doubtful", "variants") for field in sheet.unusual[kind])
        why = next((f" with a form (such as {field})" for field in unusual), "")
        raise sheet.error(f"found no items{why}", "give at least one lemma with its features and form")
    return normalised(items, columns.normalisation, path, note)


def _check_form_column(layout: Layout, remedy: str) -> None:
    if "features" in layout.places and "form" not in layout.places:
        raise layout.sheet.error(f"found no column of forms among {listed(layout.sheet.header)}", remedy)


def _forms(layout: Layout, field: Field, rules: FormRules, forms: Forms) -> Sequence[str]:
    """The forms in a field; `""` stands for a covered item."""
    covered = () if forms == "required" else ("",)
    if forms == "ignored":
        return covered
    sheet, (row, column, heading, lemma, _) = layout.sheet, field
    text = sheet.text(row, column, heading, blanks=False)
    readings, kind = rules.read(text, lemma) if text else ((), "missing")
    # An empty field is unusual only where each row should have a form.
    if kind != "plain" and (text or not (layout.cells or covered)):
        sheet.remember(kind, row, column, heading)
    if kind in ("plain", "letters") and text != text.strip():
        sheet.remember("blanks", row, column, heading)
    return readings or covered


def _findings(sheet: Sheet, rules: FormRules) -> Iterator[Finding]:
    """What is unusual about the fields of a sheet."""
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
        if fields := sheet.unusual[kind]:
            many = f"{len(fields)} field{' has' if len(fields) == 1 else 's have'} {what}"
            examples = "; ".join(fields[:3]) + ("; …" if len(fields) > 3 else "")
            yield Finding(f"note: {sheet.location()}: {many} ({examples}); {then}", fields)
    if fields := sheet.unusual["blanks"]:
        yield Finding(blanks_note([f"{sheet.location()}, {field}" for field in fields]), fields)


def read_lemma_column(path: Path | str, columns: Columns) -> list[str] | None:
    """The lemmas of a sheet without forms and features; None if it has some."""
    layout = read_layout(path, columns, "optional", lambda _: None)
    if layout.cells or layout.places.keys() != {"lemma"}:
        return None
    return [lemma for row in layout.rows if (lemma := layout.sheet.text(row, layout.places["lemma"], "lemma"))]


def sheet_bundles(path: Path | str, columns: Columns = COLUMNS_2017) -> tuple[str, ...]:
    """The bundles of a wide sheet's columns in their order; empty for any other sheet."""
    cells = read_layout(path, columns, "optional", lambda _: None).cells
    return tuple(dict.fromkeys(map(columns.labels.of_heading, cells.values())))


class Gap(NamedTuple):
    """An empty field of a form: its row and column, and the covered item."""

    row: int
    column: int
    item: Item


def read_gaps(path: Path | str, columns: Columns, note: Note) -> tuple[Layout, list[Gap]]:
    """The empty fields of a sheet, unless another row has a form of the cell: a second row is for second forms."""
    layout = read_layout(path, columns, "optional", note)
    _check_form_column(layout, "add a column named form, or use reinflect inflect --input")
    gaps, filled = [], set()
    for row, column, _, lemma, features in fields_in(layout, columns.labels):
        item = Item(lemma, features, "", row.number)
        if row.cell(column):
            filled.add(question(item))
        else:
            gaps.append(Gap(row.number, column, item))
    layout.note_remarks(note)
    return layout, [gap for gap in gaps if question(gap.item) not in filled]


def write_sheet(path: Path | str, items: Iterable[Item], columns: Columns, *, wide: bool) -> None:
    """A wide sheet has a row for each lemma and a column for each bundle; a second form of a cell adds a row."""
    if not wide:
        fields = (fields_of(item, columns.labels) for item in items)
        write_rows(path, columns.order, [[row[column] for column in columns.order] for row in fields])
        return
    bundles: dict[str, None] = {}
    lemmas: dict[str, list[dict[str, str]]] = {}
    for item in items:
        name = columns.labels.to_label(item.features.spelling)
        if name.casefold().strip() in ("", *chain(*NAMES.values())) or (not columns.labels and is_aside(name)):
            problem = f"the features {quoted(name)} cannot be the name of a column"
            raise OutputError(path, problem, "write the sheet without --wide, or give them a label")
        bundles[name] = None
        rows = lemmas.setdefault(item.lemma, [])
        if all(name in row for row in rows):
            rows.append({})
        next(row for row in rows if name not in row)[name] = item.form
    filled = [[lemma, *(row.get(name, "") for name in bundles)] for lemma, rows in lemmas.items() for row in rows]
    write_rows(path, ["lemma", *bundles], filled)
