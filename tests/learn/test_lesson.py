"""Lessons and what their digests depend on, folds, and the packs of specs."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align.naive import Naive
from reinflect.align.smart import Smart
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError
from reinflect.inflector.train import Plan
from reinflect.learn.augmentation import AUGMENTATIONS
from reinflect.learn.fleet import runs_of
from reinflect.learn.lesson import (
    FOLDS,
    Lesson,
    ModelSpec,
    Phase,
    Preparation,
    alignments_of,
    fold_split,
    plain_lessons,
)
from reinflect.run.packing import SEEDS_A_PACK, pack_specs
from reinflect.run.packs import Pack
from tests.learn.tiny import language, lesson, small


def items_of(cells: int, forms: int) -> list[Item]:
    """Every cell comes as often as there are forms, its features spelled in different ways."""
    spellings = ("V;PST", "PST;V", "V; PST")
    return [Item(f"w{cell}", Bundle(spellings[n % 3]), f"f{n}") for n in range(forms) for cell in range(cells)]


@given(cells=st.integers(10, 60), forms=st.integers(1, 3), seeds=st.integers(1, 23))
def test_folds(cells: int, forms: int, seeds: int) -> None:
    items = items_of(cells, forms)
    made = plain_lessons(items, None, seeds, "data")
    assert [own.fold for own in made] == list(range(seeds))
    for number, own in enumerate(made):
        assert (own.train, own.dev) == fold_split(items, number)
        assert sorted([*own.train, *own.dev], key=items.index) == items
        learnt, asked = {item.lemma for item in own.train}, {item.lemma for item in own.dev}
        assert not learnt & asked, "an answer is given away"
        assert len(asked) in (cells // FOLDS, -(-cells // FOLDS))
        assert list(own.train) == [item for item in items if item.lemma in learnt], "the order of the file is kept"
    for start in range(0, seeds - seeds % FOLDS, FOLDS):
        held = [item.lemma for own in made[start : start + FOLDS] for item in own.dev]
        assert sorted(held) == sorted(item.lemma for item in items), "five seeds hold everything out once"


@given(cells=st.integers(5, 40), division=st.integers(0, 3))
def test_five_folds_hold_out_every_cell_once(cells: int, division: int) -> None:
    items = items_of(cells, 2)
    held = [item for fold in range(FOLDS) for item in fold_split(items, division * FOLDS + fold)[1]]
    assert sorted(held, key=items.index) == items


def test_every_seed_holds_out_something_else() -> None:
    made = plain_lessons(items_of(100, 1), None, 20, "data")
    assert len({own.dev for own in made}) == 20


def test_folds_do_not_depend_on_how_many_seeds_there_are() -> None:
    items = items_of(30, 1)
    three, eight = (plain_lessons(items, None, seeds, "data") for seeds in (3, 8))
    assert [(own.train, own.dev) for own in three] == [(own.train, own.dev) for own in eight[:3]]


def test_folds_do_not_depend_on_the_order_of_the_items() -> None:
    items = items_of(30, 2)
    for fold in range(FOLDS):
        (_, held), (_, turned) = fold_split(items, fold), fold_split(items[::-1], fold)
        assert held == turned[::-1]


def test_with_dev_items_all_seeds_share_a_lesson() -> None:
    made = plain_lessons(items_of(3, 1), items_of(1, 1), 4)
    assert all(own is made[0] for own in made)
    assert (len(made), made[0].fold, made[0].dev) == (4, None, tuple(items_of(1, 1)))


def test_too_few_items_to_hold_some_out() -> None:
    with pytest.raises(InputError, match=r"data: found 9 different items, too few .* --dev"):
        plain_lessons(items_of(9, 3), None, 2, "data")


@given(
    seeds=st.integers(1, 12),
    systems=st.sampled_from([["hacm"], ["haem", "hacm"], ["soft", "haem"]]),
    methods=st.sampled_from([["naive"], ["smart", "naive"]]),
)
def test_packs_hold_every_model_once(seeds: int, systems: list[str], methods: list[str]) -> None:
    plan = Plan(settings={system: small(system) for system in systems}, systems=systems, alignments=methods)
    specs = plan.specs(plain_lessons(language("greek")[2:], language("greek")[:2], seeds), Preparation.of({}, methods))
    made = pack_specs(specs)
    found = [(spec.system, spec.lesson.alignment, spec.seed) for pack in made for spec in pack.specs]
    assert found == [
        (system, method, seed)
        for system in systems
        for method in alignments_of(system, methods)
        for seed in range(1, seeds + 1)
    ]
    assert len({pack.name for pack in made}) == len(made)
    sizes = [len(pack.specs) for pack in made]
    assert max(sizes) <= SEEDS_A_PACK
    assert max(sizes) - min(sizes) <= 1
    assert specs == [spec for pack in made for spec in pack.specs]


def test_a_pack_survives_pickling_with_what_its_models_share() -> None:
    own = lesson("greek", dev=2)
    made = Pack("p", tuple(ModelSpec(own, "haem", small("haem"), seed) for seed in (1, 2, 3)))
    back: Pack = pickle.loads(pickle.dumps(made))
    assert back.specs[0].lesson is back.specs[2].lesson
    assert [spec.digest for spec in back.specs] == [spec.digest for spec in made.specs]
    one, two, _ = runs_of(back.specs)
    assert one.stages[0][0] is two.stages[0][0]
    assert one.dev is two.dev
    assert (one.spec.seed, two.spec.seed) == (1, 2)
    original = runs_of(made.specs)[0].stages[0][0]
    assert all(np.array_equal(one.stages[0][0].arrays[name], array) for name, array in original.arrays.items())


ITEMS = language("german")
PLAIN = Lesson(tuple(ITEMS[4:]), tuple(ITEMS[:4]), tuple(ITEMS[1:3]), "german", "low", "naive", "naive()", 3)
LESSONS: dict[str, Callable[[Lesson], Lesson]] = {
    "a form": lambda own: replace(own, train=(replace(own.train[0], form="x"), *own.train[1:])),
    "a lemma": lambda own: replace(own, train=(replace(own.train[0], lemma="x"), *own.train[1:])),
    "a bundle": lambda own: replace(own, train=(replace(own.train[0], features=Bundle("X")), *own.train[1:])),
    "the order": lambda own: replace(own, train=own.train[::-1]),
    "an item less": lambda own: replace(own, train=own.train[:-1]),
    "dev": lambda own: replace(own, dev=own.dev[:-1]),
    "which are dev": lambda own: replace(own, train=(*own.train, own.dev[0]), dev=own.dev[1:]),
    "what is asked": lambda own: replace(own, asked=()),
    "dev or asked": lambda own: replace(own, dev=own.dev[:2], asked=(*own.dev[2:], *own.asked)),
    "language": lambda own: replace(own, language="greek"),
    "setting": lambda own: replace(own, setting="high"),
    "alignment": lambda own: replace(own, alignment="smart"),
    "recipe": lambda own: replace(own, recipe="naive(2)"),
    "fold": lambda own: replace(own, fold=4),
    "no fold": lambda own: replace(own, fold=None),
}
SPEC = ModelSpec(PLAIN, "haem", small("haem"), 1)
SPECS: dict[str, Callable[[ModelSpec], ModelSpec]] = {
    "system": lambda own: replace(own, system="hacm", settings=small("hacm")),
    "seed": lambda own: replace(own, seed=2),
    **{
        name: lambda own, name=name, value=value: replace(  # type: ignore[misc]
            own, settings=msgspec.structs.replace(own.settings, **{name: value})
        )
        for name, value in {"hidden": 9, "epochs": 9, "patience": 9, "precision": "tf32", "tied": True}.items()
    },
}


def test_whatever_matters_is_in_the_digest_of_a_lesson() -> None:
    digests = {name: change(PLAIN).digest for name, change in LESSONS.items()}
    assert PLAIN.digest not in digests.values()
    assert len(set(digests.values())) == len(LESSONS)


def test_whatever_matters_is_in_the_digest_of_a_spec() -> None:
    changed = [change(SPEC) for change in SPECS.values()]
    changed += [replace(SPEC, lesson=change(PLAIN)) for change in LESSONS.values()]
    assert len({own.digest for own in (SPEC, *changed)}) == 1 + len(changed)


def test_a_digest_does_not_depend_on_what_decides_nothing() -> None:
    again = replace(PLAIN, train=tuple(replace(item, line=9) for item in PLAIN.train))
    assert again.digest == PLAIN.digest
    assert replace(SPEC, lesson=again).digest == SPEC.digest
    # A setting at its default may have been added later.
    assert replace(SPEC, settings=msgspec.structs.replace(SPEC.settings)).digest == SPEC.digest


class Copies(msgspec.Struct, frozen=True):
    """An augmentation: lemmas to copy, before the real items."""

    count: int = 3
    name: ClassVar[str] = "once"
    per_seed: ClassVar[bool] = False

    def __call__(self, own: Lesson, seed: int) -> Lesson:
        items = tuple(Item(item.lemma, item.features, item.lemma) for item in own.train[seed : seed + self.count])
        alignments = tuple(Naive().align([(item.lemma, item.form) for item in items]))
        return replace(own, phases=(*own.phases, Phase(items, alignments, 2)))


class OwnCopies(Copies, frozen=True):
    name: ClassVar[str] = "each"
    per_seed: ClassVar[bool] = True


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in (("copies", Copies), ("own-copies", OwnCopies)):
        monkeypatch.setitem(AUGMENTATIONS._loaded, name, kind)


@pytest.mark.usefixtures("copies")
def test_a_digest_is_the_same_before_and_after_preparation(tmp_path: Path) -> None:
    plain = Lesson(PLAIN.train, PLAIN.dev)
    for augmentations in ((), ("copies",), ("own-copies",)):
        preparation = Preparation.of({"smart": Smart(sweeps=2)}, ["naive", "smart"], augmentations)
        for alignment in ("naive", "smart", "none"):
            planned = preparation.planned(plain, alignment, 1)
            made = preparation.prepared(planned, seed=1, cache=tmp_path)
            assert made.digest == planned.digest
            assert len(made.alignments) == len(made.train)
            assert [len(phase.items) for phase in made.phases] == [3] * len(augmentations)
            assert not planned.alignments


@pytest.mark.usefixtures("copies")
def test_how_a_lesson_is_prepared_is_in_its_digest() -> None:
    plain = Lesson(PLAIN.train, PLAIN.dev)

    def digest(alignment: str = "smart", seed: int = 1, augmentations: tuple[str, ...] = (), **settings: object) -> str:
        preparation = Preparation.of(settings, ["naive", "smart"], augmentations)  # type: ignore[arg-type]
        return preparation.planned(plain, alignment, seed).digest

    own = digest(augmentations=("own-copies",))
    digests = [
        plain.digest,
        digest(),
        digest("naive"),
        digest("none", augmentations=("copies",)),
        digest(smart=Smart(sweeps=2)),
        digest(smart=Smart(seed=2)),
        digest(augmentations=("copies",)),
        digest(augmentations=("copies",), copies=Copies(2)),
        own,
        digest(augmentations=("own-copies",), seed=2),
    ]
    assert len(set(digests)) == len(digests)
    assert digest("naive", smart=Smart(sweeps=2)) == digest("naive")
    # Without augmentations of their own, all seeds share a lesson.
    assert digest(seed=2) == digest()
    assert digest(augmentations=("copies",), seed=2) == digest(augmentations=("copies",))


@pytest.mark.usefixtures("copies")
def test_an_augmentation_is_given_the_seed_of_its_lesson() -> None:
    plain = Lesson(PLAIN.train, PLAIN.dev)
    for name, shared in (("copies", True), ("own-copies", False)):
        preparation = Preparation.of({}, ["naive"], [name])
        one, two = (preparation.prepared(preparation.planned(plain, "naive", seed), seed=seed) for seed in (1, 2))
        assert (one.phases == two.phases) == shared
        assert preparation.per_seed() != shared


def test_names_of_specs() -> None:
    assert (SPEC.name, SPEC.kind) == ("german-low-haem-naive-1", "haem-naive")
    soft = ModelSpec(Lesson(PLAIN.train, PLAIN.dev), "soft", small("soft"), 2)
    assert (soft.name, soft.kind) == ("soft-2", "soft")
    assert (PLAIN.label, soft.lesson.label) == ("german-low", "")
