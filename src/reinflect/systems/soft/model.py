"""The encoder-decoder with soft attention: the part that Nematus played in the 2017 submission.

The source is one sequence of symbols, `<s> x_1 … x_n </s>` and the features; h_1 … h_N is a bidirectional LSTM over it,
with `encoder_layers` = 2 a second one over the first.

s_t = LSTM^y([E(y_{t-1}); h̄])                               h̄: the mean of all h
α_t = softmax over j of v·tanh(W·s_t + U·h_j + R(j - t))    Bahdanau's additive attention, and how far j is from t
c_t = Σ_j α_tj·h_j
r_t = LSTM^c([s_t; c_t])
o_t = tanh(W·[r_t; c_t; E(y_{t-1})] + b)
P = softmax(V·o_t + c)

Nematus' decoder also has one transition before the attention, one after it, and this deep output, but its s_t reads
r_{t-1} too. Here s_t reads only what was written: no step of training waits for the attention of the step before, so
the LSTMs run over whole sequences, and the attention of all steps is a few products. R replaces the missing knowledge
of earlier attention: it has a vector for every distance between places in source and form, up to `REACH`.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from reinflect.layers.cells import CELLS, dropping, encode, for_steps, projected
from reinflect.layers.examples import Lemmas, LemmaState, Trajectory
from reinflect.layers.operations import Dropout, certain, linear, output_losses, penalty, rows
from reinflect.layers.parameters import Parameters
from reinflect.systems.soft import BEGIN_NUMBER, END_NUMBER, REACH, UNKNOWN_NUMBER, SoftSettings
from reinflect.systems.symbols import Sizes
from reinflect.systems.system import Learner


def allowed_outputs(sizes: Sizes, padded: int) -> Tensor:
    """All of a model's own characters, and the end. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[END_NUMBER : sizes["outputs"]] = True
    return allowed


@dataclass(frozen=True)
class Source:
    """The encoded source; every tensor has the items in its second dimension."""

    states: Tensor
    """h. *Shape:* (M, B, N, 2H)"""
    keys: Tensor
    """U·h. *Shape:* (M, B, N, A)"""
    gates: Tensor
    """What h̄ adds to the gates of LSTM^y. *Shape:* (M, B, G)"""
    mask: Tensor
    """The penalty of padding. *Shape:* (M, B, N)"""


def _read_source(parameters: Parameters, lemmas: Lemmas, states: Tensor) -> Source:
    """*Shape:* states (M, N, B, 2H)"""
    states = states.transpose(1, 2).contiguous()
    lengths = lemmas.lengths.unsqueeze(-1)
    real = torch.arange(states.shape[2], device=states.device) < lengths
    mean = ((real.to(states.dtype) / lengths).unsqueeze(2) @ states).squeeze(2)
    return Source(
        states=states,
        keys=linear(states, parameters["attention.source"]),
        gates=linear(mean, parameters["written.source"]),
        mask=penalty(real, states.dtype),
    )


def attend(parameters: Parameters, source: Source, written: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
    """c_t of these steps, and α. *Shape:* written (M, B, T, H), steps (M, B or 1, T) → (M, B, T, 2H), (M, B, T, N)

    All pairs of a step and a position, (M, B, T, N, A), are by far the largest tensor of an update: 9 MB a model with
    words of 20 letters, 5 features, batches of 64 and A = 64. Backward needs three of them, so A is small by default.
    """
    queries = linear(written, parameters["attention.state"])
    distances = torch.arange(source.keys.shape[2], device=steps.device) - steps.unsqueeze(-1)
    far = rows(parameters["attention.distance"], distances.clamp_(-REACH, REACH) + REACH)
    mixed = (queries.unsqueeze(3) + source.keys.unsqueeze(2)).add_(far).tanh_()
    scores = linear(mixed, parameters["attention.score"]).squeeze(-1)
    weights = torch.softmax(scores + source.mask.unsqueeze(2), dim=-1)
    return weights @ source.states, weights


def losses(
    parameters: Parameters, batch: Trajectory, settings: SoftSettings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of every character of the form and of its end. *Shape:* (M, T, B)"""
    run, counts, previous = CELLS[settings.cell].run, batch.counts, batch.previous(BEGIN_NUMBER)
    models, longest, _ = previous.shape
    steps = torch.arange(longest, device=previous.device).expand(models, 1, -1)
    embedding = parameters["embedding"]
    states = dropping(encode(parameters, batch, settings), "encoder", 0, settings, dropout)
    if settings.encoder_layers > 1:
        states = dropping(encode(parameters, batch, settings, states), "encoder", 3, settings, dropout)
    source = _read_source(parameters, batch, states)
    gates = rows(projected(parameters, "written", embedding), previous) + source.gates.unsqueeze(1)
    written = dropping(run(gates, parameters["written.recurrent"], None, counts), "written", 1, settings, dropout)
    attended, _ = attend(parameters, source, written.transpose(1, 2), steps)
    attended = attended.transpose(1, 2)
    gates = projected(parameters, "context", written) + linear(attended, parameters["context.attended"])
    context = run(gates, parameters["context.recurrent"], None, counts)
    state = (
        linear(context, parameters["state.context"], parameters["state.bias"])
        + linear(attended, parameters["state.attended"])
        + rows(linear(embedding, parameters["state.previous"]), previous)
    )
    state = dropping(torch.tanh(state), "state", 2, settings, dropout)
    logits = linear(state, parameters["output.weights"], parameters["output.bias"])
    return output_losses(logits, batch.right, allowed, settings.label_smoothing)


@dataclass(frozen=True, kw_only=True)
class WriterState(LemmaState):
    """The state of a decoder that writes characters, and copies unknown ones that it attends to. *Shapes:* (M, B)"""

    unknown: Tensor
    """The unknown characters that were not copied yet. *Shape:* (M, B, N)"""
    steps: Tensor
    """The number of steps done."""
    previous: Tensor


class WritingDecoder:
    """What decoders with such a state share."""

    end = END_NUMBER

    def advance(self, state: Any, actions: Tensor) -> tuple[Tensor, Any]:
        """The literals that actions write, -1 for none, and the state after. *Shape:* actions (M, B) → (M, B)"""
        copies, position = actions == UNKNOWN_NUMBER, state.position.unsqueeze(-1)
        literal = state.literals.gather(2, position).squeeze(-1)
        written = torch.where(copies, literal, torch.where(actions == self.end, -1, actions))
        left = state.unknown.gather(2, position) & ~copies.unsqueeze(-1)
        return written, replace(state, unknown=state.unknown.scatter(2, position, left), previous=actions)


@dataclass(frozen=True, kw_only=True)
class State(WriterState):
    source: Source
    written: tuple[Tensor, Tensor]
    context: tuple[Tensor, Tensor]
    """The output and the memory of LSTM^y and of LSTM^c. *Shapes:* (M, B, H)"""


class Decoder(WritingDecoder):
    """Soft attention step by step."""

    def __init__(self, parameters: Parameters, settings: SoftSettings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step = CELLS[settings.cell].step
        self.recurrent = {name: for_steps(parameters[f"{name}.recurrent"]) for name in ("written", "context")}
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)
        self.written = projected(parameters, "written", parameters["embedding"])
        self.previous = linear(parameters["embedding"], parameters["state.previous"], parameters["state.bias"])

    def start(self, lemmas: Lemmas) -> State:
        states = encode(self.parameters, lemmas, self.settings)
        if self.settings.encoder_layers > 1:
            states = encode(self.parameters, lemmas, self.settings, states)
        source = _read_source(self.parameters, lemmas, states)
        zero = states.new_zeros(*lemmas.lengths.shape, self.settings.hidden)
        return State(
            **LemmaState.first(lemmas),
            source=source,
            unknown=(lemmas.symbols.transpose(1, 2) == UNKNOWN_NUMBER) & (source.mask == 0),
            steps=torch.zeros_like(lemmas.lengths),
            previous=torch.full_like(lemmas.lengths, BEGIN_NUMBER),
            written=(zero, zero),
            context=(zero, zero),
        )

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P, and the state after the LSTMs' step. *Shape:* (M, B, A)

        An unknown character is copied for certain, as action 0, the first time that it is attended to most.
        """
        parameters, source = self.parameters, state.source
        gates = rows(self.written, state.previous) + source.gates
        written = self.step(gates, self.recurrent["written"], state.written)
        both = attend(parameters, source, written[0].unsqueeze(2), state.steps.unsqueeze(-1))
        attended, weights = (part.squeeze(2) for part in both)
        gates = projected(parameters, "context", written[0]) + linear(attended, parameters["context.attended"])
        context = self.step(gates, self.recurrent["context"], state.context)
        deep = (
            linear(context[0], parameters["state.context"])
            + linear(attended, parameters["state.attended"])
            + rows(self.previous, state.previous)
        )
        logits = linear(torch.tanh(deep), parameters["output.weights"], parameters["output.bias"])
        scores = torch.log_softmax(logits + self.penalty, dim=-1)
        position = weights.argmax(dim=-1)
        copies = state.unknown.gather(2, position.unsqueeze(-1))
        after = replace(state, steps=state.steps + 1, position=position, written=written, context=context)
        return certain(scores, UNKNOWN_NUMBER, copies), after


LEARNER = Learner(allowed_outputs, lambda drawn, *_: drawn.by_oracle(Trajectory), losses, Decoder)
