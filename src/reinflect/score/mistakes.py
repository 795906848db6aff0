"""What wrong predictions have in common: the piece of the right form that they replace."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rapidfuzz.distance import Postfix, Prefix

from reinflect.data.items import grouped
from reinflect.score.scores import Judged

Position = Literal["begin", "middle", "end", "whole", "missing"]


class Change(NamedTuple):
    """`predicted` instead of `gold` (either may be empty), at a position in the form."""

    gold: str
    predicted: str
    position: Position


MISSING = Change("", "", "missing")
"""No prediction at all: one kind of mistake for all forms."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A change, its number of occurrences, and the first cell with it."""

    change: Change
    count: int
    example: Judged


def change_between(gold: str, predicted: str) -> Change:
    """The two forms without their common prefix and suffix: `flög`, `flog` → `ö`, `o` in the middle."""
    start = Prefix.similarity(gold, predicted)
    end = Postfix.similarity(gold[start:], predicted[start:])
    position: Position = "middle" if start and end else "end" if start else "begin" if end else "whole"
    return Change(gold[start : len(gold) - end], predicted[start : len(predicted) - end], position)


def commonest_mistakes(cells: Iterable[Judged], limit: int) -> list[Mistake]:
    """The `limit` most frequent changes; equally frequent ones in the order of the file."""
    wrong = (cell for cell in cells if not cell.correct)
    changes = grouped(wrong, lambda cell: MISSING if cell.missing else change_between(cell.gold, cell.predicted))
    mistakes = [Mistake(change, len(cells), cells[0]) for change, cells in changes.items()]
    return sorted(mistakes, key=lambda mistake: -mistake.count)[:limit]
