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

from reinflect.layers.cells import CELLS, dropping, encode, feature_vector, for_steps
from reinflect.layers.examples import Lemmas, LemmaState, Trajectory
from reinflect.layers.operations import Dropout, at, certain, holds, linear, negative_log_softmax, penalty, pick, rows
from reinflect.layers.parameters import Parameters
from reinflect.systems.hacm import BEGIN_NUMBER, END_NUMBER, STEP_NUMBER, UNKNOWN_NUMBER, HacmSettings
from reinflect.systems.symbols import Sizes
from reinflect.systems.system import Learner


@dataclass(frozen=True)
class HacmBatch(Trajectory):
    """HACM's trajectories. *Shapes:* (M, T, B)"""

    attended: Tensor


def allowed_outputs(sizes: Sizes, padded: int) -> Tensor:
    """What P_gen may give out: all of a model's own symbols but `<s>` and the unknown one. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[: sizes["symbols"]] = True
    allowed[[UNKNOWN_NUMBER, BEGIN_NUMBER]] = False
    return allowed


def _encode(
    parameters: Parameters, lemmas: Lemmas, settings: HacmSettings, dropout: Dropout | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """W·h_i and W·f + b of the decoder's gates, and v·h_i + v·f + c. *Shapes:* (M, N, B, G), (M, B, G), (M, N, B)"""
    states = dropping(encode(parameters, lemmas, settings), "encoder", 0, settings, dropout)
    features = feature_vector(parameters, lemmas, settings)
    copy = None
    if settings.copy_mixture:
        by_features = linear(features, parameters["copy.features"], parameters["copy.bias"])
        copy = linear(states, parameters["copy.attended"]).squeeze(-1) + by_features.squeeze(-1).unsqueeze(1)
    feature_gates = linear(features, parameters["decoder.features"], parameters["decoder.bias"])
    return linear(states, parameters["decoder.attended"]), feature_gates, copy


def losses(
    parameters: Parameters, batch: HacmBatch, settings: HacmSettings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of the right actions. *Shape:* (M, T, B)"""
    attended, features, copy = _encode(parameters, batch, settings, dropout)
    previous = batch.previous(BEGIN_NUMBER)
    by_action = linear(parameters["embedding"], parameters["decoder.input"])
    gates = rows(by_action, previous) + pick(attended, batch.attended) + features.unsqueeze(1)
    state = CELLS[settings.cell].run(gates, parameters["decoder.recurrent"], None, batch.counts)
    state = dropping(state, "state", 1, settings, dropout)
    logits = linear(state, parameters["output.weights"], parameters["output.bias"])
    logits = logits + penalty(allowed, logits.dtype).view(len(allowed), 1, 1, -1)
    generated = -negative_log_softmax(logits, batch.right)
    if copy is None:
        return -generated
    mixture = (
        pick(copy.unsqueeze(-1), batch.attended)
        + linear(state, parameters["copy.state"])
        + rows(linear(parameters["embedding"], parameters["copy.previous"]), previous)
    ).squeeze(-1)
    generated = F.logsigmoid(mixture) + generated
    is_copy = holds(batch.right, pick(batch.symbols.unsqueeze(-1), batch.attended).squeeze(-1))
    return -torch.where(is_copy, torch.logaddexp(generated, F.logsigmoid(-mixture)), generated)


@dataclass(frozen=True, kw_only=True)
class State(LemmaState):
    """*Shapes:* gates (M, B, N, G), feature_gates (M, B, G), copy (M, B, N), previous (M, B), others (M, B, H)"""

    gates: Tensor
    feature_gates: Tensor
    copy: Tensor
    previous: Tensor
    output: Tensor
    memory: Tensor


class Decoder:
    """HACM step by step."""

    end = END_NUMBER

    def __init__(self, parameters: Parameters, settings: HacmSettings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step, self.recurrent = CELLS[settings.cell].step, for_steps(parameters["decoder.recurrent"])
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)
        self.previous = linear(parameters["embedding"], parameters["decoder.input"])
        self.copy = linear(parameters["embedding"], parameters["copy.previous"]) if settings.copy_mixture else None

    def start(self, lemmas: Lemmas) -> State:
        gates, feature_gates, copy = _encode(self.parameters, lemmas, self.settings, None)
        zero = gates.new_zeros(*lemmas.lengths.shape, self.settings.hidden)
        return State(
            **LemmaState.first(lemmas),
            gates=gates.transpose(1, 2).contiguous(),  # read at every step
            feature_gates=feature_gates,
            copy=(torch.zeros_like(lemmas.symbols) if copy is None else copy).transpose(1, 2),
            previous=torch.full_like(lemmas.lengths, BEGIN_NUMBER),
            output=zero,
            memory=zero,
        )

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P(a), the mixture copying an unknown x_i for certain, as action 0; the state. *Shape:* (M, B, A)"""
        gates = rows(self.previous, state.previous) + at(state.gates, state.position) + state.feature_gates
        output, memory = self.step(gates, self.recurrent, (state.output, state.memory))
        logits = linear(output, self.parameters["output.weights"], self.parameters["output.bias"])
        scores = F.log_softmax(logits + self.penalty, dim=-1)
        after = replace(state, output=output, memory=memory)
        if self.copy is None:
            return scores, after
        attended, mixture = state.symbols.gather(2, state.position.unsqueeze(-1)), self._mixture(after, self.copy)
        scores = F.logsigmoid(mixture) + scores
        copied = torch.logaddexp(scores.gather(-1, attended), F.logsigmoid(-mixture))
        scores = scores.scatter(-1, attended, copied)
        # `<s>` is never a prediction, though its copy mass is there to be trained away.
        scores[..., BEGIN_NUMBER] = float("-inf")
        return certain(scores, UNKNOWN_NUMBER, attended == UNKNOWN_NUMBER), after

    def _mixture(self, state: State, copy: Tensor) -> Tensor:
        """The logit of w, after the LSTM's step. *Shape:* (M, B, 1)"""
        attended = state.copy.gather(2, state.position.unsqueeze(-1))
        return attended + linear(state.output, self.parameters["copy.state"]) + rows(copy, state.previous)

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        """The literals that actions write, -1 for none, and the state after. *Shape:* actions (M, B) → (M, B)"""
        unknown, steps = actions == UNKNOWN_NUMBER, actions == STEP_NUMBER
        literal = state.literals.gather(2, state.position.unsqueeze(-1)).squeeze(-1)
        written = torch.where(unknown, literal, torch.where(steps | (actions == self.end), -1, actions))
        position = torch.minimum(state.position + (unknown | steps), state.lengths - 1)
        return written, replace(state, position=position, previous=torch.where(unknown, STEP_NUMBER, actions))


LEARNER = Learner(allowed_outputs, lambda drawn, *_: drawn.by_oracle(HacmBatch), losses, Decoder)
