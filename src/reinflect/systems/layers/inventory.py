"""What a model knows of its language: characters and features, numbered."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.vocabulary import UNKNOWN, Vocabulary, characters_of
from reinflect.transitions.tapes import hacm_symbols, haem_actions, haem_characters
from reinflect.transitions.write_step import BEGIN, END


def _feature_symbol(atom: str) -> str:
    """A feature in a sequence of characters: longer than any of them, and like no special symbol."""
    return f";{atom}"


@dataclass(frozen=True)
class Inventory:
    """The characters and the feature atoms of the training data, each in order."""

    characters: tuple[str, ...]
    atoms: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Inventory":
        items = list(items)
        bundles = {item.features.spelling: item.features for item in items}
        atoms = {atom for bundle in bundles.values() for atom in bundle.atoms}
        return cls(tuple(sorted(characters_of(items))), tuple(sorted(atoms)))

    @cached_property
    def symbols(self) -> Vocabulary:
        """HACM's."""
        return hacm_symbols(self.characters)

    @cached_property
    def letters(self) -> Vocabulary:
        """HAEM's characters."""
        return haem_characters(self.characters)

    @cached_property
    def actions(self) -> Vocabulary:
        """HAEM's actions."""
        return haem_actions(self.characters)

    @cached_property
    def sources(self) -> Vocabulary:
        """The soft-attention system's: what it can write comes first, then what it only reads, the features."""
        return Vocabulary((UNKNOWN, BEGIN, END, *self.characters, *map(_feature_symbol, self.atoms)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {atom: column for column, atom in enumerate(self.atoms)}

    def feature_numbers(self, bundles: Iterable[Bundle], *, counts: bool) -> NDArray[np.float32]:
        """A row a bundle: 1 for a feature it has, or how often it has it; features never seen leave no trace."""
        wanted = list(bundles)
        distinct = {bundle.spelling: bundle for bundle in wanted}  # thousands of items share a few hundred
        rows = np.zeros((len(distinct), len(self.atoms)), dtype=np.float32)
        for row, bundle in zip(rows, distinct.values(), strict=True):
            for atom, count in bundle.counts.items():
                if atom in self._columns:
                    row[self._columns[atom]] = count if counts else 1.0
        number = {spelling: row for row, spelling in enumerate(distinct)}
        return rows[[number[bundle.spelling] for bundle in wanted]]

    def feature_symbols(self, bundle: Bundle, *, counts: bool) -> list[str]:
        """The features as `sources` spells them, in one order however they were written; once, or as often as there."""
        atoms = bundle.cell if counts else dict.fromkeys(bundle.cell)
        return [_feature_symbol(atom) for atom in atoms if atom in self._columns]
