"""A model and a lexicon: which lemma and features a form could have, and which forms to ask a speaker for next.

To find the cells that a form could have, the model is inverted: it inflects known lemmas, and the form is looked for.
Every bundle of every lemma would take minutes, so lemmas that look least like the form are left out, the best member
alone inflects the others, and all voters are asked only about cells where its form is near.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from rapidfuzz import process
from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item, normal, normalised
from reinflect.data.lexicon import Lexicon
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.inflector import Inflector

COSTS = (1, 2, 2)
"""Of inserting, deleting and replacing a character on the way from the lemma to the form: forms are mostly longer. Of
5,000 lemmas the right one is among the nearest twenty for 89 % (Arabic) to 99 % (Finnish) of dev forms."""
CELLS = 2000
"""Cells that are inflected together: for an analysis, by the best member, that takes about a second."""
NEAR, NEAREST = 0.34, 40
"""The share of the form's characters that may differ from the best member's form, as other voters may be right; and how
many cells all voters are asked about, at most."""
ALTERNATIVES = 5


@dataclass(frozen=True)
class Analysis:
    """A lemma and a bundle that a form may have."""

    lemma: str
    features: str
    answer: Answer | None
    """The form as an answer for this cell; None if the form is attested there."""


@dataclass(frozen=True)
class Suggestion:
    """A cell to ask a speaker for, and the model's prediction."""

    lemma: str
    features: str
    answer: Answer


def analyse(inflector: Inflector, form: str, lexicon: Lexicon, n: int = 5) -> list[Analysis]:
    """The cells of known lemmas that may have this form, attested ones first, then the likeliest; at most n.

    Lemmas of the lexicon, of the dictionary, and of the forms that the model keeps. Cells whose attested form is
    another are left out.
    """
    form, dictionary = normal(form, inflector.normalisation), inflector.dictionary
    items = [item for item in (*lexicon.items, *inflector.attested) if not item.covered]
    items += [Item(*cell, form) for cell in dictionary.having(form)] if dictionary else []
    attested = normalised(items, inflector.normalisation)
    right = {question(item): item for item in attested if item.form == form}
    lemmas = [*(normal(lemma, inflector.normalisation) for lemma in lexicon.lemmas), *(item.lemma for item in attested)]
    lemmas = [*dict.fromkeys((*lemmas, *(dictionary.lemmas_like(form) if dictionary else ())))]
    near = process.extract(form, lemmas, scorer=distance, scorer_kwargs={"weights": COSTS}, limit=CELLS)
    nearest = tuple(lemma for lemma, *_ in near)
    attested += dictionary.items(nearest) if dictionary else []  # without their forms, which the model predicts
    cells = open_cells(Lexicon(nearest, tuple(attested)), inflector.usual_bundles(), CELLS)
    ((forms, _),) = inflector.predictions(inflector.voters[:1], cells)
    distances = [(distance(form, predicted), number) for number, predicted in enumerate(forms)]
    chosen = [cells[number] for away, number in sorted(distances) if away <= NEAR * len(form)][:NEAREST]
    lists = zip(chosen, inflector.nbest_many(chosen, ALTERNATIVES), strict=True)
    matches = [
        (cell, answer)
        for cell, answers in lists
        for answer in answers
        if answer.form == form and answer.attested == answers[0].attested
    ]
    right |= {question(cell): cell for cell, answer in matches if answer.attested}
    matches = [(cell, answer) for cell, answer in matches if not answer.attested]
    matches.sort(key=lambda match: -chances(match[1]))
    analyses = [*((item, None) for item in right.values()), *matches]
    return [Analysis(item.lemma, item.features.spelling, answer) for item, answer in analyses[:n]]


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
    for start in range(0, len(cells), CELLS):
        answers += inflector.answers(cells[start : start + CELLS])
        progress(len(answers), len(cells))
    frequency = Counter[tuple[str, ...]]()
    for spelling, count in inflector.bundle_counts.items():
        frequency[Bundle(spelling).cell] += count

    def key(pair: tuple[Item, Answer]) -> tuple[float, int, float]:
        return round(chances(pair[1]), 2), -frequency[pair[0].features.cell], chances(pair[1])

    pairs = sorted(zip(cells, answers, strict=True), key=key)
    suggestions = [Suggestion(item.lemma, item.features.spelling, answer) for item, answer in pairs]
    return [*islice(in_turns(suggestions) if spread else suggestions, most)]


def open_cells(lexicon: Lexicon, bundles: Sequence[str], most: int | None = None) -> list[Item]:
    """The first cells whose forms are not known; a lemma of a known part of speech has only cells of that."""
    cells = [Bundle(spelling) for spelling in bundles]
    items = (Item(lemma, bundle) for lemma in lexicon.lemmas for bundle in cells if lexicon.may_have(lemma, bundle))
    return list(islice((item for item in items if question(item) not in lexicon.known), most))


def chances(answer: Answer) -> float:
    """The confidence of an answer, or else its share of the votes."""
    return answer.votes / answer.voters if answer.confidence is None else answer.confidence


def in_turns(suggestions: Sequence[Suggestion]) -> Iterator[Suggestion]:
    """Suggestions, reordered so that lemmas and bundles that came before come after others."""
    seen, waiting = Counter[tuple[str, ...]](), [(0, number) for number in range(len(suggestions))]
    while waiting:
        before, number = heappop(waiting)
        suggestion = suggestions[number]
        groups = [("lemma", suggestion.lemma), ("features", *Bundle(suggestion.features).cell)]
        if (now := sum(seen[group] for group in groups)) > before:  # its lemma or bundle was chosen since
            heappush(waiting, (now, number))
        else:
            seen.update(groups)
            yield suggestion
