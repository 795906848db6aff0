"""The naive alignment: position by position from the left."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

import msgspec

from reinflect.align.pairs import EPSILON, Alignment, Progress, StringPair


class Naive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pairs the characters at equal positions; the tail of the longer string pairs with nothing."""

    cached: ClassVar[bool] = False
    signature: ClassVar[str] = "naive"

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        alignments = [tuple(zip_longest(lemma, form, fillvalue=EPSILON)) for lemma, form in pairs]
        if progress:
            progress(len(pairs), len(pairs))
        return alignments

    def align_more(
        self, _pairs: Sequence[StringPair], _alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        return self.align(more)
