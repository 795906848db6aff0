"""Symbols and their numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reinflect.data.items import Item

UNKNOWN = "<unknown>"


@dataclass(frozen=True)
class Vocabulary:
    """Symbols numbered from 0: special ones, whose names have several letters, then characters.

    A vocabulary that begins with `UNKNOWN` gives unknown symbols its number, 0; any other raises a `KeyError`.
    """

    symbols: tuple[str, ...]

    @classmethod
    def of(cls, specials: Sequence[str], characters: Iterable[str]) -> "Vocabulary":
        return cls((*specials, *sorted(set(characters))))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def number(self, symbol: str) -> int:
        return self._numbers[UNKNOWN if symbol not in self._numbers and UNKNOWN in self._numbers else symbol]

    def numbers(self, symbols: Iterable[str]) -> list[int]:
        return [self.number(symbol) for symbol in symbols]


def characters_of(items: Iterable[Item]) -> set[str]:
    """Σ^train: every character of the lemmas and forms."""
    return set("".join(word for item in items for word in (item.lemma, item.form)))
