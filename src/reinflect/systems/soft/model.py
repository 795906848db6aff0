"""The encoder-decoder with soft attention: the part that Nematus played in the 2017 submission.

The source is one sequence of symbols, `<s> x_1 … x_n </s>` and the features; h_1 … h_N is a bidirectional LSTM over it.

s_t = LSTM^y([E(y_{t-1}); h̄])                               h̄: the mean of all h
α_t = softmax over j of v·tanh(W·s_t + U·h_j + R(j - t))    Bahdanau's additive attention, and how far j is from t
c_t = Σ_j α_tj·h_j
r_t = LSTM^c([s_t; c_t])
o_t = tanh(W·[r_t; c_t; E(y_{t-1})] + b)
P = softmax(V·o_t + c)

Nematus' decoder likewise has one transition before the attention and one after it, and this deep output. There, though,
s_t also reads r_{t-1}, and so the contexts so far. Here it reads nothing but what was written: then no step of training
waits for the attention of the step before, the two LSTMs are plain runs over whole sequences, and the attention of all
steps is a handful of products. What s_t so does not know, where the attention was, R makes up for: it has a vector for
every distance between the places in source and form (those beyond `REACH` are all alike).
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.layers.batches import Lemmas, SoftBatch
from reinflect.systems.layers.encoder import encode, encoder_shapes, lstm_shapes, projected
from reinflect.systems.layers.operations import (
    Dropout,
    action_counts,
    dropped,
    linear,
    negative_log_softmax,
    penalty,
    rows,
)
from reinflect.systems.layers.parameters import Parameters, Shape, Sizes
from reinflect.systems.layers.states import Focus

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, FIRST_CHARACTER = 0, 1, 2, 3
REACH = 24


def shapes(settings: Settings) -> dict[str, Shape]:
    both, hidden, embedding, size = 2 * settings.hidden, settings.hidden, settings.embedding, settings.attention
    written = lstm_shapes("written", embedding, settings)
    gates = written["written.bias"].sizes[0]
    return {
        "embedding": Shape(("symbols", embedding), "embedding"),
        **encoder_shapes(settings),
        **written,
        "written.source": Shape((both, gates)),
        "attention.state": Shape((hidden, size)),
        "attention.source": Shape((both, size)),
        "attention.distance": Shape((2 * REACH + 1, size)),
        "attention.score": Shape((size, 1)),
        **lstm_shapes("context", hidden, settings),
        "context.attended": Shape((both, gates)),
        "state.context": Shape((hidden, hidden)),
        "state.attended": Shape((both, hidden)),
        "state.previous": Shape((embedding, hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "outputs")),
        "output.bias": Shape(("outputs",), "zero"),
    }


def sizes(characters: int, features: int) -> dict[str, int]:
    """Features are read and never written, so they are numbered after all that is."""
    outputs = FIRST_CHARACTER + characters
    return {"symbols": outputs + features, "outputs": outputs}


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """All of a model's own characters, and the end. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[END_NUMBER : own["outputs"]] = True
    return allowed


@dataclass(frozen=True)
class Source:
    """The source as the decoder needs it; every tensor has the items in its second dimension."""

    states: Tensor
    """h. *Shape:* (M, B, N, 2H)"""
    keys: Tensor
    """U·h. *Shape:* (M, B, N, A)"""
    gates: Tensor
    """What h̄ adds to the gates of LSTM^y. *Shape:* (M, B, G)"""
    mask: Tensor
    """0 for a position of the source, a number no score can outweigh for padding. *Shape:* (M, B, N)"""


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

    All pairs of a step and a position, (M, B, T, N, A), are one tensor, by far the largest in an update, and backward
    has three like it for a moment: that is why A is small by default. With words of 20 letters, 5 features, batches of
    64 and A = 64 it is 9 MB a model.
    """
    queries = linear(written, parameters["attention.state"])
    distances = torch.arange(source.keys.shape[2], device=steps.device) - steps.unsqueeze(-1)
    far = rows(parameters["attention.distance"], distances.clamp_(-REACH, REACH) + REACH)
    mixed = (queries.unsqueeze(3) + source.keys.unsqueeze(2)).add_(far).tanh_()
    scores = linear(mixed, parameters["attention.score"]).squeeze(-1)
    weights = torch.softmax(scores + source.mask.unsqueeze(2), dim=-1)
    return weights @ source.states, weights


def losses(
    parameters: Parameters, batch: SoftBatch, settings: Settings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of every character of the form and of its end. *Shape:* (M, T, B)"""

    def dropping(states: Tensor, name: str, place: int) -> Tensor:
        if dropout is None or name not in settings.dropout_on:
            return states
        return dropped(states, dropout, place, variational=settings.dropout_kind == "variational")

    run, counts = CELLS[settings.cell].run, action_counts(batch.weights)
    models, longest, _ = batch.previous.shape
    steps = torch.arange(longest, device=batch.previous.device).expand(models, 1, -1)
    embedding = parameters["embedding"]
    source = _read_source(parameters, batch, dropping(encode(parameters, embedding, batch, settings), "encoder", 0))
    gates = rows(projected(parameters, "written", embedding), batch.previous) + source.gates.unsqueeze(1)
    written = dropping(run(gates, parameters["written.recurrent"], None, counts), "written", 1)
    attended, _ = attend(parameters, source, written.transpose(1, 2), steps)
    attended = attended.transpose(1, 2)
    gates = projected(parameters, "context", written) + linear(attended, parameters["context.attended"])
    context = run(gates, parameters["context.recurrent"], None, counts)
    state = (
        linear(context, parameters["state.context"], parameters["state.bias"])
        + linear(attended, parameters["state.attended"])
        + rows(linear(embedding, parameters["state.previous"]), batch.previous)
    )
    state = dropping(torch.tanh(state), "state", 2)
    logits = linear(state, parameters["output.weights"], parameters["output.bias"])
    return negative_log_softmax(logits + penalty(allowed, logits.dtype).view(len(allowed), 1, 1, -1), batch.targets)


@dataclass(frozen=True)
class Reader:
    """The state of an LSTM that reads step by step. *Shapes:* (M, B, H)"""

    output: Tensor
    memory: Tensor


@dataclass(frozen=True)
class State:
    """Where decoding stands; every tensor has the items in its second dimension."""

    source: Source
    literals: Tensor
    """*Shape:* (M, B, N)"""
    unknown: Tensor
    """Where a character stands that the model does not know and that was not copied yet. *Shape:* (M, B, N)"""
    steps: Tensor
    """How many are behind. *Shape:* (M, B)"""
    position: Tensor
    """What is attended to most. *Shape:* (M, B)"""
    previous: Tensor
    """*Shape:* (M, B)"""
    written: Reader
    context: Reader


class Decoder:
    """The system step by step: the distribution over characters in a state, and the state after one of them."""

    end = END_NUMBER

    def __init__(self, parameters: Parameters, settings: Settings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step = CELLS[settings.cell].step
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)
        self.written = projected(parameters, "written", parameters["embedding"])
        self.previous = linear(parameters["embedding"], parameters["state.previous"], parameters["state.bias"])

    def start(self, lemmas: Lemmas) -> State:
        states = encode(self.parameters, self.parameters["embedding"], lemmas, self.settings)
        source = _read_source(self.parameters, lemmas, states)
        zero = states.new_zeros(*lemmas.lengths.shape, self.settings.hidden)
        symbols = lemmas.symbols.transpose(1, 2)
        zeros = torch.zeros_like(lemmas.lengths)
        return State(
            source=source,
            literals=symbols if lemmas.literals is None else lemmas.literals.transpose(1, 2),
            unknown=(symbols == UNKNOWN_NUMBER) & (source.mask == 0),
            steps=zeros,
            position=zeros,
            previous=torch.full_like(zeros, BEGIN_NUMBER),
            written=Reader(zero, zero),
            context=Reader(zero, zero),
        )

    def _read(self, name: str, reader: Reader, gates: Tensor) -> Reader:
        return Reader(*self.step(gates, self.parameters[f"{name}.recurrent"], (reader.output, reader.memory)))

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P, and the state with its LSTMs moved on.

        A character that the model does not know is copied, as action 0, for certain, the first time that it is what is
        attended to most. *Shape:* (M, B, A)
        """
        parameters, source = self.parameters, state.source
        gates = rows(self.written, state.previous) + source.gates
        written = self._read("written", state.written, gates)
        found = attend(parameters, source, written.output.unsqueeze(2), state.steps.unsqueeze(-1))
        attended, weights = (own.squeeze(2) for own in found)
        gates = projected(parameters, "context", written.output) + linear(attended, parameters["context.attended"])
        context = self._read("context", state.context, gates)
        deep = (
            linear(context.output, parameters["state.context"])
            + linear(attended, parameters["state.attended"])
            + rows(self.previous, state.previous)
        )
        logits = linear(torch.tanh(deep), parameters["output.weights"], parameters["output.bias"])
        scores = torch.log_softmax(logits + self.penalty, dim=-1)
        position = weights.argmax(dim=-1)
        certain = torch.full_like(scores[:1, :1], float("-inf"))
        certain[..., UNKNOWN_NUMBER] = 0.0
        copies = state.unknown.gather(2, position.unsqueeze(-1))
        after = replace(state, steps=state.steps + 1, position=position, written=written, context=context)
        return torch.where(copies, certain, scores), after

    def focus(self, state: State) -> Focus:
        """α, and where it is largest, in a state that `log_probabilities` gave."""
        _, weights = attend(
            self.parameters, state.source, state.written.output.unsqueeze(2), (state.steps - 1).unsqueeze(-1)
        )
        return Focus(state.position, attention=weights.squeeze(2))

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        """What is written (a literal's number, -1 for nothing), and the state after it.

        *Shape:* actions (M, B) → (M, B)
        """
        copies, position = actions == UNKNOWN_NUMBER, state.position.unsqueeze(-1)
        literal = state.literals.gather(2, position).squeeze(-1)
        written = torch.where(copies, literal, torch.where(actions == self.end, -1, actions))
        left = state.unknown.gather(2, position) & ~copies.unsqueeze(-1)
        return written, replace(state, unknown=state.unknown.scatter(2, position, left), previous=actions)
