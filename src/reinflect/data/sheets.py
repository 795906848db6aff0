"""Items in spreadsheets (CSV and XLSX): one form per row, or one lemma per row.

`sheet_layout` says where everything is. Fields are kept code point for code point, as in tab-separated files.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.form_cells import USUAL_RULES, FormRules
from reinflect.data.items import COLUMNS_2017, NAMES, Columns, Forms, Item, blanks_note, fields_of, normalised
from reinflect.data.labels import Labels
from reinflect.data.sheet_files import MOST_CELLS, Finding, Note, Row, Sheet, kind_of_sheet, listed, write_rows
from reinflect.data.sheet_layout import Layout, form_columns, is_aside, read_layout
from reinflect.errors import OutputError, quoted, shortened

LEMMA_REMEDY = "give every row a lemma (a CSV file has the text of merged cells only once: fill them, or save as .xlsx)"


def parse_sheet(path: Path | str, columns: Columns, *, forms: Forms, record: Callable[[Finding], None]) -> list[Item]:
    """All items of a spreadsheet; `record` receives what is unusual in it, with all places."""

    def note(text: str) -> None:
        record(Finding(text))

    layout = read_layout(path, columns, forms, note)
    sheet, places, said = layout.sheet, layout.places, [*layout.remarks]
    if "features" in places:
        others = [name for place, name in enumerate(sheet.header) if place not in places.values() and layout.headed]
        said += ignored_columns(others)
        items = _long(layout, columns, forms)
    else:
        names, ignored = form_columns(sheet, places["lemma"], columns)
        said += _about_columns(sheet, names, ignored, columns.labels)
        items = _wide(layout, names, columns, forms)
    if said:
        note(f"note: {sheet.place()}: {'; '.join(said)}")
    for finding in _findings(sheet, columns.rules):
        record(finding)
    if not items:
        empty = [place for kind in ("missing", "doubtful", "variants") for place in sheet.places[kind]]
        why = f" with a form (such as {empty[0]})" if empty else ""
        raise sheet.error(f"found no items{why}", "give at least one lemma with its features and form")
    return normalised(items, columns.normalisation, path, note)


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


def ignored_columns(names: Sequence[str], why: str = "") -> list[str]:
    """A remark about columns that are not read, if there are any."""
    shown = [shortened(name, 40) for name in names if name]
    more = ", …" if len(shown) > 6 else ""
    return [f"ignored columns{why and f' ({why})'}: {', '.join(shown[:6])}{more}"] if shown else []


def _about_columns(sheet: Sheet, forms: Sequence[int], ignored: Sequence[str], labels: Labels) -> list[str]:
    """Remarks about the headings of a wide sheet."""
    names = [sheet.header[at] for at in forms]
    other = [shortened(name, 40) for name in names if labels.of_heading(name) != labels.to_features(name)]
    said = [f"taking {', '.join(map(quoted, other[:6]))}{', …' * (len(other) > 6)} for labels, whatever the case"]
    return (said if other else []) + ignored_columns(ignored, "no label" if labels else "not inflected forms")


def read_lemma_column(path: Path | str, columns: Columns) -> list[str] | None:
    """The lemmas of a sheet without forms and features; None if it has some."""
    sheet, places, *_ = read_layout(path, columns, "optional", lambda _: None)
    if places.keys() != {"lemma"} or form_columns(sheet, places["lemma"], columns)[0]:
        return None
    return [lemma for row in sheet.rows[1:] if (lemma := sheet.text(row, places["lemma"], "lemma"))]


def cells_of(path: Path | str, columns: Columns = COLUMNS_2017) -> tuple[str, ...]:
    """The bundles of a wide sheet's columns in their order; empty for any other file."""
    if not kind_of_sheet(path):
        return ()
    sheet, places, *_ = read_layout(path, columns, "optional", lambda _: None)
    if "features" in places:
        return ()
    names = [sheet.header[at] for at in form_columns(sheet, places["lemma"], columns)[0]]
    return tuple(dict.fromkeys(map(columns.labels.of_heading, names)))


def _long(layout: Layout, columns: Columns, forms: Forms) -> list[Item]:
    sheet, places = layout.sheet, layout.places
    form = places.get("form")
    if form is None and forms == "required":
        found = f"found no column of forms among {listed(sheet.header)}"
        raise sheet.error(found, "name it form in the first row, or give --columns 'lemma=…,form=…,features=…'")
    bundle = cache(lambda text: Bundle(columns.labels.to_features(text)))
    items = []
    for row in layout.rows:
        lemma = _lemma(sheet, row, places["lemma"])
        features = bundle(sheet.text(row, places["features"], "features"))
        if form is not None and not row.cell(form) and forms == "required":
            sheet.found("missing", row, form, "form")
        read = _forms(sheet, row, form, "form", lemma, columns.rules, forms)
        items += [Item(lemma, features, own, row.number) for own in read]
    return items


def _wide(layout: Layout, form_columns: Sequence[int], columns: Columns, forms: Forms) -> list[Item]:
    sheet, rows = layout.sheet, layout.rows
    names = {column: sheet.text(sheet.rows[0], column, "") for column in form_columns}
    if not names:
        remedy = "add a column named features, or one column for each cell, named by its features or label"
        raise sheet.error(f"found no column of features and no column of forms among {listed(sheet.header)}", remedy)
    if forms != "required" and len(rows) * len(names) > MOST_CELLS:
        found = f"found {len(rows):,} lemmas with {len(names):,} cells each"
        raise sheet.error(found, f"ask for {MOST_CELLS:,} forms at most")
    bundles = {name: Bundle(columns.labels.of_heading(name)) for name in names.values()}
    items = []
    for row in rows:
        lemma = _lemma(sheet, row, layout.places["lemma"])
        for column, name in names.items():
            read = _forms(sheet, row, column, name, lemma, columns.rules, forms)
            items += [Item(lemma, bundles[name], form, row.number) for form in read]
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


def _lemma(sheet: Sheet, row: Row, column: int) -> str:
    lemma = sheet.text(row, column, "lemma")
    if not lemma:
        raise sheet.error("found an empty lemma", LEMMA_REMEDY, row.number, column, "lemma")
    if USUAL_RULES.read(lemma, "").kind != "plain":
        sheet.found("lemma", row, column, "lemma")
    return lemma


class Gap(NamedTuple):
    """An empty field of a form: its row and column, and the covered item."""

    row: int
    column: int
    item: Item


def read_gaps(path: Path | str, columns: Columns, note: Note) -> tuple[Layout, list[Gap]]:
    """The gaps of a sheet, wide or long. A field with anything in it, such as a mark for no form, is none.

    Neither is the second row of a lemma, for second forms, where the first has one.
    """
    layout = read_layout(path, columns, "optional", note)
    sheet, places, said = layout.sheet, layout.places, [*layout.remarks]
    if "features" not in places:
        forms, ignored = form_columns(sheet, places["lemma"], columns)
        said += _about_columns(sheet, forms, ignored, columns.labels)
    elif "form" in places:
        forms = [places["form"]]
    else:
        found = f"found no column of forms among {listed(sheet.header)}"
        raise sheet.error(found, "add a column named form, or use reinflect inflect --input")
    if said:
        note(f"note: {sheet.place()}: {'; '.join(said)}")
    gaps, known = [], set()
    long = "features" in places
    headings = {} if long else {column: sheet.text(sheet.rows[0], column, "") for column in forms}
    bundle = cache(lambda text: Bundle((columns.labels.to_features if long else columns.labels.of_heading)(text)))
    for row in layout.rows:
        lemma = _lemma(sheet, row, places["lemma"])
        for column in forms:
            features = sheet.text(row, places["features"], "features") if long else headings[column]
            item = Item(lemma, bundle(features), "", row.number)
            if row.cell(column):
                known.add(question(item))
            else:
                gaps.append(Gap(row.number, column, item))
    return layout, [gap for gap in gaps if question(gap.item) not in known]


def write_sheet(path: Path | str, items: Iterable[Item], columns: Columns, *, wide: bool) -> None:
    """Write items to a spreadsheet, with the user's labels if there are any."""
    if wide:
        write_rows(path, *_wide_rows(items, path, columns.labels))
        return
    fields = (fields_of(item, columns.labels) for item in items)
    write_rows(path, columns.order, [[own[column] for column in columns.order] for own in fields])


def _wide_rows(items: Iterable[Item], path: Path | str, labels: Labels) -> tuple[list[str], list[list[str]]]:
    """One row per lemma and one column per bundle, in the order of the items; a second form of a cell adds a row."""
    taken = {"", *NAMES["lemma"], *NAMES["form"], *NAMES["features"]}
    columns: dict[str, None] = {}
    lemmas: dict[str, list[dict[str, str]]] = {}
    for item in items:
        name = labels.to_label(item.features.spelling)
        if name.casefold().strip() in taken or (not labels and is_aside(name)):
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
