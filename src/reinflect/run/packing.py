"""Which models train together: on a GPU, those with sequences of similar length, as many as its memory holds.

All sequences of an update are padded to its longest, so models with long words slow the others down.
"""

import math
from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.data.items import grouped
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.learn.schedule import epoch_batches
from reinflect.learn.scoring import places_at_once
from reinflect.run.packs import Pack
from reinflect.settings import alike
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import expected_shapes, row_length

MOST_PADDING = 0.25
NEAR_ENOUGH = 0.02
"""Allowed padding beyond that of packs of one lesson each, where even those exceed the bound."""
SHARE_OF_MEMORY = 0.8
"""Of a GPU's whole memory, not of what is free now, so that packs are the same when training resumes. The rest is for
the driver, other programs, and gaps between tensors."""
EVEN_ENOUGH = 0.02
"""How closely the search for the least budget ends."""

BYTES = 4
COPIES_OF_PARAMETERS = 5
"""Values, gradients, two numbers of the optimiser, best values."""
COPIES_OF_STATES = 2
"""The output of a map at an action, and its gradient."""
COPIES_OF_PAIRS = 4
ARRAYS_AN_ITEM = 10
"""HAEM has the most: ten tapes, none longer than an item's actions."""
PARTS_OF_A_GPU = 3
"""A pack may take one part of the memory: enough to keep the GPU busy, with room for other packs. The number does not
depend on how many packs train at once."""
SEEDS_A_PACK, MODELS_A_PACK = 3, 12
"""Models in a fleet on the CPU: of one lesson alone, spread over cores; of an experiment. With German low, batch 2, one
thread, an update of 1, 2, 3 or 5 models took 3.6, 2.7, 2.4, 2.3 ms a model (HACM) and 4.7, 3.7, 3.3, 3.0 ms (HAEM)."""
ITEMS_AN_UPDATE = 300
"""The calls of an update take a GPU as long as this number of items, measured on the packs of the paper's grid."""


def with_work(specs: Sequence[ModelSpec], done: Container[str], device: str) -> list[ModelSpec]:
    """The groups of specs of which some model is not trained.

    They stay whole, so that the contents of a pack do not depend on what an earlier command trained.
    """
    left = {_group(spec, device) for spec in specs if spec.digest not in done}
    return [spec for spec in specs if _group(spec, device) in left]


def _group(spec: ModelSpec, device: str) -> str:
    """The name of the packs that a spec may be in."""
    parts = (spec.lesson.label, str(spec.kind)) if device == "cpu" else (spec.system, spec.lesson.setting)
    return "-".join(filter(None, parts))


def pack_specs(specs: Sequence[ModelSpec], device: str = "cpu", budget: int | None = None) -> list[Pack]:
    """The packs of these specs: on a CPU a few seeds of one kind each, on a GPU as many models as fit in the budget.

    They do not depend on the number of workers: a model's last bits may differ with the other models of its pack.
    """
    groups = grouped(specs, lambda spec: _group(spec, device))
    if device != "cpu":
        packs = [pack for name, own in groups.items() for pack in pack_for_gpu(own, budget=budget, name=name)]
        # The longest first, so that the processes of a GPU end together.
        return sorted(packs, key=lambda pack: weight(pack, device), reverse=True)
    packs = []
    for name, own in groups.items():
        most = MODELS_A_PACK if own[0].lesson.label else SEEDS_A_PACK
        parts = [  # the larger ones first, so that the last packs are small
            tuple(kind[number] for number in part)
            for kind in grouped(own, lambda spec: alike(spec.settings)).values()
            for part in np.array_split(np.arange(len(kind)), -(-len(kind) // most))
        ]
        packs += [
            Pack(name if len(parts) == 1 else f"{name}-{number}", part) for number, part in enumerate(parts, start=1)
        ]
    return packs


def weight(pack: Pack, device: str) -> float:
    """The relative duration of a pack: its items, and on a GPU the cost of each update."""
    items = sum(
        len(spec.lesson.train) * spec.settings.epochs + sum(len(own.items) * own.epochs for own in spec.lesson.phases)
        for spec in pack.specs
    )
    if device == "cpu":
        return float(items)
    updates = max(-(-len(spec.lesson.train) // spec.settings.batch) * spec.settings.epochs for spec in pack.specs)
    return float(items + ITEMS_AN_UPDATE * updates)


def pack_for_gpu(
    specs: Sequence[ModelSpec], *, budget: int | None = None, most_padding: float = MOST_PADDING, name: str = ""
) -> list[Pack]:
    """The fewest packs of specs of one system with at most this share of padding, each within a budget of bytes.

    They do not depend on the order of the specs. A model that needs more than the budget has its own pack. The default
    budget is the memory of the GPU. Models of a pack have settings that `alike` makes equal.
    """
    budget = memory_of_the_gpu() if budget is None else budget
    system = specs[0].system
    measured = _Measures(system)
    kinds = grouped(specs, lambda spec: alike(spec.settings))
    parts = [
        part
        for kind in sorted(kinds, key=msgspec.json.encode)
        for group in _groups(_courses(kinds[kind], measured), most_padding)
        for part in _fitting([spec for course in group for spec in course.models], measured, budget)
    ]
    return [
        Pack(f"{name or system}-{number}", tuple(sorted(part, key=measured.rank)), needs(part, measured).bytes)
        for number, part in enumerate(parts, start=1)
    ]


def padding(specs: Sequence[ModelSpec]) -> float:
    """The share of an epoch's places (updates × models × batch × longest of the update) that have no action."""
    courses = _courses(specs, _Measures(specs[0].system))
    return 1 - sum(course.actions for course in courses) / float(_places(courses)[0, -1])


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
    """What packing needs to know about a lesson."""

    system: str
    lesson: Lesson

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The actions of each item."""
        bound, lesson = SYSTEMS[self.system].bound, self.lesson
        pairs = zip(lesson.train, lesson.alignments, strict=True)
        return np.array([bound(item, alignment) for item, alignment in pairs], dtype=np.int64)

    @cached_property
    def actions(self) -> int:
        """The most actions of any item, in any phase."""
        bound, phases = SYSTEMS[self.system].bound, self.lesson.phases
        made_up = (bound(*pair) for phase in phases for pair in zip(phase.items, phase.alignments, strict=True))
        return max(int(self.lengths.max()), max(made_up, default=0))

    @cached_property
    def source(self) -> int:
        """The most symbols the encoder reads, or a few more: a lemma with its ends, and features if it reads them."""
        features = SYSTEMS[self.system].reads_features
        items = (*self.lesson.train, *self.lesson.dev, *self.lesson.asked)
        return max(len(item.lemma) + 2 + features * len(item.features.atoms) for item in items)

    @cached_property
    def rank(self) -> tuple[str, ...]:
        """Orders lessons by their content."""
        return self.lesson.label, self.lesson.alignment, "\n".join(item.form for item in self.lesson.train)


class _Measures:
    """The measures of lessons, each computed once."""

    def __init__(self, system: str) -> None:
        self.system = system
        self.of = cache(partial(_Measure, system))
        self.sizes = cache(lambda lesson, settings: SYSTEMS[system].sizes(lesson.inventory, settings))
        self._longest: dict[tuple[bytes, int, int], NDArray[np.int64]] = {}

    def rank(self, model: ModelSpec) -> tuple[object, ...]:
        label, alignment, forms = self.of(model.lesson).rank
        return label, alignment, model.seed, msgspec.json.encode(model.settings), forms

    def longest_each(self, model: ModelSpec) -> NDArray[np.int64]:
        """The longest sequence of each update in the first epoch; later epochs have the same in another order."""
        lengths, batch = self.of(model.lesson).lengths, model.settings.batch
        key = (lengths.tobytes(), batch, model.seed)
        if key not in self._longest:
            items = epoch_batches(lengths, batch, model.seed, 0)
            self._longest[key] = np.where(items >= 0, lengths[items], 0).max(axis=1)
        return self._longest[key]


@dataclass(frozen=True)
class _Course:
    """The models of one lesson."""

    models: Sequence[ModelSpec]
    longest: NDArray[np.int64]
    """The longest sequence of any model at each update, 0 after the last. *Shape:* (U)"""
    actions: int
    """Of all models, in an epoch."""


def _courses(models: Sequence[ModelSpec], measured: _Measures) -> list[_Course]:
    """All lessons: those with about as many updates together, and of these the ones with shorter sequences first."""
    by_lesson = grouped(sorted(models, key=measured.rank), lambda model: model.lesson)
    each = {lesson: -(-len(lesson.train) // models[0].settings.batch) for lesson in by_lesson}
    updates = max(each.values())
    courses = []

    def place(lesson: Lesson) -> tuple[object, ...]:
        own = measured.of(lesson)
        return round(2 * math.log2(each[lesson])), own.lengths.mean(), own.rank

    for lesson in sorted(by_lesson, key=place):
        longest = np.zeros(updates, dtype=np.int64)
        for model in by_lesson[lesson]:
            own = measured.longest_each(model)
            np.maximum(longest[: len(own)], own, out=longest[: len(own)])
        actions = int(measured.of(lesson).lengths.sum()) * len(by_lesson[lesson])
        courses.append(_Course(by_lesson[lesson], longest, actions))
    return courses


def _groups(courses: Sequence[_Course], most_padding: float) -> list[Sequence[_Course]]:
    """The fewest runs of courses that keep the bound on padding; of equally few, those with the least padding."""
    places, actions = _places(courses), sum(course.actions for course in courses)
    alone = 1 - actions / float(places.trace())
    bound = most_padding if alone <= most_padding else alone + NEAR_ENOUGH
    least = places[0]
    """The fewest places for the first courses, in `len(starts) + 1` groups. *Shape:* (courses)"""
    starts: list[NDArray[np.int64]] = []
    while 1 - actions / least[-1] > bound:
        ways = np.concatenate([[np.inf], least[:-1]])[:, np.newaxis] + places
        starts.append(ways.argmin(axis=0))
        least = ways.min(axis=0)
    groups, end = [], len(courses)
    for start in reversed(starts):
        groups.append(courses[start[end - 1] : end])
        end = int(start[end - 1])
    return [courses[:end], *reversed(groups)]


def _places(courses: Sequence[_Course]) -> NDArray[np.float64]:
    """The places of the group from each course to each, infinite where it would end before it begins."""
    longest = np.stack([course.longest for course in courses])
    rows = np.array([len(course.models) for course in courses]) * courses[0].models[0].settings.batch
    places = np.full((len(courses), len(courses)), np.inf)
    for first in range(len(courses)):
        steps = np.maximum.accumulate(longest[first:]).sum(axis=1)
        places[first, first:] = steps * rows[first:].cumsum()
    return places


def _fitting(models: Sequence[ModelSpec], measured: _Measures, budget: int | None) -> list[Sequence[ModelSpec]]:
    """The models in the fewest parts that fit, of similar size; models with the longest sequences are in one part."""
    in_order = sorted(models, key=lambda model: (measured.of(model.lesson).actions, measured.rank(model)))
    if budget is None:
        return [in_order]
    parts, too_little = _filled(in_order, measured, budget), 0
    while budget - too_little > EVEN_ENOUGH * budget:  # find the least budget with this number of parts
        middle = (budget + too_little) // 2
        other = _filled(in_order, measured, middle)
        if len(other) > len(parts):
            too_little = middle
        else:
            parts, budget = other, middle
    return parts


def _filled(models: Sequence[ModelSpec], measured: _Measures, budget: int) -> list[Sequence[ModelSpec]]:
    """One part after another, each with as many models as fit, and at least one."""
    parts, first = [], 0
    while first < len(models):
        last = bisect_right(
            range(first + 2, len(models) + 1), budget, key=lambda last: needs(models[first:last], measured).bytes
        )
        parts.append(models[first : first + 1 + last])
        first += 1 + last
    return parts


def needs(models: Sequence[ModelSpec], measured: _Measures | None = None) -> Needs:
    measured = measured or _Measures(models[0].system)
    settings, lessons = models[0].settings, [measured.of(lesson) for lesson in {model.lesson for model in models}]
    system = SYSTEMS[measured.system]
    own = [measured.sizes(lesson.lesson, settings) for lesson in lessons]
    shapes, sizes = system.shapes(settings), {size: max(each[size] for each in own) for size in own[0]}
    resolved = expected_shapes(shapes, sizes)
    maps = {name: shape for name, shape in resolved.items() if len(shape) == 2 and shapes[name].start != "embedding"}
    actions, source = max(lesson.actions for lesson in lessons), max(lesson.source for lesson in lessons)
    # The output of each map at every action of the longest batch; of a recurrent map, about as many gates and states.
    update = COPIES_OF_STATES * settings.batch * max(actions, source) * sum(shape[-1] for shape in maps.values())
    update += COPIES_OF_PAIRS * settings.batch * actions * source * system.pair_numbers(settings)
    update += sum(math.prod(shape) for shape in maps.values())  # weights in other precision, or times a norm's gain
    asked = max(len(own.lesson.dev) + len(own.lesson.asked) for own in lessons)
    symbol = system.source_numbers(settings)
    places = places_at_once(settings.hidden)
    phases = max(sum(len(phase.items) for phase in lesson.lesson.phases) for lesson in lessons)
    items = asked + phases + max(len(lesson.lesson.train) for lesson in lessons)
    item = ARRAYS_AN_ITEM * max(actions, source) + max(len(lesson.lesson.inventory.atoms) for lesson in lessons)
    tasks = {(model.lesson, model.settings) for model in models}
    return Needs(
        parameters=BYTES * len(models) * COPIES_OF_PARAMETERS * row_length(shapes, sizes),
        update=BYTES * len(models) * update,
        decoding=BYTES * min(len(models) * asked * source, max(places, len(models) * source)) * symbol,
        items=BYTES * len(tasks) * items * item,
    )


def memory_of_the_gpu() -> int | None:
    """Bytes that packs may take; None without a GPU."""
    if not torch.cuda.is_available():
        return None
    _, whole = torch.cuda.mem_get_info()
    return int(whole * SHARE_OF_MEMORY)


def part_of_a_gpu(memory: int, shared_by: int = 1) -> int:
    """The part of a GPU's memory that a pack may take; less if more workers than parts share the GPU."""
    return memory // max(PARTS_OF_A_GPU, shared_by)
