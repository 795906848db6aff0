"""A lesson: what a model learns from and is scored on. A spec: a model to be trained."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec
import numpy as np

from reinflect.align.pairs import Aligner, Alignment, aligned
from reinflect.data.corrections import Question, question
from reinflect.data.items import Item
from reinflect.ensemble.strategies import Member
from reinflect.errors import InputError
from reinflect.settings import Settings, key, not_default
from reinflect.systems.kind import UNALIGNED, Kind, Plan
from reinflect.systems.symbols import Inventory

FOLDS = 5
FEWEST_ITEMS = 10
"""The fewest different items to train on without dev items, because some are held out."""
LONGEST = 60
"""Characters of what a start adds to the name of a kind, which is part of file names."""


@dataclass(frozen=True)
class Phase:
    """Items to learn from before the real ones."""

    items: tuple[Item, ...]
    alignments: tuple[Alignment, ...]
    epochs: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ in this phase; see `settings.OF_EACH_MODEL`."""


class Augmentation(Protocol):
    """Makes a lesson with further phases of an aligned one; the real items, dev items and inventory stay.

    It is a frozen `msgspec.Struct` whose fields are its settings. Other packages bring theirs by entry points in the
    group `reinflect.augmentations`.
    """

    name: ClassVar[str]
    """Part of the digest of every model that learns from it: it never changes."""
    per_seed: ClassVar[bool]
    """Whether every seed has items of its own; else all share one lesson, whose seed is 0."""

    def __call__(self, lesson: "Lesson", seed: int, /) -> "Lesson": ...


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model learns from: plain data, which seeds share if they can."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    asked: tuple[Item, ...] = ()
    """Further items that trained models inflect, such as covered test items."""
    language: str = ""
    setting: str = ""
    alignment: str = UNALIGNED
    recipe: str = ""
    """The signatures of the aligner and the augmentations, with the seed if each seed has a lesson of its own."""
    fold: int | None = None
    """The fold of the user's items that is `dev`; None if the user gave dev items."""
    aligner: Aligner | None = None
    augmentations: tuple[Augmentation, ...] = ()
    seed: int = 0
    """Of the augmentations."""
    alignments: tuple[Alignment, ...] = ()
    """One for each training item, once the lesson is prepared."""
    phases: tuple[Phase, ...] = ()
    """Made-up items to learn from before the real ones, once the lesson is prepared."""

    @property
    def label(self) -> str:
        """Such as `german-low`; empty if there is only one lesson."""
        return "-".join(filter(None, (self.language, self.setting)))

    @cached_property
    def inventory(self) -> Inventory:
        """Of the real training items: augmentation adds no character and no feature."""
        return Inventory.of(self.train)

    @cached_property
    def digest(self) -> str:
        """Equal for two lessons only if they have the same content; preparing a lesson does not change it."""
        parts = [self.language, self.setting, self.alignment, self.recipe, self.fold]
        digest = hashlib.sha256(json.dumps(parts).encode())
        for items in (self.train, self.dev, self.asked):
            lines = "".join(f"{item.lemma}\t{item.form}\t{item.features.spelling}\n" for item in items)
            digest.update(f"{len(items)}\n{lines}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def for_kind(self, kind: Kind, settings: Mapping[str, Any], seed: int) -> "Lesson":
        """This lesson as a kind of model learns from it, by the aligners and augmentations of `settings`."""
        aligner: Aligner | None = None if kind.alignment == UNALIGNED else settings[kind.alignment]
        augmentations: list[Augmentation] = [settings[name] for name in kind.augment]
        recipe = [aligner.signature] if aligner else []
        recipe += [f"{each.name}:{msgspec.json.encode(each).decode()}" for each in augmentations]
        per_seed = any(each.per_seed for each in augmentations)
        return replace(
            self,
            alignment=kind.alignment,
            recipe="|".join([*recipe, *([str(seed)] if per_seed else [])]),
            aligner=aligner,
            augmentations=tuple(augmentations),
            seed=seed if per_seed else 0,
        )

    def prepared(self, cache: Path | None = None, show: Callable[[str, int, int], None] | None = None) -> "Lesson":
        """This lesson, aligned and augmented; `show` receives the aligner's progress."""
        pairs = [(item.lemma, item.form) for item in self.train]
        progress = show and partial(show, f"aligning ({self.alignment})")
        alignments = aligned(self.aligner, pairs, cache, progress) if self.aligner else [()] * len(pairs)
        lesson = replace(self, alignments=tuple(alignments), aligner=None, augmentations=())
        for augmentation in self.augmentations:
            lesson = augmentation(lesson, self.seed if augmentation.per_seed else 0)
        return lesson


@dataclass(frozen=True, eq=False)
class Start:
    """A model that others start from."""

    name: str
    members: tuple[Member, ...]
    """The best first."""
    seen: frozenset[Question] = frozenset()
    """What it is known to have learnt from."""

    def member(self, system: str, alignment: str | None = None) -> Member | None:
        """The best member of a system: if possible, of those that learnt from the alignment."""
        members = [member for member in self.members if member.system == system]
        return next((member for member in members if member.alignment == alignment), members[0] if members else None)


@dataclass(frozen=True, eq=False)
class ModelSpec:
    """A model to be trained."""

    lesson: Lesson
    kind: Kind
    settings: Settings
    seed: int
    start: Member | None = None
    """A model whose parameters it starts from, in all rows of the same names."""

    @cached_property
    def digest(self) -> str:
        """The key of everything stored for this model: lesson, system, settings, seed and start."""
        parts = [self.lesson.digest, self.system, not_default(self.settings), self.seed]
        if self.start is not None:
            parts.append(self.start.fingerprint)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def system(self) -> str:
        return self.kind.system

    @property
    def name(self) -> str:
        """Such as `haem-naive-1`, or `german-low-haem-naive-1`."""
        return "-".join(filter(None, (self.lesson.label, str(self.kind), str(self.seed))))


def specs(plan: Plan, lessons: Sequence[Lesson], starts: Sequence[Start] = ()) -> list[ModelSpec]:
    """All models of a plan. `lessons` has one for each seed, or one for all.

    If some starts have models of its system, each kind has a second one beside it, whose seeds take turns with them.
    """
    models: list[ModelSpec] = []
    shared: dict[tuple[object, ...], Lesson] = {}
    for kind, seeds in plan.kinds.items():
        settings, usable = plan.settings_for(kind), [start for start in starts if start.member(kind.system)]
        for variant, chosen in {kind: [], started(kind, usable): usable}.items():
            for number in range(seeds):
                seed = plan.first_seed + number
                lesson = lessons[number % len(lessons)].for_kind(kind, plan.settings, seed)
                lesson = shared.setdefault((number % len(lessons), lesson.alignment, lesson.recipe), lesson)
                start = chosen[number % len(chosen)].member(kind.system, kind.alignment) if chosen else None
                models.append(ModelSpec(lesson, variant, settings, seed, start))
    return models


def started(kind: Kind, starts: Sequence[Start]) -> Kind:
    """The kind of models with these starts: `haem-smart+from-polish+slovak`."""
    label = f"from-{'+'.join(start.name for start in starts)}"[:LONGEST] if starts else ""
    return msgspec.structs.replace(kind, label="+".join(filter(None, (kind.label, label))))


def fold_split(items: Sequence[Item], fold: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """The items without a fold, and the fold: a fifth of the cells, with all forms of a cell on one side.

    Folds 0 to 4 hold out every cell once; folds 5 to 9 do so in another division, and so on.
    """
    cells = sorted({question(item) for item in items})
    division, part = divmod(fold, FOLDS)
    order = np.random.Generator(np.random.PCG64(key("folds", division))).permutation(len(cells))
    held = {cells[cell] for cell in order[part::FOLDS].tolist()}
    train, dev = (tuple(item for item in items if (question(item) in held) == side) for side in (False, True))
    return train, dev


def lessons_of(
    train: Sequence[Item], dev: Sequence[Item] | None, seeds: int, path: Path | str = "training data"
) -> list[Lesson]:
    """One lesson for all seeds; without dev items one for each seed, which holds out a fold."""
    if dev is not None:
        return [Lesson(tuple(train), tuple(dev))]
    cells = len({question(item) for item in train})
    if cells < FEWEST_ITEMS:
        raise InputError(
            f"found {cells} different item{'s'[: cells != 1]}, too few to hold some out",
            f"give at least {FEWEST_ITEMS}, or a dev file with --dev",
            path=path,
        )
    return [Lesson(*fold_split(train, fold), fold=fold) for fold in range(seeds)]
