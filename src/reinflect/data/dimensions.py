"""The dimensions of feature atoms (tense, person, case, …) and the layout of paradigms as tables."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from reinflect.data import items
from reinflect.data.features import PARTS_OF_SPEECH, POSSESSOR, SEPARATOR, Bundle

PART_OF_SPEECH = "part of speech"
OTHER = "other"
_BY_BEGINNING = {"ARG": "argument marking", POSSESSOR: "possession", "BANTU": "gender"}
_PIECES = re.compile(r"[{}+/|:]|non(?=\{)")
_LAYERED = re.compile(r"([^()]+)\((.+)\)")
"""An atom in a layer, such as `NOM(1)`."""
_COLUMNS = "number gender definiteness polarity voice comparison animacy".split()
_ROWS = "person case possession tense mood aspect gender".split()
"""The dimensions preferred for the columns and the rows of a table, the best first."""
_FEW = 6
"""So many cells are shown as a list."""
_SPARSE = 50
"""The most places that a table has for each of its cells; others are shown as a list, too."""


@cache
def schema() -> Mapping[str, tuple[str, str]]:
    """The dimension and the meaning of every atom of the UniMorph schema, in display order."""
    lines = files("reinflect.data").joinpath("unimorph.tsv").read_text(encoding="utf-8").splitlines()
    return {atom: (dimension, meaning) for dimension, atom, meaning in (line.split("\t") for line in lines)}


@lru_cache(10_000)
def dimension_of(atom: str) -> str:
    """`tense` for PST, `person (NOM)` for NOM(1); that of a compound (`IN+ESS`, `{1/2}`) by its first known piece."""
    if (layered := _LAYERED.fullmatch(atom)) and not atom.startswith(POSSESSOR):
        return f"{dimension_of(layered[2])} ({layered[1]})"
    if atom.split(".")[0] in PARTS_OF_SPEECH:
        return PART_OF_SPEECH
    for piece in [atom, *filter(None, _PIECES.split(atom))]:
        if piece in schema():
            return schema()[piece][0]
    return next((name for start, name in _BY_BEGINNING.items() if atom.startswith(start)), OTHER)


def meaning_of(atom: str) -> str:
    """`past` for PST, `first person or second person` for {1/2}; empty for an atom outside of the schema."""
    if layered := _LAYERED.fullmatch(atom):
        inner = meaning_of(layered[2])
        return inner and f"{inner} ({layered[1]})"
    sign, joint = ("/", " or ") if "/" in atom else ("+", " and ")
    pieces = [atom] if atom in schema() else atom.strip("{}").split(sign)
    return joint.join(schema()[piece][1] for piece in pieces) if all(piece in schema() for piece in pieces) else ""


def grouped(atoms: Iterable[str]) -> dict[str, list[str]]:
    """Atoms by their dimension, both in the order of the schema; unknown atoms come last."""
    return items.grouped(sorted(atoms, key=_rank), dimension_of)


@dataclass(frozen=True)
class Row:
    """A row of a table: its title, and a bundle for each column, or None where there is no cell."""

    title: str
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class Table:
    """Cells of a paradigm: for example those of a tense, by person and number."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def bundles(self) -> list[str]:
        return [spelling for row in self.rows for spelling in row.cells if spelling is not None]


def paradigms(
    bundles: Iterable[str], named: Callable[[str], bool] = lambda _: False, *, ordered: bool = False
) -> dict[str, list[Table]]:
    """Tables for each part of speech; a table whose bundles are all `named` becomes a list, which shows their names."""
    parts: dict[str, dict[tuple[str, ...], Bundle]] = {}
    for bundle in map(Bundle, bundles):
        parts.setdefault(bundle.part_of_speech.split(".")[0], {}).setdefault(bundle.cell, bundle)
    return {
        part: [
            _list(spellings, table.title) if all(map(named, spellings := table.bundles)) else table
            for table in tables(list(cells.values()), ordered=ordered)
        ]
        for part, cells in parts.items()
    }


def tables(bundles: Sequence[Bundle], *, ordered: bool = False) -> list[Table]:
    """Bundles as tables with two dimensions; single bundles are the rows of a last table with one column.

    Features are in the order of the schema, or as in the bundles if the user has `ordered` them.
    """

    def sort(bundles: Sequence[Bundle], dimensions: Sequence[str]) -> Sequence[Bundle]:
        def rank(bundle: Bundle) -> list[list[tuple[int, int]]]:
            return [[_rank(atom)[:2] for atom in _groups(bundle.spelling).get(name, ())] for name in dimensions]

        return bundles if ordered else sorted(bundles, key=rank)

    order = sorted({name for bundle in bundles for name in _groups(bundle.spelling)}, key=_order)
    across = _first_that_varies(_COLUMNS, order, bundles)
    down = _first_that_varies(_ROWS, [name for name in order if name not in across], bundles)
    for person in (name for name in down if _base(name) == "person"):
        gender = person.replace("person", "gender", 1)
        down = down if across == [gender] else [person, gender]  # rows for he, she and it
    others = [name for name in order if name not in (*down, *across)]
    if len(bundles) <= _FEW:
        return [_list([bundle.spelling for bundle in sort(bundles, order)])]
    result, alone = [], []
    sections = items.grouped(sort(bundles, [*others, *down, *across]), lambda bundle: _title(bundle, others))
    for title, section in sections.items():
        rows = dict.fromkeys(_title(bundle, down) for bundle in sort(section, down))
        columns = dict.fromkeys(_title(bundle, across) for bundle in sort(section, across))
        if len(section) == 1 or len(rows) * len(columns) > _SPARSE * len(section):
            alone += [bundle.spelling for bundle in section]
            continue
        cells = {(_title(bundle, down), _title(bundle, across)): bundle.spelling for bundle in section}
        table_rows = (Row(row, tuple(cells.get((row, column)) for column in columns)) for row in rows)
        result.append(Table(title, tuple(columns), tuple(table_rows)))
    return [*result, _list(alone)] if alone else result


def _list(spellings: Iterable[str], title: str = "") -> Table:
    return Table(title, ("",), tuple(Row(spelling, (spelling,)) for spelling in spellings))


def _first_that_varies(preferred: Iterable[str], dimensions: Sequence[str], bundles: Sequence[Bundle]) -> list[str]:
    """The first that varies; of those in several layers, the one that most bundles have, if half of them have it."""
    having = Counter(name for bundle in bundles for name in _groups(bundle.spelling))
    common = [name for name in dimensions if name == _base(name) or 2 * having[name] >= len(bundles)]
    common.sort(key=lambda name: -having[name])
    names = (name for base in preferred for name in common if _base(name) == base)
    return next(([name] for name in names if len({_title(bundle, [name]) for bundle in bundles} - {""}) > 1), [])


def _title(bundle: Bundle, dimensions: Iterable[str]) -> str:
    return SEPARATOR.join(atom for name in dimensions for atom in _groups(bundle.spelling).get(name, ()))


@lru_cache(10_000)
def _groups(spelling: str) -> Mapping[str, Sequence[str]]:
    return grouped(Bundle(spelling).atoms)


def _base(dimension: str) -> str:
    """`person` for `person (NOM)`."""
    return dimension.split(" (")[0]


def _order(dimension: str) -> tuple[int, str]:
    names = dict.fromkeys((*(name for name, _ in schema().values()), *_BY_BEGINNING.values(), OTHER))
    return [*names].index(_base(dimension)), dimension


@lru_cache(10_000)
def _rank(atom: str) -> tuple[int, int, str]:
    """A sort key: dimension, order of the schema (atoms outside of it are last), spelling."""
    atoms, inner = list(schema()), atom
    while layered := _LAYERED.fullmatch(inner):
        inner = layered[2]
    return _order(dimension_of(atom))[0], atoms.index(inner) if inner in atoms else len(atoms), atom
