"""A system that copies the lemma and writes a suffix, character by character, by the features alone.

P(y_t | y_{t-1}, f) = softmax(B[y_{t-1}] + W·f): it learns languages in which every bundle has one suffix.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.layers.examples import Drawn, Lemmas, Trajectory
from reinflect.layers.operations import Dropout, linear, negative_log_softmax, penalty, rows
from reinflect.layers.parameters import Parameters
from reinflect.settings import Positive, Settings
from reinflect.systems.symbols import UNKNOWN, Inventory, Shape, Sizes, Vocabulary
from reinflect.systems.system import ACTIONS, Attention, Learner, System, Tapes
from reinflect.systems.tapes import Ragged

BEGIN, END = "<s>", "</s>"
COPY_NUMBER, BEGIN_NUMBER, END_NUMBER = 0, 1, 2


class ToySettings(Settings, frozen=True, kw_only=True):
    """The shared settings, and one of its own."""

    sharpness: Positive = 1.0
    """What the logits are multiplied with."""


def symbols(inventory: Inventory) -> Vocabulary:
    return Vocabulary((UNKNOWN, BEGIN, END, *inventory.characters))


def names(inventory: Inventory, _: ToySettings) -> dict[str, Sequence[Hashable]]:
    return {"symbols": symbols(inventory).symbols, "features": inventory.atoms}


def shapes(_: ToySettings) -> dict[str, Shape]:
    return {"bigrams": Shape(("symbols", "symbols")), "weights": Shape(("features", "symbols"))}


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[END_NUMBER : own["symbols"]] = True
    return allowed


def suffix(item: Item) -> str:
    return item.form.removeprefix(item.lemma) if item.form.startswith(item.lemma) else ""


def tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {ACTIONS: Ragged.of([(*suffix(item), END) for item in items], symbols(inventory))}


def trajectories(drawn: Drawn, _parameters: Parameters, _settings: ToySettings, *_: Tensor) -> Trajectory:
    actions = drawn.tapes[ACTIONS]
    return Trajectory(**drawn.lemmas, taken=actions, right=actions, weights=drawn.weights())


def losses(
    parameters: Parameters, batch: Trajectory, settings: ToySettings, allowed: Tensor, _: Dropout | None = None
) -> Tensor:
    previous = torch.cat([torch.full_like(batch.taken[:, :1], BEGIN_NUMBER), batch.taken[:, :-1]], dim=1)
    by_features = linear(batch.features.clamp(min=0), parameters["weights"])
    logits = (rows(parameters["bigrams"], previous) + by_features.unsqueeze(1)) * settings.sharpness
    return negative_log_softmax(logits + penalty(allowed, logits.dtype).view(len(allowed), 1, 1, -1), batch.right)


@dataclass(frozen=True)
class State:
    literals: Tensor
    lengths: Tensor
    by_features: Tensor
    position: Tensor
    previous: Tensor


class Decoder:
    end = END_NUMBER

    def __init__(self, parameters: Parameters, settings: ToySettings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)

    def start(self, lemmas: Lemmas) -> State:
        zeros = torch.zeros_like(lemmas.lengths)
        literals = lemmas.symbols if lemmas.literals is None else lemmas.literals
        by_features = linear(lemmas.features.clamp(min=0), self.parameters["weights"])
        return State(literals.transpose(1, 2), lemmas.lengths, by_features, zeros, zeros + BEGIN_NUMBER)

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        logits = (rows(self.parameters["bigrams"], state.previous) + state.by_features) * self.settings.sharpness
        scores = torch.log_softmax(logits + self.penalty, dim=-1)
        copies = torch.full_like(scores, float("-inf"))
        copies[..., COPY_NUMBER] = 0.0
        return torch.where((state.position < state.lengths).unsqueeze(-1), copies, scores), state

    def focus(self, state: State) -> Attention:
        return Attention(int(state.position[0, 0]))

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        copies = actions == COPY_NUMBER
        here = torch.minimum(state.position, state.lengths - 1).clamp(min=0).unsqueeze(-1)
        literal = state.literals.gather(2, here).squeeze(-1)
        written = torch.where(copies, literal, torch.where(actions == self.end, -1, actions))
        after = replace(state, position=state.position + copies, previous=torch.where(copies, BEGIN_NUMBER, actions))
        return written, after


SYSTEM = System(
    name="toy",
    title="suffix writer",
    colour="#7a3fb0",
    settings=ToySettings,
    presets={"low": ToySettings(batch=4, epochs=20, patience=20, step=3.0)},
    shapes=shapes,
    names=names,
    outputs="symbols",
    symbols=symbols,
    choices=symbols,
    tapes=tapes,
    bound=lambda item, _: len(suffix(item)) + 1,
    learner=Learner(allowed_outputs, trajectories, losses, Decoder),
    aligned=False,
)
