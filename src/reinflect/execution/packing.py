"""Which models train together on a GPU: those of like length, and as many as its memory holds.

All sequences of an update are padded to its longest, so models with long words make the others wait; and a pack that
does not fit is one that fails.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.decoding.greedy import places_at_once
from reinflect.settings import Settings, alike
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.parameters import Sizes, expected_shapes, row_length
from reinflect.systems.system import SYSTEMS
from reinflect.training.lesson import Lesson, Model, Pack
from reinflect.training.schedule import epoch_batches

MOST_PADDING = 0.3
NEAR_ENOUGH = 0.02
"""Where not even packs of one lesson each have so little padding, how much more than theirs will do."""
SHARE_OF_MEMORY = 0.8
"""Of a GPU's whole memory. Not of what is free just now, which is something else when a run is taken up again; the
rest is for the driver, for other programs, and for gaps between tensors."""

EVEN_ENOUGH = 0.02
"""How near the least budget the parts of what does not fit come."""

BYTES = 4
COPIES_OF_PARAMETERS = 6
"""Values, their gradient, the parts of it as autograd gives them, two numbers of the optimiser, the best values."""
COPIES_OF_STATES = 2
"""What a map gives out at an action, and the gradient that comes back there."""
ATTENTION = "attention.score"
"""The map from a pair of an action and a place in the source to one number, in systems that look at all pairs."""
COPIES_OF_PAIRS = 4
ARRAYS_AN_ITEM = 10
"""An item of HAEM, which has the most, has ten tapes; none is longer than its actions."""

PARTS_OF_A_GPU = 3
"""Of its memory, one of which a pack may take: enough to keep it busy, and leaves room for others beside it. The same
wherever it is trained, and however many packs are trained at once."""


def pack_models(
    system: str,
    models: Sequence[Model],
    *,
    budget: int | None = None,
    most_padding: float = MOST_PADDING,
    name: str | None = None,
) -> list[Pack]:
    """Packs of these models: the fewest with at most so much padding, each within a budget of bytes.

    They depend on the models and the budget, not on the order of the models. A model that needs more than the budget by
    itself has a pack to itself. Without a budget it is what the GPU has, if there is one. Packs are called `name`, or
    as their system, and have a number; models whose settings are not alike never share one.
    """
    budget = memory_of_the_gpu() if budget is None else budget
    measured = _Measures(system)
    kinds: dict[Settings, list[Model]] = {}
    for model in models:
        kinds.setdefault(alike(model.settings), []).append(model)
    parts = [
        part
        for kind in sorted(kinds, key=msgspec.json.encode)
        for group in _groups(_courses(kinds[kind], measured), most_padding)
        for part in _fitting([model for course in group for model in course.models], measured, budget)
    ]
    return [
        Pack(
            f"{name or system}-{number}",
            system,
            tuple(sorted(part, key=measured.rank)),
            bytes=_needs(part, measured).bytes,
        )
        for number, part in enumerate(parts, start=1)
    ]


def padding(system: str, models: Sequence[Model]) -> float:
    """The share of an epoch's cells (updates × models × batch × longest of the update) that hold no action."""
    return _padding([_courses(models, _Measures(system))])


@dataclass(frozen=True)
class Needs:
    """About how much of a GPU's memory a pack takes, in bytes, and what for."""

    parameters: int
    update: int
    """What one update keeps for its way back."""
    decoding: int
    """A block of dev items. Beside an update, not instead: memory once used for one is not always fit for the other."""
    items: int
    """All items as arrays."""

    @property
    def bytes(self) -> int:
        return self.parameters + self.update + self.decoding + self.items


def needs(system: str, models: Sequence[Model]) -> Needs:
    """What a pack of these models needs."""
    return _needs(models, _Measures(system))


def bytes_needed(system: str, models: Sequence[Model]) -> int:
    """The whole of it."""
    return needs(system, models).bytes


@dataclass(frozen=True, eq=False)
class _Measure:
    """What packing has to know of a lesson."""

    system: str
    lesson: Lesson

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The actions of each item."""
        count, split = SYSTEMS[self.system].actions, self.lesson.split
        pairs = zip(split.train, self.lesson.alignments, strict=True)
        return np.array([count(item, alignment) for item, alignment in pairs], dtype=np.int64)

    @cached_property
    def mean(self) -> float:
        return float(self.lengths.mean())

    @cached_property
    def actions(self) -> int:
        """Of the item with the most."""
        return int(self.lengths.max())

    @cached_property
    def source(self) -> int:
        """At least as long as anything the encoder reads: a lemma with its ends, and its features where it reads them.

        In HACM and HAEM no item has more of it than actions.
        """
        split = self.lesson.split
        features = not SYSTEMS[self.system].aligned
        items = (*split.train, *split.dev, *split.asked)
        return max(len(item.lemma) + 2 + features * len(item.features.atoms) for item in items)

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory.of(self.lesson.split.train)

    @cached_property
    def rank(self) -> tuple[str, ...]:
        """Tells lessons apart by what is in them."""
        forms = "\n".join(item.form for item in self.lesson.split.train)
        return self.lesson.label, self.lesson.alignment, forms


class _Measures:
    """The measures of lessons, each taken once."""

    def __init__(self, system: str) -> None:
        self.system = system
        self._taken: dict[Lesson, _Measure] = {}
        self._longest: dict[tuple[bytes, int, int], NDArray[np.int64]] = {}

    def of(self, lesson: Lesson) -> _Measure:
        return self._taken.setdefault(lesson, _Measure(self.system, lesson))

    def sizes(self, lessons: Sequence[_Measure], settings: Settings) -> Sizes:
        """Those of a fleet of these lessons."""
        own = [SYSTEMS[self.system].sizes(lesson.inventory, settings) for lesson in lessons]
        return {size: max(each[size] for each in own) for size in own[0]}

    def rank(self, model: Model) -> tuple[object, ...]:
        label, alignment, forms = self.of(model.lesson).rank
        return label, alignment, model.seed, msgspec.json.encode(model.settings), forms

    def longest_each(self, model: Model) -> NDArray[np.int64]:
        """Of each update of a model's first epoch; later ones have the same lengths in another order."""
        lengths, batch = self.of(model.lesson).lengths, model.settings.batch
        key = (lengths.tobytes(), batch, model.seed)
        if key not in self._longest:
            items = epoch_batches(lengths, batch, model.seed, 0)
            self._longest[key] = np.where(items >= 0, lengths[items], 0).max(axis=1)
        return self._longest[key]


@dataclass(frozen=True)
class _Course:
    """The models of one lesson."""

    models: Sequence[Model]
    longest: NDArray[np.int64]
    """The longest sequence of any of them at each update, 0 where all of them are done. *Shape:* (U)"""
    actions: int
    """Of all of them, in an epoch."""


def _courses(models: Sequence[Model], measured: _Measures) -> list[_Course]:
    """All lessons, shorter ones first."""
    by_lesson: dict[Lesson, list[Model]] = {}
    for model in sorted(models, key=measured.rank):
        by_lesson.setdefault(model.lesson, []).append(model)
    batch = models[0].settings.batch
    updates = max(-(-len(lesson.split.train) // batch) for lesson in by_lesson)
    courses = []
    for lesson in sorted(by_lesson, key=lambda lesson: (measured.of(lesson).mean, measured.of(lesson).rank)):
        longest = np.zeros(updates, dtype=np.int64)
        for model in by_lesson[lesson]:
            own = measured.longest_each(model)
            np.maximum(longest[: len(own)], own, out=longest[: len(own)])
        actions = int(measured.of(lesson).lengths.sum()) * len(by_lesson[lesson])
        courses.append(_Course(by_lesson[lesson], longest, actions))
    return courses


def _padding(groups: Iterable[Sequence[_Course]]) -> float:
    cells = actions = 0
    for group in groups:
        batch = group[0].models[0].settings.batch
        rows = batch * sum(len(course.models) for course in group)
        cells += rows * int(np.max([course.longest for course in group], axis=0).sum())
        actions += sum(course.actions for course in group)
    return 1 - actions / cells


def _groups(courses: Sequence[_Course], most_padding: float) -> list[Sequence[_Course]]:
    """The fewest stretches of courses with little enough padding; of as many, those with the least."""
    alone = _padding([[course] for course in courses])
    bound = most_padding if alone <= most_padding else alone + NEAR_ENOUGH
    cells = _cells(courses)
    actions = sum(course.actions for course in courses)
    least = cells[0]
    """The fewest cells for the first courses, in so many groups. *Shape:* (courses)"""
    starts: list[NDArray[np.int64]] = []
    while 1 - actions / least[-1] > bound:
        ways = np.concatenate([[np.inf], least[:-1]])[:, np.newaxis] + cells
        starts.append(ways.argmin(axis=0))
        least = ways.min(axis=0)
    groups, end = [], len(courses)
    for start in reversed(starts):
        groups.append(courses[start[end - 1] : end])
        end = int(start[end - 1])
    return [courses[:end], *reversed(groups)]


def _cells(courses: Sequence[_Course]) -> NDArray[np.float64]:
    """The cells of the group from each course to each, infinite where it would end before it begins."""
    longest = np.stack([course.longest for course in courses])
    rows = np.array([len(course.models) for course in courses]) * courses[0].models[0].settings.batch
    cells = np.full((len(courses), len(courses)), np.inf)
    for first in range(len(courses)):
        steps = np.maximum.accumulate(longest[first:]).sum(axis=1)
        cells[first, first:] = steps * rows[first:].cumsum()
    return cells


def _fitting(models: Sequence[Model], measured: _Measures, budget: int | None) -> list[Sequence[Model]]:
    """The models in the fewest parts that fit, none of which needs much more than another.

    Every model of a part has to have room for its longest sequence, so those with the longest come together.
    """
    in_order = sorted(models, key=lambda model: (measured.of(model.lesson).actions, measured.rank(model)))
    if budget is None:
        return [in_order]
    parts, too_little = _filled(in_order, measured, budget), 0
    while budget - too_little > EVEN_ENOUGH * budget:  # the least budget with which there are no more parts than that
        middle = (budget + too_little) // 2
        other = _filled(in_order, measured, middle)
        if len(other) > len(parts):
            too_little = middle
        else:
            parts, budget = other, middle
    return parts


def _filled(models: Sequence[Model], measured: _Measures, budget: int) -> list[Sequence[Model]]:
    """One part after another, each with as many models as the budget allows, and at least one."""
    parts, first = [], 0
    while first < len(models):
        last = bisect_right(
            range(first + 2, len(models) + 1), budget, key=lambda last: _needs(models[first:last], measured).bytes
        )
        parts.append(models[first : first + 1 + last])
        first += 1 + last
    return parts


def _needs(models: Sequence[Model], measured: _Measures) -> Needs:
    settings, lessons = models[0].settings, [measured.of(lesson) for lesson in {model.lesson for model in models}]
    shapes, sizes = SYSTEMS[measured.system].shapes(settings), measured.sizes(lessons, settings)
    resolved = expected_shapes(shapes, sizes)
    maps = {name: shape for name, shape in resolved.items() if len(shape) == 2 and shapes[name].start != "embedding"}
    actions, source = max(lesson.actions for lesson in lessons), max(lesson.source for lesson in lessons)
    # What each map gives out at every action of the longest batch. That of a cell's recurrent map is its gates and
    # states, about as many numbers as the map is wide.
    update = COPIES_OF_STATES * settings.batch * max(actions, source) * sum(shape[-1] for shape in maps.values())
    if ATTENTION in maps:
        update += COPIES_OF_PAIRS * settings.batch * actions * source * maps[ATTENTION][0]
    # At every letter of a block of lemmas: the gates of the encoder before and after they are worked out, its states,
    # and what the decoder looks at, which is no wider than gates, once more when finished items are dropped.
    asked = max(len(lesson.lesson.split.dev) + len(lesson.lesson.split.asked) for lesson in lessons)
    letter = settings.hidden * (4 * CELLS[settings.cell].gates + 5)
    places = places_at_once(settings.hidden)
    items = asked + max(len(lesson.lesson.split.train) for lesson in lessons)
    item = ARRAYS_AN_ITEM * max(actions, source) + max(len(lesson.inventory.atoms) for lesson in lessons)
    tasks = {(model.lesson, model.settings) for model in models}
    return Needs(
        parameters=BYTES * len(models) * COPIES_OF_PARAMETERS * row_length(shapes, sizes),
        update=BYTES * len(models) * update,
        decoding=BYTES * min(len(models) * asked * source, max(places, len(models) * source)) * letter,
        items=BYTES * len(tasks) * items * item,
    )


def memory_of_the_gpu() -> int | None:
    """What packs may take of it; None where there is no GPU."""
    if not torch.cuda.is_available():
        return None
    _, whole = torch.cuda.mem_get_info()
    return int(whole * SHARE_OF_MEMORY)


def part_of_a_gpu(memory: int, shared_by: int = 1) -> int:
    """What a pack may take of so much memory; less where more share it than there are parts."""
    return memory // max(PARTS_OF_A_GPU, shared_by)
