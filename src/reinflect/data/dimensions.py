"""What feature atoms are about: tense, person, case … and how the cells of a paradigm stand beside each other."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from reinflect.data.features import PARTS_OF_SPEECH, SEPARATOR, Bundle

PART_OF_SPEECH = "part of speech"
OTHER = "other"
_BY_BEGINNING = {"ARG": "argument marking", "PSS": "possession", "BANTU": "gender"}
_PIECES = re.compile(r"[{}+/|:]|non(?=\{)")
_COLUMNS = "number gender definiteness polarity voice comparison animacy".split()
_ROWS = "person case possession tense mood aspect gender".split()
"""What best tells the columns and the rows of a table apart, the best first."""
_FEW = 6
"""Cells that are a list rather than tables."""


@cache
def schema() -> Mapping[str, tuple[str, str]]:
    """The dimension and the meaning of every atom of the UniMorph schema, in the order in which they are shown."""
    text = files("reinflect.data").joinpath("unimorph.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {atom: (dimension, meaning) for dimension, atom, meaning in rows}


def dimension_of(atom: str) -> str:
    """`tense` for PST; atoms that are put together (`IN+ESS`, `{1/2}`) are what their first known piece is."""
    if atom.split(".")[0] in PARTS_OF_SPEECH:
        return PART_OF_SPEECH
    for piece in [atom, *filter(None, _PIECES.split(atom))]:
        if piece in schema():
            return schema()[piece][0]
    return next((name for start, name in _BY_BEGINNING.items() if atom.startswith(start)), OTHER)


def meaning_of(atom: str) -> str:
    """`past` for PST; nothing for an atom that the schema does not have."""
    return schema().get(atom, ("", ""))[1]


def grouped(atoms: Iterable[str]) -> dict[str, list[str]]:
    """Atoms by their dimension, both in the order of the schema; what it does not have comes last."""
    groups: dict[str, list[str]] = {}
    for atom in sorted(set(atoms), key=_place):
        groups.setdefault(dimension_of(atom), []).append(atom)
    return groups


@dataclass(frozen=True)
class Row:
    """A row of a table of forms: its title, and a bundle for each column, or none where there is no such cell."""

    title: str
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class Table:
    """Cells of a paradigm that belong side by side: those of a tense, say, by person and number."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def paradigms(bundles: Iterable[str]) -> dict[str, list[Table]]:
    """Tables for the bundles of each part of speech. Bundles with the same atoms are one cell, spelled as the first."""
    by_part: dict[str, dict[tuple[str, ...], Bundle]] = {}
    for bundle in map(Bundle, bundles):
        by_part.setdefault(bundle.part_of_speech.split(".")[0], {}).setdefault(bundle.cell, bundle)
    return {part: tables(list(cells.values())) for part, cells in by_part.items()}


def tables(bundles: Sequence[Bundle]) -> list[Table]:
    """Bundles as tables with two dimensions; those that stand alone are the rows of a last table with one column."""
    analysed = [_Cell.of(bundle) for bundle in bundles]
    across = _first_that_varies(_COLUMNS, analysed)
    down = _first_that_varies([name for name in _ROWS if name not in across], analysed)
    if down == ("person",) and across != ("gender",):
        down = ("person", "gender")  # he, she and it are persons enough to be rows of one table
    sections: dict[str, list[_Cell]] = {}
    for cell in sorted(analysed, key=lambda cell: cell.places(*down, *across)):
        sections.setdefault(cell.without(*down, *across), []).append(cell)
    alone = [cell for cells in sections.values() if len(cells) == 1 for cell in cells]
    if len(analysed) <= _FEW:
        sections, alone = {}, sorted(analysed, key=lambda cell: cell.places())
    made = [_table(title, cells, down, across) for title, cells in sections.items() if len(cells) > 1]
    if alone:
        rows = tuple(Row(cell.bundle.spelling, (cell.bundle.spelling,)) for cell in alone)
        made.append(Table("", ("",), rows))
    return made


@dataclass(frozen=True)
class _Cell:
    """A bundle taken apart."""

    bundle: Bundle
    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, bundle: Bundle) -> "_Cell":
        values: dict[str, tuple[str, ...]] = {}
        for atom in sorted(bundle.atoms, key=_place):
            dimension = dimension_of(atom)
            values[dimension] = (*values.get(dimension, ()), atom)
        return cls(bundle, values)

    def value(self, dimensions: Iterable[str]) -> tuple[str, ...]:
        return tuple(atom for dimension in dimensions for atom in self.values.get(dimension, ()))

    def title(self, dimensions: Iterable[str]) -> str:
        return SEPARATOR.join(self.value(dimensions))

    def without(self, *dimensions: str) -> str:
        return self.title(name for name in _dimension_order() if name not in dimensions)

    def places(self, *last: str) -> list[list[tuple[int, int, str]]]:
        """Sorts cells by the order of the schema, the dimensions of a table's rows and columns last."""
        first = (name for name in _dimension_order() if name not in last)
        return [[_place(atom) for atom in self.value([dimension])] for dimension in (*first, *last)]


def _table(title: str, cells: Sequence[_Cell], down: Sequence[str], across: Sequence[str]) -> Table:
    columns = _titles(cells, across)
    found = {(cell.title(down), cell.title(across)): cell.bundle.spelling for cell in cells}
    rows = tuple(Row(row, tuple(found.get((row, column)) for column in columns)) for row in _titles(cells, down))
    return Table(title, columns, rows)


def _titles(cells: Iterable[_Cell], dimensions: Sequence[str]) -> tuple[str, ...]:
    ordered = sorted(cells, key=lambda cell: [_place(atom) for atom in cell.value(dimensions)])
    return tuple(dict.fromkeys(cell.title(dimensions) for cell in ordered))


def _first_that_varies(dimensions: Iterable[str], cells: Sequence[_Cell]) -> tuple[str, ...]:
    for name in dimensions:
        if len({cell.value([name]) for cell in cells} - {()}) > 1:
            return (name,)
    return ()


@cache
def _dimension_order() -> tuple[str, ...]:
    known = dict.fromkeys(dimension for dimension, _ in schema().values())
    return (*known, *(name for name in (*_BY_BEGINNING.values(), OTHER) if name not in known))


@cache
def _places() -> Mapping[str, int]:
    return {atom: place for place, atom in enumerate(schema())}


def _place(atom: str) -> tuple[int, int, str]:
    """Where an atom stands among others: by dimension, then by the order of the schema, then by spelling."""
    return _dimension_order().index(dimension_of(atom)), _places().get(atom, len(_places())), atom
