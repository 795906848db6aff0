"""Packs for a GPU: little padding, and within its memory."""

from collections.abc import Sequence
from itertools import combinations, pairwise

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from reinflect.alignment.naive import Naive
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.execution.packing import (
    ARRAYS_AN_ITEM,
    BYTES,
    COPIES_OF_PARAMETERS,
    NEAR_ENOUGH,
    bytes_needed,
    needs,
    pack_models,
    padding,
)
from reinflect.settings import Settings
from reinflect.systems.layers.examples import TARGETS
from reinflect.systems.system import SYSTEMS
from reinflect.training.fleet import Fleet, Progress
from reinflect.training.lesson import Lesson, Model, Pack, Split
from tests.training.tiny import SMALL

PRESENT, PAST = Bundle("V;PRS"), Bundle("V;PST;3;SG")


def lesson_of(words: Sequence[tuple[str, str]], label: str = "", alignment: str = "naive") -> Lesson:
    items = tuple(Item(lemma, PAST if len(form) % 2 else PRESENT, form) for lemma, form in words)
    aligned = Naive().align(words) if alignment == "naive" else [()] * len(words)
    return Lesson(alignment, Split(items, items[:3]), tuple(aligned), label)


def long_lesson(lemma: int, items: int, label: str = "", spread: int = 3) -> Lesson:
    """Words of about so many letters."""
    words = [
        ("abcde"[i % 5] * (lemma + i % spread), "abxde"[i % 5] * (lemma + i % spread) + "en") for i in range(items)
    ]
    return lesson_of(words, label)


def models_of(lessons: Sequence[Lesson], seeds: int = 2, own: Settings = SMALL) -> list[Model]:
    return [Model(lesson, seed, own) for lesson in lessons for seed in range(1, seeds + 1)]


def fleet_of(system: str, models: Sequence[Model]) -> Fleet:
    return Fleet([Progress(task, seed) for task, seed in Pack("p", system, tuple(models)).tasks()])


def slow_padding(system: str, models: Sequence[Model]) -> float:
    """Every cell of every update of a fleet is looked at."""
    cells = actions = 0
    fleet = fleet_of(system, models)
    epoch = fleet.prepare()
    for update, longest in zip(epoch.items.tolist(), epoch.longest, strict=True):
        for file, items in zip(fleet.files, update, strict=True):
            cells += longest[TARGETS] * len(items)
            actions += sum(int(fleet.train.files[file].lengths[TARGETS][item]) for item in items if item >= 0)
    return 1 - actions / cells


words = st.lists(st.tuples(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6)), min_size=1)


@given(words=words, system=st.sampled_from(sorted(SYSTEMS)))
def test_actions_are_counted_as_the_tapes_have_them(words: list[tuple[str, str]], system: str) -> None:
    lesson = lesson_of(words, alignment="naive" if SYSTEMS[system].aligned else "none")
    ((task, _),) = Pack("p", system, (Model(lesson, 1, SMALL),)).tasks()
    counts = [
        SYSTEMS[system].actions(item, alignment)
        for item, alignment in zip(lesson.split.train, lesson.alignments, strict=True)
    ]
    assert counts == task.train.lengths[TARGETS].tolist()


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_padding_is_that_of_the_real_updates(system: str) -> None:
    models = models_of([long_lesson(3, 20), long_lesson(6, 31, spread=7), long_lesson(9, 8)], seeds=3)
    assert padding(system, models) == pytest.approx(slow_padding(system, models))
    assert padding(system, models[:1]) == pytest.approx(slow_padding(system, models[:1]))


lengths = st.lists(st.tuples(st.integers(1, 30), st.integers(2, 12)), min_size=1, max_size=6)


@given(lengths=lengths, seeds=st.integers(1, 3), budget=st.integers(1, 200_000) | st.none(), data=st.data())
def test_every_model_is_in_one_pack_that_fits(
    lengths: list[tuple[int, int]], seeds: int, budget: int | None, data: st.DataObject
) -> None:
    lessons = [long_lesson(lemma, items, f"l{number}") for number, (lemma, items) in enumerate(lengths)]
    models = models_of(lessons, seeds)
    packs = pack_models("hacm", models, budget=budget)
    found = [model for pack in packs for model in pack.models]
    assert sorted(map(id, found)) == sorted(map(id, models))
    assert [pack.name for pack in packs] == [f"hacm-{number}" for number in range(1, len(packs) + 1)]
    for pack in packs:
        if budget is not None and len(pack.models) > 1:
            assert bytes_needed("hacm", pack.models) <= budget
    again = pack_models("hacm", data.draw(st.permutations(models)), budget=budget)
    assert [pack.models for pack in again] == [pack.models for pack in packs]


def joint_padding(groups: Sequence[Sequence[Model]]) -> float:
    """Of several packs of HACM's together."""
    actions = [
        sum(len(item.lemma) + len(item.form) + 2 for model in models for item in model.lesson.split.train)
        for models in groups
    ]
    cells = [own / (1 - padding("hacm", models)) for own, models in zip(actions, groups, strict=True)]
    return 1 - sum(actions) / sum(cells)


@settings(max_examples=30)
@given(lengths=lengths, bound=st.floats(0.0, 0.6))
def test_as_few_packs_as_can_be_with_so_little_padding(lengths: list[tuple[int, int]], bound: float) -> None:
    lessons = [long_lesson(lemma, items, f"l{number}") for number, (lemma, items) in enumerate(lengths)]
    by_length = sorted(lessons, key=lambda one: np.mean([len(i.lemma) + len(i.form) for i in one.split.train]))

    def least(groups: int) -> float:
        """Of all ways to cut the lessons into so many groups."""
        ways = []
        for cuts in combinations(range(1, len(lessons)), groups - 1):
            bounds = [0, *cuts, len(lessons)]
            ways.append(joint_padding([models_of(by_length[first:last]) for first, last in pairwise(bounds)]))
        return min(ways)

    packs = [pack.models for pack in pack_models("hacm", models_of(lessons), most_padding=bound)]
    alone = joint_padding([models_of([lesson]) for lesson in lessons])
    reachable = bound if alone <= bound else alone + NEAR_ENOUGH
    assert joint_padding(packs) <= reachable + 1e-9
    assert joint_padding(packs) == pytest.approx(least(len(packs)))
    assert len(packs) == 1 or least(len(packs) - 1) > reachable - 1e-9


def test_long_and_short_words_are_kept_apart() -> None:
    short, long = [long_lesson(3, 20, f"s{n}") for n in range(3)], [long_lesson(30, 20, f"l{n}") for n in range(3)]
    packs = pack_models("haem", models_of([*long, *short]), name="haem-low")
    assert [pack.name for pack in packs] == ["haem-low-1", "haem-low-2"]
    assert [{model.lesson for model in pack.models} for pack in packs] == [set(short), set(long)]


def test_models_that_are_not_alike_never_share_a_pack() -> None:
    lesson = long_lesson(5, 12)
    larger, slower = msgspec.structs.replace(SMALL, hidden=8), msgspec.structs.replace(SMALL, step=0.5)
    models = [Model(lesson, seed, own) for own in (SMALL, larger, slower) for seed in (1, 2)]
    packs = pack_models("haem", models)
    assert sorted(len(pack.models) for pack in packs) == [2, 4]
    for pack in packs:
        fleet_of("haem", pack.models)


REAL = Settings(hidden=40, embedding=20, history_hidden=30, attention=16, batch=4, dropout=0.3)


@pytest.mark.parametrize("system", sorted(SYSTEMS))
@pytest.mark.parametrize("cell", ["lstm", "coupled"])
def test_memory_is_what_tensors_take(system: str, cell: str) -> None:
    alignment = "naive" if SYSTEMS[system].aligned else "none"
    lessons = [
        lesson_of([("machen" * 2, f"gemacht{i}") for i in range(9)], "one", alignment),
        lesson_of([("ω" * 9 + str(i), "ώθηκα") for i in range(5)], "two", alignment),
    ]
    models = models_of(lessons, own=msgspec.structs.replace(REAL, cell=cell))
    found, fleet = needs(system, models), fleet_of(system, models)
    assert found.parameters == COPIES_OF_PARAMETERS * fleet.parameters.flat.nbytes
    assert found.bytes == bytes_needed(system, models) == sum(vars(found).values())

    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    epoch = fleet.prepare()
    longest = max(range(len(epoch)), key=lambda number: epoch.longest[number][TARGETS])
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        fleet.update(epoch, longest)
    kept.pop(fleet.parameters.flat.untyped_storage().data_ptr())
    assert sum(kept.values()) <= found.update <= 5 * sum(kept.values())

    whole = [*fleet.train.arrays.values(), *fleet.dev.arrays.values(), fleet.train.features, fleet.dev.features]
    assert sum(tensor.nbytes for tensor in whole) <= found.items
    assert sum(array[0, 0, 0].nbytes for array in fleet.train.arrays.values()) <= ARRAYS_AN_ITEM * BYTES


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_memory_grows_with_all_it_should(system: str) -> None:
    alignment = "naive" if SYSTEMS[system].aligned else "none"
    short = lesson_of([("ab", "abc")] * 6, "short", alignment)
    long = lesson_of([("ab" * 9, "ab" * 9)] * 6, "long", alignment)
    one = bytes_needed(system, models_of([short], 1))
    assert one < bytes_needed(system, models_of([short], 2)) < 2 * one
    assert one < bytes_needed(system, models_of([long], 1))
    for change in ({"hidden": 12}, {"batch": 4}, {"embedding": 10}):
        assert one < bytes_needed(system, models_of([short], 1, msgspec.structs.replace(SMALL, **change)))
