"""An aligner that pairs characters from the right, for languages with prefixes."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from reinflect.align.pairs import EPSILON, Alignment, Progress, StringPair


class Mirror(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pairs the last character with the last, and so on; its settings are its fields."""

    cached: ClassVar[bool] = False
    shift: int = 0
    """Characters of the form that are left out of the pairing, at its end."""

    @property
    def signature(self) -> str:
        return f"mirror|shift:{self.shift}"

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        made = [self._pair(lemma, form) for lemma, form in pairs]
        if progress:
            progress(len(pairs), len(pairs))
        return made

    def align_more(
        self, _pairs: Sequence[StringPair], _alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        return self.align(more)  # it learns nothing from other pairs

    def _pair(self, lemma: str, form: str) -> Alignment:
        kept = max(0, len(form) - self.shift)
        longer = max(len(lemma), kept)
        left = [EPSILON] * (longer - len(lemma)) + list(lemma)
        right = [EPSILON] * (longer - kept) + list(form[:kept])
        return (*zip(left, right, strict=True), *((EPSILON, character) for character in form[kept:]))
