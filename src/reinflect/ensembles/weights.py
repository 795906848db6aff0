"""Weights of member kinds, learnt from dev items, apart for bundles that training has seen and for those it has not.

A form's score adds up, over the kinds, the share of the kind's members that give it, and their mean probability of it,
each times a weight. The weights are those with which right forms have the largest scores (a conditional logit over the
forms that members give), drawn towards those of a plain vote: 100 dev items decide less than 1,000.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.systems.layers.randomness import key

PULL = 2.0
"""How strongly weights are drawn to those of a plain vote, and those of seen and unseen bundles to common ones."""
A_VOTE = 1.0
"""What one member's vote adds to a score in a plain vote."""
STEPS, SMALL_STEP, LARGEST_STEP = 50, 1e-6, 2.0
FOLDS = 10

Numbers = NDArray[np.float64]
Answers = tuple[Sequence[Sequence[str]], Sequence[Sequence[float]]]
"""Forms and log-probabilities: a list for each member, best member first."""


@dataclass(frozen=True)
class Ballots:
    """The forms that members give for each item, with the numbers that weights multiply."""

    forms: list[list[str]]
    """Of each item, the best member's first."""
    numbers: Numbers
    """Shares and mean probabilities by kind; 0 for padding. *Shape:* (items, forms, 2 · kinds)"""

    @classmethod
    def of(cls, kinds: Sequence[str], answers: Answers) -> "Ballots":
        """`kinds`: of each member."""
        known = sorted(set(kinds))
        place = [known.index(kind) for kind in kinds]
        size = [kinds.count(kind) for kind in kinds]
        said, scores = (list(zip(*own, strict=True)) for own in answers)  # by item
        forms = [list(dict.fromkeys(own)) for own in said]
        numbers = np.zeros((len(forms), max(map(len, forms), default=1), 2 * len(known)))
        for row, own, some, sure in zip(numbers, forms, said, scores, strict=True):
            for member, (form, score) in enumerate(zip(some, sure, strict=True)):
                line = row[own.index(form)]
                line[place[member]] += 1 / size[member]
                line[len(known) + place[member]] += np.exp(score) / size[member]
        return cls(forms, numbers)

    @property
    def padding(self) -> NDArray[np.bool_]:
        """*Shape:* (items, forms)"""
        counts = np.array([len(own) for own in self.forms])
        return np.arange(self.numbers.shape[1]) >= counts[:, np.newaxis]

    def right(self, gold: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """Which forms are right. *Shape:* (items, forms)"""
        right = np.zeros(self.numbers.shape[:2], dtype=bool)
        for row, own, answers in zip(right, self.forms, gold, strict=True):
            row[: len(own)] = [form in answers for form in own]
        return right


@dataclass(frozen=True)
class Weights:
    """*Shapes:* (2 · kinds)"""

    seen: Numbers
    unseen: Numbers

    def best(self, ballots: Ballots, seen: Sequence[bool]) -> list[str]:
        """The form of each item with the largest score; among equals the best member's."""
        weights = np.where(np.array(seen)[:, np.newaxis], self.seen, self.unseen)
        scores = np.einsum("icf,if->ic", ballots.numbers, weights)
        chosen = np.where(ballots.padding, -np.inf, scores).argmax(axis=1)
        return [own[number] for own, number in zip(ballots.forms, chosen.tolist(), strict=True)]


def fit(kinds: Sequence[str], ballots: Ballots, right: NDArray[np.bool_], seen: Sequence[bool]) -> Weights:
    """Learn from the items for which some member is right and some member is not."""
    known = sorted(set(kinds))
    usual = np.array([A_VOTE * kinds.count(kind) for kind in known] + [0.0] * len(known))
    decided = np.logical_and(right.any(axis=1), ~(right | ballots.padding).all(axis=1))
    both = _fitted(ballots, right, decided, usual)
    of_seen = np.array(seen, dtype=bool)
    apart = (np.logical_and(decided, own) for own in (of_seen, ~of_seen))
    return Weights(*(_fitted(ballots, right, own, both) for own in apart))


def _fitted(ballots: Ballots, right: NDArray[np.bool_], chosen: NDArray[np.bool_], usual: Numbers) -> Numbers:
    """Newton's method on -log P(a right form) and the distance from the usual weights."""
    numbers, right, padding = ballots.numbers[chosen], right[chosen], ballots.padding[chosen]
    weights = usual.copy()
    for _ in range(STEPS if len(numbers) else 0):
        scores = np.where(padding, -np.inf, numbers @ weights)
        all_forms, right_forms = _shares(scores), _shares(np.where(right, scores, -np.inf))
        slope = np.einsum("ic,icf->f", all_forms - right_forms, numbers) + PULL * (weights - usual)
        mean = np.einsum("ic,icf->if", all_forms, numbers)
        curve = np.einsum("ic,icf,icg->fg", all_forms, numbers, numbers) - mean.T @ mean
        step = np.linalg.solve(curve + PULL * np.eye(len(weights)), slope)
        weights = weights - step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), SMALL_STEP))
        if np.abs(step).max() < SMALL_STEP:
            break
    return weights


def _shares(scores: Numbers) -> Numbers:
    """Probabilities by score. *Shape:* (items, forms)"""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    whole: Numbers = shares / shares.sum(axis=1, keepdims=True)
    return whole


def cross_fitted(
    kinds: Sequence[str],
    ballots: Ballots,
    gold: Sequence[Sequence[str]],
    seen: Sequence[bool],
    lemmas: Sequence[str],
) -> list[str]:
    """The best form of each item by weights that were fitted on other items, with other lemmas."""
    right, order = ballots.right(gold), sorted(set(lemmas))
    drawn = np.random.Generator(np.random.PCG64(key("weights"))).permutation(len(order))
    fold = dict(zip(order, (drawn % FOLDS).tolist(), strict=True))
    folds, found = np.array([fold[lemma] for lemma in lemmas]), [""] * len(lemmas)
    for own in range(FOLDS):
        others = right & (folds != own)[:, np.newaxis]  # items without a right form are not learnt from
        forms = fit(kinds, ballots, others, seen).best(ballots, seen)
        for place in np.flatnonzero(folds == own).tolist():
            found[place] = forms[place]
    return found
