"""Packs: within the memory of a GPU, a few models of one kind on a CPU."""

import pickle
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reinflect.align.pairs import Naive
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.learn.fleet import Fleet, runs_of
from reinflect.learn.lesson import Lesson, ModelSpec, Phase
from reinflect.run.packs import ARRAYS_AN_ITEM, BYTES, COPIES_OF_PARAMETERS, Pack, needs, open_groups, pack_specs
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.system import ACTIONS
from tests.learn import tiny
from tests.learn.tiny import lesson, small, spec_for

PRESENT, PAST = Bundle("V;PRS"), Bundle("V;PST;3;SG")


def lesson_of(words: Sequence[tuple[str, str]], label: str = "", alignment: str = "naive") -> Lesson:
    items = tuple(Item(lemma, PAST if len(form) % 2 else PRESENT, form) for lemma, form in words)
    aligned = Naive().align(words) if alignment == "naive" else [()] * len(words)
    return Lesson(items, items[:3], language=label, alignment=alignment, alignments=tuple(aligned))


def long_lesson(lemma: int, items: int, label: str = "", spread: int = 3) -> Lesson:
    """Words of about so many letters."""
    stems = [("abcde"[i % 5] * (lemma + i % spread), "abxde"[i % 5] * (lemma + i % spread)) for i in range(items)]
    return lesson_of([(stem, f"{form}en") for stem, form in stems], label)


def specs_of(
    lessons: Sequence[Lesson], seeds: int = 2, system: str = "hacm", settings: Settings | None = None
) -> list[ModelSpec]:
    chosen = settings or small(system)
    return [spec_for(lesson, system, chosen, seed) for lesson in lessons for seed in range(1, seeds + 1)]


words = st.lists(st.tuples(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6)), min_size=1)


@given(words=words, system=st.sampled_from(sorted(SYSTEMS)))
def test_actions_are_counted_as_the_tapes_have_them(words: list[tuple[str, str]], system: str) -> None:
    lesson = lesson_of(words, alignment="naive" if SYSTEMS[system].aligned else "none")
    (task,) = runs_of(specs_of([lesson], 1, system))
    pairs = zip(lesson.train, lesson.alignments, strict=True)
    assert [SYSTEMS[system].bound(*pair) for pair in pairs] == task.stages[-1][0].lengths[ACTIONS].tolist()


lengths = st.lists(st.tuples(st.integers(1, 30), st.integers(2, 12)), min_size=1, max_size=6)


@given(lengths=lengths, seeds=st.integers(1, 3), budget=st.integers(1, 200_000) | st.none())
def test_every_model_is_in_one_pack_that_fits(lengths: list[tuple[int, int]], seeds: int, budget: int | None) -> None:
    lessons = [long_lesson(lemma, items, f"l{number}") for number, (lemma, items) in enumerate(lengths)]
    specs = specs_of(lessons, seeds)
    packs = pack_specs(specs, "cuda", budget)
    assert sorted(id(spec) for pack in packs for spec in pack.specs) == sorted(map(id, specs))
    assert sorted(pack.name for pack in packs) == sorted(f"hacm-{number}" for number in range(1, len(packs) + 1))
    for pack in packs:
        assert pack.bytes == sum(needs(pack.specs))
        assert budget is None or len(pack.specs) == 1 or pack.bytes <= budget
    assert budget is not None or len(packs) == 1


def test_long_and_short_words_many_and_few_items_are_kept_apart() -> None:
    """Where the memory does not hold all of them."""
    for ones, others in (
        ([long_lesson(3, 20, f"s{n}") for n in range(3)], [long_lesson(30, 20, f"l{n}") for n in range(3)]),
        ([long_lesson(9, 10, f"f{n}") for n in range(3)], [long_lesson(8, 90, f"m{n}") for n in range(3)]),
    ):
        mixed = [lesson for pair in zip(ones, others, strict=True) for lesson in pair]
        budget = max(sum(needs(specs_of(lessons, system="haem"))) for lessons in (ones, others))
        packs = pack_specs(specs_of(mixed, system="haem"), "cuda", budget)
        assert len(packs) == 2
        assert {frozenset(spec.lesson for spec in pack.specs) for pack in packs} == {frozenset(ones), frozenset(others)}


def test_models_that_are_not_alike_never_share_a_pack() -> None:
    lesson = long_lesson(5, 12)
    changes: list[dict[str, object]] = [{}, {"hidden": 8}, {"step": 0.5}]
    specs = [spec_for(lesson, "haem", small("haem", **change), seed) for change in changes for seed in (1, 2)]
    packs = pack_specs(specs, "cuda")
    assert sorted(len(pack.specs) for pack in packs) == [2, 4]
    for pack in packs:
        Fleet(pack.specs)


def test_on_a_cpu_a_pack_has_a_few_models_of_one_kind_with_like_settings() -> None:
    """Of an experiment up to twelve, of one lesson alone up to three."""
    lessons = [long_lesson(5, 12, "german"), long_lesson(4, 12, "greek")]
    specs = [spec for system in ("hacm", "haem") for spec in specs_of(lessons, 14, system)]
    specs += specs_of(lessons[:1], 1, settings=small("hacm", hidden=8))
    packs = pack_specs(specs)
    names = ["german-hacm-naive-1", "german-hacm-naive-2", "german-hacm-naive-3", "greek-hacm-naive-1"]
    names += ["greek-hacm-naive-2", "german-haem-naive-1", "german-haem-naive-2"]
    assert [pack.name for pack in packs] == [*names, "greek-haem-naive-1", "greek-haem-naive-2"]
    assert [len(pack.specs) for pack in packs] == [7, 7, 1, 7, 7, 7, 7, 7, 7]
    alone = [replace(spec, lesson=replace(spec.lesson, language="", setting="")) for spec in specs_of(lessons[:1], 5)]
    assert [len(pack.specs) for pack in pack_specs(alone)] == [3, 2]
    assert sorted(id(spec) for pack in packs for spec in pack.specs) == sorted(map(id, specs))
    for pack in packs:
        Fleet(pack.specs)


def ready(*languages: str) -> list[ModelSpec]:
    """Two models of each of three kinds, with their lessons aligned."""
    specs = []
    for name in languages:
        for system, alignment in (("hacm", "naive"), ("haem", "naive"), ("haem", "smart")):
            low = replace(lesson(name, alignment), language=name, setting="low")
            specs += specs_of([low], 2, system, small(system, epochs=6))
    return specs


def contents(packs: Sequence[Pack]) -> dict[str, Sequence[ModelSpec]]:
    assert len({pack.name for pack in packs}) == len(packs)
    return {pack.name: pack.specs for pack in packs}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_is_in_a_pack_does_not_depend_on_what_is_done(device: str) -> None:
    wanted = ready("german", "turkish")
    packs = contents(pack_specs(wanted, device))
    assert sum(map(len, packs.values())) == len(wanted) == 12
    unfinished = open_groups(wanted, {wanted[0].digest}, device)
    assert len(unfinished) == 12, "the group of the first has others"
    assert contents(pack_specs(unfinished, device)) == packs
    group = {spec.digest for spec in wanted if spec.system == "hacm"}
    others = contents(pack_specs(open_groups(wanted, group, device), device))
    assert others == {name: specs for name, specs in packs.items() if specs[0].system != "hacm"}


def test_the_longest_packs_come_first_on_a_gpu() -> None:
    """Many updates of few models take longer than few updates of more models, though they are of fewer items."""
    wanted = ready("german")
    few = [spec for spec in wanted if spec.system == "haem"][:1]
    many = [spec for spec in wanted if spec.system == "hacm"]
    short = [replace(spec, settings=small("hacm", epochs=2)) for spec in many]
    long = [replace(spec, settings=small("haem", epochs=2 * len(many) - 1)) for spec in few]
    first, second = pack_specs([*short, *long], "cuda")
    assert (first.specs[0].system, second.specs[0].system) == ("haem", "hacm")
    assert first.weight > second.weight
    assert first.on_cpu().weight < second.on_cpu().weight


def test_halves_are_all_of_a_pack() -> None:
    pack = Pack("haem", tuple(ready("german")[:3]), 90)
    one, two = pack.halves()
    assert (*one.specs, *two.specs) == pack.specs
    assert (one.name, two.name, one.bytes) == ("haema", "haemb", 45)
    assert len({part.fingerprint for part in (pack, one, two)}) == 3
    assert len({part.stem for part in (pack, one, two)}) == 3


REAL = {"hidden": 40, "embedding": 20, "batch": 4, "dropout": 0.3, "feature_embedding": 20, "feature_scale": 10.0}
MORE: dict[str, dict[str, object]] = {
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
    real, fields = REAL | MORE[system] | {"cell": cell}, SYSTEMS[system].settings.__struct_fields__
    settings = small(system, **{name: value for name, value in real.items() if name in fields})
    specs = specs_of(lessons, system=system, settings=settings)
    estimate, fleet = needs(specs), Fleet(specs)
    assert estimate.parameters == COPIES_OF_PARAMETERS * fleet.parameters.flat.nbytes

    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    epoch = fleet.prepare()
    longest = max(range(len(epoch)), key=lambda number: epoch.longest[number][ACTIONS])
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        fleet.update(epoch, longest)
    kept.pop(fleet.parameters.flat.untyped_storage().data_ptr())
    assert sum(kept.values()) <= estimate.update <= 5 * sum(kept.values())

    whole = [*fleet.train.arrays.values(), *fleet.dev.arrays.values(), fleet.train.features, fleet.dev.features]
    assert sum(tensor.nbytes for tensor in whole) <= estimate.items
    assert sum(array[0, 0, 0].nbytes for array in fleet.train.arrays.values()) <= ARRAYS_AN_ITEM * BYTES


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_memory_grows_with_all_it_should(system: str) -> None:
    alignment = "naive" if SYSTEMS[system].aligned else "none"
    short = lesson_of([("ab", "abc")] * 6, "short", alignment)
    long = lesson_of([("ab" * 9, "ab" * 9)] * 6, "long", alignment)

    def total(lesson: Lesson, seeds: int = 1, **changes: object) -> int:
        return sum(needs(specs_of([lesson], seeds, system, small(system, **changes))))

    one, before = total(short), Phase(long.train, long.alignments, 2)
    assert one < total(short, 2) < 2 * one
    assert one < total(long)
    assert one < total(replace(short, phases=(before,))), "items of a phase count too"
    assert all(one < total(short, **{name: value}) for name, value in (("hidden", 12), ("batch", 4), ("embedding", 10)))


def test_looking_at_a_weight_leaves_a_pack_as_it_is() -> None:
    """The driver looks at the weights of packs that are being sent to other processes."""
    trained = tiny.pack(seeds=[1, 2])
    before = pickle.dumps(trained)
    assert trained.weight > 0
    assert pickle.dumps(trained) == before
