"""Packs: which models train together.

On a GPU these are models with sequences of similar length, as many as its memory holds: all sequences of an update are
padded to its longest, so models with long words slow the others down. On a CPU a pack has a few seeds of one kind.
"""

import hashlib
import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect import __version__
from reinflect.data.items import grouped
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.learn.optimiser import epoch_batches
from reinflect.learn.scoring import places_at_once
from reinflect.settings import alike
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import expected_shapes, row_length
from reinflect.systems.system import System

MOST_PADDING = 0.25
SHARE_OF_MEMORY = 0.8
"""Of a GPU's whole memory, not of what is free now, so that packs are the same when training resumes. The rest is for
the driver, other programs, and gaps between tensors."""
PARTS_OF_A_GPU = 3
"""A pack may take one part of the memory: enough to keep the GPU busy, with room for other packs. The number does not
depend on how many packs train at once."""
BYTES = 4
COPIES_OF_PARAMETERS = 5
"""Values, gradients, two numbers of the optimiser, best values."""
COPIES_OF_STATES = 2
"""The output of a map at an action, and its gradient."""
COPIES_OF_PAIRS = 4
ARRAYS_AN_ITEM = 10
"""HAEM has the most: ten tapes, none longer than an item's actions."""
SEEDS_A_PACK, MODELS_A_PACK = 3, 12
"""Models in a fleet on the CPU: of one lesson alone, spread over cores; of an experiment. With German low, batch 2, one
thread, an update of 1, 2, 3 or 5 models took 3.6, 2.7, 2.4, 2.3 ms a model (HACM) and 4.7, 3.7, 3.3, 3.0 ms (HAEM)."""
ITEMS_AN_UPDATE = 300
"""The calls of an update take a GPU as long as this number of items, measured on the packs of the paper's grid."""
Measures = Callable[[Lesson], "_Measure"]


@dataclass(frozen=True, eq=False)
class Pack:
    """Models that train together. Plain data, which any process can be sent."""

    name: str
    """Such as `haem-smart-1`."""
    specs: tuple[ModelSpec, ...]
    bytes: int = 0
    """The estimated GPU memory it takes; 0 on a CPU."""

    @property
    def system(self) -> str:
        return self.specs[0].system

    @property
    def stem(self) -> str:
        return stem_of(self.name, [spec.digest for spec in self.specs])

    @property
    def fingerprint(self) -> str:
        """Identifies checkpoints: these models in this order, trained by this version."""
        parts = [__version__, *(spec.digest for spec in self.specs)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def epochs(self) -> int:
        """The largest number of epochs of any model."""
        return max(spec.settings.epochs + sum(phase.epochs for phase in spec.lesson.phases) for spec in self.specs)

    def halves(self) -> "list[Pack]":
        """Two packs in place of one that is too large."""
        middle = -(-len(self.specs) // 2)
        parts = {f"{self.name}a": self.specs[:middle], f"{self.name}b": self.specs[middle:]}
        return [replace(self, name=name, specs=specs, bytes=self.bytes // 2) for name, specs in parts.items()]


def stem_of(name: str, keys: Iterable[str]) -> str:
    """The name of a pack's files. It includes a digest, because packs of one name may hold different models."""
    return f"{name}.{hashlib.sha256(''.join(sorted(keys)).encode()).hexdigest()[:12]}"


def unfinished_groups(specs: Sequence[ModelSpec], done: Container[str], device: str) -> list[ModelSpec]:
    """The groups of specs of which some model is not trained.

    They stay whole, so that the contents of a pack do not depend on what an earlier command trained.
    """
    unfinished = {_group(spec, device) for spec in specs if spec.digest not in done}
    return [spec for spec in specs if _group(spec, device) in unfinished]


def _group(spec: ModelSpec, device: str) -> str:
    """The name of the packs that a spec may be in."""
    parts = (spec.lesson.label, str(spec.kind)) if device == "cpu" else (spec.system, spec.lesson.setting)
    return "-".join(filter(None, parts))


def pack_specs(specs: Sequence[ModelSpec], device: str = "cpu", budget: int | None = None) -> list[Pack]:
    """The packs of these specs; `budget` is the memory of a GPU that a pack may take.

    They do not depend on the number of workers: a model's last bits may differ with the other models of its pack.
    """
    groups = grouped(specs, lambda spec: _group(spec, device))
    if device != "cpu":
        packs = [pack for name, group in groups.items() for pack in pack_for_gpu(group, budget=budget, name=name)]
        # The longest first, so that the processes of a GPU end together.
        return sorted(packs, key=lambda pack: weight(pack, device), reverse=True)
    packs = []
    for name, group in groups.items():
        most = MODELS_A_PACK if group[0].lesson.label else SEEDS_A_PACK
        kinds = grouped(group, lambda spec: alike(spec.settings)).values()
        parts = [part for kind in kinds for part in _split(kind, -(-len(kind) // most))]
        packs += [
            Pack(name if len(parts) == 1 else f"{name}-{number}", tuple(part))
            for number, part in enumerate(parts, start=1)
        ]
    return packs


def _split(specs: Sequence[ModelSpec], parts: int) -> list[Sequence[ModelSpec]]:
    """Parts of nearly the same size, the larger ones first."""
    return [[specs[number] for number in part] for part in np.array_split(np.arange(len(specs)), parts)]


def weight(pack: Pack, device: str) -> float:
    """The relative duration of a pack: its items, and on a GPU the cost of each update."""
    items = sum(
        len(spec.lesson.train) * spec.settings.epochs
        + sum(len(phase.items) * phase.epochs for phase in spec.lesson.phases)
        for spec in pack.specs
    )
    if device == "cpu":
        return float(items)
    updates = max(-(-len(spec.lesson.train) // spec.settings.batch) * spec.settings.epochs for spec in pack.specs)
    return float(items + ITEMS_AN_UPDATE * updates)


def pack_for_gpu(specs: Sequence[ModelSpec], *, budget: int | None = None, name: str = "") -> list[Pack]:
    """Packs of specs of one system, each within a budget of bytes and with little padding.

    Models come by the number of their updates, then by the length of their sequences; a pack ends where the next
    lesson would bring too much padding, and is divided until its parts fit. The packs do not depend on the order of the
    specs. A model that needs more than the budget has its own pack. The default budget is the memory of the GPU.
    """
    budget = memory_of_the_gpu() if budget is None else budget
    measures = measures_for(specs[0].system)
    ranked = sorted(specs, key=lambda spec: measures(spec.lesson).rank(spec))
    kinds = grouped(ranked, lambda spec: alike(spec.settings))
    parts = [
        part
        for kind in sorted(kinds, key=msgspec.json.encode)
        for run in _runs(kinds[kind], measures)
        for part in _fitting(run, measures, budget)
    ]
    return [
        Pack(f"{name or specs[0].system}-{number}", tuple(part), needs(part, measures).bytes)
        for number, part in enumerate(parts, start=1)
    ]


def _runs(specs: Sequence[ModelSpec], measures: Measures) -> Iterator[list[ModelSpec]]:
    """Sorted specs in runs of whole lessons with little padding: no more than the bound, or than the run had before."""
    run: list[ModelSpec] = []
    for lesson in grouped(specs, lambda spec: spec.lesson).values():
        if run and padding([*run, *lesson], measures) > max(MOST_PADDING, padding(run, measures)):
            yield run
            run = []
        run += lesson
    yield run


def _fitting(specs: Sequence[ModelSpec], measures: Measures, budget: int | None) -> list[Sequence[ModelSpec]]:
    """The specs in as many equal parts as it takes until each fits."""
    for parts in range(1, len(specs)):
        division = _split(specs, parts)
        if budget is None or all(needs(part, measures).bytes <= budget for part in division):
            return division
    return _split(specs, len(specs))


def padding(specs: Sequence[ModelSpec], measures: Measures | None = None) -> float:
    """The share of an epoch's places (updates × models × batch × longest of the update) that have no action."""
    measures = measures or measures_for(specs[0].system)
    each = [measures(spec.lesson).longest_each(spec.settings.batch, spec.seed) for spec in specs]
    longest = np.zeros(max(map(len, each)), dtype=np.int64)
    for lengths in each:
        np.maximum(longest[: len(lengths)], lengths, out=longest[: len(lengths)])
    actions = sum(int(measures(spec.lesson).lengths.sum()) for spec in specs)
    return 1 - actions / (int(longest.sum()) * len(specs) * specs[0].settings.batch)


@dataclass(frozen=True)
class Needs:
    """The estimated bytes of GPU memory that a pack takes."""

    parameters: int
    update: int
    """What one update keeps for its gradients."""
    decoding: int
    """A block of dev items. In addition to an update, whose memory cannot always be reused."""
    items: int
    """All items as arrays."""

    @property
    def bytes(self) -> int:
        return self.parameters + self.update + self.decoding + self.items


@dataclass(frozen=True, eq=False)
class _Measure:
    """What packing needs to know about a lesson, as a system learns from it."""

    system: System
    lesson: Lesson
    _longest: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The actions of each item."""
        pairs = zip(self.lesson.train, self.lesson.alignments, strict=True)
        return np.array([self.system.bound(*pair) for pair in pairs], dtype=np.int64)

    @cached_property
    def actions(self) -> int:
        """The most actions of any item, in any phase."""
        phases = self.lesson.phases
        pairs = (pair for phase in phases for pair in zip(phase.items, phase.alignments, strict=True))
        return max(int(self.lengths.max()), *(self.system.bound(*pair) for pair in pairs), 0)

    @cached_property
    def source(self) -> int:
        """The most symbols the encoder reads, or a few more: a lemma with its ends, and features if it reads them."""
        items = (*self.lesson.train, *self.lesson.dev, *self.lesson.asked)
        return max(len(item.lemma) + 2 + self.system.reads_features * len(item.features.atoms) for item in items)

    @cached_property
    def content(self) -> tuple[str, ...]:
        return self.lesson.label, self.lesson.alignment, "\n".join(item.form for item in self.lesson.train)

    def longest_each(self, batch: int, seed: int) -> NDArray[np.int64]:
        """The longest sequence of each update in the first epoch; later epochs have the same in another order."""
        if (batch, seed) not in self._longest:
            items = epoch_batches(self.lengths, batch, seed, 0)
            self._longest[batch, seed] = np.where(items >= 0, self.lengths[items], 0).max(axis=1)
        return self._longest[batch, seed]

    def rank(self, spec: ModelSpec) -> tuple[object, ...]:
        """Orders specs: about as many updates together, and of these the ones with shorter sequences first."""
        updates = -(-len(spec.lesson.train) // spec.settings.batch)
        settings = msgspec.json.encode(spec.settings)
        return round(2 * math.log2(updates)), float(self.lengths.mean()), *self.content, spec.seed, settings


def measures_for(system: str) -> Measures:
    """The measures of lessons, each made once."""
    return cache(partial(_Measure, SYSTEMS[system]))


def needs(specs: Sequence[ModelSpec], measures: Measures | None = None) -> Needs:
    measures = measures or measures_for(specs[0].system)
    lessons = [measures(lesson) for lesson in {spec.lesson for spec in specs}]
    system, settings = SYSTEMS[specs[0].system], specs[0].settings
    each = [system.sizes(lesson.lesson.inventory, settings) for lesson in lessons]
    shapes, sizes = system.shapes(settings), {size: max(row[size] for row in each) for size in each[0]}
    resolved = expected_shapes(shapes, sizes)
    maps = {name: shape for name, shape in resolved.items() if len(shape) == 2 and shapes[name].start != "embedding"}
    actions, source = max(lesson.actions for lesson in lessons), max(lesson.source for lesson in lessons)
    # The output of each map at every action of the longest batch; of a recurrent map, about as many gates and states.
    update = COPIES_OF_STATES * settings.batch * max(actions, source) * sum(shape[-1] for shape in maps.values())
    update += COPIES_OF_PAIRS * settings.batch * actions * source * system.pair_numbers(settings)
    update += sum(math.prod(shape) for shape in maps.values())  # weights in other precision, or times a norm's gain
    inflected = max(len(lesson.lesson.dev) + len(lesson.lesson.asked) for lesson in lessons)
    phases = max(sum(len(phase.items) for phase in lesson.lesson.phases) for lesson in lessons)
    items = inflected + phases + max(len(lesson.lesson.train) for lesson in lessons)
    item = ARRAYS_AN_ITEM * max(actions, source) + max(len(lesson.lesson.inventory.atoms) for lesson in lessons)
    places = max(places_at_once(settings.hidden), len(specs) * source)
    return Needs(
        parameters=BYTES * len(specs) * COPIES_OF_PARAMETERS * row_length(shapes, sizes),
        update=BYTES * len(specs) * update,
        decoding=BYTES * min(len(specs) * inflected * source, places) * system.source_numbers(settings),
        items=BYTES * len({(spec.lesson, spec.settings) for spec in specs}) * items * item,
    )


def memory_of_the_gpu() -> int | None:
    """Bytes that packs may take; None without a GPU."""
    if not torch.cuda.is_available():
        return None
    _, whole = torch.cuda.mem_get_info()
    return int(whole * SHARE_OF_MEMORY)
