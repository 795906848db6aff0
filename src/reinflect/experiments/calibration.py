"""How far the confidences of a benchmark's votes can be trusted.

A language's dev items are cut in two by chance. On one half the voters are chosen and the confidence is fitted, on the
other it is measured; then the halves change places. (Each model's best state was chosen on all of them.)
"""

import random
from collections.abc import Sequence

from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles.confidence import fit, judged_cells, seen_cells
from reinflect.ensembles.vote import DEFAULT, Voter, choices, kind_of, strategy
from reinflect.execution.corpora import Corpus
from reinflect.execution.results import ModelResult

Measured = list[tuple[float, bool]]
"""Of each form, how likely it was said to be right, and whether it was."""


def measured(corpus: Corpus, models: Sequence[ModelResult], way: str = DEFAULT) -> Measured:
    """The confidences of a vote; none where half of the dev items are too few to fit one."""
    known = longest_runs(word for item in corpus.split.train for word in (item.lemma, item.form))
    seen = seen_cells(corpus.split.train, corpus.split.dev)
    numbers = list(range(len(corpus.split.dev)))
    random.Random(1).shuffle(numbers)
    halves = [
        [_voter(corpus, model, sorted(half), known) for model in models] for half in (numbers[::2], numbers[1::2])
    ]
    found: Measured = []
    for here, there in (halves, halves[::-1]):
        chosen = choices(here, [way]).get(way, [])
        others = {(voter.kind, voter.seed): voter for voter in there}
        confidence = fit(*judged_cells(strategy(way), chosen, seen))
        if confidence is None:
            return []
        evidence, right = judged_cells(strategy(way), [others[voter.kind, voter.seed] for voter in chosen], seen)
        found += zip(map(confidence.of, evidence), right, strict=True)
    return found


def dev_voters(corpus: Corpus, models: Sequence[ModelResult]) -> dict[str, Voter]:
    """Models by their names, with what they say of all dev items."""
    known = longest_runs(word for item in corpus.split.train for word in (item.lemma, item.form))
    voters = [_voter(corpus, model, range(len(corpus.split.dev)), known) for model in models]
    return {f"{voter.kind}-{voter.seed}": voter for voter in voters}


def _voter(corpus: Corpus, model: ModelResult, half: Sequence[int], known: dict[str, int]) -> Voter:
    """A model with what it says of some of the dev items."""
    items = [corpus.split.dev[number] for number in half]
    said = [model.dev.forms[number] for number in half]
    forms = [
        item.lemma if form is None else filtered(form, item.lemma, known)
        for item, form in zip(items, said, strict=True)
    ]
    scores = [model.dev.log_probabilities[number] for number in half]
    return Voter.of(kind_of(model.system, model.alignment), model.seed, items, forms, scores)
