"""Which forms to ask a speaker for next: those with the lowest confidence."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.inflector import Inflector

AT_ONCE = 2000
"""Cells predicted together: enough to be quick, and few enough for any memory."""


@dataclass(frozen=True)
class Suggestion:
    """A cell to ask a speaker for, and the model's prediction."""

    lemma: str
    features: str
    answer: Answer


def ranked(
    inflector: Inflector,
    cells: Sequence[Item],
    most: int | None = None,
    *,
    spread: bool = True,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Suggestion]:
    """At most `most` of the cells, the lowest confidence first; `progress` gets the number of cells predicted so far.

    Cells with the same confidence in per cent come in the order of their bundles' frequency in training, as common
    forms are worth more. With `spread`, lemmas and bundles suggested before come after others: without it, the hardest
    bundle is suggested for one lemma after another, which is worse than a random order (see `bench/elicitation.py`).
    """
    answers: list[Answer] = []
    for start in range(0, len(cells), AT_ONCE):
        answers += inflector.answers(cells[start : start + AT_ONCE])
        progress(len(answers), len(cells))
    frequency = Counter[tuple[str, ...]]()
    for spelling, count in inflector.bundle_counts.items():
        frequency[Bundle(spelling).cell] += count

    def key(pair: tuple[Item, Answer]) -> tuple[float, int, float]:
        return round(chances(pair[1]), 2), -frequency[pair[0].features.cell], chances(pair[1])

    pairs = sorted(zip(cells, answers, strict=True), key=key)
    suggestions = [Suggestion(item.lemma, item.features.spelling, answer) for item, answer in pairs]
    return in_turns(suggestions, most) if spread else suggestions[:most]


def open_cells(lexicon: Lexicon, bundles: Sequence[str], most: int | None = None) -> list[Item]:
    """The first cells whose forms are not known; a lemma of a known part of speech has only cells of that."""
    cells = [Bundle(spelling) for spelling in bundles]
    items = (Item(lemma, bundle) for lemma in lexicon.lemmas for bundle in cells if lexicon.may_have(lemma, bundle))
    return list(islice((item for item in items if question(item) not in lexicon.known), most))


def chances(answer: Answer) -> float:
    """The confidence of an answer, or else its share of the votes."""
    return answer.votes / answer.voters if answer.confidence is None else answer.confidence


def in_turns(suggestions: Sequence[Suggestion], most: int | None = None) -> list[Suggestion]:
    """The first suggestions, reordered so that lemmas and bundles chosen before come after others."""
    seen = Counter[tuple[str, ...]]()
    waiting = [(0, number) for number in range(len(suggestions))]
    chosen: list[Suggestion] = []
    while waiting and (most is None or len(chosen) < most):
        before, number = heappop(waiting)
        suggestion = suggestions[number]
        groups = [("lemma", suggestion.lemma), ("features", *Bundle(suggestion.features).cell)]
        if (now := sum(seen[group] for group in groups)) > before:  # its lemma or bundle was chosen since
            heappush(waiting, (now, number))
        else:
            seen.update(groups)
            chosen.append(suggestion)
    return chosen
