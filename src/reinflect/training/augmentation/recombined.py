"""Recombined items: a lemma with the ending that another lemma of its part of speech has in another cell.

Two lemmas that end alike may inflect alike: of `machen, machst` and `lachen, lacht` come `machen, macht` and
`lachen, lachst`, each with the other's bundle.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import takewhile
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta

from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item
from reinflect.ensembles.member import UNALIGNED
from reinflect.settings import Size
from reinflect.systems.layers.randomness import key
from reinflect.training.lesson import Lesson, Phase


class Recombined(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A first phase with recombined items among the real ones."""

    per_seed: ClassVar[bool] = True
    number: Annotated[int, Meta(ge=0, le=1_000_000)] = 400
    """Recombined items, at most."""
    repeats: Annotated[int, Meta(ge=0, le=1000)] = 3
    """How often each real item is among them in an epoch."""
    epochs: Size = 10
    alike: Size = 2
    """The fewest last characters that both lemmas have in common, with one more than the inflection changes."""

    def __call__(self, lesson: Lesson, seed: int) -> Lesson:
        pairs = list(zip(lesson.train, lesson.alignments, strict=True))
        real = {(item.lemma, item.features.cell) for item in lesson.train}
        by_ending: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for item in lesson.train:
            for start in range(len(item.lemma)):
                by_ending[item.features.part_of_speech, item.lemma[start:]].add(item.lemma)
        made: dict[tuple[str, str], tuple[Item, Alignment]] = {}
        for item, alignment in pairs:
            same = takewhile(lambda pair: pair[0] == pair[1], zip(item.lemma, item.form, strict=False))
            stem = sum(1 for _ in same)
            copied = lesson.alignment == UNALIGNED or all(x == y for x, y in alignment[:stem])
            ending = item.lemma[max(0, min(stem - 1, len(item.lemma) - self.alike)) :]
            if stem and copied:
                for lemma in sorted(by_ending[item.features.part_of_speech, ending]):
                    if (lemma, item.features.cell) not in real:
                        kept = lemma[: len(lemma) - len(item.lemma) + stem]
                        new = Item(lemma, item.features, kept + item.form[stem:])
                        own = (*((x, x) for x in kept), *alignment[stem:]) if alignment else ()
                        made.setdefault((lemma, item.features.spelling), (new, own))
        if not made or not self.number:
            return lesson
        chance = np.random.Generator(np.random.PCG64(key(seed, "recombined")))
        chosen = [list(made.values())[place] for place in chance.permutation(len(made))[: self.number]]
        items, alignments = zip(*chosen, *pairs * self.repeats, strict=True)
        return replace(lesson, phases=(Phase(items, alignments, self.epochs), *lesson.phases))
