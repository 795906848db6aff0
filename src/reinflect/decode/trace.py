"""Traces: the actions with which a model makes a form, one by one, for people to read."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reinflect.data.features import SEPARATOR
from reinflect.data.items import Item
from reinflect.decode.search import NEVER, UNFLAGGED, is_endless, most_actions
from reinflect.systems.oracle import COPY, DELETE, STEP
from reinflect.systems.symbols import UNKNOWN, Vocabulary
from reinflect.systems.system import Words

Kind = Literal["copy", "delete", "write", "step", "stop"]
KINDS: dict[str, Kind] = {COPY: "copy", DELETE: "delete", STEP: "step"}
ALTERNATIVES = 3


@dataclass(frozen=True)
class TraceStep:
    """One action, and the model's view when it took it."""

    action: str
    """A single character, which is written, or COPY, DELETE, STEP, STOP or `</s>`."""
    kind: Kind
    """HACM mixes: its action is a copy if more of its probability is copied than generated."""
    position: int
    """Position of the lemma character attended to (most), from 0; -1 before the first, n past the last. Soft attention
    also reads features, from n + 1."""
    written: str
    form_so_far: str
    """Including what this action writes."""
    probability: float
    gate: float | None
    """HACM's w: the share of the probability that is generated; the rest is copied."""
    alternatives: tuple[tuple[str, float], ...]
    """The next best actions, with their probabilities."""
    attention: tuple[float, ...] | None
    """The weight of each source symbol in soft attention."""


@dataclass(frozen=True)
class Trace:
    """How one member of an inflector makes a form."""

    member: str
    system: str
    lemma: str
    features: str
    form: str
    """The member's prediction: the lemma, if the actions do not end or repeat a character endlessly."""
    source: tuple[str, ...]
    """The symbols the model reads: the lemma's characters and, in some systems, `<s>`, `</s>` and features."""
    steps: tuple[TraceStep, ...]


@UNFLAGGED
def follow(
    words: Words, item: Item, choices: Vocabulary, begins: int
) -> tuple[tuple[str, ...], tuple[TraceStep, ...], bool]:
    """The source, the actions of greedy decoding, and whether they end. `begins`: symbols before the lemma's first."""
    hypotheses = words.start([item])
    (symbols,), (most,), form, steps = hypotheses.sources, most_actions(hypotheses.lengths), "", list[TraceStep]()
    source = tuple(symbol if len(symbol) == 1 else symbol.removeprefix(SEPARATOR) for symbol in symbols)
    while not steps or steps[-1].kind != "stop":
        if len(steps) == most or is_endless(form, len(source)):
            return source, tuple(steps), False
        (scores,), (position, gate, weights) = hypotheses.log_probabilities(), hypotheses.attention()
        number = int(scores.argmax())
        (written,) = hypotheses.advance(np.array([number]))
        form, probability, action = form + written, math.exp(scores[number]), choices.symbols[number]
        if action == UNKNOWN:
            action, gate = COPY, None if gate is None else 0.0
        copies = gate is not None and written == symbols[position] and 1 - gate > probability / 2
        kind: Kind = "stop" if number == words.end else "copy" if copies else KINDS.get(action, "write")
        others = [other for other in np.argsort(-scores, kind="stable")[: ALTERNATIVES + 1] if other != number]
        likely = [(choices.symbols[k], math.exp(scores[k])) for k in others[:ALTERNATIVES] if scores[k] > NEVER]
        steps.append(
            TraceStep(action, kind, position - begins, written, form, probability, gate, tuple(likely), weights)
        )
    return source, tuple(steps), True
