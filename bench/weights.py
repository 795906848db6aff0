"""Weights of member kinds, learnt from dev items, apart for bundles that training has seen and for those it has not.

A form's score adds up, over the kinds, the share of the kind's members that give it, and their mean probability of it,
each times a weight; or, in the place of the latter, the mean log-probability that all members of the kind give to it.
The weights are those with which right forms have the largest scores (a conditional logit over the forms that members
give), drawn towards those of a plain vote: 100 dev items decide less than 1,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reinflect.settings import key

PULL = 2.0
"""How strongly weights are drawn to those of a plain vote, and those of seen and unseen bundles to common ones."""
A_VOTE = 1.0
"""What one member's vote adds to a score in a plain vote."""
STEPS, ENOUGH = 50, 1e-6
"""The most steps of a fit; it ends when one gains less than this."""
FOLDS = 5
FLOORS = -20.0, -6.0
"""The least log-probabilities that count; they are -1 to a weight."""
BEST, VOTES = "best", (0,)
RULES = "rules"
"""A kind that has no vote, but can have a weight."""
WAYS: Mapping[str, tuple[int, ...]] = {"vote": (), "weights": (0, 1), "scores": (0, 2, 3)}
"""Ways to choose: the groups of numbers that have learnt weights. The best way is a learnt one; among equally good ones
the first."""

Numbers = NDArray[np.float64]
Answers = tuple[Sequence[Sequence[str]], Sequence[Sequence[float]]]
"""Forms and log-probabilities: a list for each member, best member first."""
Chosen = NDArray[np.int64]
"""The number of a form of each item."""
Pooled = tuple[Sequence[Sequence[str]], NDArray[np.floating]]
"""Forms of each item, and the score by each model of each; nan where that is not known. *Shape:* (models, forms)"""


@dataclass(frozen=True)
class Ballots:
    """The forms that members give for each item, with the numbers that weights multiply."""

    forms: list[list[str]]
    """Of each item, the best member's first."""
    numbers: Numbers
    """Shares, mean probabilities, and mean log-probabilities by all members with each floor, by kind; 0 for padding and
    for what is not known. *Shape:* (items, forms, 4 · kinds)"""

    @classmethod
    def of(cls, kinds: Sequence[str], answers: Answers, pooled: Pooled | None = None) -> "Ballots":
        """`kinds`: of each member."""
        names = sorted(set(kinds))
        column = [names.index(kind) for kind in kinds]
        size = [kinds.count(kind) for kind in kinds]
        predictions, scores = (list(zip(*lists, strict=True)) for lists in answers)  # by item
        forms = [list(dict.fromkeys(of_item)) for of_item in predictions]
        numbers = np.zeros((len(forms), max(map(len, forms), default=1), 4 * len(names)))
        for row, different, of_item, of_item_scores in zip(numbers, forms, predictions, scores, strict=True):
            for member, (form, score) in enumerate(zip(of_item, of_item_scores, strict=True)):
                line = row[different.index(form)]
                line[column[member]] += 1 / size[member]
                line[len(names) + column[member]] += np.exp(score) / size[member]
        if pooled:
            pool = pooled[1].astype(np.float64)
            scoring = np.array(kinds[: len(pool)])  # not the rules, which come last
            mean = np.equal.outer(np.array(names), scoring) / [[kinds.count(kind)] for kind in names]
            flat = np.nan_to_num(np.concatenate([mean @ (np.maximum(pool, floor) / -floor) for floor in FLOORS]).T)
            starts = np.cumsum([0, *map(len, pooled[0])]).tolist()
            for row, different, candidates, start in zip(numbers, forms, pooled[0], starts, strict=False):
                lines = [start + candidates.index(form) for form in different]
                row[: len(different), 2 * len(names) :] = flat[lines]
        return cls(forms, numbers)

    def only(self, groups: Sequence[int], kinds: int) -> "Ballots":
        """With some groups of numbers alone."""
        columns = [group * kinds + kind for group in groups for kind in range(kinds)]
        return Ballots(self.forms, self.numbers[..., columns])

    def named(self, chosen: Chosen) -> list[str]:
        return [forms[number] for forms, number in zip(self.forms, chosen.tolist(), strict=True)]

    @property
    def padding(self) -> NDArray[np.bool_]:
        """*Shape:* (items, forms)"""
        counts = np.array([len(forms) for forms in self.forms])
        return np.arange(self.numbers.shape[1]) >= counts[:, np.newaxis]

    def right(self, gold: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """Which forms are right. *Shape:* (items, forms)"""
        right = np.zeros(self.numbers.shape[:2], dtype=bool)
        for row, forms, answers in zip(right, self.forms, gold, strict=True):
            row[: len(forms)] = [form in answers for form in forms]
        return right


@dataclass(frozen=True)
class Weights:
    """Of each number of a form."""

    seen: Numbers
    unseen: Numbers

    def best(self, ballots: Ballots, seen: Sequence[bool]) -> Chosen:
        """The form of each item with the largest score; among equals the best member's."""
        weights = np.where(np.array(seen, dtype=bool)[:, np.newaxis], self.seen, self.unseen)
        scores = np.einsum("icf,if->ic", ballots.numbers, weights)
        chosen: Chosen = np.where(ballots.padding, -np.inf, scores).argmax(axis=1)
        return chosen


def fit(kinds: Sequence[str], ballots: Ballots, right: NDArray[np.bool_], seen: Sequence[bool]) -> Weights:
    """Learn from the items for which some member is right and some member is not."""
    names = sorted(set(kinds))
    usual = np.zeros(ballots.numbers.shape[-1])
    usual[: len(names)] = [A_VOTE * kinds.count(kind) * (kind != RULES) for kind in names]
    decided = np.logical_and(right.any(axis=1), ~(right | ballots.padding).all(axis=1))
    both = _fitted(ballots, right, decided, usual)
    of_seen = np.array(seen, dtype=bool)
    return Weights(*(_fitted(ballots, right, np.logical_and(decided, part), both) for part in (of_seen, ~of_seen)))


def _fitted(ballots: Ballots, right: NDArray[np.bool_], chosen: NDArray[np.bool_], usual: Numbers) -> Numbers:
    """Newton's method on -log P(a right form) and the distance from the usual weights; a step that loses is halved."""
    numbers, right, padding = ballots.numbers[chosen], right[chosen], ballots.padding[chosen]
    flat = numbers.reshape(-1, len(usual))

    def loss(weights: Numbers) -> tuple[float, Numbers, Numbers]:
        """With the probability of each form, among all and among right ones."""
        scores = np.where(padding, -np.inf, numbers @ weights)
        (all_forms, of_all), (right_forms, of_right) = _shares(scores), _shares(np.where(right, scores, -np.inf))
        away = PULL / 2 * float(((weights - usual) ** 2).sum())
        return float((of_all - of_right).sum()) + away, all_forms, right_forms

    weights = usual.copy()
    if not len(numbers):
        return weights
    now, all_forms, right_forms = loss(weights)
    for _ in range(STEPS):
        slope = np.einsum("ic,icf->f", all_forms - right_forms, numbers) + PULL * (weights - usual)
        mean = np.einsum("ic,icf->if", all_forms, numbers)
        curve = flat.T @ (flat * all_forms.reshape(-1, 1)) - mean.T @ mean
        step = np.linalg.solve(curve + PULL * np.eye(len(weights)), slope)
        while (new := loss(weights - step))[0] > now and np.abs(step).max() > ENOUGH:
            step /= 2
        if now - new[0] < ENOUGH:
            break
        weights, (now, all_forms, right_forms) = weights - step, new
    return weights


def _shares(scores: Numbers) -> tuple[Numbers, Numbers]:
    """Probabilities by score, and the logarithm of what they are divided by. *Shape:* (items, forms), (items)"""
    most = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - most)
    whole = shares.sum(axis=1, keepdims=True)
    return shares / whole, (most + np.log(whole))[:, 0]


def cross_fitted(
    kinds: Sequence[str],
    ballots: Mapping[str, Ballots],
    gold: Sequence[Sequence[str]],
    seen: Mapping[str, Sequence[bool]],
    lemmas: Sequence[str],
) -> dict[str, dict[str, list[str]]]:
    """The forms that each way chooses, and those of the best way, by split.

    A dev item's form is chosen by weights that were fitted on dev items with other lemmas. So is the best way, apart
    for seen and unseen bundles: by what each way gets right there, with weights that were fitted on others again. Test
    items' forms come from all dev items.
    """
    order = sorted(set(lemmas))
    drawn = np.random.Generator(np.random.PCG64(key("weights"))).permutation(len(order))
    fold = dict(zip(order, (drawn % FOLDS).tolist(), strict=True))
    folds, right = np.array([fold[lemma] for lemma in lemmas]), ballots["dev"].right(gold)
    forms: dict[str, dict[str, list[str]]] = {}
    part, hits = np.array(seen["dev"], dtype=np.int64), np.zeros((len(WAYS), FOLDS + 1, 2), dtype=np.int64)
    for way, (name, groups) in enumerate(WAYS.items()):
        some = {split: its.only(groups or VOTES, len(set(kinds))) for split, its in ballots.items()}
        if groups and not ballots["dev"].only(groups[-1:], len(set(kinds))).numbers.any():
            continue  # no model scored the candidates

        def chosen(split: str, *without: int, of: Mapping[str, Ballots] = some, learns: bool = bool(groups)) -> Chosen:
            others = right & ~np.isin(folds, without)[:, np.newaxis] & learns  # the right forms to learn from
            return fit(kinds, of["dev"], others, seen["dev"]).best(of[split], seen[split])

        def correct(numbers: Chosen, among: int) -> NDArray[np.int64]:
            return np.bincount(part[right[np.arange(len(folds)), numbers] & (folds == among)], minlength=2)

        dev = np.zeros(len(folds), dtype=np.int64)
        for number in range(FOLDS):
            alone = chosen("dev", number)
            dev[folds == number] = alone[folds == number]
            hits[way, FOLDS] += correct(alone, number)
        for first, second in combinations(range(FOLDS), 2):
            both = chosen("dev", first, second)
            hits[way, first] += correct(both, second)
            hits[way, second] += correct(both, first)
        forms[name] = {"dev": some["dev"].named(dev), "test": some["test"].named(chosen("test"))}
    hits[[not groups for groups in WAYS.values()]] = -1  # a plain vote is only compared
    winners = [[list(WAYS)[way] for way in by_part] for by_part in hits.argmax(axis=0).tolist()]
    held_out = {"dev": folds.tolist(), "test": [FOLDS] * len(seen["test"])}
    best = {
        split: [
            forms[winners[fold][known]][split][item]
            for item, (fold, known) in enumerate(zip(held_out[split], seen[split], strict=True))
        ]
        for split in held_out
    }
    return forms | {BEST: best}
