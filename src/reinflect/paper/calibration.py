"""How well the confidences of a benchmark's votes are calibrated.

A language's dev items are divided at random. On one half the voters are chosen and the confidence is fitted; on the
other half it is measured. Then the halves are swapped. (The best version of each model was picked on all dev items.)
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from reinflect.assemble import known_runs
from reinflect.decode.forms import Predictions
from reinflect.ensemble.confidence import fit, judged_cells, seen_cells
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import DEFAULT, Voter, choices, find_strategy
from reinflect.learn.lesson import Lesson

Measured = list[tuple[float, bool]]
"""The confidence of each form, and whether it is right."""


def measured(corpus: Lesson, models: Sequence[TrainedModel], strategy: str = DEFAULT) -> Measured:
    """The confidences of a vote; empty if half of the dev items are too few to fit one."""
    known, seen, way = known_runs(corpus.train), seen_cells(corpus.train, corpus.dev), find_strategy(strategy)
    numbers = list(range(len(corpus.dev)))
    random.Random(1).shuffle(numbers)
    halves = [
        [_voter(corpus, model, sorted(half), known) for model in models] for half in (numbers[::2], numbers[1::2])
    ]
    found: Measured = []
    for here, there in (halves, halves[::-1]):
        chosen = choices(here, [strategy]).get(strategy, [])
        others = {voter.name: voter for voter in there}
        confidence = fit(*judged_cells(way, chosen, seen))
        if confidence is None:
            return []
        evidence, right = judged_cells(way, [others[voter.name] for voter in chosen], seen)
        found += zip(map(confidence.of, evidence), right, strict=True)
    return found


def _voter(corpus: Lesson, model: TrainedModel, half: Sequence[int], known: dict[str, int]) -> Voter:
    """A model with its predictions for some of the dev items."""
    forms, log_probabilities = model.dev
    own = Predictions([forms[number] for number in half], [log_probabilities[number] for number in half])
    return Voter.of(replace(model, dev=own), [corpus.dev[number] for number in half], known)
