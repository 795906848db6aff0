"""Grids: how many models of each system and alignment an experiment trains in each setting."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from reinflect.ensemble.member import UNALIGNED, kind_of
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation, alignments_of
from reinflect.settings import Settings, changed
from reinflect.systems import DEEPER


@dataclass(frozen=True)
class Entry:
    """A kind of model, and its number of seeds: 1, 2, …"""

    system: str
    alignment: str
    seeds: Mapping[str, int]
    """By setting; a setting that is not named has none."""
    settings: Settings | None = None
    """None: those of the preset of the setting."""
    variant: str = ""
    """Set apart from other entries of its system and alignment by what follows."""
    changes: tuple[str, ...] = ()
    """Of the preset's settings, such as `hidden=200`."""
    augmentations: tuple[str, ...] = ()
    """Besides those of the whole benchmark."""

    @property
    def kind(self) -> str:
        return kind_of(self.system, self.alignment, self.variant)


Grid = tuple[Entry, ...]

PAPER: Grid = (
    Entry("hacm", "naive", {"low": 5, "medium": 5, "high": 3}),
    Entry("hacm", "smart", {"low": 5, "medium": 5, "high": 3}),
    Entry("haem", "naive", {"low": 5, "medium": 3, "high": 2}),
    Entry("haem", "smart", {"low": 5, "medium": 5, "high": 3}),
    Entry("soft", UNALIGNED, {"high": 1}),
)
"""The models of the 2017 submission: 20, 18 and 12 for a language."""

QUICK: Grid = tuple(
    Entry(system, alignment, {"low": 2, "medium": 1, "high": 1})
    for system, alignment in product(("hacm", "haem"), ("naive", "smart"))
)
"""Enough models to see that everything works."""

_DEEP = Entry("soft", UNALIGNED, {}, variant="deep", changes=DEEPER)

SMALL: Grid = (
    *(Entry(system, "naive", {"low": 5}) for system in ("hacm", "haem")),
    *(Entry(system, "smart", {"low": 5, "medium": 2, "high": 2}) for system in ("hacm", "haem")),
    replace(_DEEP, seeds={"medium": 1, "high": 1}),
)
"""Five models for a language at medium and high: for data sets with many languages."""

MADE_UP = "made-up"
BEST: Grid = (
    *PAPER,
    replace(_DEEP, seeds={"medium": 3, "high": 5}),
    replace(_DEEP, seeds={"medium": 5}, variant=MADE_UP, augmentations=(MADE_UP,)),
    Entry("imitation", UNALIGNED, {"low": 5, "medium": 5, "high": 3}),
    Entry("imitation", UNALIGNED, {"low": 5}, variant=MADE_UP, augmentations=(MADE_UP,)),
    Entry("hacm", "smart", {"low": 5}, variant=MADE_UP, augmentations=(MADE_UP,)),
    Entry("haem", "smart", {"low": 5}, variant=MADE_UP, augmentations=(MADE_UP,)),
)
"""The paper's models, and those that make votes better for their time on a GPU."""

GRIDS: Mapping[str, Grid] = {"paper": PAPER, "best": BEST, "quick": QUICK, "small": SMALL}


def with_systems(grid: Grid, systems: Sequence[str], alignments: Sequence[str]) -> Grid:
    """The grid with one more model of each of these systems and alignments, in every setting."""
    more = [
        Entry(system, alignment, {"low": 1, "medium": 1, "high": 1})
        for system in systems
        for alignment in alignments_of(system, alignments)
    ]
    known = {entry.kind for entry in grid}
    return (*grid, *(entry for entry in more if entry.kind not in known))


def kinds(grid: Grid, setting: str) -> dict[str, int]:
    """The number of models of each kind in a setting, in the order of the grid."""
    return {entry.kind: entry.seeds[setting] for entry in grid if setting in entry.seeds}


def specs_of(
    corpora: Iterable[Lesson], grid: Grid, presets: Mapping[str, Mapping[str, Settings]], preparation: Preparation
) -> list[ModelSpec]:
    """All models of a grid. `corpora` are lessons not yet prepared; `presets` are by setting and system."""
    made: list[ModelSpec] = []
    common = set(preparation.augmentations) - {name for entry in grid for name in entry.augmentations}
    for corpus in corpora:
        planned: dict[tuple[str, tuple[str, ...], int], Lesson] = {}
        for entry in grid:
            names = tuple(name for name in preparation.augmentations if name in common or name in entry.augmentations)
            for seed in range(1, entry.seeds.get(corpus.setting, 0) + 1):
                mark = entry.alignment, names, seed if preparation.per_seed(names) else 0
                if mark not in planned:
                    planned[mark] = preparation.planned(corpus, entry.alignment, seed, names)
                settings = entry.settings or presets[corpus.setting][entry.system]
                settings = changed({entry.system: settings}, entry.changes)[entry.system]
                made.append(ModelSpec(planned[mark], entry.system, settings, seed, variant=entry.variant))
    return made
