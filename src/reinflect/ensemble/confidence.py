"""The confidence of a form: the probability that it is right, from votes, probabilities and a word list.

A logistic regression with five weights. They are fitted after training, on forms that none of the voters learnt from,
and drawn towards weights that suit 52 languages together: 50 dev items decide less than 1,000.

A word list counts by the same forms. Of the right forms some share occurs in the list, and another share of the wrong
candidates. The logarithm of their ratio is added to the log-odds of a form that occurs, and that of the shares that do
not occur to the log-odds of one that does not. A list without inflected forms has as few of the right forms as of the
wrong ones, and changes nothing.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import WordList
from reinflect.ensemble.strategies import Strategy, Voter, ballots
from reinflect.score.scores import Cell

USUAL = (-1.39, 0.31, 0.28, 0.16, 0.35)
"""The weights that suit the 52 languages of 2017 together, at 100 training items; see `bench/calibration.py`."""
PULL = (0.3, 5.0, 5.0, 5.0, 5.0)
"""How strongly each weight is drawn to the usual one: weakly for the first, which depends on the models' accuracy."""
HELD_OUT_PULL = 10.0
"""Factor of `PULL` for held-out items: of twenty voters only four vote on such an item, but all on later ones."""
LEAST_ITEMS = 20
"""With fewer, a confidence would be a guess."""
ALTERNATIVE = 0.65
"""Factor of the confidence of alternatives. The weights are fitted on first forms; where the first form is wrong, the
right one is often in no list; see `bench/alternatives.py`."""
FLOOR = 1e-3
"""The least distance of probabilities from 0 and 1: those of a model are not more exact."""
STEPS, LARGEST_STEP, SMALL_STEP = 100, 5.0, 1e-9
DECIMALS = 4
"""Of confidences and log-probabilities; further digits depend on the other items of a batch."""
LARGEST_WEIGHT = 1000.0
"""Fitting gives none beyond `STEPS` of `LARGEST_STEP`; with much larger ones sums would not be finite."""
COUNTS = (1, 10, 100)
"""In a word list: forms that reach one are compared with those that only reach the one before."""
EQUAL, LIKE_ALL = 10.0, 20.0
"""The weights, in cells, with which the shares of right and wrong forms are drawn towards each other, and those of a
part of speech towards those of all."""
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Shares = Annotated[list[tuple[Share, Share]], msgspec.Meta(min_length=len(COUNTS), max_length=len(COUNTS))]
"""For each count, the share of right forms and that of wrong candidates that reach it."""
Candidates = tuple[Cell, Mapping[str, "Evidence"], Sequence[str]]
"""The forms that a cell may have, and those that are right."""


class Evidence(NamedTuple):
    """The votes and probabilities of a form."""

    votes: int
    voters: int
    log_mean: float
    """The logarithm of the mean probability over all voters; those that give another form count with 0."""
    log_best: float
    """The logarithm of the largest probability that a voter gives it."""
    seen: bool
    """Whether a training item has this bundle."""
    added: float = 0.0
    """What a word list adds to the log-odds."""

    @classmethod
    def of(cls, form: str, forms: Sequence[str], log_probabilities: Sequence[float], *, seen: bool) -> "Evidence":
        """The evidence for a form in the form of each voter, and its log-probability."""
        return cls.in_lists(form, forms, [{f: score} for f, score in zip(forms, log_probabilities, strict=True)], seen)

    @classmethod
    def in_lists(cls, form: str, forms: Sequence[str], lists: Sequence[Mapping[str, float]], seen: bool) -> "Evidence":
        """The evidence for a form in the n-best list of each voter, whose first forms are `forms`."""
        scores = [nbest[form] for nbest in lists if form in nbest]
        best = max(scores, default=-math.inf)
        share = sum(math.exp(score - best) for score in scores) / len(lists)
        return cls(forms.count(form), len(lists), best + math.log(share) if scores else -math.inf, best, seen)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The inputs of the regression, one for each weight."""
        share = (self.votes + 0.5) / (self.voters + 1)  # 3 of 3 votes count less than 15 of 15
        mean, best = (min(max(math.exp(score), FLOOR), 1 - FLOOR) for score in (self.log_mean, self.log_best))
        return (1.0, *(math.log(chance / (1 - chance)) for chance in (share, mean, best)), float(self.seen))


def ranked(first: str, forms: Sequence[str], lists: Sequence[Mapping[str, float]], seen: bool) -> dict[str, Evidence]:
    """Merge the n-best lists of voters: `first`, which their strategy chose, then by votes and mean probability.

    `forms` has the first form of each voter, and `lists` its forms with their log-probabilities, that one included.
    """
    evidence = {form: Evidence.in_lists(form, forms, lists, seen) for form in chain([first], forms, *lists)}
    order = sorted(evidence, key=lambda form: (form != first, -evidence[form].votes, -evidence[form].log_mean))
    return {form: evidence[form] for form in order}


class Confidence(msgspec.Struct, frozen=True):
    """The fitted regression."""

    weights: tuple[float, ...]
    items: int
    """Forms that it was fitted on."""

    def __post_init__(self) -> None:
        if len(self.weights) != len(USUAL) or not all(abs(weight) <= LARGEST_WEIGHT for weight in self.weights):
            raise ValueError("the weights of its confidence are wrong in number, not finite or too large")

    def of(self, evidence: Evidence) -> float:
        total = sum(weight * number for weight, number in zip(self.weights, evidence.numbers, strict=True))
        return 1 / (1 + math.exp(-min(max(total + evidence.added, -30.0), 30.0)))


@dataclass(frozen=True)
class Answer:
    """A predicted form with its confidence, or an attested form."""

    form: str
    confidence: float | None
    """The probability that it is right; None if no confidence could be fitted."""
    votes: int
    voters: int
    log_probability: float | None
    """The logarithm of the mean of the voters' probabilities; those that give another form count with 0."""
    attested: bool = False
    """Whether a person gave the form, or a dictionary has it: then it is no prediction and has no confidence."""
    variants: tuple[str, ...] = ()
    """Further attested forms of the same cell."""

    @classmethod
    def of(cls, form: str, evidence: Evidence, confidence: float | None = None, *, attested: bool = False) -> "Answer":
        mean = round(evidence.log_mean, DECIMALS) if math.isfinite(evidence.log_mean) else None
        return cls(form, confidence, evidence.votes, evidence.voters, mean, attested)

    @property
    def text(self) -> str:
        """The form, and further attested ones as a field of a spreadsheet has them."""
        return " / ".join((self.form, *self.variants))


def in_order(candidates: Mapping[str, Evidence], first: Evidence, fitted: Confidence | None) -> list[Answer]:
    """Ranked forms as answers: the first one, whose evidence is `first`, then the others by their confidence.

    At most one form is right, so the others share what the confidence of the first leaves.
    """
    confidences: list[float | None] = [None] * len(candidates)
    if fitted:
        sure, others = round(fitted.of(first), DECIMALS), list(map(fitted.of, list(candidates.values())[1:]))
        share = ALTERNATIVE * min(1.0, (1 - sure) / max(sum(others), SMALL_STEP))
        confidences = [sure, *(round(min(sure, share * other), DECIMALS) for other in others)]
    voted, *further = map(Answer.of, candidates, candidates.values(), confidences)
    return [voted, *sorted(further, key=lambda answer: -(answer.confidence or 0.0))]


def fit(evidence: Sequence[Evidence], right: Sequence[bool], *, pull: float = 1.0) -> Confidence | None:
    """Fit the weights by Newton's method; None if there are too few items. `pull` is a factor of `PULL`."""
    if len(evidence) < LEAST_ITEMS:
        return None
    numbers, added = np.array([form.numbers for form in evidence]), np.array([form.added for form in evidence])
    target, usual, pulls = np.array(right, dtype=np.float64), np.array(USUAL), pull * np.array(PULL)
    weights = usual
    for _ in range(STEPS):
        probable = 1 / (1 + np.exp(-np.clip(numbers @ weights + added, -30, 30)))
        slope = numbers.T @ (probable - target) + pulls * (weights - usual)
        curve = (numbers * (probable * (1 - probable))[:, np.newaxis]).T @ numbers + np.diag(pulls)
        step = np.linalg.solve(curve, slope)
        weights = weights - step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), SMALL_STEP))
        if np.abs(step).max() < SMALL_STEP:
            break
    # The last digits may depend on the processor.
    return Confidence(tuple(round(float(weight), 6) for weight in weights), len(evidence))


def judged_cells(strategy: Strategy, voters: Sequence[Voter], seen: set[Cell]) -> tuple[list[Evidence], list[bool]]:
    """The evidence for the combined predictions of voters, best first, and whether they are right.

    `seen` are the cells whose bundle a training item has.
    """
    gold = {cell: forms for voter in voters for cell, forms in voter.gold.items()}
    evidence, right = [], []
    for cell, (forms, scores) in ballots(voters).items():
        form = strategy.combine(forms, scores)
        evidence.append(Evidence.of(form, forms, scores, seen=cell in seen))
        right.append(form in gold[cell])
    return evidence, right


def seen_cells(train: Iterable[Item], dev: Iterable[Item]) -> set[Cell]:
    """The dev cells whose features, in any order, are the bundle of a training item."""
    cells = {item.features.cell for item in train}
    return {(item.lemma, item.features.spelling) for item in dev if item.features.cell in cells}


class WordEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What training with a word list learnt about it."""

    name: str
    words: int
    digest: str
    overall: Shares
    shares: dict[str, Shares]
    """By part of speech."""
    confidence: Confidence
    accuracy: Annotated[float, msgspec.Meta(ge=0, le=100)] = 0.0
    """With the list, in per cent, on the cells that all this was learnt from."""

    def weighed(self, cell: Cell, candidates: Mapping[str, Evidence], words: WordList) -> dict[str, Evidence]:
        """Candidates with the evidence of a list; the voted form stays the first unless it is better for another."""
        lemma, features = cell
        shares, has_lemma = self.shares.get(Bundle(features).part_of_speech, self.overall), words.count(lemma) > 0
        weighed = dict(candidates)
        for form in weighed.keys() - {lemma}:  # the lemma is a word whatever its forms are
            weighed[form] = weighed[form]._replace(added=_log_ratio(shares, words.count(form), has_lemma=has_lemma))
        voted = next(iter(weighed))
        rivals = (form for form in weighed if form == voted or weighed[form].added > weighed[voted].added)
        best = max(rivals, key=lambda form: self.confidence.of(weighed[form]))
        return {best: weighed.pop(best)} | weighed


def learn(words: WordList, judged: Sequence[Candidates], usual: Confidence, pull: float) -> WordEvidence | None:
    """What cells with their candidates and right forms say about a list; None if they are too few."""
    # *Shape:* (all that reached the step before or those that reach it, steps, right or wrong)
    tallies: defaultdict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((2, len(COUNTS), 2)))
    for (lemma, features), candidates, right in judged:
        for kind, forms in enumerate((right, [form for form in candidates if form not in right])):
            counts = [words.count(form) for form in forms if form != lemma]
            for reached in ([count >= least for least in (0, *COUNTS)] for count in counts):
                for part in ("", Bundle(features).part_of_speech):
                    tallies[part][..., kind] += np.array([reached[:-1], reached[1:]]) / len(counts)
    came, reach = tallies[""]
    pooled = (reach.sum(axis=1, keepdims=True) + 1) / (came.sum(axis=1, keepdims=True) + 2)
    overall = (reach + EQUAL * pooled) / (came + EQUAL)
    drawn = {part: (tally[1] + LIKE_ALL * overall) / (tally[0] + LIKE_ALL) for part, tally in tallies.items()}
    shares = {part: share.clip(FLOOR, 1 - FLOOR).round(6).tolist() for part, share in (drawn | {"": overall}).items()}
    about = {"name": words.name, "words": words.size, "digest": words.digest, "confidence": usual}
    evidence = msgspec.convert(about | {"overall": shares.pop(""), "shares": shares}, WordEvidence)

    def first_forms() -> tuple[list[Evidence], list[bool]]:
        firsts = [next(iter(evidence.weighed(cell, candidates, words).items())) for cell, candidates, _ in judged]
        good = [form in right for (form, _), (*_, right) in zip(firsts, judged, strict=True)]
        return [weighed for _, weighed in firsts], good

    if (fitted := fit(*first_forms(), pull=pull)) is None:
        return None
    evidence = msgspec.structs.replace(evidence, confidence=fitted)
    return msgspec.structs.replace(evidence, accuracy=round(100 * fmean(first_forms()[1]), 2))


def _log_ratio(shares: Sequence[tuple[float, float]], count: int, *, has_lemma: bool) -> float:
    """What is added to the log-odds of a form with this count; a list without its lemma need not have the form."""
    total = 0.0
    for least, (right, wrong) in zip(COUNTS, shares, strict=True):
        if count < least:
            return total + (min(0.0, math.log((1 - right) / (1 - wrong))) if has_lemma or count else 0.0)
        total += max(0.0, math.log(right / wrong))
    return total


class Bin(NamedTuple):
    """Forms of similar confidence: their number, the mean of their confidences, and the share that is right."""

    items: int
    confidence: float
    accuracy: float

    @classmethod
    def of(cls, forms: NDArray[np.float64]) -> "Bin":
        """*Shape:* a row for each form, with its confidence and whether it is right"""
        return cls(len(forms), float(forms[:, 0].mean()), float(forms[:, 1].mean()))


def bins(forms: Sequence[tuple[float, bool]], count: int = 10) -> list[Bin]:
    """A reliability diagram: forms by confidence, in bins of equal width (0 to 0.1, …); empty ones are left out."""
    table = np.array(forms, dtype=np.float64).reshape(-1, 2)
    numbers = np.minimum((table[:, 0] * count).astype(np.int64), count - 1)
    return [Bin.of(table[numbers == number]) for number in np.unique(numbers)]


def calibration_error(diagram: Sequence[Bin]) -> float:
    """The expected calibration error: the mean distance of confidence and accuracy over all forms."""
    items = sum(forms.items for forms in diagram)
    return sum(forms.items * abs(forms.confidence - forms.accuracy) for forms in diagram) / max(1, items)
