"""The forms that a model gives for many cells, in little room."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import msgspec

from reinflect.data.items import Item
from reinflect.score.scores import digest_of

Change = tuple[str, int, int, str]
"""From a lemma to a form: what is put before it, how much is cut from its start and its end, what is put behind it."""
FIRST, SURROGATES, AFTER = ord(" "), 0xD800, 0xE000
"""The first character that stands for a number; the code points that are no characters, and the first after them."""


class CellForms(msgspec.Struct, frozen=True):
    """Forms as changes of their lemmas: there are few different ones, and a character says which."""

    changes: tuple[Change | None, ...] = ()
    """The most frequent first; None where decoding did not end."""
    which: str = ""
    """A character for each cell: the number of its change."""
    cells: str = ""
    """A digest of the cells; empty if there was nothing to inflect."""

    def __post_init__(self) -> None:
        if not set(self.which) <= set(map(_character, range(len(self.changes)))):
            raise ValueError("a cell without a form")

    @classmethod
    def of(cls, items: Sequence[Item], forms: Sequence[str | None]) -> "CellForms":
        own = [None if form is None else _change(item.lemma, form) for item, form in zip(items, forms, strict=True)]
        changes = [change for change, _ in Counter(own).most_common()]
        characters = {change: _character(number) for number, change in enumerate(changes)}
        return cls(tuple(changes), "".join(map(characters.__getitem__, own)), digest_of_cells(items))

    def forms(self, items: Sequence[Item]) -> list[str | None]:
        """The forms again, for the same cells."""
        changes = {_character(number): change for number, change in enumerate(self.changes)}
        pairs = zip(items, map(changes.__getitem__, self.which), strict=True)
        return [change and _changed(item.lemma, *change) for item, change in pairs]


def digest_of_cells(items: Sequence[Item]) -> str:
    return digest_of(f"{item.lemma}\t{item.features.spelling}" for item in items)


def _character(number: int) -> str:
    code = number + FIRST
    return chr(code if code < SURROGATES else code - SURROGATES + AFTER)


@lru_cache(1 << 17)  # models of one language mostly agree
def _change(lemma: str, form: str) -> Change:
    for end in range(len(lemma), len(lemma) // 2, -1):  # most languages change the end of a word
        if form.startswith(lemma[:end]):
            return "", 0, len(lemma) - end, form[end:]
    start, place, size = SequenceMatcher(None, lemma, form, autojunk=False).find_longest_match()
    return form[:place], start, len(lemma) - start - size, form[place + size :]


def _changed(lemma: str, before: str, start: int, end: int, after: str) -> str:
    return f"{before}{lemma[start : len(lemma) - end]}{after}"


NO_CELLS = CellForms()
