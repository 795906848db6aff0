"""Made-up items: real ones whose stems are replaced by random characters.

A stem is what a lemma and its form share: every stretch of at least `shortest` characters that the alignment pairs with
themselves, or, without an alignment, that both have in common. What is left, the affixes and changes, stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.learn.lesson import Lesson, Phase
from reinflect.settings import Size, key
from reinflect.systems.kind import UNALIGNED

Stretch = tuple[int, int, int]
"""Where it begins in the lemma and in the form, and its length."""
MOST_TRIES = 10
"""For each made-up item; data with few stems gives fewer of them."""


class MadeUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A first phase with made-up items among the real ones."""

    name: ClassVar[str] = "reinflect.training.augmentation.made_up.MadeUp"
    per_seed: ClassVar[bool] = True
    times: Annotated[int, Meta(ge=0, le=1000)] = 4
    """How many items are made up for each real one, at most."""
    repeats: Annotated[int, Meta(ge=0, le=1000)] = 3
    """How often each real item is among them in an epoch."""
    epochs: Size = 10
    shortest: Size = 3
    """The fewest characters of a stem."""

    def __call__(self, lesson: Lesson, seed: int) -> Lesson:
        random = np.random.Generator(np.random.PCG64(key(seed, "made-up")))
        pairs, aligned = list(zip(lesson.train, lesson.alignments, strict=True)), lesson.alignment != UNALIGNED
        stems = [list(stretches(item, alignment if aligned else None, self.shortest)) for item, alignment in pairs]
        usable = [number for number, stretch in enumerate(stems) if stretch]
        characters = (
            pairs[number][0].lemma[start : start + length] for number in usable for start, _, length in stems[number]
        )
        letters = sorted(set("".join(characters)))
        real = {(item.lemma, item.features.spelling) for item in lesson.train}
        drawn: dict[tuple[str, str], tuple[Item, Alignment]] = {}
        wanted = self.times * len(pairs)
        for _ in range(MOST_TRIES * wanted if usable else 0):
            if len(drawn) == wanted:
                break
            number = usable[random.integers(len(usable))]
            item, alignment = _replaced(*pairs[number], stems[number], letters, random)
            if (item.lemma, item.features.spelling) not in real:
                drawn.setdefault((item.lemma, item.features.spelling), (item, alignment))
        if not drawn:
            return lesson
        items, alignments = zip(*drawn.values(), *pairs * self.repeats, strict=True)
        return replace(lesson, phases=(Phase(items, alignments, self.epochs), *lesson.phases))


def stretches(item: Item, alignment: Alignment | None, shortest: int) -> Iterator[Stretch]:
    """The stems of an item."""
    if alignment is None:
        matcher = SequenceMatcher(None, item.lemma, item.form, autojunk=False)
        yield from ((a, b, size) for a, b, size in matcher.get_matching_blocks() if size >= shortest)
        return
    x = y = 0
    for copied, run in groupby(alignment, key=lambda pair: pair[0] == pair[1]):
        pairs = list(run)
        if copied and len(pairs) >= shortest:
            yield x, y, len(pairs)
        x, y = (start + sum(len(pair[side]) for pair in pairs) for side, start in enumerate((x, y)))


def _replaced(
    item: Item, alignment: Alignment, stems: Sequence[Stretch], letters: Sequence[str], random: np.random.Generator
) -> tuple[Item, Alignment]:
    lemma, form = list(item.lemma), list(item.form)
    for in_lemma, in_form, length in stems:
        drawn = [letters[number] for number in random.integers(len(letters), size=length)]
        lemma[in_lemma : in_lemma + length] = form[in_form : in_form + length] = drawn
    sides = iter(lemma), iter(form)
    pairs = tuple((next(sides[0]) if x else "", next(sides[1]) if y else "") for x, y in alignment)
    return Item("".join(lemma), item.features, "".join(form)), pairs
