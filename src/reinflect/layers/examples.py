"""Items as padded arrays, batches of them for a whole fleet as tensors, and the states of decoders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory, Vocabulary
from reinflect.systems.system import ACTIONS, System
from reinflect.systems.tapes import Ragged


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

    @property
    def counts(self) -> Tensor:
        """The number of actions of each model's longest item. *Shape:* (M)"""
        return (self.weights > 0).sum(dim=1).amax(dim=1)

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


LEMMA, REVERSED, LITERALS, GOLD = "symbols", "reversed", "literals", "gold"
NOTHING = -1
"""Ends a gold form; decoders write it for actions without a character."""
NOT_OURS = -1
"""A feature of another model's language."""


@dataclass(frozen=True)
class Examples:
    """The items of one data file as arrays for one system, padded to the longest."""

    system: System
    arrays: dict[str, NDArray[np.int32]]
    """*Shape:* (I, L)"""
    lengths: dict[str, NDArray[np.int64]]
    """Without padding; those of items to learn from have the most actions of each. *Shape:* (I)"""
    features: NDArray[np.float32]
    """Scaled, unless they are embedded. *Shape:* (I, P)"""
    spellings: tuple[str, ...]
    """What decoders can write: the system's symbols, then unknown characters."""

    def __len__(self) -> int:
        return len(self.features)

    @classmethod
    def to_learn(
        cls,
        system: System,
        items: Sequence[Item],
        alignments: Sequence[Alignment],
        inventory: Inventory,
        settings: Settings,
    ) -> "Examples":
        """Items with the tapes of their oracle actions."""
        symbols = system.symbols(inventory)
        source = Ragged.of(system.sources(items, inventory, settings), symbols)
        tapes = {LEMMA: source, REVERSED: source.reversed(), **system.tapes(items, alignments, inventory)}
        features = inventory.feature_numbers([item.features for item in items], settings)
        lengths = {name: tape.lengths for name, tape in tapes.items()}
        if ACTIONS not in tapes:
            lengths[ACTIONS] = np.array([*map(system.bound, items, alignments)], dtype=np.int64)
        return cls(system, {name: tape.padded() for name, tape in tapes.items()}, lengths, features, symbols.symbols)

    @classmethod
    def to_inflect(cls, system: System, items: Sequence[Item], inventory: Inventory, settings: Settings) -> "Examples":
        """Items with the literals that decoders copy, and the gold forms."""
        symbols = system.symbols(inventory)
        sources = system.sources(items, inventory, settings)
        forms = [item.form for item in items]
        # Numbered in order: an item's lemma, then its form.
        texts = chain.from_iterable(chain.from_iterable(zip(sources, forms, strict=True)))
        every = Vocabulary(tuple(dict.fromkeys(chain(symbols.symbols, texts))))
        literals, gold = Ragged.of(sources, every), Ragged.of(forms, every).with_last(NOTHING)
        source = Ragged(np.array(symbols.numbers(every.symbols))[literals.values], literals.lengths)
        tapes = {LEMMA: source, REVERSED: source.reversed(), LITERALS: literals, GOLD: gold}
        features = inventory.feature_numbers([item.features for item in items], settings)
        lengths = {name: tape.lengths for name, tape in tapes.items()}
        return cls(system, {name: tape.padded() for name, tape in tapes.items()}, lengths, features, every.symbols)


class Stack:
    """The examples of several data files on a device, for the models of a fleet to draw batches from."""

    def __init__(
        self, files: Sequence[Examples], device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.system = files[0].system
        self.files = list(files)
        self.device, self.dtype = device, dtype
        self.arrays = {name: self._stacked([file.arrays[name] for file in files]) for name in files[0].arrays}
        self.features = self._stacked([file.features for file in files]).to(dtype)
        for number, file in enumerate(files):
            self.features[number, :, file.features.shape[1] :] = NOT_OURS
        self.lengths = {name: self._stacked([file.lengths[name] for file in files]) for name in files[0].lengths}
        for lengths in self.lengths.values():
            lengths[:, -1] = 1
        self._least_one = {name: lengths.clamp(min=1).int().cpu().numpy() for name, lengths in self.lengths.items()}
        """`lengths` as arrays, at least 1. *Shape:* (F, I + 1)"""

    def _stacked(self, arrays: Sequence[NDArray[Any]]) -> Tensor:
        """Arrays padded to one shape, with a blank row at the end, which item -1 finds."""
        shape = tuple(max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True))
        dtype = torch.from_numpy(arrays[0][:0]).dtype
        stacked = torch.zeros(len(arrays), shape[0] + 1, *shape[1:], dtype=dtype, device=self.device)
        for number, array in enumerate(arrays):
            stacked[number][tuple(slice(size) for size in array.shape)] = torch.from_numpy(array).to(self.device)
        return stacked

    def longest(self, files: Sequence[int], items: NDArray[np.int64]) -> dict[str, int]:
        """How long the arrays of these items need to be. *Shape:* items (M, B), -1 for none"""
        return self.longest_each(files, items[np.newaxis])[0]

    def longest_each(self, files: Sequence[int], items: NDArray[np.int64]) -> list[dict[str, int]]:
        """How long the arrays of each of many batches need to be. *Shape:* items (U, M, B), -1 for none"""
        rows = np.array(files).reshape(1, -1, 1)
        longest = {name: table[rows, items].max(axis=(1, 2)).tolist() for name, table in self._least_one.items()}
        return [dict(zip(longest, lengths, strict=True)) for lengths in zip(*longest.values(), strict=True)]

    def to_learn(self, files: Tensor, items: Tensor, longest: Mapping[str, int], mean: Tensor) -> Drawn:
        """The arrays of these items; an item -1 has weight 0. *Shape:* files (M), items (M, B), mean (M)

        `mean`: whether a model's loss is the mean over an item's actions, or their sum.
        """
        lemmas = self._lemmas(files, items, longest, LEMMA, REVERSED)
        counted = items >= 0
        return Drawn(
            lemmas=lemmas,
            tapes={name: self._take(name, files, items, longest) for name in self.arrays if name not in lemmas},
            bounds=self.lengths[ACTIONS][files.unsqueeze(1), items],
            shares=counted.to(self.dtype) / counted.sum(dim=1, keepdim=True).clamp(min=1),
            mean=mean,
            longest=longest[ACTIONS],
        )

    def to_inflect(self, files: Tensor, items: Tensor, longest: Mapping[str, int]) -> tuple[Lemmas, Tensor]:
        """The lemmas of these items, and their gold forms. *Shape:* files (M), items (M, B) → gold (M, B, L)"""
        lemmas = Lemmas(**self._lemmas(files, items, longest, LEMMA, REVERSED, LITERALS))
        return lemmas, self._take(GOLD, files, items, longest).transpose(1, 2)

    def _lemmas(self, files: Tensor, items: Tensor, longest: Mapping[str, int], *names: str) -> dict[str, Tensor]:
        """The fields of `Lemmas`; those of these names are arrays."""
        return {
            "lengths": self.lengths[LEMMA][files.unsqueeze(1), items],
            "features": self.features[files.unsqueeze(1), items],
            **{name: self._take(name, files, items, longest) for name in names},
        }

    def _take(self, name: str, files: Tensor, items: Tensor, longest: Mapping[str, int]) -> Tensor:
        return self.arrays[name][files.unsqueeze(1), items, : longest[name]].transpose(1, 2).long()
