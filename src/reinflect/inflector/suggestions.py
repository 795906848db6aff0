"""Which forms to ask a speaker for next: those with the lowest confidence."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.inflector.inflector import Answer, Inflector

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
    asked: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Suggestion]:
    """At most `most` of the cells, the lowest confidence first; `asked` is called with the cells predicted so far.

    Cells with the same confidence in per cent come in the order of their bundles' frequency in training, as common
    forms are worth more. With `spread`, lemmas and bundles suggested before come after others: without it, the hardest
    bundle is suggested for one lemma after another, which is worse than a random order (see `bench/elicitation.py`).
    """
    answers: list[Answer] = []
    for start in range(0, len(cells), AT_ONCE):
        answers += inflector.answers(cells[start : start + AT_ONCE])
        asked(len(answers), len(cells))
    frequency: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for spelling, count in inflector.bundle_counts.items():
        frequency[Bundle(spelling).cell] += count
    order = sorted(
        zip(cells, answers, strict=True),
        key=lambda one: (round(chances(one[1]), 2), -frequency[one[0].features.cell], chances(one[1])),
    )
    made = [Suggestion(cell.lemma, cell.features.spelling, answer) for cell, answer in order]
    return in_turns(made, most) if spread else made[:most]


def open_cells(lexicon: Lexicon, bundles: Sequence[str], most: int | None = None) -> list[Item]:
    """The first cells whose forms are not known; a lemma of a known part of speech has only cells of that."""
    cells = [Bundle(spelling) for spelling in bundles]
    found = (
        Item(lemma, bundle)
        for lemma in lexicon.lemmas
        for bundle in cells
        if (lemma, bundle.cell) not in lexicon.known and lexicon.may_have(lemma, bundle)
    )
    return list(islice(found, most))


def chances(answer: Answer) -> float:
    """The confidence of an answer, or else its share of the votes."""
    return answer.votes / answer.voters if answer.confidence is None else answer.confidence


def in_turns(suggestions: Sequence[Suggestion], most: int | None = None) -> list[Suggestion]:
    """The first suggestions, reordered so that lemmas and bundles chosen before come after others."""
    seen: Counter[tuple[str, ...]] = Counter()
    marks = [(("lemma", one.lemma), ("features", *Bundle(one.features).cell)) for one in suggestions]
    waiting = [(0, place) for place in range(len(suggestions))]
    chosen: list[Suggestion] = []
    while waiting and (most is None or len(chosen) < most):
        before, place = heappop(waiting)
        now = sum(seen[mark] for mark in marks[place])
        if now > before:  # its lemma or bundle was chosen since
            heappush(waiting, (now, place))
        else:
            seen.update(marks[place])
            chosen.append(suggestions[place])
    return chosen
