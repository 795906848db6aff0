"""Forms with log-probabilities, the caps on actions, and the filter for repeated letters (§5).

A form with the same character four or more times in a row is most likely an error; the lemma is a better guess. A run
of that length is accepted if the lemma or a training word has one as long.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_ACTIONS = 150
ENDLESS_RUN = 30
"""Decoding stops after a run of one character that is this much longer than the source: the filter for repeats would
replace the form anyway. (The source's length is added because the lemma may itself be one long run.)"""
WIDTH = 5
NEVER = float("-inf")
SUSPICIOUS = 4
_RUN = re.compile(rf"(.)\1{{{SUSPICIOUS - 1},}}", re.DOTALL)


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


def most_actions(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The caps on actions for sources of these lengths: HACM needs one for each symbol of source and form."""
    return np.maximum(LEAST_ACTIONS, 4 * lengths + 50)


def is_endless(form: str, length: int) -> bool:
    """Whether a form ends in a run that is too long for a source of this length."""
    return bool(form) and form.endswith(form[-1] * (ENDLESS_RUN + length))


def merged(hypotheses: Iterable[Scored], n: int) -> list[Scored]:
    """The n most probable forms; the probabilities of hypotheses with the same form are added up."""
    ways: defaultdict[str, list[float]] = defaultdict(list)
    for form, score in hypotheses:
        if score > NEVER:
            ways[form].append(score)
    sums = ((form, max(scores), scores) for form, scores in ways.items())
    added = [Scored(f, min(0.0, most + math.log(sum(math.exp(s - most) for s in scores)))) for f, most, scores in sums]
    return sorted(added, key=lambda scored: -scored.log_probability)[:n]


def longest_runs(words: Iterable[str]) -> dict[str, int]:
    """The longest run of each character that occurs at least `SUSPICIOUS` times in a row."""
    longest: dict[str, int] = {}
    for word in words:
        for run in _RUN.finditer(word):
            longest[run[1]] = max(len(run[0]), longest.get(run[1], 0))
    return longest


def filtered(forms: Sequence[str | None], lemmas: Sequence[str], known_runs: Mapping[str, int]) -> list[str]:
    """Each form, or its lemma if decoding did not end (None) or if the form repeats a character too often.

    `known_runs` are the longest runs of the training words.
    """

    def repeats(form: str, lemma: str) -> bool:
        runs = longest_runs([lemma])
        return any(run > max(known_runs.get(c, 0), runs.get(c, 0)) for c, run in longest_runs([form]).items())

    ended = [lemma if form is None else form for form, lemma in zip(forms, lemmas, strict=True)]
    if not _RUN.search("\n".join(ended)):  # one search for all, because few forms have a run
        return ended
    return [lemma if repeats(form, lemma) else form for form, lemma in zip(ended, lemmas, strict=True)]
