"""A lesson: what a model learns from and is scored on. A spec: a model to be trained."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from reinflect.align import ALIGNERS
from reinflect.align.cache import aligned
from reinflect.align.pairs import Aligner, Alignment
from reinflect.chance import key
from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.ensemble.member import UNALIGNED, TrainedModel, kind_of
from reinflect.errors import InputError
from reinflect.learn.augmentation import AUGMENTATIONS, Augmentation
from reinflect.settings import Settings, not_default
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory

FOLDS = 5
FEWEST_ITEMS = 10
"""The fewest different items to train on without dev items, because some are held out."""


@dataclass(frozen=True)
class Phase:
    """Items to learn from before the real ones."""

    items: tuple[Item, ...]
    alignments: tuple[Alignment, ...]
    epochs: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ in this phase; see `settings.OF_EACH_MODEL`."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model learns from. Plain data, which any process can be sent; seeds share it if they can."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    asked: tuple[Item, ...] = ()
    """Further items that trained models inflect, such as covered test items."""
    language: str = ""
    setting: str = ""
    alignment: str = UNALIGNED
    recipe: str = ""
    """The signatures of the aligner and the augmentations."""
    fold: int | None = None
    """Which fold of the user's items is `dev`; None if the user gave dev items."""
    alignments: tuple[Alignment, ...] = ()
    """One for each training item, once the lesson is prepared."""
    augmentations: tuple[str, ...] = ()
    """The names of those that make its phases."""
    phases: tuple[Phase, ...] = ()
    """Made-up items to learn from before the real ones."""

    @property
    def label(self) -> str:
        """Language and setting, such as `german-low`; empty if there is only one lesson."""
        return "-".join(filter(None, (self.language, self.setting)))

    @cached_property
    def inventory(self) -> Inventory:
        """Of the real training items: augmentation adds no character and no feature."""
        return Inventory.of(self.train)

    @cached_property
    def digest(self) -> str:
        """Equal for two lessons only if they have the same content."""
        parts = [self.language, self.setting, self.alignment, self.recipe, self.fold]
        mark = hashlib.sha256(json.dumps(parts).encode())
        for items in (self.train, self.dev, self.asked):
            lines = "".join(f"{item.lemma}\t{item.form}\t{item.features.spelling}\n" for item in items)
            mark.update(f"{len(items)}\n{lines}".encode("utf-8", "surrogatepass"))
        return mark.hexdigest()


@dataclass(frozen=True, eq=False)
class ModelSpec:
    """A model to be trained."""

    lesson: Lesson
    system: str
    settings: Settings
    seed: int
    start: TrainedModel | None = None
    """A model whose parameters it starts from, in all rows of the same names."""
    variant: str = ""
    """See `TrainedModel`; no part of the digest."""

    @cached_property
    def digest(self) -> str:
        """The key of everything stored for this model: lesson, system, settings, seed and start."""
        parts = [self.lesson.digest, self.system, not_default(self.settings), self.seed]
        if self.start is not None:
            parts.append(self.start.fingerprint)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def kind(self) -> str:
        return kind_of(self.system, self.lesson.alignment, self.variant)

    @property
    def name(self) -> str:
        """Such as `haem-naive-1`, or `german-low-haem-naive-1`."""
        return "-".join(filter(None, (self.lesson.label, self.kind, str(self.seed))))


def fold_split(items: Sequence[Item], fold: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """The items without a fold, and the fold: a fifth of the cells, with all forms of a cell on one side.

    Folds 0 to 4 hold out every cell once; folds 5 to 9 do so in another division, and so on.
    """
    cells = sorted({question(item) for item in items})
    division, place = divmod(fold, FOLDS)
    order = np.random.Generator(np.random.PCG64(key("folds", division))).permutation(len(cells))
    held = {cells[cell] for cell in order[place::FOLDS].tolist()}
    return (
        tuple(item for item in items if question(item) not in held),
        tuple(item for item in items if question(item) in held),
    )


def plain_lessons(
    train: Sequence[Item], dev: Sequence[Item] | None, seeds: int, path: Path | str = "training data"
) -> list[Lesson]:
    """The lesson of each seed, not aligned: one for all, or without dev items one for each fold."""
    if dev is not None:
        return [Lesson(tuple(train), tuple(dev))] * seeds
    cells = len({question(item) for item in train})
    if cells < FEWEST_ITEMS:
        raise InputError(
            f"found {cells} different item{'s'[: cells != 1]}, too few to hold some out",
            f"give at least {FEWEST_ITEMS}, or a dev file with --dev",
            path=path,
        )
    return [Lesson(*fold_split(train, fold), fold=fold) for fold in range(seeds)]


@dataclass(frozen=True)
class Preparation:
    """The aligners and augmentations of lessons, made from their settings."""

    aligners: Mapping[str, Aligner]
    augmentations: Mapping[str, Augmentation] = field(default_factory=dict)

    @classmethod
    def of(
        cls, settings: Mapping[str, msgspec.Struct], alignments: Sequence[str], augmentations: Sequence[str] = ()
    ) -> "Preparation":
        """`settings` may have structs of aligners and augmentations by name; all others have their defaults."""
        return cls(
            {name: settings.get(name) or ALIGNERS[name]() for name in alignments},  # type: ignore[misc]
            {name: settings.get(name) or AUGMENTATIONS[name]() for name in augmentations},  # type: ignore[misc]
        )

    def planned(
        self, lesson: Lesson, alignment: str, seed: int = 0, augmentations: Sequence[str] | None = None
    ) -> Lesson:
        """A lesson with the recipe of its preparation, and so with its digest; by all augmentations, or these."""
        names = tuple(self.augmentations if augmentations is None else augmentations)
        parts = [] if alignment == UNALIGNED else [self.aligners[alignment].signature]
        for own in (self.augmentations[name] for name in names):
            parts.append(f"{type(own).name}:{msgspec.json.encode(own).decode()}")
        if self.per_seed(names):
            parts.append(str(seed))
        return replace(lesson, alignment=alignment, augmentations=names, recipe="|".join(parts))

    def per_seed(self, augmentations: Iterable[str] | None = None) -> bool:
        names = self.augmentations if augmentations is None else augmentations
        return any(self.augmentations[name].per_seed for name in names)

    def prepared(
        self,
        lesson: Lesson,
        seed: int = 0,
        *,
        cache: Path | None = None,
        show: Callable[[str, int, int], None] | None = None,
    ) -> Lesson:
        """A planned lesson, aligned and augmented; its digest stays the same. `show` receives an aligner's progress."""
        aligner = None if lesson.alignment == UNALIGNED else self.aligners[lesson.alignment]
        pairs = [(item.lemma, item.form) for item in lesson.train]
        progress = show and partial(show, f"aligning ({lesson.alignment})")
        made = ((),) * len(pairs) if aligner is None else tuple(aligned(aligner, pairs, cache, progress))
        lesson = replace(lesson, alignments=made)
        for augmentation in (self.augmentations[name] for name in lesson.augmentations):
            lesson = augmentation(lesson, seed if augmentation.per_seed else 0)
        return lesson


def alignments_of(system: str, alignments: Sequence[str]) -> list[str]:
    """The alignments a system learns from: these, or none."""
    return list(alignments) if SYSTEMS[system].aligned else [UNALIGNED]
