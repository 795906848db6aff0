"""Items as padded arrays, and batches of them for a whole fleet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.data.vocabulary import Vocabulary
from reinflect.layers.batches import Drawn, Lemmas
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import ACTIONS, System
from reinflect.systems.tapes import Ragged

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
    """Without padding. *Shape:* (I)"""
    features: NDArray[np.float32]
    """Scaled, unless they are embedded. *Shape:* (I, P)"""
    spellings: tuple[str, ...]
    """What decoders can write: the system's symbols, then unknown characters."""

    @property
    def bounds(self) -> NDArray[np.int64]:
        """The most actions of each item to learn from. *Shape:* (I)"""
        return self.lengths[ACTIONS]

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
        if len(items) != len(alignments):
            raise ValueError("every item has an alignment")
        symbols = system.symbols(inventory)
        source = Ragged.of(system.sources(items, inventory, settings), symbols)
        tapes = {LEMMA: source, REVERSED: source.reversed(), **system.tapes(items, alignments, inventory)}
        examples = cls._of(system, tapes, symbols.symbols, items, inventory, settings)
        if ACTIONS not in tapes:
            examples.lengths[ACTIONS] = np.array([*map(system.bound, items, alignments)], dtype=np.int64)
        return examples

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
        return cls._of(system, tapes, every.symbols, items, inventory, settings)

    @classmethod
    def _of(
        cls,
        system: System,
        tapes: Mapping[str, Ragged],
        spellings: tuple[str, ...],
        items: Sequence[Item],
        inventory: Inventory,
        settings: Settings,
    ) -> "Examples":
        features = inventory.feature_numbers([item.features for item in items], counts=settings.features == "counts")
        features *= np.float32(1.0 if settings.features == "embedded" else settings.feature_scale)
        arrays = {name: tape.padded() for name, tape in tapes.items()}
        return cls(system, arrays, {name: tape.lengths for name, tape in tapes.items()}, features, spellings)


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
        longest = {name: table[rows, items].max(axis=(1, 2)).tolist() for name, table in self._length_tables.items()}
        return [dict(zip(longest, lengths, strict=True)) for lengths in zip(*longest.values(), strict=True)]

    @cached_property
    def _length_tables(self) -> dict[str, NDArray[np.int32]]:
        """`lengths` as arrays, at least 1. *Shape:* (F, I + 1)"""
        return {name: lengths.clamp(min=1).int().cpu().numpy() for name, lengths in self.lengths.items()}

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
