"""Lessons and what their digests depend on, and folds."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError
from reinflect.learn.fleet import runs_of
from reinflect.learn.lesson import FOLDS, Lesson, Phase, fold_split, lessons_of, specs
from reinflect.run.packs import Pack
from reinflect.systems.kind import Kind, Plan, Wish, make_plan
from tests.learn.tiny import language, pack, small, spec_for


def items_of(cells: int, forms: int) -> list[Item]:
    """Every cell comes as often as there are forms, its features spelled in different ways."""
    spellings = ("V;PST", "PST;V", "V; PST")
    return [Item(f"w{cell}", Bundle(spellings[n % 3]), f"f{n}") for n in range(forms) for cell in range(cells)]


@given(cells=st.integers(10, 60), forms=st.integers(1, 3), seeds=st.integers(1, 23))
def test_folds(cells: int, forms: int, seeds: int) -> None:
    items = items_of(cells, forms)
    lessons = lessons_of(items, None, seeds, "data")
    assert [each.fold for each in lessons] == list(range(seeds))
    for number, each in enumerate(lessons):
        assert (each.train, each.dev) == fold_split(items, number)
        assert sorted([*each.train, *each.dev], key=items.index) == items
        learnt, held_out = {item.lemma for item in each.train}, {item.lemma for item in each.dev}
        assert not learnt & held_out, "an answer is given away"
        assert len(held_out) in (cells // FOLDS, -(-cells // FOLDS))
        assert list(each.train) == [item for item in items if item.lemma in learnt], "the order of the file is kept"
        assert fold_split(items[::-1], number)[1] == each.dev[::-1], "the order of the items plays no part"
    for first in range(0, seeds - seeds % FOLDS, FOLDS):
        lemmas = [item.lemma for each in lessons[first : first + FOLDS] for item in each.dev]
        assert sorted(lemmas) == sorted(item.lemma for item in items), "five seeds hold everything out once"
    fewer = lessons_of(items, None, 1, "data")
    assert [(each.train, each.dev) for each in fewer] == [(lessons[0].train, lessons[0].dev)]


def test_with_dev_items_all_seeds_share_a_lesson() -> None:
    [shared] = lessons_of(items_of(3, 1), items_of(1, 1), 4)
    assert (shared.fold, shared.dev) == (None, tuple(items_of(1, 1)))
    models = specs(make_plan(Wish(["haem-naive"], preset="low"), 3), [shared])
    assert len({spec.lesson for spec in models}) == 1


def test_too_few_items_to_hold_some_out() -> None:
    with pytest.raises(InputError, match=r"data: found 9 different items, too few .* --dev"):
        lessons_of(items_of(9, 3), None, 2, "data")


def test_a_pack_survives_pickling_with_what_its_models_share() -> None:
    original = pack()
    back: Pack = pickle.loads(pickle.dumps(original))
    assert back.specs[0].lesson is back.specs[2].lesson
    assert [spec.digest for spec in back.specs] == [spec.digest for spec in original.specs]
    first, second, _ = runs_of(back.specs)
    assert first.stages[0][0] is second.stages[0][0]
    assert first.dev is second.dev
    assert (first.spec.seed, second.spec.seed) == (1, 2)
    arrays = runs_of(original.specs)[0].stages[0][0].arrays
    assert all(np.array_equal(first.stages[0][0].arrays[name], array) for name, array in arrays.items())


ITEMS = language("german")
PLAIN = Lesson(tuple(ITEMS[4:]), tuple(ITEMS[:4]), tuple(ITEMS[1:3]), "german", "low", "naive", "naive()", 3)
SPEC = spec_for(PLAIN)
CHANGES: dict[str, Callable[[Lesson], dict[str, Any]]] = {
    "a form": lambda plain: {"train": (replace(plain.train[0], form="x"), *plain.train[1:])},
    "a lemma": lambda plain: {"train": (replace(plain.train[0], lemma="x"), *plain.train[1:])},
    "a bundle": lambda plain: {"train": (replace(plain.train[0], features=Bundle("X")), *plain.train[1:])},
    "the order": lambda plain: {"train": plain.train[::-1]},
    "an item less": lambda plain: {"train": plain.train[:-1]},
    "dev": lambda plain: {"dev": plain.dev[:-1]},
    "which are dev": lambda plain: {"train": (*plain.train, plain.dev[0]), "dev": plain.dev[1:]},
    "what is asked": lambda _: {"asked": ()},
    "dev or asked": lambda plain: {"dev": plain.dev[:2], "asked": (*plain.dev[2:], *plain.asked)},
    "language": lambda _: {"language": "greek"},
    "setting": lambda _: {"setting": "high"},
    "alignment": lambda _: {"alignment": "smart"},
    "recipe": lambda _: {"recipe": "naive(2)"},
    "fold": lambda _: {"fold": 4},
    "no fold": lambda _: {"fold": None},
}
SETTINGS = {"hidden": 9, "epochs": 9, "patience": 9, "precision": "tf32", "tied": True}


def test_whatever_matters_is_in_the_digests_of_a_lesson_and_of_a_spec() -> None:
    lessons = [replace(PLAIN, **change(PLAIN)) for change in CHANGES.values()]
    assert len({each.digest for each in (PLAIN, *lessons)}) == 1 + len(CHANGES)
    models = [SPEC, spec_for(PLAIN, "hacm"), spec_for(PLAIN, seed=2), *map(spec_for, lessons)]
    models += [spec_for(PLAIN, settings=small("haem", **{name: value})) for name, value in SETTINGS.items()]
    assert len({spec.digest for spec in models}) == 3 + len(CHANGES) + len(SETTINGS)


def test_a_digest_does_not_depend_on_what_decides_nothing() -> None:
    again = replace(PLAIN, train=tuple(replace(item, line=9) for item in PLAIN.train))
    assert again.digest == PLAIN.digest
    assert replace(SPEC, lesson=again).digest == SPEC.digest
    labelled = replace(SPEC, kind=Kind("haem", "naive", "mine"))
    # A setting at its default may have been added later.
    assert replace(labelled, settings=msgspec.structs.replace(SPEC.settings)).digest == SPEC.digest


class Copies(msgspec.Struct, frozen=True):
    """An augmentation: lemmas to copy, before the real items."""

    count: int = 3
    name: ClassVar[str] = "shared"
    per_seed: ClassVar[bool] = False

    def __call__(self, own: Lesson, seed: int) -> Lesson:
        items = tuple(Item(item.lemma, item.features, item.lemma) for item in own.train[seed : seed + self.count])
        alignments = tuple(Naive().align([(item.lemma, item.form) for item in items]))
        return replace(own, phases=(*own.phases, Phase(items, alignments, 2)))


class OwnCopies(Copies, frozen=True):
    name: ClassVar[str] = "each"
    per_seed: ClassVar[bool] = True


AUGMENTED = Lesson(PLAIN.train, PLAIN.dev)


def augmented(alignment: str = "smart", seed: int = 1, augment: str = "", **settings: Any) -> Lesson:
    structs = {"naive": Naive(), "smart": Smart(), "copies": Copies(), "own-copies": OwnCopies()} | settings
    return AUGMENTED.for_kind(Kind("haem", alignment, augment=tuple(augment.split())), structs, seed)


@pytest.mark.parametrize("augment", ["", "copies", "own-copies"])
@pytest.mark.parametrize("alignment", ["naive", "smart", "none"])
def test_a_digest_is_the_same_before_and_after_preparation(augment: str, alignment: str, tmp_path: Path) -> None:
    planned = augmented(alignment, augment=augment, smart=Smart(sweeps=2))
    prepared = planned.prepared(tmp_path)
    assert prepared.digest == planned.digest
    assert len(prepared.alignments) == len(prepared.train)
    assert [len(phase.items) for phase in prepared.phases] == [3] * bool(augment)
    assert not planned.alignments


def test_how_a_lesson_is_prepared_is_in_its_digest() -> None:
    lessons = [
        AUGMENTED,
        augmented(),
        augmented("naive"),
        augmented("none", augment="copies"),
        augmented(smart=Smart(sweeps=2)),
        augmented(smart=Smart(seed=2)),
        augmented(augment="copies"),
        augmented(augment="copies", copies=Copies(2)),
        augmented(augment="own-copies"),
        augmented(augment="own-copies", seed=2),
    ]
    assert len({each.digest for each in lessons}) == len(lessons)
    assert augmented("naive", smart=Smart(sweeps=2)).digest == augmented("naive").digest
    # Without augmentations of their own, all seeds share a lesson.
    assert augmented(seed=2).digest == augmented().digest
    assert augmented(augment="copies", seed=2).digest == augmented(augment="copies").digest


@pytest.mark.parametrize(("augment", "shared"), [("copies", True), ("own-copies", False)])
def test_an_augmentation_is_given_the_seed_of_its_lesson(augment: str, shared: bool) -> None:
    first, second = (augmented("naive", seed, augment).prepared() for seed in (1, 2))
    assert (first.phases == second.phases) == shared
    kind = Kind("haem", "naive", augment=(augment,))
    settings = {"haem": small("haem"), "naive": Naive(), "copies": Copies(), "own-copies": OwnCopies()}
    models = specs(Plan({kind: 3}, settings), [AUGMENTED])
    assert len({spec.lesson for spec in models}) == (1 if shared else 3)


def test_names_of_specs() -> None:
    soft = spec_for(Lesson(PLAIN.train, PLAIN.dev), "soft", seed=2)
    assert (SPEC.name, soft.name) == ("german-low-haem-naive-1", "soft-2")
    assert (PLAIN.label, soft.lesson.label) == ("german-low", "")
