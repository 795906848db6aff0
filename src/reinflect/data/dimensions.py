"""The dimensions of feature atoms (tense, person, case, …) and the layout of paradigms as tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import islice

from reinflect.data.features import PARTS_OF_SPEECH, SEPARATOR, Bundle

PART_OF_SPEECH = "part of speech"
OTHER = "other"
_BY_BEGINNING = {"ARG": "argument marking", "PSS": "possession", "BANTU": "gender"}
_PIECES = re.compile(r"[{}+/|:]|non(?=\{)")
_COLUMNS = "number gender definiteness polarity voice comparison animacy".split()
_ROWS = "person case possession tense mood aspect gender".split()
"""The dimensions preferred for the columns and the rows of a table, the best first."""
_FEW = 6
"""Up to this number, cells are shown as a list rather than as tables."""
_SPARSE = 50
"""A table has at most this number of places for each of its cells; others are shown as a list, too."""


class _Cell(Bundle):
    """A bundle that keeps its atoms by dimension while tables are made."""

    @cached_property
    def groups(self) -> Mapping[str, Sequence[str]]:
        return grouped(self.atoms)


@cache
def schema() -> Mapping[str, tuple[str, str]]:
    """The dimension and the meaning of every atom of the UniMorph schema, in display order."""
    text = files("reinflect.data").joinpath("unimorph.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {atom: (dimension, meaning) for dimension, atom, meaning in rows}


@lru_cache(10_000)
def dimension_of(atom: str) -> str:
    """`tense` for PST; a compound atom (`IN+ESS`, `{1/2}`) has the dimension of its first known piece."""
    if atom.split(".")[0] in PARTS_OF_SPEECH:
        return PART_OF_SPEECH
    for piece in [atom, *filter(None, _PIECES.split(atom))]:
        if piece in schema():
            return schema()[piece][0]
    return next((name for start, name in _BY_BEGINNING.items() if atom.startswith(start)), OTHER)


def meaning_of(atom: str) -> str:
    """`past` for PST; empty for an atom that is not in the schema."""
    return schema().get(atom, ("", ""))[1]


def grouped(atoms: Iterable[str]) -> dict[str, list[str]]:
    """Atoms by their dimension, both in the order of the schema; unknown atoms come last."""
    groups: dict[str, list[str]] = {}
    for atom in sorted(atoms, key=_place):
        groups.setdefault(dimension_of(atom), []).append(atom)
    return groups


@dataclass(frozen=True)
class Row:
    """A row of a table of forms: its title, and a bundle for each column, or None where there is no cell."""

    title: str
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class Table:
    """Cells of a paradigm side by side: for example those of a tense, by person and number."""

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
    """Bundles as tables with two dimensions; single bundles are the rows of a last table with one column."""
    cells = [_Cell(bundle.spelling) for bundle in bundles]
    across = _first_that_varies(_COLUMNS, cells)
    down = _first_that_varies([name for name in _ROWS if name not in across], cells)
    if down == ["person"] and across != ["gender"]:
        down = ["person", "gender"]  # rows for he, she and it
    others = [name for name in _dimension_order() if name not in (*down, *across)]
    sections: dict[str, list[_Cell]] = {}
    for cell in sorted(cells, key=lambda own: _places(own, [*others, *down, *across])):
        sections.setdefault(_title(cell, others), []).append(cell)
    made: list[Table] = []
    alone: list[_Cell] = []
    if len(cells) <= _FEW:
        sections, alone = {}, sorted(cells, key=lambda own: _places(own, _dimension_order()))
    for title, section in sections.items():
        rows, columns = _titles(section, down), _titles(section, across)
        if len(section) == 1 or len(rows) * len(columns) > _SPARSE * len(section):
            alone += section
            continue
        found = {(_title(own, down), _title(own, across)): own.spelling for own in section}
        filled = (Row(row, tuple(found.get((row, column)) for column in columns)) for row in rows)
        made.append(Table(title, columns, tuple(filled)))
    if alone:
        made.append(Table("", ("",), tuple(Row(own.spelling, (own.spelling,)) for own in alone)))
    return made


def _titles(cells: Iterable[_Cell], dimensions: Sequence[str]) -> tuple[str, ...]:
    ordered = sorted(cells, key=lambda cell: [_place(atom) for atom in _values(cell, dimensions)])
    return tuple(dict.fromkeys(_title(cell, dimensions) for cell in ordered))


def _title(cell: _Cell, dimensions: Iterable[str]) -> str:
    return SEPARATOR.join(_values(cell, dimensions))


def _places(cell: _Cell, dimensions: Iterable[str]) -> list[list[tuple[int, int, str]]]:
    """A sort key by the order of the schema, in each of the dimensions."""
    return [[_place(atom) for atom in _values(cell, [dimension])] for dimension in dimensions]


def _values(cell: _Cell, dimensions: Iterable[str]) -> list[str]:
    return [atom for dimension in dimensions for atom in cell.groups.get(dimension, ())]


def _first_that_varies(dimensions: Iterable[str], cells: Sequence[_Cell]) -> list[str]:
    varying = (name for name in dimensions if len({_title(own, [name]) for own in cells} - {""}) > 1)
    return list(islice(varying, 1))


@cache
def _dimension_order() -> tuple[str, ...]:
    known = dict.fromkeys(dimension for dimension, _ in schema().values())
    return (*known, *(name for name in (*_BY_BEGINNING.values(), OTHER) if name not in known))


@cache
def _schema_order() -> Mapping[str, int]:
    return {atom: place for place, atom in enumerate(schema())}


@lru_cache(10_000)
def _place(atom: str) -> tuple[int, int, str]:
    """A sort key for atoms: by dimension, then by the order of the schema, then by spelling."""
    return _dimension_order().index(dimension_of(atom)), _schema_order().get(atom, len(schema())), atom
