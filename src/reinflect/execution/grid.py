"""What a benchmark trains: how many models of which system and alignment in which setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from reinflect.ensembles.vote import UNALIGNED, kind_of


@dataclass(frozen=True)
class Entry:
    """A kind of model, and how many seeds of it: 1, 2, …"""

    system: str
    alignment: str
    seeds: Mapping[str, int]
    """By setting; none where it is not named."""

    @property
    def kind(self) -> str:
        return kind_of(self.system, self.alignment)


Grid = tuple[Entry, ...]

PAPER: Grid = (
    Entry("hacm", "naive", {"low": 5, "medium": 5, "high": 3}),
    Entry("hacm", "smart", {"low": 5, "medium": 5, "high": 3}),
    Entry("haem", "naive", {"low": 5, "medium": 3, "high": 2}),
    Entry("haem", "smart", {"low": 5, "medium": 5, "high": 3}),
    Entry("soft", UNALIGNED, {"high": 1}),
)
"""The models of the 2017 submission, 20, 18 and 12 for a language."""

QUICK: Grid = tuple(
    Entry(system, alignment, {"low": 2, "medium": 1, "high": 1})
    for system, alignment in product(("hacm", "haem"), ("naive", "smart"))
)
"""Enough of them to see that all is well."""

GRIDS: Mapping[str, Grid] = {"paper": PAPER, "quick": QUICK}


def kinds(grid: Grid, setting: str) -> dict[str, int]:
    """How many models of each kind there are in a setting, in the order of the grid."""
    return {entry.kind: entry.seeds[setting] for entry in grid if setting in entry.seeds}
