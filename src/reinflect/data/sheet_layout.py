"""Where everything is in a spreadsheet: its headings, and the columns that they name.

A *long* sheet has columns for lemma, form and features, found by their names. A *wide* sheet has a lemma column, and
every other column holds forms: its name is a label or the features.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reinflect.data.features import SEPARATOR
from reinflect.data.items import NAMES, Column, Columns, Forms, plain_name
from reinflect.data.labels import Labels
from reinflect.data.sheet_files import SEPARATORS, Cell, Note, Row, Sheet, kind_of_sheet, listed, read_csv, read_xlsx
from reinflect.errors import InputError, quoted

REMARKS = frozenset(
    "gloss glosses glosse glosa translation meaning note notes comment comments remark remarks source speaker "
    "consultant example date frequency freq page übersetzung bedeutung bemerkung anmerkung kommentar quelle beispiel "
    "häufigkeit seite traduction sens remarque traducción significado notas".split()
)
"""Words in the names of columns of a wide sheet that are never meant as features."""
NOT_FORMS = REMARKS | frozenset(
    "id no nr num number nummer # count rank p pp english pos class guess confidence".split()
)
"""Whole names of such columns."""
LEMMA_WORDS = frozenset(
    "verb verbs noun nouns adjective adjectives word words wort wörter stem stems root roots infinitive infinitiv "
    "entry entries headwords citation nomen substantiv adjektiv verbe nom mot verbo nombre palabra infinitivo".split()
)
"""Names of the lemma's column that can also be meant otherwise."""
GUESS, CONFIDENCE = "guess", "confidence"
"""Columns of `reinflect fill --beside`, with the name of the form's column after a colon."""
TITLE_ROWS = 20
"""The number of first rows that the headings are among."""


class Layout(NamedTuple):
    """Where everything is in a sheet."""

    sheet: Sheet
    """It begins with the headings, if there are any."""
    places: Mapping[Column, int]
    """The columns; a wide sheet has only that of the lemma."""
    rank: int
    """How sure that is: 0 is the surest."""
    headed: bool = True
    remarks: tuple[str, ...] = ()
    """What the user should know of where it is."""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows below the headings."""
        return self.sheet.rows[self.headed :]


def read_layout(path: Path | str, columns: Columns, forms: Forms, note: Note) -> Layout:
    if kind_of_sheet(path) == ".xlsx":
        sheet = read_xlsx(path, note)
        layout = _layout(sheet, _own(columns, [sheet]), forms)
    else:
        sheets, errors = read_csv(path)
        sheet, layout = _chosen(sheets, errors, _own(columns, sheets), forms)
    if layout is None:
        row = max(sheet.rows[:TITLE_ROWS], key=lambda row: sum(map(bool, row.cells)))
        names = listed(sheet.below(sheet.rows.index(row)).header)
        where = "the first row" if row is sheet.rows[0] else f"row {row.number}"
        raise sheet.error(
            f"found {names} in {where}, and cannot tell which column is which",
            "name them lemma, form and features there, or give --columns 'lemma=…,form=…,features=…' with their names "
            "(lemma=… alone if the other columns are cells of the paradigm)",
            row.number,
        )
    return layout


def _own(columns: Columns, sheets: Sequence[Sheet]) -> Columns:
    """The columns without the names of another file."""
    ours = not columns.further or any(_has_headers(sheet, columns) for sheet in sheets)
    return columns if ours else replace(columns, headers=())


def _layout(sheet: Sheet, columns: Columns, forms: Forms) -> Layout | None:
    """How a sheet is laid out, by its headings, or by an item in its first row; None if that cannot be told."""
    if places := _named_columns(sheet, columns, strict=not _has_headers(sheet, columns)):
        return _headed(sheet, sheet, places, rank=0)
    if places := _unheaded(sheet, columns, forms, sure=True):
        return Layout(sheet, places, 1, headed=False)
    others = [sheet.below(at) for at in range(1, len(sheet.rows[:TITLE_ROWS]))]
    for other in others:
        if len(other.rows) > 1 and len(other.rows[0].cells) > 1 and (places := _named_columns(other, columns)):
            return _headed(sheet, other, places, rank=2)
    if places := _unheaded(sheet, columns, forms):
        return Layout(sheet, places, 3, headed=False)
    if not columns.headers:
        for other in (sheet, *others):
            if (lemma := _guessed_lemma(other, columns.labels)) is not None:
                found = {column: place for column, (place,) in _by_name(other).items()}
                name = quoted(other.header[lemma])
                remark = f"taking column {name} for the lemma (--columns lemma=… chooses another)"
                return _headed(sheet, other, {**found, "lemma": lemma}, remark, rank=4)
    return None


def _headed(whole: Sheet, sheet: Sheet, places: Mapping[Column, int], *remarks: str, rank: int) -> Layout:
    """A layout of the rows from the headings on; those of a wide sheet can take two rows."""
    number = sheet.rows[0].number
    said = [f"using row {number} as headings"] if len(sheet.rows) < len(whole.rows) else []
    if "features" not in places and (two := _two_rows(whole, sheet, places["lemma"])):
        sheet, rows = two
        example = next((f" (such as {quoted(name)})" for name in sheet.header if SEPARATOR in name), "")
        said = [f"using rows {rows} as headings{example}"]
    merged = [ref for last, ref in sorted(whole.merged) if last >= number]
    if merged:
        more = ", …" if len(merged) > 3 else ""
        remarks = (*remarks, f"merged cells ({', '.join(merged[:3])}{more}) count for all their rows and columns")
    return Layout(sheet, places, rank, remarks=(*said, *remarks))


def _two_rows(whole: Sheet, sheet: Sheet, lemma: int) -> tuple[Sheet, str] | None:
    """A sheet with headings of two rows, and their numbers: the row below or above says what the first leaves open."""
    first, header = sheet.rows[0], sheet.header
    unclear = [at for at, name in enumerate(header) if at != lemma and (not name or header.count(name) > 1)]
    following = sheet.rows[1] if len(sheet.rows) > 2 else None
    if following and following.cell(lemma) in ("", header[lemma]):
        if any(following.cell(at) for at in (*unclear, *range(len(header), len(following.cells)))):
            return _joined(first, following, lemma, sheet, sheet.rows[2:]), f"{first.number} and {following.number}"
    elif any(header[at] for at in unclear) and (above := len(whole.rows) - len(sheet.rows)):
        upper = whole.rows[above - 1]
        if sum(map(bool, upper.cells)) > 1:
            return _joined(upper, first, lemma, sheet, sheet.rows[1:]), f"{upper.number} and {first.number}"
    return None


def _joined(upper: Row, lower: Row, lemma: int, sheet: Sheet, rows: Sequence[Row]) -> Sheet:
    """A sheet with headings of two rows: `present` above `1sg` and `2sg` makes `present;1sg` and `present;2sg`."""
    names: list[Cell] = []
    over: Cell = ""
    for at in range(max(len(upper.cells), len(lower.cells))):
        own = lower.cell(at)
        over = upper.cell(at) or over
        apart = at == lemma or not isinstance(own, str) or not isinstance(over, str) or is_aside(own)
        names.append((own or upper.cell(at)) if apart or own in ("", over) or not over else f"{over}{SEPARATOR}{own}")
    header = Row(lower.number, names, max(upper.width, lower.width))
    return replace(sheet.below(len(sheet.rows)), rows=[header, *rows])


def _guessed_lemma(sheet: Sheet, labels: Labels) -> int | None:
    """The lemma's column by what the others are: the only one that holds neither forms, features nor remarks."""
    named, header = _by_name(sheet), sheet.header
    if len(sheet.rows) < 2 or any(len(places) > 1 for places in named.values()):
        return None
    cells = [
        at
        for at, name in enumerate(header)
        if (SEPARATOR in name or labels.knows(name))
        and not any(SEPARATOR in str(cell) or cell == name for row in sheet.rows[1:] if (cell := row.cell(at)))
    ]
    known = {place for places in named.values() for place in places}
    left = [at for at, name in enumerate(header) if name and at not in known and at not in cells and not is_aside(name)]
    words = [at for at in left if plain_name(header[at]) in LEMMA_WORDS]
    if named.keys() == {"form", "features"} or (cells and not named):
        return left[0] if len(left) == 1 else words[0] if len(words) == 1 else None
    return words[0] if len(words) == 1 and len(left) > 1 and not named else None


def _has_headers(sheet: Sheet, columns: Columns) -> bool:
    """Whether one of the first rows has all names that the user gave."""
    wanted = {name for _, name in columns.headers}
    return bool(wanted) and any(wanted <= {*map(str, row.cells)} for row in sheet.rows[:TITLE_ROWS])


def _by_name(sheet: Sheet) -> dict[Column, list[int]]:
    """The columns that could be the lemma, the form or the features by their names."""
    plain = [plain_name(name) for name in sheet.header]
    found = {column: [at for at, name in enumerate(plain) if name in names] for column, names in NAMES.items()}
    return {column: places for column, places in found.items() if places}


def _named_columns(sheet: Sheet, columns: Columns, *, strict: bool = False) -> dict[Column, int]:
    """The places of the columns by their names in the first row; empty if the names are not enough.

    If `strict`, names that the user gave have to be there.
    """
    header, first_row = sheet.header, sheet.rows[0].number
    found: dict[Column, int] = {}
    for column, name in columns.headers:
        places = [place for place, own in enumerate(header) if own == name]
        if len(places) != 1 and (strict or len(places) > 1):
            many = f"{len(places)} columns" if places else "no column"
            raise sheet.error(f"found {many} called {quoted(name)}", f"the columns are {listed(header)}", first_row)
        if not places:
            return {}
        found[column] = places[0]
    if found:
        return found
    for column, places in _by_name(sheet).items():
        filled = [place for place in places if any(row.cell(place) for row in sheet.rows[1:])] or places
        if len(filled) > 1:
            which = f"{len(places)} columns that could be the {column}: {listed([header[p] for p in places])}"
            such_as = f"--columns 'lemma=…,form=…,features=…' with {quoted(header[places[0]])} in it"
            raise sheet.error(f"found {which}", f"choose one, such as {such_as}", first_row)
        found[column] = filled[0]
    return {} if "lemma" not in found or ("form" in found and "features" not in found) else found


def is_aside(name: str) -> bool:
    """Whether a column holds remarks, numbers of rows and the like, by its name."""
    plain = plain_name(re.sub(r"[].:°()[]", " ", name))
    return _is_guess(name) or (SEPARATOR not in name and (plain in NOT_FORMS or not REMARKS.isdisjoint(plain.split())))


def _is_guess(name: str) -> bool:
    """Whether `reinflect fill` has named a column."""
    return name.startswith((f"{GUESS}: ", f"{CONFIDENCE}: "))


def form_columns(sheet: Sheet, lemma: int, columns: Columns) -> tuple[list[int], list[str]]:
    """The columns of a wide sheet that hold forms, and the names of others.

    With labels, those hold forms that are named by a label or by features.
    """
    forms, ignored, labels = [], [], columns.labels
    filled = {column: row.number for row in reversed(sheet.rows) for column, cell in enumerate(row.cells) if cell}
    for column in sorted(filled.keys() - {lemma}):
        name = sheet.rows[0].cell(column)
        if name == "":
            remedy = f"name the column in row {sheet.rows[0].number}, or empty it"
            raise sheet.error("found text in a column without a name", remedy, filled[column], column)
        if isinstance(name, str) and (
            is_aside(name) or (SEPARATOR not in name and sheet.has_numbers(column))
            if not labels
            else _is_guess(name) or not (labels.knows(name) or SEPARATOR in name or labels.of_heading(name) != name)
        ):
            ignored.append(name)
        else:
            forms.append(column)
    return forms, ignored


def _unheaded(sheet: Sheet, columns: Columns, forms: Forms, *, sure: bool = False) -> dict[Column, int]:
    """The columns, if the first row is an item: by its features, or (unless `sure`) because other rows repeat them."""
    widths = {len(columns.order): columns.order} | ({2: columns.covered()} if forms != "required" else {})
    order = widths.get(len(sheet.rows[0].cells))
    if order is None or columns.headers or any(len(row.cells) > len(order) for row in sheet.rows):
        return {}
    first, *others = [row.cell(order.index("features")) for row in sheet.rows]
    if any(map(is_aside, sheet.header)) and not any(SEPARATOR in str(cell) for cell in others):
        return {}  # a heading such as Gloss, and no other features
    looks = isinstance(first, str) and (SEPARATOR in first or columns.labels.knows(first))
    again = isinstance(first, str) and not sure and first in others
    return {column: place for place, column in enumerate(order)} if looks or again else {}


def _chosen(
    sheets: Sequence[Sheet], errors: Sequence[InputError], columns: Columns, forms: Forms
) -> tuple[Sheet, Layout | None]:
    """A CSV file cut by the separator that makes sense of it, and its layout; several that do are an error."""
    wanted = [sheet for sheet in sheets if _has_headers(sheet, columns)]
    if columns.headers and not wanted:
        wanted = [max(sheets, key=lambda sheet: len(sheet.rows[0].cells))]
    found = [(own, layout) for own in (wanted or sheets) if (layout := _layout(own, columns, "optional"))]
    if not found:
        if errors:
            raise errors[0]
        return max(sheets, key=lambda sheet: max(len(row.cells) for row in sheet.rows[:TITLE_ROWS])), None
    surest = min(layout.rank for _, layout in found)
    (whole, layout), *others = [one for one in found if one[1].rank == surest]
    sheet = layout.sheet
    if any(other.sheet.rows != sheet.rows for _, other in others):
        which = f"cannot tell which of {', '.join(SEPARATORS.values())} separates the columns"
        raise sheet.error(which, "name the columns lemma, form and features in a first row")
    width = sheet.rows[0].width
    for row in sheet.rows:
        if len(row.cells) > width:
            where = "the first row" if sheet.rows[0].number == 1 else f"row {sheet.rows[0].number}"
            many = f"found {len(row.cells)} columns, but {width} in {where}"
            remedy = 'put a field that contains the separator between quotation marks ("…")'
            raise sheet.error(many, remedy, row.number)
    return whole, _layout(whole, columns, forms)
