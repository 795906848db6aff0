"""Whether one way of training is better than another: a paired permutation test over models that share all else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.score.scores import DECIMALS
from reinflect.score.significance import FEWEST, LEVEL, RESAMPLES, SEED


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference in accuracy, in points, over pairs of models that differ in nothing else.

    Pairs belong to groups, such as languages, and each group counts the same.
    """

    difference: float
    low: float
    high: float
    p_value: float
    pairs: int
    unequal: int
    """Pairs with different accuracies."""
    groups_won: int
    groups_lost: int

    @property
    def enough(self) -> bool:
        """Whether enough pairs differ for a verdict."""
        return self.unequal >= FEWEST


def compare_pairs(groups: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES) -> PairedDifference:
    """The mean of the groups' mean differences; `groups` has the difference of each pair.

    The p-value is that of a permutation test: if the two ways were equal, the sign of each difference would be random.
    The interval is a bootstrap: as many pairs as each group has are drawn from it.
    """
    means = [float(np.mean(differences)) for differences in groups.values()]
    shares = np.concatenate([np.asarray(values) / (len(values) * len(groups)) for values in groups.values()])
    random = np.random.default_rng(SEED)
    total = np.zeros(resamples)
    for differences in groups.values():
        drawn = random.integers(0, len(differences), (resamples, len(differences)))
        total += np.asarray(differences)[drawn].mean(axis=1)
    low, high = np.quantile(total / len(groups), [LEVEL / 2, 1 - LEVEL / 2]).tolist()
    return PairedDifference(
        difference=round(sum(means) / len(means), DECIMALS),
        low=round(low, DECIMALS),
        high=round(high, DECIMALS),
        p_value=_permutation_p_value(shares, resamples),
        pairs=len(shares),
        unequal=int(np.count_nonzero(shares)),
        groups_won=sum(mean > 0 for mean in means),
        groups_lost=sum(mean < 0 for mean in means),
    )


def _permutation_p_value(shares: NDArray[np.float64], resamples: int) -> float:
    """How often the sum is at least as far from zero with random signs; all signs are tried if there are few pairs."""
    least = abs(float(shares.sum())) - 1e-9
    if 2 ** len(shares) <= resamples:
        flips = np.arange(2 ** len(shares))[:, np.newaxis] >> np.arange(len(shares)) & 1
        return float(np.mean(np.abs((1 - 2 * flips) @ shares) >= least))
    signs = 1 - 2 * np.random.default_rng(SEED).integers(0, 2, (resamples, len(shares)), dtype=np.int8)
    return float((np.count_nonzero(np.abs(signs @ shares) >= least) + 1) / (resamples + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for the number of comparisons (Holm's correction)."""
    corrected = [0.0] * len(p_values)
    most = 0.0
    for rank, number in enumerate(np.argsort(p_values, kind="stable").tolist()):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[number]))
        corrected[number] = most
    return corrected
