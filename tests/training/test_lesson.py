"""Folds and packs."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError
from reinflect.training.lesson import FOLDS, SEEDS_A_PACK, Pack, fixed_split, folded_splits, lessons, models, packs
from tests.training.tiny import SMALL, language


def items_of(cells: int, forms: int) -> list[Item]:
    """Every cell comes as often as there are forms, its features spelled in different ways."""
    spellings = ("V;PST", "PST;V", "V; PST")
    return [Item(f"w{cell}", Bundle(spellings[n % 3]), f"f{n}") for n in range(forms) for cell in range(cells)]


@given(cells=st.integers(10, 60), forms=st.integers(1, 3), seeds=st.integers(1, 23))
def test_folds(cells: int, forms: int, seeds: int) -> None:
    items = items_of(cells, forms)
    splits = folded_splits(items, seeds, "data")
    assert len(splits) == seeds
    for split in splits:
        assert sorted([*split.train, *split.dev], key=items.index) == items
        learnt, asked = {item.lemma for item in split.train}, {item.lemma for item in split.dev}
        assert not learnt & asked, "an answer is given away"
        assert len(asked) in (cells // FOLDS, -(-cells // FOLDS))
        assert list(split.train) == [item for item in items if item.lemma in learnt], "the order of the file is kept"
    for start in range(0, seeds - seeds % FOLDS, FOLDS):
        held = [item.lemma for split in splits[start : start + FOLDS] for item in split.dev]
        assert sorted(held) == sorted(item.lemma for item in items), "five seeds hold everything out once"


def test_every_seed_holds_out_something_else() -> None:
    splits = folded_splits(items_of(100, 1), 20, "data")
    assert len({split.dev for split in splits}) == 20


def test_folds_do_not_depend_on_how_many_seeds_there_are() -> None:
    items = items_of(30, 1)
    assert folded_splits(items, 3, "data") == folded_splits(items, 8, "data")[:3]


def test_too_few_items_to_hold_some_out() -> None:
    with pytest.raises(InputError, match=r"data: found 9 different items, too few .* --dev"):
        folded_splits(items_of(9, 3), 2, "data")


@given(
    seeds=st.integers(1, 12),
    systems=st.sampled_from([["hacm"], ["haem", "hacm"]]),
    methods=st.sampled_from([["naive"], ["smart", "naive"]]),
)
def test_packs_hold_every_model_once(seeds: int, systems: list[str], methods: list[str]) -> None:
    split = fixed_split(language("greek")[2:], language("greek")[:2], seeds)
    learnt = lessons(split, methods, sweeps=2)
    made = packs(learnt, systems, dict.fromkeys(systems, SMALL))
    found = [(pack.system, model.lesson.alignment, model.seed) for pack in made for model in pack.models]
    assert found == [(system, method, seed) for system in systems for method in methods for seed in range(1, seeds + 1)]
    assert len({pack.name for pack in made}) == len(made)
    sizes = [len(pack.models) for pack in made]
    assert max(sizes) <= SEEDS_A_PACK
    assert max(sizes) - min(sizes) <= 1
    everything = [model for system in systems for model in models(learnt, system, SMALL)]
    assert everything == [model for pack in made for model in pack.models]


def test_a_pack_survives_pickling_with_what_its_models_share() -> None:
    learnt = lessons(fixed_split(language("greek")[2:], language("greek")[:2], 3), ["naive"])
    (made,) = packs(learnt, ["haem"], {"haem": SMALL})
    back: Pack = pickle.loads(pickle.dumps(made))
    assert back.models[0].lesson is back.models[2].lesson
    (one, first), (two, second), _ = back.tasks()
    assert one is two
    assert (first, second) == (1, 2)
    original = made.tasks()[0][0]
    assert all(np.array_equal(one.train.arrays[name], array) for name, array in original.train.arrays.items())
