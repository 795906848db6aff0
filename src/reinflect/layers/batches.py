"""What models read at an update or when they decode, and the states of their decoders, as tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import torch
from torch import Tensor


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
    """The lemma for decoders to copy from: unknown characters have numbers of their own. *Shape:* (M, N, B)"""


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


AnyTrajectory = TypeVar("AnyTrajectory", bound=Trajectory)


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

    def by_oracle(self, kind: type[AnyTrajectory]) -> AnyTrajectory:
        """The trajectories of a static oracle: every right action is taken."""
        tapes = dict(self.tapes)
        actions = tapes.pop("actions")
        return kind(**self.lemmas, taken=actions, right=actions, weights=self.weights(), **tapes)


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


def select(state: Any, items: Tensor) -> Any:
    """A decoder's state, or a part of it, with these items, which may repeat. *Shape:* items (M, B')"""
    if state is None:
        return None
    if isinstance(state, Tensor):
        index = items.view(*items.shape, *[1] * (state.dim() - 2)).expand(*items.shape, *state.shape[2:])
        return state.gather(1, index)
    if isinstance(state, tuple):
        return tuple(select(part, items) for part in state)
    if isinstance(state, dict):
        return {name: select(part, items) for name, part in state.items()}
    return replace(state, **{part.name: select(getattr(state, part.name), items) for part in fields(state)})
