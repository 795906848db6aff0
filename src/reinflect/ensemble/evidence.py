"""How much it says for a form that it occurs in a word list, learnt from forms that none of the voters learnt from.

Of the right forms some share occurs in the list, and another share of the wrong candidates. The logarithm of their
ratio is added to the log-odds of a form that occurs, and that of the shares that do not occur to the log-odds of one
that does not. A list without inflected forms has as few of the right forms as of the wrong ones, and changes nothing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.words import WordList
from reinflect.ensemble.confidence import FLOOR, Confidence, Evidence, fit
from reinflect.score.scores import Cell

STEPS = (1, 10, 100)
"""Counts: forms that reach one are compared with those that only reach the step before."""
EQUAL, LIKE_ALL = 10.0, 20.0
"""The weights, in cells, with which the shares of right and wrong forms are drawn towards each other, and those of a
part of speech towards those of all."""
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Shares = Annotated[list[tuple[Share, Share]], msgspec.Meta(min_length=len(STEPS), max_length=len(STEPS))]
"""For each step, the share of right forms and that of wrong candidates that reach it."""


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
            added = _log_ratio(shares, words.count(form), has_lemma=has_lemma)
            weighed[form] = weighed[form]._replace(added=added)
        voted = next(iter(weighed))
        rivals = (form for form in weighed if form == voted or weighed[form].added > weighed[voted].added)
        best = max(rivals, key=lambda form: self.confidence.of(weighed[form]))
        return {best: weighed.pop(best)} | weighed


def learn(
    words: WordList,
    judged: Sequence[tuple[Cell, Mapping[str, Evidence], Sequence[str]]],
    usual: Confidence,
    pull: float,
) -> WordEvidence | None:
    """What cells with their candidates and right forms say about a list; None if they are too few."""
    # *Shape:* (all that reached the step before or those that reach it, steps, right or wrong)
    tallies: defaultdict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((2, len(STEPS), 2)))
    for (lemma, features), candidates, right in judged:
        for kind, forms in enumerate((right, [form for form in candidates if form not in right])):
            counts = [words.count(form) for form in forms if form != lemma]
            for reached in ([count >= least for least in (0, *STEPS)] for count in counts):
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
    for least, (right, wrong) in zip(STEPS, shares, strict=True):
        if count < least:
            return total + (min(0.0, math.log((1 - right) / (1 - wrong))) if has_lemma or count else 0.0)
        total += max(0.0, math.log(right / wrong))
    return total
