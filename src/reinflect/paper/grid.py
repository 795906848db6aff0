"""Grids: how many models of each kind a benchmark trains in each setting."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from reinflect.systems.kind import DEEP, UNALIGNED, Kind

Grid = Mapping[Kind, Mapping[str, int]]
"""The number of seeds of each kind, by setting; a setting that is not named has none."""

PAPER: Grid = {
    Kind("hacm", "naive"): {"low": 5, "medium": 5, "high": 3},
    Kind("hacm", "smart"): {"low": 5, "medium": 5, "high": 3},
    Kind("haem", "naive"): {"low": 5, "medium": 3, "high": 2},
    Kind("haem", "smart"): {"low": 5, "medium": 5, "high": 3},
    Kind("soft"): {"high": 1},
}
"""The models of the 2017 submission: 20, 18 and 12 for a language."""

QUICK: Grid = {kind: {"low": 2, "medium": 1, "high": 1} for kind in PAPER if kind.alignment != UNALIGNED}
"""Enough models to see that everything works."""

SMALL: Grid = {
    Kind("hacm", "naive"): {"low": 5},
    Kind("haem", "naive"): {"low": 5},
    Kind("hacm", "smart"): {"low": 5, "medium": 2, "high": 2},
    Kind("haem", "smart"): {"low": 5, "medium": 2, "high": 2},
    DEEP: {"medium": 1, "high": 1},
}
"""Five models for a language at medium and high: for data sets with many languages."""

MADE_UP = "made-up"


def made_up(kind: Kind) -> Kind:
    """A kind that learns from made-up items first."""
    return replace(kind, label=MADE_UP, augment=(MADE_UP,))


BEST: Grid = {
    **PAPER,
    DEEP: {"medium": 3, "high": 5},
    made_up(DEEP): {"medium": 5},
    Kind("imitation"): {"low": 5, "medium": 5, "high": 3},
    made_up(Kind("imitation")): {"low": 5},
    made_up(Kind("hacm", "smart")): {"low": 5},
    made_up(Kind("haem", "smart")): {"low": 5},
}
"""The paper's models, and those that make votes better for their time on a GPU."""

GRIDS: Mapping[str, Grid] = {"paper": PAPER, "best": BEST, "quick": QUICK, "small": SMALL}


def with_kinds(grid: Grid, further: Iterable[Kind], augment: Sequence[str] = ()) -> Grid:
    """The grid with one model of each further kind in every setting, and with augmentations for all models.

    An augmentation that some kinds of the grid have stays with these alone.
    """
    names = {str(kind) for kind in grid}
    grid = {**grid, **{kind: {"low": 1, "medium": 1, "high": 1} for kind in further if str(kind) not in names}}
    common = tuple(name for name in augment if not any(name in kind.augment for kind in grid))
    return {replace(kind, augment=(*common, *kind.augment)): seeds for kind, seeds in grid.items()}
