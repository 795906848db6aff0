"""Packs for a GPU: little padding, and within its memory."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from reinflect.align.naive import Naive
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.learn.fleet import Fleet, runs_of
from reinflect.learn.lesson import Lesson, ModelSpec, Phase
from reinflect.run.packing import (
    ARRAYS_AN_ITEM,
    BYTES,
    COPIES_OF_PARAMETERS,
    NEAR_ENOUGH,
    needs,
    pack_for_gpu,
    pack_specs,
    padding,
)
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.system import ACTIONS
from tests.learn.tiny import small

PRESENT, PAST = Bundle("V;PRS"), Bundle("V;PST;3;SG")


def lesson_of(words: Sequence[tuple[str, str]], label: str = "", alignment: str = "naive") -> Lesson:
    items = tuple(Item(lemma, PAST if len(form) % 2 else PRESENT, form) for lemma, form in words)
    aligned = Naive().align(words) if alignment == "naive" else [()] * len(words)
    return Lesson(items, items[:3], language=label, alignment=alignment, alignments=tuple(aligned))


def long_lesson(lemma: int, items: int, label: str = "", spread: int = 3) -> Lesson:
    """Words of about so many letters."""
    words = [
        ("abcde"[i % 5] * (lemma + i % spread), "abxde"[i % 5] * (lemma + i % spread) + "en") for i in range(items)
    ]
    return lesson_of(words, label)


def specs_of(
    lessons: Sequence[Lesson], seeds: int = 2, system: str = "hacm", own: Settings | None = None
) -> list[ModelSpec]:
    return [ModelSpec(lesson, system, own or small(system), seed) for lesson in lessons for seed in range(1, seeds + 1)]


def fleet_of(specs: Sequence[ModelSpec]) -> Fleet:
    return Fleet(specs)


def slow_padding(specs: Sequence[ModelSpec]) -> float:
    """Every cell of every update of a fleet is looked at."""
    cells = actions = 0
    fleet = fleet_of(specs)
    epoch = fleet.prepare()
    for update, longest in zip(epoch.items.tolist(), epoch.longest, strict=True):
        for file, items in zip(fleet.files, update, strict=True):
            cells += longest[ACTIONS] * len(items)
            actions += sum(int(fleet.train.files[file].lengths[ACTIONS][item]) for item in items if item >= 0)
    return 1 - actions / cells


words = st.lists(st.tuples(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6)), min_size=1)


@given(words=words, system=st.sampled_from(sorted(SYSTEMS)))
def test_actions_are_counted_as_the_tapes_have_them(words: list[tuple[str, str]], system: str) -> None:
    lesson = lesson_of(words, alignment="naive" if SYSTEMS[system].aligned else "none")
    (task,) = runs_of(specs_of([lesson], 1, system))
    counts = [
        SYSTEMS[system].bound(item, alignment) for item, alignment in zip(lesson.train, lesson.alignments, strict=True)
    ]
    assert counts == task.stages[-1][0].lengths[ACTIONS].tolist()


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_padding_is_that_of_the_real_updates(system: str) -> None:
    specs = specs_of([long_lesson(3, 20), long_lesson(6, 31, spread=7), long_lesson(9, 8)], 3, system)
    assert padding(specs) == pytest.approx(slow_padding(specs))
    assert padding(specs[:1]) == pytest.approx(slow_padding(specs[:1]))


lengths = st.lists(st.tuples(st.integers(1, 30), st.integers(2, 12)), min_size=1, max_size=6)


@given(lengths=lengths, seeds=st.integers(1, 3), budget=st.integers(1, 200_000) | st.none(), data=st.data())
def test_every_model_is_in_one_pack_that_fits(
    lengths: list[tuple[int, int]], seeds: int, budget: int | None, data: st.DataObject
) -> None:
    lessons = [long_lesson(lemma, items, f"l{number}") for number, (lemma, items) in enumerate(lengths)]
    specs = specs_of(lessons, seeds)
    packs = pack_for_gpu(specs, budget=budget)
    found = [spec for pack in packs for spec in pack.specs]
    assert sorted(map(id, found)) == sorted(map(id, specs))
    assert [pack.name for pack in packs] == [f"hacm-{number}" for number in range(1, len(packs) + 1)]
    for pack in packs:
        assert pack.bytes == needs(pack.specs).bytes
        if budget is not None and len(pack.specs) > 1:
            assert pack.bytes <= budget
    again = pack_for_gpu(data.draw(st.permutations(specs)), budget=budget)
    assert [pack.specs for pack in again] == [pack.specs for pack in packs]


def joint_padding(groups: Sequence[Sequence[ModelSpec]]) -> float:
    """Of several packs of HACM's together."""
    actions = [
        sum(len(item.lemma) + len(item.form) + 2 for spec in specs for item in spec.lesson.train) for specs in groups
    ]
    cells = [own / (1 - padding(specs)) for own, specs in zip(actions, groups, strict=True)]
    return 1 - sum(actions) / sum(cells)


@settings(max_examples=30)
@given(lengths=lengths, bound=st.floats(0.0, 0.6))
def test_as_few_packs_as_can_be_with_so_little_padding(lengths: list[tuple[int, int]], bound: float) -> None:
    lessons = [long_lesson(lemma, items, f"l{number}") for number, (lemma, items) in enumerate(lengths)]
    batch = small("hacm").batch

    def place(lesson: Lesson) -> tuple[float, float]:
        length = np.mean([len(item.lemma) + len(item.form) for item in lesson.train])
        return round(2 * np.log2(-(-len(lesson.train) // batch))), float(length)

    in_order = sorted(lessons, key=place)

    def least(groups: int) -> float:
        """Of all ways to cut the lessons into so many groups."""
        ways = []
        for cuts in combinations(range(1, len(lessons)), groups - 1):
            bounds = [0, *cuts, len(lessons)]
            ways.append(joint_padding([specs_of(in_order[first:last]) for first, last in pairwise(bounds)]))
        return min(ways)

    packs = [pack.specs for pack in pack_for_gpu(specs_of(lessons), most_padding=bound)]
    alone = joint_padding([specs_of([lesson]) for lesson in lessons])
    reachable = bound if alone <= bound else alone + NEAR_ENOUGH
    assert joint_padding(packs) <= reachable + 1e-9
    assert joint_padding(packs) == pytest.approx(least(len(packs)))
    assert len(packs) == 1 or least(len(packs) - 1) > reachable - 1e-9


def test_long_and_short_words_are_kept_apart() -> None:
    short, long = [long_lesson(3, 20, f"s{n}") for n in range(3)], [long_lesson(30, 20, f"l{n}") for n in range(3)]
    packs = pack_for_gpu(specs_of([*long, *short], system="haem"), name="haem-low")
    assert [pack.name for pack in packs] == ["haem-low-1", "haem-low-2"]
    assert [{spec.lesson for spec in pack.specs} for pack in packs] == [set(short), set(long)]


def test_many_and_few_items_are_kept_apart() -> None:
    few, many = [long_lesson(9, 10, f"f{n}") for n in range(3)], [long_lesson(9, 90, f"m{n}") for n in range(3)]
    lessons = [*few, *many, long_lesson(8, 90, "m3"), long_lesson(10, 10, "f3")]
    packs = pack_for_gpu(specs_of(lessons, system="haem"))
    assert [{len(spec.lesson.train) for spec in pack.specs} for pack in packs] == [{10}, {90}]


def test_models_that_are_not_alike_never_share_a_pack() -> None:
    lesson = long_lesson(5, 12)
    changes: list[dict[str, object]] = [{}, {"hidden": 8}, {"step": 0.5}]
    specs = [ModelSpec(lesson, "haem", small("haem", **own), seed) for own in changes for seed in (1, 2)]
    packs = pack_for_gpu(specs)
    assert sorted(len(pack.specs) for pack in packs) == [2, 4]
    for pack in packs:
        fleet_of(pack.specs)


def test_on_a_cpu_a_pack_has_a_few_models_of_one_kind_with_like_settings() -> None:
    """Of an experiment up to twelve, of one lesson alone up to three."""
    lessons = [long_lesson(5, 12, "german"), long_lesson(4, 12, "greek")]
    specs = [spec for system in ("hacm", "haem") for spec in specs_of(lessons, 14, system)]
    specs += specs_of(lessons[:1], 1, own=small("hacm", hidden=8))
    packs = pack_specs(specs)
    names = ["german-hacm-naive-1", "german-hacm-naive-2", "german-hacm-naive-3", "greek-hacm-naive-1"]
    names += ["greek-hacm-naive-2", "german-haem-naive-1", "german-haem-naive-2"]
    assert [pack.name for pack in packs] == [*names, "greek-haem-naive-1", "greek-haem-naive-2"]
    assert [len(pack.specs) for pack in packs] == [7, 7, 1, 7, 7, 7, 7, 7, 7]
    alone = [replace(spec, lesson=replace(spec.lesson, language="", setting="")) for spec in specs_of(lessons[:1], 5)]
    assert [len(pack.specs) for pack in pack_specs(alone)] == [3, 2]
    assert sorted(id(spec) for pack in packs for spec in pack.specs) == sorted(map(id, specs))
    for pack in packs:
        fleet_of(pack.specs)


REAL = {"hidden": 40, "embedding": 20, "batch": 4, "dropout": 0.3, "feature_embedding": 20, "feature_scale": 10.0}
OWN: dict[str, dict[str, object]] = {
    "hacm": {},
    "haem": {"history_hidden": 30},
    "soft": {"attention": 16, "encoder_layers": 2},
    "imitation": {"history_hidden": 30},
}


@pytest.mark.parametrize("system", sorted(SYSTEMS))
@pytest.mark.parametrize("cell", ["lstm", "coupled"])
def test_memory_is_what_tensors_take(system: str, cell: str) -> None:
    alignment = "naive" if SYSTEMS[system].aligned else "none"
    lessons = [
        lesson_of([("machen" * 2, f"gemacht{i}") for i in range(9)], "one", alignment),
        lesson_of([("ω" * 9 + str(i), "ώθηκα") for i in range(5)], "two", alignment),
    ]
    real = REAL | OWN[system] | {"cell": cell}
    known = SYSTEMS[system].settings.__struct_fields__
    own = small(system, **{name: value for name, value in real.items() if name in known})
    specs = specs_of(lessons, system=system, own=own)
    found, fleet = needs(specs), fleet_of(specs)
    assert found.parameters == COPIES_OF_PARAMETERS * fleet.parameters.flat.nbytes
    assert found.bytes == sum(vars(found).values())

    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    epoch = fleet.prepare()
    longest = max(range(len(epoch)), key=lambda number: epoch.longest[number][ACTIONS])
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
    one = needs(specs_of([short], 1, system)).bytes
    assert one < needs(specs_of([short], 2, system)).bytes < 2 * one
    assert one < needs(specs_of([long], 1, system)).bytes
    before = Phase(long.train, long.alignments, 2)
    assert one < needs(specs_of([replace(short, phases=(before,))], 1, system)).bytes, "items of a phase count too"
    for change in ({"hidden": 12}, {"batch": 4}, {"embedding": 10}):
        assert one < needs(specs_of([short], 1, system, small(system, **change))).bytes
