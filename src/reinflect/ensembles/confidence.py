"""How likely a voted form is right: votes and probabilities, weighed by what they were worth on forms that are known.

A logistic regression with five weights. They are fitted when models have been trained, on forms none of the voters has
learnt from, and drawn towards those that suit 52 languages together: a file of 50 dev items decides less than one of
1,000.
"""

import math
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.ensembles.vote import Run, Voter, combined
from reinflect.evaluation.cells import Cell

USUAL = (-1.39, 0.31, 0.28, 0.16, 0.35)
"""The weights that suit the 52 languages of 2017 together, at 100 training items; see `bench/calibration.py`."""
PULL = (0.3, 5.0, 5.0, 5.0, 5.0)
"""How strongly each weight is drawn to the usual one: the first, which says how good the models are, hardly."""
HELD_OUT_PULL = 10.0
"""The same, times this, where items were held out: of twenty voters four judge one, and all will judge later ones."""
LEAST_ITEMS = 20
"""With fewer, a confidence would be a guess."""
ALTERNATIVE = 0.65
"""Of the confidence that its evidence would give a first form, an alternative has this share: the weights are fitted on
first forms, and where that one is wrong, the right one is often in no list at all; see `bench/alternatives.py`."""
FLOOR = 1e-3
"""Probabilities nearer to 0 or 1 count as this near: a model's own idea of them is not that exact."""
STEPS, LARGEST_STEP, SMALL_STEP = 100, 5.0, 1e-9
BINS = 10


class Evidence(NamedTuple):
    """What speaks for a form."""

    votes: int
    voters: int
    log_mean: float
    """The logarithm of the mean, over all voters, of the probability they give the form; 0 for those with another."""
    log_best: float
    """That of the voter who is surest of it."""
    seen: bool
    """Whether the training items have these features together."""

    @classmethod
    def of(cls, form: str, forms: Sequence[str], log_probabilities: Sequence[float], *, seen: bool) -> "Evidence":
        """The evidence for a form in what each voter says, and how probable it finds that."""
        own = [score for said, score in zip(forms, log_probabilities, strict=True) if said == form]
        best = max(own, default=-math.inf)
        shares = sum(math.exp(score - best) for score in own)
        log_mean = best + math.log(shares / len(forms)) if own else -math.inf
        return cls(len(own), len(forms), log_mean, best, seen)

    @property
    def numbers(self) -> tuple[float, ...]:
        """What the weights are for."""
        share = (self.votes + 0.5) / (self.voters + 1)  # of three votes, three are less than fifteen of fifteen
        mean, best = (min(max(math.exp(score), FLOOR), 1 - FLOOR) for score in (self.log_mean, self.log_best))
        return (1.0, _log_odds(share), _log_odds(mean), _log_odds(best), float(self.seen))


class Confidence(msgspec.Struct, frozen=True):
    """Says of a form how likely it is right, from 0 to 1."""

    weights: tuple[float, ...]
    items: int
    """How many it was fitted on."""

    def __post_init__(self) -> None:
        if len(self.weights) != len(USUAL) or not all(map(math.isfinite, self.weights)):
            raise ValueError("the weights of its confidence are not what they should be")

    def of(self, evidence: Evidence) -> float:
        total = sum(weight * number for weight, number in zip(self.weights, evidence.numbers, strict=True))
        return 1 / (1 + math.exp(-min(max(total, -30.0), 30.0)))

    def of_alternatives(self, first: float, others: Sequence[Evidence]) -> list[float]:
        """The same of all forms that were found besides the first, whose confidence is given: one at most is right."""
        own = [self.of(one) for one in others]
        share = ALTERNATIVE * min(1.0, (1 - first) / max(sum(own), SMALL_STEP))
        return [share * one for one in own]


def fit(evidence: Sequence[Evidence], right: Sequence[bool], *, pull: float = 1.0) -> Confidence | None:
    """The weights that make what was right most probable; none where there are too few items to tell.

    `pull` is how much more strongly than else they are drawn to the usual ones.
    """
    if len(evidence) < LEAST_ITEMS:
        return None
    numbers = np.array([one.numbers for one in evidence])
    target = np.array(right, dtype=np.float64)
    usual, pulls = np.array(USUAL), pull * np.array(PULL)
    weights = usual.copy()
    for _ in range(STEPS):  # Newton's
        probable = 1 / (1 + np.exp(-np.clip(numbers @ weights, -30, 30)))
        slope = numbers.T @ (probable - target) + pulls * (weights - usual)
        curve = (numbers * (probable * (1 - probable))[:, np.newaxis]).T @ numbers + np.diag(pulls)
        step = np.linalg.solve(curve, slope)
        weights = weights - step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), SMALL_STEP))
        if np.abs(step).max() < SMALL_STEP:
            break
    # The last digits may depend on the processor.
    return Confidence(tuple(round(float(weight), 6) for weight in weights), len(evidence))


def judged_cells(run: Run, voters: Sequence[Voter], seen: Container[Cell]) -> tuple[list[Evidence], list[bool]]:
    """The evidence for what voters, best first, say of their dev cells, and whether that is right.

    `seen` are the cells whose features the training items have together. Where each voter has held out cells of its
    own, those judge a cell that were asked it.
    """
    gold = {cell: forms for voter in voters for cell, forms in voter.gold.items()}
    evidence, right = [], []
    for cell, form in combined(run, voters).items():
        said = [voter.said[cell] for voter in voters if cell in voter.said]
        forms, scores = [own for own, _ in said], [score for _, score in said]
        evidence.append(Evidence.of(form, forms, scores, seen=cell in seen))
        right.append(form in gold[cell])
    return evidence, right


def seen_cells(train: Iterable[Item], dev: Iterable[Item]) -> set[Cell]:
    """The dev cells whose features, in whatever order, are together in a training item."""
    known = {item.features.cell for item in train}
    return {(item.lemma, item.features.spelling) for item in dev if item.features.cell in known}


class Bin(NamedTuple):
    """Some of the forms of like confidence: how sure of them we were, and how many were right."""

    items: int
    confidence: float
    """The mean."""
    accuracy: float
    """The share that was right, from 0 to 1."""


def bins(confidences: Sequence[float], right: Sequence[bool], count: int = BINS) -> list[Bin]:
    """A reliability diagram: forms by confidence, in bins of equal width (0 to 0.1, …); empty ones are left out."""
    sure, good = _arrays(confidences, right)
    place = np.minimum((sure * count).astype(np.int64), count - 1)
    return [
        Bin(int(own.sum()), float(sure[own].mean()), float(good[own].mean()))
        for number in range(count)
        if (own := place == number).any()
    ]


def equal_bins(confidences: Sequence[float], right: Sequence[bool], count: int = BINS) -> list[Bin]:
    """The same in bins of equally many forms."""
    sure, good = _arrays(confidences, right)
    order = np.argsort(sure, kind="stable")
    return [
        Bin(len(own), float(sure[own].mean()), float(good[own].mean()))
        for own in np.array_split(order, count)
        if len(own)
    ]


def calibration_error(found: Sequence[Bin]) -> float:
    """The expected calibration error: how far confidence and accuracy are apart, on average over all forms."""
    items = sum(one.items for one in found)
    return sum(one.items * abs(one.confidence - one.accuracy) for one in found) / max(1, items)


def _arrays(confidences: Sequence[float], right: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(confidences, dtype=np.float64), np.array(right, dtype=np.float64)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))
