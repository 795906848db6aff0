"""What decoding gives, forms with their log-probabilities, and when it gives up."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LEAST_ACTIONS = 150
ENDLESS_RUN = 30
"""Decoding stops after a run of one character that is this much longer than the lemma: the filter for repeats would
replace the form anyway. (The lemma's length is added because the lemma may itself be one long run.)"""
WIDTH = 5
IMPOSSIBLE = -1e8
"""Actions that are not allowed have log-probabilities far below this; a wide beam would take them otherwise."""
NEVER = float("-inf")


class Predictions(NamedTuple):
    """The predictions of a model for the items of a file."""

    forms: list[str | None]
    """None where decoding did not end."""
    log_probabilities: list[float]
    """Of all actions taken."""


class Scored(NamedTuple):
    """A form and its log-probability: the sum over all hypotheses that write it."""

    form: str
    log_probability: float


def merged(hypotheses: Iterable[Scored], n: int) -> list[Scored]:
    """The n most probable forms; the probabilities of hypotheses with the same form are added up."""
    ways: defaultdict[str, list[float]] = defaultdict(list)
    for form, score in hypotheses:
        if score > NEVER:
            ways[form].append(score)
    added = [Scored(form, _log_sum(scores)) for form, scores in ways.items()]
    return sorted(added, key=lambda scored: -scored.log_probability)[:n]


def _log_sum(scores: Sequence[float]) -> float:
    """The logarithm of the sum of the probabilities with these logarithms."""
    most = max(scores)
    return min(0.0, most + math.log(sum(math.exp(score - most) for score in scores)))
