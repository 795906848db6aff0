"""Weights of member kinds, learnt from dev items, apart for bundles that training has seen and for those it has not.

A form's score adds up, over the kinds, the share of the kind's members that give it, and their mean probability of it,
each times a weight. If every member's probability of every candidate is known, so do the kind's mean probability and
its mean log-probability. The weights are those with which right forms have the largest scores (a conditional logit over
the candidates), drawn towards those of a plain vote: 100 dev items decide less than 1,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reinflect.systems.layers.randomness import key

PULL = 2.0
"""How strongly weights are drawn to those of a plain vote, and those of seen and unseen bundles to common ones."""
A_VOTE = 1.0
"""What one member's vote adds to a score in a plain vote."""
FLOOR, RANGE = -20.0, 5.0
"""The least log-probability that counts, and the difference that is one unit to a weight."""
STEPS, SMALL_STEP, LARGEST_STEP = 50, 1e-6, 2.0
FOLDS = 5

Numbers = NDArray[np.float64]
Answers = tuple[Sequence[Sequence[str]], Sequence[Sequence[float]]]
"""Forms and log-probabilities: a list for each member, best member first."""
Pooled = tuple[Sequence[Sequence[str]], NDArray[np.floating]]
"""The candidates of each item, and what each member gives to each, nan where that is not known.
*Shape:* (members, candidates of all items)"""


@dataclass(frozen=True)
class Ballots:
    """The forms that members give for each item, with the numbers that weights multiply."""

    forms: list[list[str]]
    """Of each item, the best member's first."""
    numbers: Numbers
    """Shares and mean probabilities by kind, and perhaps mean log-probabilities and probabilities of all candidates; 0
    for padding. *Shape:* (items, forms, 2 or 4 · kinds)"""

    @classmethod
    def of(cls, kinds: Sequence[str], answers: Answers, pooled: Pooled | None = None) -> "Ballots":
        """`kinds`: of each member."""
        known = sorted(set(kinds))
        place = [known.index(kind) for kind in kinds]
        size = [kinds.count(kind) for kind in kinds]
        said, scores = (list(zip(*own, strict=True)) for own in answers)  # by item
        more, given = pooled or ([()] * len(said), None)
        forms = [list(dict.fromkeys((*own, *others))) for own, others in zip(said, more, strict=True)]
        groups = 2 if given is None else 4
        numbers = np.zeros((len(forms), max(map(len, forms), default=1), groups * len(known)))
        for row, own, some, sure in zip(numbers, forms, said, scores, strict=True):
            for member, (form, score) in enumerate(zip(some, sure, strict=True)):
                line = row[own.index(form)]
                line[place[member]] += 1 / size[member]
                line[len(known) + place[member]] += np.exp(score) / size[member]
        if given is not None:
            floored = np.maximum(given.astype(np.float64), FLOOR)
            mean = np.equal.outer(known, kinds) / np.array([[kinds.count(kind)] for kind in known])
            both = np.concatenate([mean @ (floored / RANGE), mean @ np.exp(floored)]).T
            flat, start = np.nan_to_num(both), 0
            for row, own, others in zip(numbers, forms, more, strict=True):
                row[[own.index(form) for form in others], 2 * len(known) :] = flat[start : start + len(others)]
                start += len(others)
        return cls(forms, numbers)

    @property
    def padding(self) -> NDArray[np.bool_]:
        """*Shape:* (items, forms)"""
        counts = np.array([len(own) for own in self.forms])
        return np.arange(self.numbers.shape[1]) >= counts[:, np.newaxis]

    def named(self, numbers: NDArray[np.int64]) -> list[str]:
        """The forms with these numbers, one of each item."""
        return [own[number] for own, number in zip(self.forms, numbers.tolist(), strict=True)]

    def right(self, gold: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """Which forms are right. *Shape:* (items, forms)"""
        right = np.zeros(self.numbers.shape[:2], dtype=bool)
        for row, own, answers in zip(right, self.forms, gold, strict=True):
            row[: len(own)] = [form in answers for form in own]
        return right


@dataclass(frozen=True)
class Weights:
    """*Shapes:* (2 or 4 · kinds)"""

    seen: Numbers
    unseen: Numbers

    def best(self, ballots: Ballots, seen: Sequence[bool]) -> NDArray[np.int64]:
        """The number of the form with the largest score, of each item; among equals the best member's."""
        weights = np.where(np.array(seen, dtype=bool)[:, np.newaxis], self.seen, self.unseen)
        scores = np.einsum("icf,if->ic", ballots.numbers, weights)
        return np.where(ballots.padding, -np.inf, scores).argmax(axis=1)


def fit(kinds: Sequence[str], ballots: Ballots, right: NDArray[np.bool_], seen: Sequence[bool]) -> Weights:
    """Learn from the items for which some member is right and some member is not."""
    known = sorted(set(kinds))
    usual = np.zeros(ballots.numbers.shape[2])
    usual[: len(known)] = [A_VOTE * kinds.count(kind) for kind in known]
    decided = np.logical_and(right.any(axis=1), ~(right | ballots.padding).all(axis=1))
    both = _fitted(ballots, right, decided, usual)
    of_seen = np.array(seen, dtype=bool)
    apart = (np.logical_and(decided, own) for own in (of_seen, ~of_seen))
    return Weights(*(_fitted(ballots, right, own, both) for own in apart))


def _fitted(ballots: Ballots, right: NDArray[np.bool_], chosen: NDArray[np.bool_], usual: Numbers) -> Numbers:
    """Newton's method on -log P(a right form) and the distance from the usual weights."""
    numbers, right, padding = ballots.numbers[chosen], right[chosen], ballots.padding[chosen]
    weights, flat = usual.copy(), numbers.reshape(-1, len(usual))
    for _ in range(STEPS if len(numbers) else 0):
        scores = np.where(padding, -np.inf, numbers @ weights)
        all_forms, right_forms = _shares(scores), _shares(np.where(right, scores, -np.inf))
        slope = np.einsum("ic,icf->f", all_forms - right_forms, numbers) + PULL * (weights - usual)
        mean = np.einsum("ic,icf->if", all_forms, numbers)
        curve = flat.T @ (flat * all_forms.reshape(-1, 1)) - mean.T @ mean
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


@dataclass(frozen=True)
class Way:
    """A way to choose among the candidates of dev and test items."""

    name: str
    ballots: Mapping[str, Ballots]
    """By split."""
    learns: bool = True
    """If not, all votes count the same."""


def ways(kinds: Sequence[str], answers: Mapping[str, Answers], pooled: Mapping[str, Pooled] | None = None) -> list[Way]:
    """The ways that there are, by split; among those that are equally good, the first wins."""
    plain = {split: Ballots.of(kinds, own) for split, own in answers.items()}
    found = [Way("vote", plain, learns=False), Way("weights", plain)]
    if pooled:
        found.append(Way("scores", {split: Ballots.of(kinds, own, pooled[split]) for split, own in answers.items()}))
    return found


def cross_fitted(
    kinds: Sequence[str],
    compared: Sequence[Way],
    gold: Sequence[Sequence[str]],
    seen: Mapping[str, Sequence[bool]],
    lemmas: Sequence[str],
) -> dict[str, dict[str, list[str]]]:
    """The forms of each way, and those of the `best` one, by split.

    A dev item's form is chosen by weights that were fitted on other dev items, with other lemmas. So is the best way:
    by what each way gets right there, with weights fitted on others again. Test items' forms come from all dev items.
    """
    order = sorted(set(lemmas))
    drawn = np.random.Generator(np.random.PCG64(key("weights"))).permutation(len(order))
    fold = dict(zip(order, (drawn % FOLDS).tolist(), strict=True))
    folds = np.array([fold[lemma] for lemma in lemmas])
    found: dict[str, dict[str, list[str]]] = {}
    hits, totals = np.zeros((len(compared), FOLDS)), []
    for number, way in enumerate(compared):
        ballots = way.ballots["dev"]
        right = ballots.right(gold)

        def fitted(
            *without: int, way: Way = way, ballots: Ballots = ballots, right: NDArray[np.bool_] = right
        ) -> Weights:
            # Items without a right form are not learnt from.
            others = right & ~np.isin(folds, without)[:, np.newaxis] & way.learns
            return fit(kinds, ballots, others, seen["dev"])

        chosen = np.zeros(len(folds), dtype=np.int64)
        for own in range(FOLDS):
            chosen[folds == own] = fitted(own).best(ballots, seen["dev"])[folds == own]
        for one, two in combinations(range(FOLDS), 2):
            correct = np.take_along_axis(right, fitted(one, two).best(ballots, seen["dev"])[:, np.newaxis], axis=1)
            hits[number, two] += correct[folds == one].sum()
            hits[number, one] += correct[folds == two].sum()
        totals.append(int(np.take_along_axis(right, chosen[:, np.newaxis], axis=1).sum()))
        test = fitted().best(way.ballots["test"], seen["test"])
        found[way.name] = {"dev": ballots.named(chosen), "test": way.ballots["test"].named(test)}
    winners = [compared[number].name for number in hits.argmax(axis=0).tolist()]
    dev = [found[winners[own]]["dev"][place] for place, own in enumerate(folds.tolist())]
    return found | {"best": {"dev": dev, "test": found[compared[int(np.argmax(totals))].name]["test"]}}
