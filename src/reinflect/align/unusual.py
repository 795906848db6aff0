"""Forms that are unlike their lemmas in a way that others are not: typing errors, swapped rows, irregular words."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from reinflect.align.pairs import Alignment

FEWEST = 10
"""Among fewer items, nothing is usual."""
DEVIATIONS = 5
"""How many median deviations above the median the cost of an unusual alignment is."""
UNSEEN = 0.1


def unusual(alignments: Sequence[Alignment]) -> list[int]:
    """The numbers of unusual alignments, the most unusual first.

    The cost of an alignment is the mean surprise of its pairs of characters, given those of all other alignments.
    """
    if len(alignments) < FEWEST:
        return []
    counts = Counter(pair for alignment in alignments for pair in alignment)
    total = counts.total()
    costs = []
    for alignment in alignments:
        rest = total - len(alignment) + UNSEEN * len(counts)
        times = Counter(alignment).items()
        surprise = sum(count * -math.log((counts[pair] - count + UNSEEN) / rest) for pair, count in times)
        costs.append(surprise / max(1, len(alignment)))
    middle = median(costs)
    deviation = max(median(abs(cost - middle) for cost in costs), 0.01)
    numbers = [number for number, cost in enumerate(costs) if cost > middle + DEVIATIONS * deviation]
    return sorted(numbers, key=lambda number: -costs[number])
