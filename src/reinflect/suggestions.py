"""Which forms to ask a speaker for next: those a model is least sure of."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lemmas import Lexicon
from reinflect.inflector import Answer, Inflector

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
    *,
    spread: bool = False,
    asked: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Suggestion]:
    """Cells, the least certain first; `asked` hears how far it is.

    Cells whose chances are the same to the per cent come by how often their features were in training, as forms that
    are common are worth more. With `spread` no lemma comes again before every other had its turn.
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
    return in_turns(made) if spread else made


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


def in_turns(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """First one cell of each lemma, then a second of each, and so on; otherwise in the same order."""
    turns: defaultdict[str, int] = defaultdict(int)
    placed = []
    for one in suggestions:
        placed.append((turns[one.lemma], one))
        turns[one.lemma] += 1
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]
