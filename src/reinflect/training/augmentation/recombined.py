"""Recombined items: a lemma with the ending that another lemma of its part of speech has in another cell.

Two lemmas that end alike may inflect alike: of `machen, machst` and `lachen, lacht` come `machen, macht` and
`lachen, lachst`, each with the other's bundle.
"""

from collections import defaultdict
from itertools import takewhile

import numpy as np

from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item
from reinflect.ensembles.member import UNALIGNED
from reinflect.settings import Size
from reinflect.systems.layers.randomness import key
from reinflect.training.augmentation.made_up import FirstPhase
from reinflect.training.lesson import Lesson


class Recombined(FirstPhase, frozen=True, kw_only=True):
    """A first phase with recombined items."""

    alike: Size = 2
    """The fewest last characters that both lemmas have in common, with one more than the inflection changes."""

    def __call__(self, lesson: Lesson, seed: int) -> Lesson:
        real = {(item.lemma, item.features.cell) for item in lesson.train}
        by_ending: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for item in lesson.train:
            for start in range(len(item.lemma)):
                by_ending[item.features.part_of_speech, item.lemma[start:]].add(item.lemma)
        made: dict[tuple[str, str], tuple[Item, Alignment]] = {}
        for item, alignment in zip(lesson.train, lesson.alignments, strict=True):
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
        return self.added(lesson, chosen)
