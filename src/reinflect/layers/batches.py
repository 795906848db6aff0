"""What models read at an update or when they decode, and the states of their decoders, as tensors."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AnyState = TypeVar("AnyState", bound="DataclassInstance")


@dataclass(frozen=True)
class Lemmas:
    """Lemmas and features of B items for each of M models: the input of decoding."""

    symbols: Tensor
    """The lemma as the encoder reads it forwards. *Shape:* (M, N, B)"""
    reversed: Tensor
    """The lemma from its last symbol back, so that padding comes last there too. *Shape:* (M, N, B)"""
    lengths: Tensor
    """*Shape:* (M, B)"""
    features: Tensor
    """Features as numbers, scaled; negative where a feature is not one of the model's. *Shape:* (M, B, P)"""
    literals: Tensor | None = field(default=None, kw_only=True)
    """The lemma for decoders to copy from, in which unknown characters have numbers of their own; `symbols` has one
    number for all of them. *Shape:* (M, N, B)"""


@dataclass(frozen=True)
class Trajectory(Lemmas):
    """Lemmas with the actions taken, and the right ones."""

    taken: Tensor
    """What the model reads as its own actions. *Shape:* (M, T, B)"""
    right: Tensor
    """The right action at each step, or a mask of right ones, at least one for every step and for padding.
    *Shape:* (M, T, B) or (M, T, B, A)"""
    weights: Tensor
    """The weight of each step in its model's loss; 0 for padding. *Shape:* (M, T, B)"""

    def previous(self, begin: int) -> Tensor:
        """The action before each one, `begin` before the first. *Shape:* (M, T, B)"""
        return torch.cat([torch.full_like(self.taken[:, :1], begin), self.taken[:, :-1]], dim=1)


@dataclass(frozen=True)
class Drawn:
    """The items of an update as arrays, for a system to make trajectories of."""

    lemmas: Mapping[str, Tensor]
    """The fields of `Lemmas`."""
    tapes: Mapping[str, Tensor]
    """The system's own arrays. *Shapes:* (M, L, B)"""
    bounds: Tensor
    """The most actions of each item. *Shape:* (M, B)"""
    shares: Tensor
    """The weight of an item in its model's loss. *Shape:* (M, B)"""
    mean: Tensor
    """Whether a model's loss is the mean over an item's actions, or their sum. *Shape:* (M)"""
    longest: int
    """At least the most actions of any item of the update."""

    def weights(self, actions: Tensor | None = None) -> Tensor:
        """The weight of each step, for items with this number of actions each. *Shape:* (M, B) → (M, T, B)"""
        actions = self.bounds if actions is None else actions
        shares = self.shares / torch.where(self.mean.unsqueeze(1), actions, 1)
        steps = torch.arange(self.longest, device=actions.device).view(1, -1, 1)
        return (steps < actions.unsqueeze(1)) * shares.unsqueeze(1)


class Focus(NamedTuple):
    """What a decoder attends to in a state, to explain its predictions."""

    position: Tensor
    """The attended symbol of the source, or one past the last. *Shape:* (M, B)"""
    gate: Tensor | None = None
    """The share of the probability that is generated; the rest is copied. *Shape:* (M, B)"""
    attention: Tensor | None = None
    """The weight of each symbol, in soft attention. *Shape:* (M, B, N)"""


@dataclass(frozen=True, kw_only=True)
class LemmaState:
    """The state of a decoder that reads a lemma; every tensor has the items in its second dimension.

    *Shapes:* symbols and literals (M, B, N), lengths and position (M, B)
    """

    symbols: Tensor
    literals: Tensor
    lengths: Tensor
    position: Tensor
    """The attended symbol, from 0."""

    @staticmethod
    def first(lemmas: Lemmas) -> dict[str, Tensor]:
        """These fields before the first step."""
        return {
            "symbols": lemmas.symbols.transpose(1, 2),
            "literals": (lemmas.symbols if lemmas.literals is None else lemmas.literals).transpose(1, 2),
            "lengths": lemmas.lengths,
            "position": torch.zeros_like(lemmas.lengths),
        }


def select(state: AnyState, items: Tensor, but: Container[str] = ()) -> AnyState:
    """A state with these items, which may repeat; fields named in `but` stay as they are. *Shape:* items (M, B')"""
    own = {field.name: getattr(state, field.name) for field in fields(state)}
    return type(state)(**{name: value if name in but else _selected(value, items) for name, value in own.items()})


def _selected(value: Any, items: Tensor) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(_selected(own, items) for own in value)
    if isinstance(value, Tensor):
        index = items.view(*items.shape, *[1] * (value.dim() - 2)).expand(*items.shape, *value.shape[2:])
        return value.gather(1, index)
    return select(value, items)
