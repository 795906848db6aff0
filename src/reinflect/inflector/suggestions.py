"""Which forms to ask a speaker for next: those a model is least sure of."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lemmas import Lexicon
from reinflect.inflector.inflector import Answer, Inflector

AT_ONCE = 2000
"""Cells asked for together: enough to be quick, and few enough for any memory."""


@dataclass(frozen=True)
class Suggestion:
    """A form worth asking for, and what the model would say."""

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
    """So many of some cells, the least certain first; `asked` hears how far it is.

    Cells whose chances are the same to the per cent come by how often their features were in training, as forms that
    are common are worth more. With `spread`, lemmas and features that came already stand back behind others: without
    it, the same hard cell is asked of one lemma after the other, which is worse than asking at random (see
    `bench/elicitation.py`).
    """
    answers: list[Answer] = []
    for start in range(0, len(cells), AT_ONCE):
        answers += inflector.answers(cells[start : start + AT_ONCE])
        asked(len(answers), len(cells))
    frequency: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for spelling, count in inflector.bundle_counts.items():
        frequency[Bundle(spelling).cell] += count
    order = sorted(
        range(len(cells)),
        key=lambda place: (
            round(chances(answers[place]), 2),
            -frequency[cells[place].features.cell],
            chances(answers[place]),
        ),
    )
    made = [Suggestion(cells[place].lemma, cells[place].features.spelling, answers[place]) for place in order]
    return in_turns(made, most) if spread else made[:most]


def open_cells(lexicon: Lexicon, bundles: Sequence[str]) -> list[Item]:
    """The cells whose forms are not known, of lemmas whose part of speech, where it is known, has such cells."""
    cells = [Bundle(spelling) for spelling in bundles]
    return [
        Item(lemma, bundle)
        for lemma in lexicon.lemmas
        for bundle in cells
        if (lemma, bundle.cell) not in lexicon.known and lexicon.may_have(lemma, bundle)
    ]


def chances(answer: Answer) -> float:
    """How likely an answer is right; without a confidence, the share of votes for it."""
    return answer.votes / answer.voters if answer.confidence is None else answer.confidence


def in_turns(suggestions: Sequence[Suggestion], most: int | None = None) -> list[Suggestion]:
    """The first of these, but such that lemmas and features have come as seldom as can be before they come again."""
    seen: Counter[tuple[str, ...]] = Counter()
    marks = [(("lemma", one.lemma), ("features", *Bundle(one.features).cell)) for one in suggestions]
    waiting = [(0, place) for place in range(len(suggestions))]
    chosen: list[Suggestion] = []
    while waiting and (most is None or len(chosen) < most):
        before, place = heappop(waiting)
        now = sum(seen[mark] for mark in marks[place])
        if now > before:  # something like it was chosen since
            heappush(waiting, (now, place))
        else:
            seen.update(marks[place])
            chosen.append(suggestions[place])
    return chosen
