"""What wrong predictions have in common: the piece of the right form that came out as something else."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reinflect.evaluation.cells import Judged

Position = Literal["begin", "middle", "end", "whole", "missing"]


class Change(NamedTuple):
    """`gold` came out as `predicted` (either may be empty), at the beginning, in the middle, …"""

    gold: str
    predicted: str
    position: Position


MISSING = Change("", "", "missing")
"""Nothing was predicted at all; one kind of mistake, whatever the form."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A change, how often it was made, and the first cell where it was."""

    change: Change
    count: int
    example: Judged


def change_between(gold: str, predicted: str) -> Change:
    """The two forms without what they share at both ends: `flög`, `flog` → `ö`, `o` in the middle."""
    shorter = min(len(gold), len(predicted))
    start = 0
    while start < shorter and gold[start] == predicted[start]:
        start += 1
    end = 0
    while end < shorter - start and gold[-1 - end] == predicted[-1 - end]:
        end += 1
    if start and end:
        position: Position = "middle"
    elif start:
        position = "end"
    else:
        position = "begin" if end else "whole"
    return Change(gold[start : len(gold) - end], predicted[start : len(predicted) - end], position)


def commonest_mistakes(cells: Iterable[Judged], limit: int) -> list[Mistake]:
    """The `limit` changes made most often; equally frequent ones in the order of the file."""
    counts: Counter[Change] = Counter()
    examples: dict[Change, Judged] = {}
    for cell in cells:
        if cell.correct:
            continue
        change = MISSING if cell.missing else change_between(cell.gold, cell.predicted)
        counts[change] += 1
        examples.setdefault(change, cell)
    return [Mistake(change, count, examples[change]) for change, count in counts.most_common(limit)]
