"""How much it says for a form that it occurs in a word list, learnt from forms that none of the voters learnt from.

Of the right forms some share occurs in the list, and another share of the wrong candidates. The logarithm of their
ratio is added to the log-odds of a form that occurs, and that of the shares that do not occur to the log-odds of one
that does not. A list without inflected forms has as few of the right forms as of the wrong ones, and changes nothing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.words import WordList
from reinflect.ensembles.confidence import Confidence, Evidence, fit
from reinflect.evaluation.cells import Cell

STEPS = (1, 10, 100)
"""Counts: forms that reach one are compared with those that only reach the step before."""
ALL = ""
"""All parts of speech together."""
EQUAL, LIKE_ALL = 10.0, 20.0
"""The weights, in cells, with which the shares of right and wrong forms are drawn towards each other, and those of a
part of speech towards those of all."""
Shares = tuple[tuple[float, float], ...]
"""For each step, the share of right forms and that of wrong candidates that reach it."""


class WordEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What training with a word list learnt about it."""

    name: str
    words: int
    digest: str
    shares: dict[str, Shares]
    """By part of speech."""
    confidence: Confidence
    accuracy: float = 0.0
    """With the list, in per cent, on the cells that all this was learnt from."""

    def __post_init__(self) -> None:
        sound = all(
            len(own) == len(STEPS) and 0 < min(map(min, own)) <= max(map(max, own)) < 1 for own in self.shares.values()
        )
        if ALL not in self.shares or not sound or not 0 <= self.accuracy <= 100:
            raise ValueError("what it learnt about a word list is damaged")

    def weighed(self, cell: Cell, candidates: Mapping[str, Evidence], words: WordList) -> dict[str, Evidence]:
        """Candidates, the voted form first, with the evidence of a list; the one that is then the likeliest is first.

        The voted form stays the first where the list has no more evidence for another one.
        """
        lemma, shares = cell[0], self.shares.get(Bundle(cell[1]).part_of_speech, self.shares[ALL])
        made, known = dict(candidates), words.count(lemma) > 0
        for form in made.keys() - {lemma}:  # which is a word whatever its forms are
            made[form] = made[form]._replace(added=_log_ratio(shares, words.count(form), known=known))
        least = next(iter(made.values())).added
        rivals = [form for place, (form, own) in enumerate(made.items()) if place == 0 or own.added > least]
        best = max(rivals, key=lambda form: self.confidence.log_odds(made[form]))
        return {best: made.pop(best)} | made


def learn(
    words: WordList,
    judged: Sequence[tuple[Cell, Mapping[str, Evidence], Sequence[str]]],
    confidence: Confidence,
    pull: float,
) -> WordEvidence | None:
    """What cells with their candidates and right forms say about a list; None if they are too few."""
    # *Shape:* (steps, right or wrong, all that reached the step before or those that reach it)
    tallies: defaultdict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((len(STEPS), 2, 2)))
    for (lemma, features), candidates, right in judged:
        for kind, forms in enumerate((right, [form for form in candidates if form not in right])):
            counts = [words.count(form) for form in forms if form != lemma]
            for reached in [[count >= least for least in (0, *STEPS)] for count in counts]:
                for part in (ALL, Bundle(features).part_of_speech):
                    tallies[part][:, kind] += np.transpose([reached[:-1], reached[1:]]) / len(counts)
    came, reach = np.moveaxis(tallies[ALL], -1, 0)
    pooled = (reach.sum(axis=1, keepdims=True) + 1) / (came.sum(axis=1, keepdims=True) + 2)
    overall = (reach + EQUAL * pooled) / (came + EQUAL)
    shares = {part: (own[..., 1] + LIKE_ALL * overall) / (own[..., 0] + LIKE_ALL) for part, own in tallies.items()}
    listed = {part: own.round(6).tolist() for part, own in (shares | {ALL: overall}).items()}
    made = WordEvidence(name=words.name, words=words.size, digest=words.digest, shares=listed, confidence=confidence)
    chosen = [next(iter(made.weighed(cell, candidates, words).items())) for cell, candidates, _ in judged]
    good = [form in right for (form, _), (_, _, right) in zip(chosen, judged, strict=True)]
    if (fitted := fit([evidence for _, evidence in chosen], good, pull=pull)) is None:
        return None
    return msgspec.structs.replace(made, confidence=fitted, accuracy=round(100 * sum(good) / len(good), 2))


def _log_ratio(shares: Shares, count: int, *, known: bool) -> float:
    """What is added to the log-odds of a form with this count; a list without its lemma need not have the form."""
    total = 0.0
    for least, (right, wrong) in zip(STEPS, shares, strict=True):
        if count < least:
            return total + (min(0.0, math.log((1 - right) / (1 - wrong))) if known or count else 0.0)
        total += max(0.0, math.log(right / wrong))
    return total
