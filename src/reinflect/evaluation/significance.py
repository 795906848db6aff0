"""Is one system really better than another? A paired bootstrap over the items both were scored on.

And is one way of training really better than another? A paired permutation test over models that share all else.
"""

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better one of two ways is, by pairs of models that differ in nothing else; in points of accuracy.

    Pairs are in groups, such as languages, each of which counts the same.
    """

    difference: float
    low: float
    high: float
    p_value: float
    pairs: int
    unequal: int
    """Pairs that differ in their accuracy."""
    groups_won: int
    groups_lost: int

    @property
    def enough(self) -> bool:
        """Whether there are enough pairs to tell anything."""
        return self.unequal >= FEWEST


def compare_pairs(
    groups: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> PairedDifference:
    """The mean of the groups' mean differences; `groups` has the difference of each pair.

    The p-value is that of a permutation test: if the two ways were the same, each pair could as well have been the
    other way round. The interval is that of other pairs drawn from the same groups.
    """
    means = {name: float(np.mean(differences)) for name, differences in groups.items()}
    shares = np.concatenate([np.asarray(own) / (len(own) * len(groups)) for own in groups.values()])
    low, high = np.quantile(_redrawn(list(groups.values()), resamples, seed), [LEVEL / 2, 1 - LEVEL / 2])
    return PairedDifference(
        difference=round(sum(means.values()) / len(means), DECIMALS),
        low=round(float(low), DECIMALS),
        high=round(float(high), DECIMALS),
        p_value=_turned_round(shares, resamples, seed),
        pairs=len(shares),
        unequal=int(np.count_nonzero(shares)),
        groups_won=sum(mean > 0 for mean in means.values()),
        groups_lost=sum(mean < 0 for mean in means.values()),
    )


def _redrawn(groups: Sequence[Sequence[float]], resamples: int, seed: int) -> NDArray[np.float64]:
    """Means over groups with as many pairs drawn from each as it has. *Shape:* (resamples)"""
    random = np.random.default_rng(seed)
    total = np.zeros(resamples)
    for differences in groups:
        drawn = random.integers(0, len(differences), (resamples, len(differences)))
        total += np.asarray(differences)[drawn].mean(axis=1)
    return total / len(groups)


def _turned_round(shares: NDArray[np.float64], resamples: int, seed: int) -> float:
    """How often the sum would be as far from zero, or farther, with each pair this or the other way round.

    All ways are tried where there are few, and random ones otherwise.
    """
    least = abs(float(shares.sum())) - 1e-9
    if 2 ** len(shares) <= resamples:
        ways = np.arange(2 ** len(shares))[:, np.newaxis] >> np.arange(len(shares)) & 1
        return float(np.mean(np.abs((1 - 2 * ways) @ shares) >= least))
    random = np.random.default_rng(seed)
    turned = 1 - 2 * random.integers(0, 2, (resamples, len(shares)), dtype=np.int8)
    return float((np.count_nonzero(np.abs(turned @ shares) >= least) + 1) / (resamples + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values as they are to be read when so many comparisons were made at once (Holm's correction)."""
    corrected = [0.0] * len(p_values)
    most = 0.0
    for place, number in enumerate(np.argsort(p_values, kind="stable").tolist()):
        most = max(most, min(1.0, (len(p_values) - place) * p_values[number]))
        corrected[number] = most
    return corrected
