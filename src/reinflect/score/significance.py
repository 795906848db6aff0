"""Whether a difference is real: two sets of predictions for the same gold, by a paired bootstrap over the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.score.scores import DECIMALS, Evaluated, Evaluation, MacroEvaluation

RESAMPLES = 10_000
SEED = 1
LEVEL = 0.05
FEWEST = 6
"""The fewest differing items that allow a verdict. With five, even a fair coin falls on one side every time with
p = 2 · ½⁵ > 0.05, and resampling five items would claim too much."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sets of predictions for the same gold; differences are first minus second, in points of accuracy."""

    accuracy: float
    other_accuracy: float
    low: float
    high: float
    p_value: float
    won: int
    lost: int

    @property
    def difference(self) -> float:
        return round(self.accuracy - self.other_accuracy, DECIMALS)

    @property
    def real(self) -> bool:
        return self.p_value < LEVEL and self.won + self.lost >= FEWEST

    def text(self, name: str, other: str) -> str:
        """The difference with its interval and p-value, and the verdict, on two lines."""
        interval = f"95 % interval {self.low:+.2f} to {self.high:+.2f}"
        test = f"p = {self.p_value:.4f} (paired bootstrap, {RESAMPLES} resamples)"
        return f"difference {self.difference:+.2f}, {interval}, {test}\n{self.verdict(name, other)}\n"

    def verdict(self, name: str, other: str) -> str:
        """One sentence for readers who do not know p-values."""
        differing = self.won + self.lost
        if not differing:
            return f"There is no difference: {name} and {other} get the same items right."
        if differing < FEWEST:
            items = "1 item is" if differing == 1 else f"{differing} items are"
            return f"Too few items to compare: only {items} right in one and wrong in the other."
        if not self.real:
            return "The difference may be chance: other items of the same kind could reverse it."
        better = name if self.difference > 0 else other
        return f"The difference is real: {better} is better, and chance is an unlikely explanation."


def compare(ours: Evaluated, others: Evaluated) -> Comparison:
    """Compare two sets of predictions for the same gold; each language counts the same."""
    left, right = _by_language(ours), _by_language(others)
    assert left.keys() == right.keys()
    tallies = [_tally(left[name], right[name]) for name in left]
    differences = resampled_differences(tallies)
    low, high = np.quantile(differences, [LEVEL / 2, 1 - LEVEL / 2]).tolist()
    # Two-sided: twice the share of resamples on the less likely side of no difference, never quite zero.
    fewer = min(int(np.count_nonzero(differences <= 0)), int(np.count_nonzero(differences >= 0)))
    return Comparison(
        accuracy=ours.accuracy,
        other_accuracy=others.accuracy,
        low=round(low, DECIMALS),
        high=round(high, DECIMALS),
        p_value=min(1.0, 2 * (fewer + 1) / (RESAMPLES + 1)),
        won=sum(won for won, _, _ in tallies),
        lost=sum(lost for _, lost, _ in tallies),
    )


def _by_language(evaluation: Evaluated) -> Mapping[str, Evaluation]:
    return evaluation.languages if isinstance(evaluation, MacroEvaluation) else {"": evaluation}


def _tally(ours: Evaluation, others: Evaluation) -> tuple[int, int, int]:
    """The number of items that only ours gets right, that only the other gets right, and of all items."""
    assert ours.gold_digest == others.gold_digest
    pairs = [(left.correct, right.correct) for left, right in zip(ours.cells, others.cells, strict=True)]
    return pairs.count((True, False)), pairs.count((False, True)), len(pairs)


def resampled_differences(tallies: Sequence[tuple[int, int, int]]) -> NDArray[np.float64]:
    """Differences in accuracy on resampled items, from the numbers of items won, lost and in all of each language.

    The counts of items won and lost among n items drawn with replacement have a multinomial distribution.

    *Shape:* (RESAMPLES,)
    """
    random = np.random.default_rng(SEED)
    total = np.zeros(RESAMPLES)
    for won, lost, items in tallies:
        drawn = random.multinomial(items, [won / items, lost / items, (items - won - lost) / items], size=RESAMPLES)
        total += (drawn[:, 0] - drawn[:, 1]) / items
    # Rounded because sums of fractions that should be zero are not exactly zero, which matters for the p-value.
    return np.round(100 * total / len(tallies), 9)
