"""An augmentation that lets models learn from the training items twice."""

from dataclasses import replace
from typing import ClassVar

import msgspec

from reinflect.learn.lesson import Lesson, Phase


class Doubled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A first phase of a few epochs, with the same items again."""

    name: ClassVar[str] = "doubled"
    per_seed: ClassVar[bool] = False
    epochs: int = 1

    def __call__(self, lesson: Lesson, _seed: int) -> Lesson:
        again = Phase(lesson.train, lesson.alignments, self.epochs)
        return replace(lesson, phases=(again, *lesson.phases))
