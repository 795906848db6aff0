"""Augmentations: functions from a lesson to one with more to learn from.

An augmentation is a frozen `msgspec.Struct` whose fields are its settings. Other packages bring theirs by entry points
in the group `reinflect.augmentations`.
"""

from typing import TYPE_CHECKING, ClassVar, Protocol

from reinflect.registry import Registry

if TYPE_CHECKING:
    from reinflect.learn.lesson import Lesson


class Augmentation(Protocol):
    """Makes a lesson with further phases of an aligned one; the real items, dev items and inventory stay."""

    name: ClassVar[str]
    """Part of the digest of every model that learns from it: it never changes."""
    per_seed: ClassVar[bool]
    """Whether every seed learns from items of its own; else all seeds share one lesson, whose seed is 0."""

    def __call__(self, lesson: "Lesson", seed: int, /) -> "Lesson": ...


AUGMENTATIONS: Registry[type[Augmentation]] = Registry(
    "augmentation", {"made-up": "reinflect.learn.augmentation.made_up:MadeUp"}
)
