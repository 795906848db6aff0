"""Traces: the actions with which a model makes a form, one by one, for people to read."""

import math
from dataclasses import dataclass
from typing import Literal

import torch

from reinflect.data.features import SEPARATOR
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.decode import greedy
from reinflect.decode.forms import ENDLESS_RUN, IMPOSSIBLE
from reinflect.layers.examples import LITERALS, NOTHING, Stack
from reinflect.systems.oracle import COPY, DELETE, STEP
from reinflect.systems.system import Decoder

Kind = Literal["copy", "delete", "write", "step", "stop"]
KINDS: dict[str, Kind] = {COPY: "copy", DELETE: "delete", STEP: "step"}
ALTERNATIVES = 3


@dataclass(frozen=True)
class TraceStep:
    """One action, and the model's view when it took it."""

    action: str
    """A single character, which is written, or COPY, DELETE, STEP, STOP or `</s>`."""
    kind: Kind
    """What the action does. HACM mixes; its action is a copy if more of its probability is copied than generated."""
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


@torch.no_grad()
def follow(decoder: Decoder, stack: Stack, choices: Vocabulary) -> tuple[tuple[TraceStep, ...], bool]:
    """The actions of greedy decoding for the stack's only item, and whether they end."""
    before = len(stack.system.frame[0])
    letters, source = stack.files[0].spellings, source_of(stack)
    _, lemmas, _, _ = next(greedy.batches(decoder, stack, [0], 1))
    cap, endless = int(greedy.most_actions(lemmas.lengths)), ENDLESS_RUN + int(lemmas.lengths)
    state, form = decoder.start(lemmas), ""
    steps: list[TraceStep] = []
    while len(steps) < cap and not (form and form.endswith(form[-1] * endless)):
        scores, state = decoder.log_probabilities(state)
        focus = decoder.focus(state)
        best = scores.argmax(dim=-1)
        number, place = int(best), int(focus.position)
        new, state = decoder.advance(state, best)
        written = "" if int(new) == NOTHING else letters[int(new)]
        form += written
        probability = math.exp(float(scores[0, 0, number]))
        certain = choices.symbols[number] == UNKNOWN
        gate = None if focus.gate is None else 0.0 if certain else float(focus.gate)
        copied = certain or (gate is not None and written == source[place] and 1 - gate > probability / 2)
        action = COPY if certain else choices.symbols[number]
        ends = number == decoder.end
        steps.append(
            TraceStep(
                action=action,
                kind="stop" if ends else "copy" if copied else KINDS.get(action, "write"),
                position=place - before,
                written=written,
                form_so_far=form,
                probability=probability,
                gate=gate,
                alternatives=_alternatives(scores[0, 0], number, choices),
                attention=None if focus.attention is None else tuple(focus.attention[0, 0].tolist()),
            )
        )
        if ends:
            return tuple(steps), True
    return tuple(steps), False


def source_of(stack: Stack) -> tuple[str, ...]:
    """The symbols the encoder reads of the stack's only item."""
    file = stack.files[0]
    symbols = [file.spellings[number] for number in file.arrays[LITERALS][0, : file.lengths[LITERALS][0]]]
    return tuple(symbol if len(symbol) == 1 else symbol.removeprefix(SEPARATOR) for symbol in symbols)


def _alternatives(scores: torch.Tensor, taken: int, choices: Vocabulary) -> tuple[tuple[str, float], ...]:
    best = scores.topk(min(ALTERNATIVES + 1, len(scores)))
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    others = [(choices.symbols[k], math.exp(score)) for k, score in pairs if k != taken and score > IMPOSSIBLE]
    return tuple(others[:ALTERNATIVES])
