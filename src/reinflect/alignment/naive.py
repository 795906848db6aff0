"""The naive alignment: position by position from the left."""

from collections.abc import Sequence
from itertools import zip_longest

from reinflect.alignment.pairs import EPSILON, Alignment, Progress, StringPair


class Naive:
    """Pairs the first character with the first, and so on; the tail of the longer string pairs with nothing."""

    signature = "naive"

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        alignments = [tuple(zip_longest(lemma, form, fillvalue=EPSILON)) for lemma, form in pairs]
        if progress:
            progress(len(pairs), len(pairs))
        return alignments
