"""What the smart aligner samples from, slow and obvious: exact distributions by counting out every alignment."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from scipy.stats import chisquare

from reinflect.align.pairs import EPSILON, Alignment

CharacterPair = tuple[str, str]
Outcome = TypeVar("Outcome", bound=Hashable)


def all_alignments(x: str, y: str) -> Iterator[Alignment]:
    if not x and not y:
        yield ()
    if x:
        yield from (((x[0], EPSILON), *rest) for rest in all_alignments(x[1:], y))
    if y:
        yield from (((EPSILON, y[0]), *rest) for rest in all_alignments(x, y[1:]))
    if x and y:
        yield from (((x[0], y[0]), *rest) for rest in all_alignments(x[1:], y[1:]))


def counted(alignments: Sequence[Alignment]) -> Counter[CharacterPair]:
    return Counter(pair for alignment in alignments for pair in alignment)


def log_weight(alignment: Alignment, counts: Counter[CharacterPair], alpha: float) -> float:
    """Σ log p(x:y) with fixed counts. Without any counts every pair is as good as any other."""
    total = counts.total() + len(counts) * alpha or alpha
    return sum(math.log((counts[pair] + alpha) / total) for pair in alignment)


def conditional(alignments: Iterable[Alignment], others: Sequence[Alignment], alpha: float) -> dict[Alignment, float]:
    """The exact distribution that one of a pair's alignments is to be drawn from, given those of all other pairs."""
    counts = counted(others)
    logs = {alignment: log_weight(alignment, counts, alpha) for alignment in alignments}
    highest = max(logs.values())
    weights = {alignment: math.exp(log - highest) for alignment, log in logs.items()}
    whole = sum(weights.values())
    return {alignment: weight / whole for alignment, weight in weights.items()}


def fit(seen: Counter[Outcome], exact: Mapping[Outcome, float]) -> float:
    """The p-value of a chi-square test; outcomes expected fewer than five times are taken together."""
    assert seen.keys() <= exact.keys()
    draws = seen.total()
    observed: list[float] = []
    expected: list[float] = []
    rare_observed, rare_expected = 0.0, 0.0
    for outcome, probability in sorted(exact.items(), key=lambda item: -item[1]):
        if probability * draws >= 5:
            observed.append(seen[outcome])
            expected.append(probability * draws)
        else:
            rare_observed += seen[outcome]
            rare_expected += probability * draws
    if rare_expected >= 5:
        observed, expected = [*observed, rare_observed], [*expected, rare_expected]
    else:
        observed[-1] += rare_observed
        expected[-1] += rare_expected
    # Both sums are the number of draws but for rounding, about which the test is strict.
    scale = draws / sum(expected)
    return float(chisquare(observed, [value * scale for value in expected]).pvalue)


def best_alignment(x: str, y: str, counts: Counter[CharacterPair], alpha: Fraction) -> Alignment:
    """The most probable alignment by a table of exact fractions, with the tie rule as it is written down.

    Insert only if strictly cheapest; else diagonal only if strictly cheaper than delete; else delete.
    """
    total = counts.total() + len(counts) * alpha or alpha
    table: dict[tuple[int, int], tuple[Fraction, Alignment]] = {(0, 0): (Fraction(1), ())}

    nowhere: tuple[Fraction, Alignment] = Fraction(0), ()

    def come(j: int, i: int, pair: CharacterPair) -> tuple[Fraction, Alignment]:
        probability, alignment = table[j, i]
        return probability * (counts[pair] + alpha) / total, (*alignment, pair)

    for j in range(len(y) + 1):
        for i in range(len(x) + 1):
            if i == 0 and j == 0:
                continue
            delete = come(j, i - 1, (x[i - 1], EPSILON)) if i else nowhere
            insert = come(j - 1, i, (EPSILON, y[j - 1])) if j else nowhere
            diagonal = come(j - 1, i - 1, (x[i - 1], y[j - 1])) if i and j else nowhere
            if insert[0] > diagonal[0] and insert[0] > delete[0]:
                table[j, i] = insert
            elif diagonal[0] > delete[0]:
                table[j, i] = diagonal
            else:
                table[j, i] = delete
    return table[len(y), len(x)][1]
