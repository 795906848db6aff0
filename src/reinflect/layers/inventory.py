"""The characters and features a model knows."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.vocabulary import characters_of


def feature_symbol(atom: str) -> str:
    """A feature in a sequence of characters: longer than a character, and different from special symbols."""
    return f";{atom}"


@dataclass(frozen=True)
class Inventory:
    """The characters and the feature atoms of the training items, sorted."""

    characters: tuple[Annotated[str, Meta(min_length=1, max_length=1)], ...]
    atoms: tuple[str, ...]

    def __post_init__(self) -> None:
        if any(len(set(symbols)) < len(symbols) for symbols in (self.characters, self.atoms)):
            raise ValueError("a character or a feature occurs twice in its inventory")

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Inventory":
        items = list(items)
        bundles = {item.features.spelling: item.features for item in items}
        atoms = {atom for bundle in bundles.values() for atom in bundle.atoms}
        return cls(tuple(sorted(characters_of(items))), tuple(sorted(atoms)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {atom: column for column, atom in enumerate(self.atoms)}

    def feature_numbers(self, bundles: Iterable[Bundle], *, counts: bool) -> NDArray[np.float32]:
        """For each bundle a row of known features: 1, or how often a feature occurs."""
        wanted = list(bundles)
        distinct = {bundle.spelling: bundle for bundle in wanted}  # thousands of items share a few hundred
        rows = np.zeros((len(distinct), len(self.atoms)), dtype=np.float32)
        for row, bundle in zip(rows, distinct.values(), strict=True):
            for atom, count in Counter(bundle.among(self._columns)).items():
                if atom in self._columns:
                    row[self._columns[atom]] = count if counts else 1.0
        number = {spelling: row for row, spelling in enumerate(distinct)}
        return rows[[number[bundle.spelling] for bundle in wanted]]

    def feature_symbols(self, bundle: Bundle, *, counts: bool) -> list[str]:
        """The known features as symbols, in a fixed order; once, or as often as they occur."""
        cell = sorted(bundle.among(self._columns))
        atoms = cell if counts else dict.fromkeys(cell)
        return [feature_symbol(atom) for atom in atoms if atom in self._columns]
