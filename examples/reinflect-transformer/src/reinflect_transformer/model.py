"""A Transformer over characters (Vaswani et al. 2017), whose features have no order (Wu et al. 2021).

The source is `<s> x_1 … x_n </s>` and the features. Characters carry their positions; features carry none, and a vector
says which of the two a symbol is. Each layer normalises its input and adds to it:

x + attention(norm(x)), in the decoder then x + attention to the source(norm(x)), and last x + W·ReLU(V·norm(x))
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.layers.examples import Lemmas, LemmaState, Trajectory
from reinflect.layers.operations import Dropout, certain, dropped, linear, output_losses, penalty, rows
from reinflect.layers.parameters import Parameters
from reinflect.systems.soft import BEGIN_NUMBER, END_NUMBER, UNKNOWN_NUMBER
from reinflect.systems.soft.model import LEARNER as SOFT
from reinflect.systems.soft.model import WriterState, WritingDecoder
from reinflect.systems.system import Attention
from reinflect_transformer import DECODER, ENCODER, TransformerSettings

CHARACTER, FEATURE = 0, 1

Maps = Mapping[str, tuple[Tensor, Tensor]]
"""Weights (M, D, O) and bias (M, O) by name."""


def _maps(parameters: Parameters) -> Maps:
    """All maps, each with the gain and shift of the norm before it: (x·(1 + g) + s)·W + b = x·(1 + g)·W + s·W + b."""
    maps = {}
    for bias in [name for name in parameters.views if name.endswith(".bias")]:
        name = bias.removesuffix(".bias")
        owner, _, part = name.rpartition(".")
        weights, shift = parameters["output.weights" if name == "output" else name], parameters[bias]
        after = {"output": f"{DECODER}.norm", "source": f"{ENCODER}.norm"}.get(part, f"{owner}.norm.{part}")
        if f"{after}.gain" in parameters.views:
            shift = shift + (parameters[f"{after}.shift"].unsqueeze(1) @ weights).squeeze(1)
            weights = weights * (1 + parameters[f"{after}.gain"]).unsqueeze(-1)
        maps[name] = weights, shift
    mapped = linear(parameters["embedding"], parameters["embedding.map"])
    return maps | {"embedding": (mapped * math.sqrt(mapped.shape[-1]), parameters["kind"])}


def _normed(states: Tensor) -> Tensor:
    return F.layer_norm(states, states.shape[-1:])


def _positions(numbers: Tensor, width: int, dtype: torch.dtype) -> Tensor:
    """Sines and cosines of places. *Shape:* (…) → (…, D)"""
    rates = torch.exp(torch.arange(0, width, 2, device=numbers.device, dtype=dtype) * (-math.log(10_000.0) / width))
    angles = numbers.unsqueeze(-1) * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[..., :width]


def _heads(states: Tensor, heads: int) -> Tensor:
    """*Shape:* (M, B, L, D) → (M·B, heads, L, D / heads)"""
    models, items, length, width = states.shape
    return states.view(models * items, length, heads, width // heads).transpose(1, 2)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, heads: int) -> Tensor:
    """*Shape:* queries (M, B, T, D), keys and values (M, B, N, D), mask (M·B, 1, 1, N) → (M, B, T, D)

    Without a mask, a step sees those up to itself.
    """
    by_head = [_heads(states, heads) for states in (queries, keys, values)]
    attended = F.scaled_dot_product_attention(by_head[0], by_head[1], by_head[2], mask, is_causal=mask is None)
    return attended.transpose(1, 2).reshape(queries.shape)


def _attend_to_each_other(maps: Maps, name: str, states: Tensor, mask: Tensor | None, heads: int) -> Tensor:
    queries, keys, values = linear(_normed(states), *maps[f"{name}.self"]).chunk(3, dim=-1)
    return linear(_attend(queries, keys, values, mask, heads), *maps[f"{name}.joined"])


@dataclass
class _Dropping:
    """Dropout; each call in the model has other random numbers."""

    dropout: Dropout | None
    places: int = 0

    def __call__(self, states: Tensor) -> Tensor:
        """*Shape:* (M, B, L, D)"""
        self.places += 1
        return dropped(states, self.dropout, self.places << 22, variational=False) if self.dropout else states


def _feed(maps: Maps, name: str, states: Tensor, drop: _Dropping) -> Tensor:
    wide = drop(F.relu(linear(_normed(states), *maps[f"{name}.wide"])))
    return states + drop(linear(wide, *maps[f"{name}.narrow"]))


def _read_source(
    maps: Maps, lemmas: Lemmas, settings: TransformerSettings, allowed: Tensor, drop: _Dropping
) -> tuple[Tensor, Tensor]:
    """The encoded source (M, B, N, D), and which of its places are real (M, B, N)."""
    table, kinds = maps["embedding"]
    symbols = lemmas.symbols.transpose(1, 2)
    width, heads = settings.hidden, settings.heads
    places = torch.arange(symbols.shape[2], device=symbols.device)
    real = places < lemmas.lengths.unsqueeze(-1)
    # Features are numbered after the outputs, whose first two a decoder cannot choose.
    outputs = END_NUMBER + allowed.sum(dim=-1).view(-1, 1, 1)
    features = (symbols >= outputs).long()
    ordered = _positions(places, width, table.dtype) * (1 - features).unsqueeze(-1)
    states = drop(rows(table, symbols) + ordered + rows(kinds, features))
    mask = real.flatten(0, 1)[:, None, None, :]
    for layer in range(settings.layers):
        name = f"{ENCODER}.{layer}"
        states = states + drop(_attend_to_each_other(maps, name, states, mask, heads))
        states = _feed(maps, name, states, drop)
    return _normed(states), real


def losses(
    parameters: Parameters,
    batch: Trajectory,
    settings: TransformerSettings,
    allowed: Tensor,
    dropout: Dropout | None = None,
) -> Tensor:
    """-log P of every character of the form and of its end, smoothed. *Shape:* (M, T, B)"""
    maps, drop, heads = _maps(parameters), _Dropping(dropout), settings.heads
    source, real = _read_source(maps, batch, settings, allowed, drop)
    mask = real.flatten(0, 1)[:, None, None, :]
    states = drop(_written(maps, batch.previous(BEGIN_NUMBER).transpose(1, 2), settings))
    for layer in range(settings.layers):
        name = f"{DECODER}.{layer}"
        states = states + drop(_attend_to_each_other(maps, name, states, None, heads))
        query = linear(_normed(states), *maps[f"{name}.query"])
        keys, values = linear(source, *maps[f"{name}.source"]).chunk(2, dim=-1)
        states = states + drop(linear(_attend(query, keys, values, mask, heads), *maps[f"{name}.crossed"]))
        states = _feed(maps, name, states, drop)
    logits = linear(_normed(states), *maps["output"]).transpose(1, 2)
    return output_losses(logits, batch.right, allowed, settings.label_smoothing)


def _written(maps: Maps, numbers: Tensor, settings: TransformerSettings, first: Tensor | int = 0) -> Tensor:
    """Characters of the form, from place `first` on. *Shape:* numbers (M, B, T), first (M, B, 1) → (M, B, T, D)"""
    table, kinds = maps["embedding"]
    places = first + torch.arange(numbers.shape[2], device=numbers.device)
    ordered = _positions(places, settings.hidden, table.dtype)
    return rows(table, numbers) + ordered + kinds[:, None, None, CHARACTER]


@dataclass(frozen=True, kw_only=True)
class TransformerState(WriterState):
    source: Tensor
    """Keys and values of every layer. *Shape:* (M, B, N, layers · 2D)"""
    mask: Tensor
    """The penalty of padding. *Shape:* (M, B, N)"""
    written: Tensor
    """Keys and values of every layer, of the characters written. *Shape:* (M, B, T, layers · 2D)"""
    weights: Tensor
    """The last layer's attention to the source, the mean over its heads. *Shape:* (M, B, N)"""


class Decoder(WritingDecoder):
    """The Transformer step by step."""

    def __init__(self, parameters: Parameters, settings: TransformerSettings, allowed: Tensor) -> None:
        self.maps, self.settings, self.allowed = _maps(parameters), settings, allowed
        self.penalty = penalty(allowed, parameters.flat.dtype).unsqueeze(1)

    def start(self, lemmas: Lemmas) -> TransformerState:
        maps, layers = self.maps, range(self.settings.layers)
        source, real = _read_source(maps, lemmas, self.settings, self.allowed, _Dropping(None))
        pairs = torch.cat([linear(source, *maps[f"{DECODER}.{layer}.source"]) for layer in layers], dim=-1)
        return TransformerState(
            **LemmaState.first(lemmas),
            source=pairs,
            mask=penalty(real, source.dtype),
            unknown=(lemmas.symbols.transpose(1, 2) == UNKNOWN_NUMBER) & real,
            steps=torch.zeros_like(lemmas.lengths),
            previous=torch.full_like(lemmas.lengths, BEGIN_NUMBER),
            written=pairs[:, :, :0],
            weights=torch.zeros_like(pairs[..., 0]),
        )

    def _attend(self, query: Tensor, pairs: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """*Shape:* query (M, B, D), pairs (M, B, N, 2D) → (M, B, D), weights (M, B, N)"""
        models, items, width = query.shape
        heads = self.settings.heads
        keys, values = (
            states.view(models, items, -1, heads, width // heads).transpose(2, 3) for states in pairs.chunk(2, dim=-1)
        )
        scores = keys @ query.view(models, items, heads, -1, 1) / math.sqrt(width // heads)
        scores = scores.squeeze(-1)  # (M, B, heads, N)
        weights = torch.softmax(scores if mask is None else scores + mask.unsqueeze(2), dim=-1)
        return (weights.unsqueeze(3) @ values).reshape(query.shape), weights.mean(dim=2)

    def log_probabilities(self, state: TransformerState) -> tuple[Tensor, TransformerState]:
        """log P, and the state after it has read the character written last. *Shape:* (M, B, A)

        An unknown character is copied for certain, as action 0, the first time that it is attended to most.
        """
        maps, width = self.maps, self.settings.attention
        states = _written(maps, state.previous.unsqueeze(-1), self.settings, state.steps.unsqueeze(-1)).squeeze(2)
        pairs, weights = [], state.weights
        for layer, (source, written) in enumerate(
            zip(*(stored.chunk(self.settings.layers, dim=-1) for stored in (state.source, state.written)), strict=True)
        ):
            name = f"{DECODER}.{layer}"
            three = linear(_normed(states), *maps[f"{name}.self"])
            pairs.append(three[..., width:])
            attended, _ = self._attend(three[..., :width], torch.cat([written, pairs[-1].unsqueeze(2)], dim=2))
            states = states + linear(attended, *maps[f"{name}.joined"])
            attended, weights = self._attend(linear(_normed(states), *maps[f"{name}.query"]), source, state.mask)
            states = states + linear(attended, *maps[f"{name}.crossed"])
            states = _feed(maps, name, states, _Dropping(None))
        logits = linear(_normed(states), *maps["output"])
        scores = torch.log_softmax(logits + self.penalty, dim=-1)
        position = weights.argmax(dim=-1)
        copies = state.unknown.gather(2, position.unsqueeze(-1))
        after = replace(
            state,
            steps=state.steps + 1,
            position=position,
            weights=weights,
            written=torch.cat([state.written, torch.cat(pairs, dim=-1).unsqueeze(2)], dim=2),
        )
        return certain(scores, UNKNOWN_NUMBER, copies), after

    def focus(self, state: TransformerState) -> Attention:
        """The attention, and where it is largest, in a state that `log_probabilities` gave."""
        return Attention(int(state.position[0, 0]), weights=tuple(state.weights[0, 0].tolist()))


LEARNER = replace(SOFT, losses=losses, decoder=Decoder)
