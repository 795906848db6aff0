"""HACM, the hard attention model with a copy mechanism (§3).

s_t = LSTM([E(a_{t-1}); h_i; f])
P_gen = softmax(W·s_t + b)
w = σ(v·[h_i; f; E(a_{t-1}); s_t] + c)
P(a) = w·P_gen(a) + (1 - w)·1{a = x_i}
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.data.vocabulary import Vocabulary
from reinflect.settings import Settings
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.layers.batches import HacmBatch, Lemmas
from reinflect.systems.layers.encoder import (
    encode,
    encoder_shapes,
    feature_shapes,
    feature_sizes,
    feature_vector,
    feature_width,
    lstm_shapes,
)
from reinflect.systems.layers.operations import (
    Dropout,
    action_counts,
    at,
    dropped,
    linear,
    negative_log_softmax,
    penalty,
    pick,
    rows,
)
from reinflect.systems.layers.parameters import Parameters, Shape, Sizes
from reinflect.systems.layers.states import Focus
from reinflect.transitions.tapes import HACM_SPECIALS
from reinflect.transitions.write_step import BEGIN, END, STEP

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, STEP_NUMBER = 0, 1, 2, 3
assert HACM_SPECIALS[1:] == (BEGIN, END, STEP)


def shapes(settings: Settings) -> dict[str, Shape]:
    both, hidden, width = 2 * settings.hidden, settings.hidden, feature_width(settings)
    decoder = lstm_shapes("decoder", settings.embedding, settings)
    gates = decoder["decoder.bias"].sizes[0]
    copy = {
        "copy.attended": Shape((both, 1)),
        "copy.features": Shape((width, 1)),
        "copy.previous": Shape((settings.embedding, 1)),
        "copy.state": Shape((hidden, 1)),
        "copy.bias": Shape((1,), "zero"),
    }
    return {
        "embedding": Shape(("symbols", settings.embedding), "embedding"),
        **feature_shapes(settings),
        **encoder_shapes(settings),
        **decoder,
        "decoder.attended": Shape((both, gates)),
        "decoder.features": Shape((width, gates)),
        "output.weights": Shape((hidden, "symbols")),
        "output.bias": Shape(("symbols",), "zero"),
        **(copy if settings.copy_mixture else {}),
    }


def sizes(symbols: Vocabulary, features: int, settings: Settings) -> dict[str, int]:
    return {"symbols": len(symbols), **feature_sizes(features, settings)}


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """What P_gen may give out: all of a model's own symbols but `<s>` and the unknown one. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[: own["symbols"]] = True
    allowed[[UNKNOWN_NUMBER, BEGIN_NUMBER]] = False
    return allowed


@dataclass(frozen=True)
class Encoded:
    """Lemmas and features, projected to where the decoder needs them."""

    symbols: Tensor
    """*Shape:* (M, N, B)"""
    lengths: Tensor
    """*Shape:* (M, B)"""
    gates: Tensor
    """W·h_i of the decoder's gates. *Shape:* (M, N, B, G)"""
    feature_gates: Tensor
    """W·f + b. *Shape:* (M, B, G)"""
    copy: Tensor | None
    """v·h_i + v·f + c. *Shape:* (M, N, B)"""


def _encode(parameters: Parameters, lemmas: Lemmas, settings: Settings, dropout: Dropout | None) -> Encoded:
    states = encode(parameters, parameters["embedding"], lemmas, settings)
    if dropout is not None and "encoder" in settings.dropout_on:
        states = dropped(states, dropout, 0, variational=settings.dropout_kind == "variational")
    features = feature_vector(parameters, lemmas, settings)
    copy = None
    if settings.copy_mixture:
        by_features = linear(features, parameters["copy.features"], parameters["copy.bias"])
        copy = linear(states, parameters["copy.attended"]).squeeze(-1) + by_features.squeeze(-1).unsqueeze(1)
    return Encoded(
        symbols=lemmas.symbols,
        lengths=lemmas.lengths,
        gates=linear(states, parameters["decoder.attended"]),
        feature_gates=linear(features, parameters["decoder.features"], parameters["decoder.bias"]),
        copy=copy,
    )


def losses(
    parameters: Parameters, batch: HacmBatch, settings: Settings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of every oracle action. *Shape:* (M, T, B)"""
    encoded = _encode(parameters, batch, settings, dropout)
    previous = linear(parameters["embedding"], parameters["decoder.input"])
    gates = rows(previous, batch.previous) + pick(encoded.gates, batch.attended) + encoded.feature_gates.unsqueeze(1)
    state = CELLS[settings.cell].run(gates, parameters["decoder.recurrent"], None, action_counts(batch.weights))
    if dropout is not None and "state" in settings.dropout_on:
        state = dropped(state, dropout, 1, variational=settings.dropout_kind == "variational")
    logits = linear(state, parameters["output.weights"], parameters["output.bias"])
    logits = logits + penalty(allowed, logits.dtype).view(len(allowed), 1, 1, -1)
    generated = -negative_log_softmax(logits, batch.targets)
    if encoded.copy is None:
        return -generated
    mixture = (
        pick(encoded.copy.unsqueeze(-1), batch.attended)
        + linear(state, parameters["copy.state"])
        + rows(linear(parameters["embedding"], parameters["copy.previous"]), batch.previous)
    ).squeeze(-1)
    generated = F.logsigmoid(mixture) + generated
    is_copy = pick(encoded.symbols.unsqueeze(-1), batch.attended).squeeze(-1) == batch.targets
    return -torch.where(is_copy, torch.logaddexp(generated, F.logsigmoid(-mixture)), generated)


@dataclass(frozen=True)
class State:
    """Where decoding stands; every tensor has the items in its second dimension."""

    symbols: Tensor
    """*Shape:* (M, B, N)"""
    literals: Tensor
    """*Shape:* (M, B, N)"""
    lengths: Tensor
    """*Shape:* (M, B)"""
    gates: Tensor
    """*Shape:* (M, B, N, G)"""
    feature_gates: Tensor
    """*Shape:* (M, B, G)"""
    copy: Tensor
    """*Shape:* (M, B, N)"""
    position: Tensor
    """The pointer. *Shape:* (M, B)"""
    previous: Tensor
    """*Shape:* (M, B)"""
    output: Tensor
    """*Shape:* (M, B, H)"""
    memory: Tensor
    """*Shape:* (M, B, H)"""


class Decoder:
    """HACM step by step: the distribution over actions in a state, and the state after an action."""

    end = END_NUMBER

    def __init__(self, parameters: Parameters, settings: Settings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step = CELLS[settings.cell].step
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)
        self.previous = linear(parameters["embedding"], parameters["decoder.input"])
        self.copy = linear(parameters["embedding"], parameters["copy.previous"]) if settings.copy_mixture else None

    def start(self, lemmas: Lemmas) -> State:
        encoded = _encode(self.parameters, lemmas, self.settings, None)
        zero = encoded.gates.new_zeros(*lemmas.lengths.shape, self.settings.hidden)
        position = torch.zeros_like(lemmas.lengths)
        return State(
            symbols=encoded.symbols.transpose(1, 2),
            literals=(lemmas.symbols if lemmas.literals is None else lemmas.literals).transpose(1, 2),
            lengths=encoded.lengths,
            gates=encoded.gates.transpose(1, 2).contiguous(),  # read at every step
            feature_gates=encoded.feature_gates,
            copy=(torch.zeros_like(encoded.symbols) if encoded.copy is None else encoded.copy).transpose(1, 2),
            position=position,
            previous=torch.full_like(position, BEGIN_NUMBER),
            output=zero,
            memory=zero,
        )

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P(a), and the state with its LSTM moved on. An unknown x_i is copied, as action 0, for certain.

        Without the copy mixture P is P_gen, which knows no such rule. *Shape:* (M, B, A)
        """
        gates = rows(self.previous, state.previous) + at(state.gates, state.position) + state.feature_gates
        output, memory = self.step(gates, self.parameters["decoder.recurrent"], (state.output, state.memory))
        logits = linear(output, self.parameters["output.weights"], self.parameters["output.bias"])
        scores = F.log_softmax(logits + self.penalty, dim=-1)
        attended = state.symbols.gather(2, state.position.unsqueeze(-1))
        after = replace(state, output=output, memory=memory)
        if self.copy is not None:
            mixture = self._mixture(after, self.copy)
            scores = F.logsigmoid(mixture) + scores
            copied = torch.logaddexp(scores.gather(-1, attended), F.logsigmoid(-mixture))
            scores = scores.scatter(-1, attended, copied)
            # `<s>` is never a prediction, though its copy mass is there to be trained away.
            scores[..., BEGIN_NUMBER] = float("-inf")
        if self.copy is None:
            return scores, after
        certain = torch.full_like(scores[:1, :1], float("-inf"))
        certain[..., UNKNOWN_NUMBER] = 0.0
        return torch.where(attended == UNKNOWN_NUMBER, certain, scores), after

    def _mixture(self, state: State, copy: Tensor) -> Tensor:
        """What w is the sigmoid of, once the LSTM has moved on. *Shape:* (M, B, 1)"""
        attended = state.copy.gather(2, state.position.unsqueeze(-1))
        return attended + linear(state.output, self.parameters["copy.state"]) + rows(copy, state.previous)

    def focus(self, state: State) -> Focus:
        """The pointer and w, in a state that `log_probabilities` gave."""
        gate = None if self.copy is None else torch.sigmoid(self._mixture(state, self.copy)).squeeze(-1)
        return Focus(state.position, gate)

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        """What the actions write (a literal's number, -1 for nothing), and the state after them.

        *Shape:* actions (M, B) → (M, B)
        """
        unknown, steps = actions == UNKNOWN_NUMBER, actions == STEP_NUMBER
        literal = state.literals.gather(2, state.position.unsqueeze(-1)).squeeze(-1)
        written = torch.where(unknown, literal, torch.where(steps | (actions == self.end), -1, actions))
        position = torch.minimum(state.position + (unknown | steps), state.lengths - 1)
        return written, replace(state, position=position, previous=torch.where(unknown, STEP_NUMBER, actions))
