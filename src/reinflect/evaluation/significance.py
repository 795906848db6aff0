"""Is one system really better than another? A paired bootstrap over the items both were scored on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.evaluation.cells import Judged
from reinflect.evaluation.scores import DECIMALS, Evaluation, MacroEvaluation

RESAMPLES = 10_000
SEED = 1
LEVEL = 0.05
FEWEST = 6
"""With fewer items that only one of the two gets right, even a coin that always fell the same way would prove nothing
(2 · ½⁵ > 0.05), and resampling so few of them would claim too much."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same gold; differences are the first less the second, in points of accuracy."""

    accuracy: float
    other_accuracy: float
    low: float
    high: float
    p_value: float
    won: int
    lost: int
    resamples: int
    seed: int

    @property
    def difference(self) -> float:
        return round(self.accuracy - self.other_accuracy, DECIMALS)

    @property
    def real(self) -> bool:
        return self.p_value < LEVEL and self.won + self.lost >= FEWEST

    def verdict(self, name: str, other: str) -> str:
        """One sentence for a reader who does not live by p-values."""
        if not self.won + self.lost:
            return f"There is no difference: {name} and {other} get the same items right."
        if self.won + self.lost < FEWEST:
            only = f"only {self.won + self.lost} of the items {'is' if self.won + self.lost == 1 else 'are'}"
            return f"Nothing can be said about the difference: {only} right in one and wrong in the other."
        if not self.real:
            return "The difference may be chance: other items of the same kind could well turn it round."
        better = name if self.difference > 0 else other
        return f"The difference is real: {better} is better, and chance hardly explains it."


def compare(
    ours: Evaluation | MacroEvaluation,
    others: Evaluation | MacroEvaluation,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two systems scored against the same gold; of several languages each counts the same."""
    pairs = _paired_cells(ours, others)
    tallies = [_won_and_lost(left, right) for left, right in pairs]
    differences = resampled_differences(
        [(won, lost, len(left)) for (won, lost), (left, _) in zip(tallies, pairs, strict=True)], resamples, seed
    )
    low, high = np.quantile(differences, [LEVEL / 2, 1 - LEVEL / 2])
    return Comparison(
        accuracy=ours.accuracy,
        other_accuracy=others.accuracy,
        low=round(float(low), DECIMALS),
        high=round(float(high), DECIMALS),
        p_value=_p_value(differences),
        won=sum(won for won, _ in tallies),
        lost=sum(lost for _, lost in tallies),
        resamples=resamples,
        seed=seed,
    )


def resampled_differences(tallies: Sequence[tuple[int, int, int]], resamples: int, seed: int) -> NDArray[np.float64]:
    """Differences in accuracy on resampled items, from the items won, lost and there in all, by language.

    Drawing n items with replacement and counting those won and lost is one draw from a multinomial distribution,
    so no item needs to be touched.

    *Shape:* (resamples,)
    """
    random = np.random.default_rng(seed)
    total = np.zeros(resamples)
    for won, lost, items in tallies:
        drawn = random.multinomial(items, [won / items, lost / items, (items - won - lost) / items], size=resamples)
        total += (drawn[:, 0] - drawn[:, 1]) / items
    # Rounded because sums of thirds and sevenths that should be zero are not quite, and zero matters for the p-value.
    return np.round(100 * total / len(tallies), 9)


def _p_value(differences: NDArray[np.float64]) -> float:
    """Two-sided: twice the share of resamples on the less likely side of no difference, never quite zero."""
    fewer = min(int(np.count_nonzero(differences <= 0)), int(np.count_nonzero(differences >= 0)))
    return min(1.0, 2 * (fewer + 1) / (len(differences) + 1))


def _won_and_lost(ours: Sequence[Judged], others: Sequence[Judged]) -> tuple[int, int]:
    both = list(zip(ours, others, strict=True))
    won = sum(left.correct and not right.correct for left, right in both)
    lost = sum(right.correct and not left.correct for left, right in both)
    return won, lost


def _paired_cells(
    ours: Evaluation | MacroEvaluation, others: Evaluation | MacroEvaluation
) -> list[tuple[Sequence[Judged], Sequence[Judged]]]:
    if isinstance(ours, MacroEvaluation) and isinstance(others, MacroEvaluation):
        pairs = [(ours.languages[name], others.languages[name]) for name in ours.languages]
        assert len(pairs) == len(others.languages)
    else:
        assert isinstance(ours, Evaluation)
        assert isinstance(others, Evaluation)
        pairs = [(ours, others)]
    assert all(left.gold_digest == right.gold_digest for left, right in pairs)  # one gold, read once, for both
    return [(left.cells, right.cells) for left, right in pairs]
