"""From a user's items to packs: plain data that says what is trained together, wherever that happens to be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reinflect.alignment import make_aligner
from reinflect.alignment.cache import aligned
from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item
from reinflect.ensembles.vote import UNALIGNED
from reinflect.errors import InputError
from reinflect.settings import Settings
from reinflect.systems.layers.examples import Examples
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.randomness import key
from reinflect.systems.system import SYSTEMS
from reinflect.training.fleet import Task

FOLDS = 5
FEWEST_ITEMS = 10
"""For training without dev items, some of which are held out."""
SEEDS_A_PACK = 3
"""How many seeds share a fleet on the CPU. With German low, batch 2, one thread, an update of 1, 2, 3 or 5 models took
3.6, 2.7, 2.4, 2.3 ms a model (HACM) and 4.7, 3.7, 3.3, 3.0 ms (HAEM): beyond three there is little to gain, and small
packs spread better over cores."""


@dataclass(frozen=True)
class Split:
    """What one or several seeds train on and are scored on."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    asked: tuple[Item, ...] = ()
    """What trained models are to inflect besides, such as covered test items; no part of the training."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """A split whose training items are aligned; seeds that learn the same share one object."""

    alignment: str
    split: Split
    alignments: tuple[Alignment, ...]
    label: str = ""
    """Where there are several, whose items these are, such as `german-low`."""


@dataclass(frozen=True)
class Model:
    """A model to be trained."""

    lesson: Lesson
    seed: int
    settings: Settings


def stem(name: str, mark: str) -> str:
    """What the files of a pack are called in the state of a run."""
    return f"{mark}-{name}" if mark else name


@dataclass(frozen=True, eq=False)
class Pack:
    """Models that train together. Plain data, so that any process can be given it."""

    name: str
    """Such as `haem-smart-1-3`: unique among the packs of a run, and fit for a file's name."""
    system: str
    models: tuple[Model, ...]
    bytes: int = 0
    """About how much of a GPU's memory it takes, where that was reckoned."""
    mark: str = ""
    """Tells it from packs of the same name in other runs, where several runs keep their state in one place."""

    @property
    def stem(self) -> str:
        return stem(self.name, self.mark)

    @property
    def epochs(self) -> int:
        """The most there can be."""
        return max(model.settings.epochs for model in self.models)

    def tasks(self) -> list[tuple[Task, int]]:
        """The same as arrays; models with the same lesson and settings share a task.

        Tasks whose settings differ, but not in what becomes of the items, share their arrays.
        """
        made: dict[tuple[int, Settings], Task] = {}
        arrays: dict[tuple[int, str, float], Task] = {}
        for model in self.models:
            lesson, settings = model.lesson, model.settings
            if (id(lesson), settings) not in made:
                seen_as = id(lesson), settings.features, settings.feature_scale
                if seen_as not in arrays:
                    arrays[seen_as] = _task(lesson, self.system, settings)
                made[id(lesson), settings] = replace(arrays[seen_as], settings=settings)
        return [(made[id(model.lesson), model.settings], model.seed) for model in self.models]


def _task(lesson: Lesson, name: str, settings: Settings) -> Task:
    system, inventory = SYSTEMS[name], Inventory.of(lesson.split.train)
    return Task(
        name="-".join(filter(None, (lesson.label, name, lesson.alignment))),
        system=system,
        settings=settings,
        alignment=lesson.alignment,
        inventory=inventory,
        train=Examples.to_learn(system, lesson.split.train, lesson.alignments, inventory, settings),
        dev=Examples.to_inflect(system, lesson.split.dev, inventory, settings),
    )


def fixed_split(train: Sequence[Item], dev: Sequence[Item], seeds: int) -> list[Split]:
    """All seeds train on the same items. One split object, so that alignments and arrays are made once."""
    return [Split(tuple(train), tuple(dev))] * seeds


def folded_splits(items: Sequence[Item], seeds: int, path: Path | str) -> list[Split]:
    """Each seed holds out a fifth of its own; items of one cell stay together, so that no answer is given away.

    The first five seeds hold out everything once between them, the next five do so in another division, and so on.
    """
    cells = sorted({_cell(item) for item in items})
    if len(cells) < FEWEST_ITEMS:
        raise InputError(
            f"found {len(cells)} different item{'s'[: len(cells) != 1]}, too few to hold some out",
            f"give at least {FEWEST_ITEMS}, or a dev file with --dev",
            path=path,
        )
    splits = []
    for seed in range(seeds):
        division, fold = divmod(seed, FOLDS)
        order = np.random.Generator(np.random.PCG64(key("folds", division))).permutation(len(cells))
        held = {cells[cell] for cell in order[fold::FOLDS].tolist()}
        splits.append(
            Split(
                tuple(item for item in items if _cell(item) not in held),
                tuple(item for item in items if _cell(item) in held),
            )
        )
    return splits


def _cell(item: Item) -> tuple[str, tuple[str, ...]]:
    """What is one question, however its features are ordered."""
    return item.lemma, item.features.cell


def methods_of(systems: Sequence[str], alignments: Sequence[str]) -> list[str]:
    """What these systems learn from, if those that need alignments are to have these."""
    aligned = {SYSTEMS[system].aligned for system in systems}
    return [*(alignments if True in aligned else ()), *([UNALIGNED] if False in aligned else ())]


def fitting(learnt: Mapping[str, Sequence[Lesson]], system: str) -> dict[str, Sequence[Lesson]]:
    """Those lessons that a system learns from."""
    return {method: own for method, own in learnt.items() if (method != UNALIGNED) == SYSTEMS[system].aligned}


AlignmentProgress = Callable[[str, int, int], None]
"""Called with what is being aligned, and how many sweeps of how many are done."""


def lessons(
    splits: Sequence[Split],
    alignments: Sequence[str],
    *,
    sweeps: int = 150,
    cache: Path | None = None,
    progress: AlignmentProgress | None = None,
) -> dict[str, list[Lesson]]:
    """For each alignment method, the lesson of each seed. Every split is aligned once."""
    made: dict[tuple[int, str], Lesson] = {}
    for method in alignments:
        if method == UNALIGNED:
            made |= {(id(split), method): Lesson(method, split, ((),) * len(split.train)) for split in splits}
            continue
        aligner = make_aligner(method, **({"sweeps": sweeps} if method == "smart" else {}))
        shown = None if progress is None else lambda done, total, method=method: progress(method, done, total)
        for split in splits:
            if (id(split), method) not in made:
                pairs = [(item.lemma, item.form) for item in split.train]
                made[id(split), method] = Lesson(method, split, tuple(aligned(aligner, pairs, cache, shown)))
    return {method: [made[id(split), method] for split in splits] for method in alignments}


def models(
    learnt: Mapping[str, Sequence[Lesson]], system: str, settings: Settings, *, first_seed: int = 1
) -> list[Model]:
    """All models of a system."""
    return [
        Model(lesson, seed, settings)
        for own in fitting(learnt, system).values()
        for seed, lesson in enumerate(own, start=first_seed)
    ]


def packs(
    learnt: Mapping[str, Sequence[Lesson]],
    systems: Sequence[str],
    settings: Mapping[str, Settings],
    *,
    first_seed: int = 1,
) -> list[Pack]:
    """The packs of a run on the CPU; `training.packing` has those for a GPU.

    What is in a pack depends on the work alone, never on how many processes share it: the arithmetic of a model may
    differ in its last bits with its neighbours, and a run must not.
    """
    made = []
    for system in systems:
        for method, own in fitting(learnt, system).items():
            # The larger parts come first: what is left for the end is small.
            for part in np.array_split(np.arange(len(own)), -(-len(own) // SEEDS_A_PACK)):
                seeds = [int(number) + first_seed for number in part]
                together = tuple(Model(own[seed - first_seed], seed, settings[system]) for seed in seeds)
                name = f"{system}-{method}-{seeds[0]}" + (f"-{seeds[-1]}" if len(seeds) > 1 else "")
                made.append(Pack(name, system, together))
    return made


def tasks(
    splits: Sequence[Split],
    systems: Sequence[str],
    alignments: Sequence[str],
    settings: Mapping[str, Settings],
    *,
    sweeps: int = 150,
    cache: Path | None = None,
) -> dict[str, list[tuple[Task, int]]]:
    """For each system, the tasks of one fleet with their seeds 1, 2, …"""
    learnt = lessons(splits, methods_of(systems, alignments), sweeps=sweeps, cache=cache)
    return {system: Pack(system, system, tuple(models(learnt, system, settings[system]))).tasks() for system in systems}
