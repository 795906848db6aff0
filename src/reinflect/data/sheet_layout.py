"""The headings of a sheet, and what each column holds.

A *long* sheet has columns for lemma, form and features. A *wide* sheet has a column of lemmas, and columns of forms
that are named by a label or by features.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reinflect.data.features import SEPARATOR, Labels
from reinflect.data.items import NAMES, Column, Columns, Forms, plain_name
from reinflect.data.sheet_file import SEPARATORS, Note, Row, Sheet, SheetCell, listed, read_sheets
from reinflect.errors import quoted, shortened

REMARKS = frozenset(
    "gloss glosses glosse glosa translation meaning note notes comment comments remark remarks source speaker "
    "consultant example date frequency freq page übersetzung bedeutung bemerkung anmerkung kommentar quelle beispiel "
    "häufigkeit seite traduction sens remarque traducción significado notas".split()
)
"""Words in names of columns that never hold forms."""
NOT_FORMS = REMARKS | frozenset(
    "id no nr num number nummer # count rank p pp english pos class guess confidence".split()
)
"""Whole names of such columns."""
LEMMA_WORDS = frozenset(
    "verb verbs noun nouns adjective adjectives word words wort wörter stem stems root roots infinitive infinitiv "
    "entry entries headwords citation nomen substantiv adjektiv verbe nom mot verbo nombre palabra infinitivo".split()
)
"""Names of the lemma's column that can also have another meaning."""
GUESS, CONFIDENCE = "guess", "confidence"
BESIDE = (f"{GUESS}: ", f"{CONFIDENCE}: ")
"""Columns of `reinflect fill --beside`; the name of the form's column follows after a colon."""
TITLE_ROWS = 20
"""The rows, from the first on, among which the headings are."""


@dataclass(frozen=True)
class Layout:
    """What each column of a sheet holds."""

    sheet: Sheet
    """It begins with the headings, if there are any."""
    places: Mapping[Column, int]
    """Of a wide sheet, only that of the lemma."""
    rank: int
    """How sure it is: 0 is the surest."""
    headed: bool = True
    remarks: tuple[str, ...] = ()
    """For the user, about the headings."""
    cells: Mapping[int, str] = field(default_factory=dict)
    """The columns of forms in a wide sheet, and their names."""

    @property
    def rows(self) -> Sequence[Row]:
        """Those below the headings."""
        return self.sheet.rows[self.headed :]

    def note_remarks(self, note: Note) -> None:
        if self.remarks:
            note(f"note: {self.sheet.location()}: {'; '.join(self.remarks)}")


def read_layout(path: Path | str, columns: Columns, forms: Forms, note: Note) -> Layout:
    """The layout of a file; a CSV file is cut by the separator with which it is surest."""
    sheets, errors = read_sheets(path, note)
    if wanted := {name for _, name in columns.headers}:
        named = [sheet for sheet in sheets if any(wanted <= {*row.texts} for row in sheet.rows[:TITLE_ROWS])]
        if not named and not columns.further:
            sheet = max(sheets, key=lambda sheet: len(sheet.header))
            missing = next(name for _, name in columns.headers if name not in sheet.header)
            problem = f"found no column called {quoted(missing)}"
            raise sheet.error(problem, f"the columns are {listed(sheet.header)}", sheet.rows[0].number)
        sheets, columns = named or sheets, columns if named else replace(columns, headers=())
    if layouts := [(layout, sheet) for sheet in sheets if (layout := _layout(sheet, columns, "optional"))]:
        surest = min(layout.rank for layout, _ in layouts)
        (best, sheet), *others = [pair for pair in layouts if pair[0].rank == surest]
        _check_separator(best.sheet, [other.sheet for other, _ in others])
        if layout := _layout(sheet, columns, forms):
            return _with_cells(layout, columns.labels)
    elif errors:
        raise errors[0]
    else:
        sheet = max(sheets, key=lambda sheet: max(len(row.cells) for row in sheet.rows[:TITLE_ROWS]))
    row = max(sheet.rows[:TITLE_ROWS], key=lambda row: sum(map(bool, row.cells)))
    names, where = listed(row.texts), "the first row" if row is sheet.rows[0] else f"row {row.number}"
    remedy = "name them lemma, form and features there, or give --columns 'lemma=…,form=…,features=…' with their names "
    remedy += "(lemma=… alone if the other columns are cells of the paradigm)"
    raise sheet.error(f"found {names} in {where}, and cannot tell which column is which", remedy, row.number)


def _check_separator(sheet: Sheet, others: Sequence[Sheet]) -> None:
    """Refuse a CSV file that other separators cut into as good a sheet, or with rows longer than its headings."""
    if any(other.rows != sheet.rows for other in others):
        which = f"cannot tell which of {', '.join(SEPARATORS.values())} separates the columns"
        raise sheet.error(which, "name the columns lemma, form and features in a first row")
    heading = sheet.rows[0]
    if sheet.separator and (row := next((row for row in sheet.rows if len(row.cells) > heading.width), None)):
        where = "the first row" if heading.number == 1 else f"row {heading.number}"
        problem = f"found {len(row.cells)} columns, but {heading.width} in {where}"
        raise sheet.error(problem, 'put a field that contains the separator between quotation marks ("…")', row.number)


def _layout(sheet: Sheet, columns: Columns, forms: Forms) -> Layout | None:
    """The surest layout: by the headings in some row, by an item in the first row, or by a guess."""
    lower = [sheet.below(row) for row in range(1, len(sheet.rows[:TITLE_ROWS]))]
    if places := _named_columns(sheet, columns):
        return _headed(sheet, sheet, places, rank=0)
    unheaded = _unheaded(sheet, columns, forms)
    if unheaded and unheaded.rank == 1:
        return unheaded
    for top in lower:
        if len(top.rows) > 1 and len(top.header) > 1 and (places := _named_columns(top, columns)):
            return _headed(sheet, top, places, rank=2)
    for top in () if unheaded or columns.headers else (sheet, *lower):
        if places := _guessed_columns(top, columns.labels):
            name = quoted(top.header[places["lemma"]])
            remark = f"taking column {name} for the lemma (--columns lemma=… chooses another)"
            return _headed(sheet, top, places, remark, rank=4)
    return unheaded


def _headed(whole: Sheet, sheet: Sheet, places: Mapping[Column, int], *remarks: str, rank: int) -> Layout:
    """A layout from the headings on; those of a wide sheet can take two rows."""
    number = sheet.rows[0].number
    using = [f"using row {number} as headings"] if len(sheet.rows) < len(whole.rows) else []
    if "features" not in places and (two := _two_rows(whole, sheet, places["lemma"])):
        sheet, rows = two
        example = next((f" (such as {quoted(name)})" for name in sheet.header if SEPARATOR in name), "")
        using = [f"using rows {rows} as headings{example}"]
    if merged := [cells for last, cells in sorted(whole.merged) if last >= number]:
        more = ", …" if len(merged) > 3 else ""
        remarks = (*remarks, f"merged cells ({', '.join(merged[:3])}{more}) count for all their rows and columns")
    return Layout(sheet, places, rank, remarks=(*using, *remarks))


def _two_rows(whole: Sheet, sheet: Sheet, lemma: int) -> tuple[Sheet, str] | None:
    """A sheet with headings of two rows, and their numbers: `PRS` above `1SG` and `2SG` is `PRS;1SG` and `PRS;2SG`."""
    first, *rows = sheet.rows
    header, before = sheet.header, len(whole.rows) - len(sheet.rows)
    unclear = [at for at, name in enumerate(header) if at != lemma and (not name or header.count(name) > 1)]
    if len(rows) > 1 and rows[0].cell(lemma) in ("", header[lemma]):
        upper, lower, *rows = sheet.rows
        needed = any(map(lower.cell, (*unclear, *range(len(header), len(lower.cells)))))
    else:
        upper, lower = whole.rows[before - 1], first
        needed = before > 0 and any(header[at] for at in unclear) and sum(map(bool, upper.cells)) > 1
    if not needed:
        return None
    names: list[SheetCell] = []
    over: SheetCell = ""
    for at in range(max(len(upper.cells), len(lower.cells))):
        name, over = lower.cell(at), upper.cell(at) or over
        apart = at == lemma or not isinstance(name, str) or not isinstance(over, str) or is_aside(name)
        if apart or name in ("", over) or not over:
            names.append(name or upper.cell(at))
        else:
            names.append(f"{over}{SEPARATOR}{name}")
    headings = Row(lower.number, names, max(upper.width, lower.width))
    return replace(sheet, rows=[headings, *rows]), f"{upper.number} and {lower.number}"


def _named_columns(sheet: Sheet, columns: Columns) -> dict[Column, int]:
    """The columns by their names in the first row: those that the user gives, or else the usual ones."""
    header, number = sheet.header, sheet.rows[0].number
    places: dict[Column, int] = {}
    if not {name for _, name in columns.headers} <= {*header}:
        return {}
    for column, name in columns.headers:
        if header.count(name) > 1:
            many = f"found {header.count(name)} columns called {quoted(name)}"
            raise sheet.error(many, f"the columns are {listed(header)}", number)
        places[column] = header.index(name)
    for column, candidates in () if places else _by_name(sheet).items():
        filled = [at for at in candidates if any(row.cell(at) for row in sheet.rows[1:])] or candidates
        if len(filled) > 1:
            names = listed([header[at] for at in candidates])
            problem = f"found {len(candidates)} columns that could be the {column}: {names}"
            remedy = "choose one, such as --columns 'lemma=…,form=…,features=…' with "
            raise sheet.error(problem, f"{remedy}{quoted(header[candidates[0]])} in it", number)
        places[column] = filled[0]
    return {} if "lemma" not in places or ("form" in places and "features" not in places) else places


def _by_name(sheet: Sheet) -> dict[Column, list[int]]:
    """The candidates for each column by their names."""
    plain = [plain_name(name) for name in sheet.header]
    places = {column: [at for at, name in enumerate(plain) if name in names] for column, names in NAMES.items()}
    return {column: candidates for column, candidates in places.items() if candidates}


def _unheaded(sheet: Sheet, columns: Columns, forms: Forms) -> Layout | None:
    """If the first row is an item: surely so by its features, and perhaps because other rows repeat them."""
    orders = [columns.order] if forms == "required" else [columns.order, columns.covered()]
    order = next((order for order in orders if len(order) == len(sheet.header)), None)
    if not order or columns.headers or any(len(row.cells) > len(order) for row in sheet.rows):
        return None
    first, *others = [row.cell(order.index("features")) for row in sheet.rows]
    bare = any(map(is_aside, sheet.header)) and not any(SEPARATOR in str(cell) for cell in others)
    if bare or not isinstance(first, str):  # a heading such as Gloss, and no other features
        return None
    sure = SEPARATOR in first or columns.labels.knows(first)
    places = {column: at for at, column in enumerate(order)}
    return Layout(sheet, places, 1 if sure else 3, headed=False) if sure or first in others else None


def _guessed_columns(sheet: Sheet, labels: Labels) -> dict[Column, int]:
    """The lemma's column by what the others are: the only one that holds neither forms, features nor remarks."""
    named, header = _by_name(sheet), sheet.header
    if len(sheet.rows) < 2 or any(len(candidates) > 1 for candidates in named.values()):
        return {}
    places = {column: at for column, (at,) in named.items()}
    cells = [
        at
        for at, name in enumerate(header)
        if (SEPARATOR in name or labels.knows(name))
        and not any(SEPARATOR in str(cell) or cell == name for row in sheet.rows[1:] if (cell := row.cell(at)))
    ]
    clear = named.keys() == {"form", "features"} or bool(cells and not named)
    taken = {*cells, *places.values()}
    left = [at for at, name in enumerate(header) if name and at not in taken and not is_aside(name)]
    words = [at for at in left if plain_name(header[at]) in LEMMA_WORDS]
    choices = left if clear and len(left) == 1 else words
    return {**places, "lemma": choices[0]} if len(choices) == 1 and (clear or (len(left) > 1 and not named)) else {}


def is_aside(name: str) -> bool:
    """Whether a column holds remarks, numbers of rows and the like, by its name."""
    plain = plain_name(re.sub(r"[].:°()[]", " ", name))
    remark = SEPARATOR not in name and (plain in NOT_FORMS or not REMARKS.isdisjoint(plain.split()))
    return remark or name.startswith(BESIDE)


def _with_cells(layout: Layout, labels: Labels) -> Layout:
    """A layout with the columns of forms of a wide sheet; if there are labels, those named by a label or features."""
    sheet, heading, places = layout.sheet, layout.sheet.rows[0], layout.places
    if "features" in places:
        others = [name for at, name in enumerate(sheet.header) if at not in places.values() and layout.headed]
        return replace(layout, remarks=(*layout.remarks, *_ignored(others)))
    filled = {column: row.number for row in reversed(sheet.rows) for column, cell in enumerate(row.cells) if cell}
    cells, ignored = {}, []
    for column in sorted(filled.keys() - {places["lemma"]}):
        if not (name := heading.cell(column)):
            remedy = f"name the column in row {heading.number}, or empty it"
            raise sheet.error("found text in a column without a name", remedy, filled[column], column)
        text = name if isinstance(name, str) else SEPARATOR
        unknown = SEPARATOR not in text and labels.of_heading(text) == text and not labels.knows(text)
        if text.startswith(BESIDE) or (unknown and (labels or is_aside(text) or sheet.has_numbers(column))):
            ignored.append(text)
        else:
            cells[column] = sheet.text(heading, column, "")
    cased = [name for name in cells.values() if labels.of_heading(name) != labels.to_features(name)]
    remarks = [f"taking {listed(cased)} for labels, whatever the case"] if cased else []
    remarks += _ignored(ignored, " (no label)" if labels else " (not inflected forms)")
    return replace(layout, cells=cells, remarks=(*layout.remarks, *remarks))


def _ignored(names: Sequence[str], why: str = "") -> list[str]:
    names = [shortened(name, 40) for name in names if name]
    return [f"ignored columns{why}: {', '.join(names[:6])}{', …' * (len(names) > 6)}"] if names else []
