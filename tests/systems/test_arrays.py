"""Items and parameters as arrays: what batches of items hold, and how the parameters of each model start."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.layers.examples import NOTHING, Examples, Stack
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.hacm.model import HacmBatch
from reinflect.systems.haem.model import HaemBatch
from reinflect.systems.symbols import Inventory, RecurrentSettings, expected_shapes
from reinflect.systems.system import System
from tests.systems.small_fleets import HACM, HAEM, naive, settings_of

ITEMS = [
    Item("fliegen", Bundle("V;PST"), "flog"),
    Item("ab", Bundle("V;PST;PST;X"), "abß"),
    Item("ßß", Bundle(""), "ß"),
]
KNOWN = Inventory(tuple("abefglino"), ("PST", "V"))
every = pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))


def inflecting(system: System, settings: Settings | None = None) -> Stack:
    return Stack([Examples.to_inflect(system, ITEMS, KNOWN, settings or Settings())])


def test_what_a_decoder_sees_of_a_lemma() -> None:
    stack = inflecting(HACM)
    lengths = {"symbols": 4, "reversed": 4, "literals": 4, "gold": 4}
    lemmas, gold = stack.to_inflect(torch.tensor([0]), torch.tensor([[1, 2]]), lengths)
    spelled, symbols = stack.files[0].spellings, HACM.symbols(KNOWN).symbols
    assert [symbols[k] for k in lemmas.symbols[0, :, 0]] == ["<s>", "a", "b", "</s>"]
    assert [symbols[k] for k in lemmas.symbols[0, :, 1]] == ["<s>", "<unknown>", "<unknown>", "</s>"]
    assert lemmas.literals is not None
    assert [spelled[k] for k in lemmas.literals[0, :, 1]] == ["<s>", "ß", "ß", "</s>"]
    assert [spelled[k] for k in gold[0, 0, :3]] == ["a", "b", "ß"]
    assert gold[0, 0, 3] == NOTHING
    assert gold[0, 1, 1] == NOTHING


@pytest.mark.parametrize(("kind", "row"), [("set", [3, 3]), ("counts", [6, 3]), ("embedded", [1, 1])])
def test_features_as_numbers(kind: str, row: list[int]) -> None:
    """Columns PST, V; X was never seen. What is embedded has no scale."""
    files = Examples.to_inflect(HAEM, ITEMS, KNOWN, Settings(features=kind, feature_scale=3.0))  # type: ignore[arg-type]
    assert files.features.tolist() == [[row[1], row[1]], row, [0, 0]]


@every
def test_a_blank_place_holds_nothing_of_any_item(system: System) -> None:
    """A batch of short items with blanks must not see the first item, which is longer than its arrays."""
    settings = settings_of(system, hidden=4)
    words = [(item.lemma, item.form) for item in ITEMS[:2]]
    known = Inventory.of(ITEMS)
    file = Examples.to_learn(system, ITEMS[:2], [naive(*word) for word in words], known, settings)
    stack = Stack([file, file])
    places = np.array([[1, -1], [-1, -1]])
    longest = stack.longest([0, 1], places)
    assert longest["symbols"] == file.lengths["symbols"][1]
    drawn = stack.to_learn(torch.tensor([0, 1]), torch.from_numpy(places), longest, torch.tensor([True, True]))
    sizes = [system.sizes(known, settings)] * 2
    parameters, zeros = Parameters.initial(system.shapes(settings), sizes, [1, 2]), torch.zeros(2, dtype=torch.int64)
    allowed = torch.stack([system.equations.allowed(model, model[system.outputs]) for model in sizes])
    batch = system.equations.trajectories(drawn, parameters, settings, allowed, zeros, zeros)
    assert batch.symbols.shape == (2, longest["symbols"], 2)
    assert batch.weights[0, :, 0].sum() == pytest.approx(1.0)
    for model, place in [(0, 1), (1, 0), (1, 1)]:
        assert not batch.weights[model, :, place].any()
        assert not batch.symbols[model, :, place].any()
        assert isinstance(batch, HacmBatch | HaemBatch) == (not system.reads_features)
        if isinstance(batch, HacmBatch | HaemBatch):
            assert batch.attended[model, :, place].max() < longest["symbols"]
        assert batch.lengths[model, place] <= longest["symbols"]


def test_features_of_other_languages_are_marked() -> None:
    few = Examples.to_inflect(HAEM, ITEMS, Inventory(("a",), ("V",)), Settings(feature_scale=5.0))
    many = Examples.to_inflect(HAEM, ITEMS, KNOWN, Settings(feature_scale=2.0))
    stack = Stack([few, many])
    assert stack.features[0, :3].tolist() == [[5, -1], [5, -1], [0, -1]]
    assert stack.features[1, :3].tolist() == [[2, 2], [2, 2], [0, 0]]


@given(st.integers(0, 9))
def test_how_long_the_arrays_of_many_batches_need_to_be(seed: int) -> None:
    """Items of files of different sizes, -1 among them."""
    chance, known = np.random.default_rng(seed), Inventory.of(ITEMS)
    words = [(item.lemma, item.form) for item in ITEMS]
    files = [
        Examples.to_learn(HAEM, ITEMS[:size], [naive(*word) for word in words[:size]], known, Settings())
        for size in (3, 1, 2)
    ]
    stack, which = Stack(files), [2, 0, 1, 0]
    items = np.stack([chance.integers(-1, len(files[file]), (5, 2)) for file in which], axis=1)
    for batch, longest in zip(items.tolist(), stack.longest_each(which, items), strict=True):
        for name, length in longest.items():
            taken = [files[which[m]].lengths[name][item] for m, row in enumerate(batch) for item in row if item >= 0]
            assert length == max([1, *taken])


SMALL, LARGE = Inventory(("a", "b"), ("V",)), Inventory(tuple("abcdefg"), ("N", "PL", "V"))


def initial(system: System, inventories: list[Inventory], seeds: list[int], settings: Settings) -> Parameters:
    return Parameters.initial(
        system.shapes(settings), [system.sizes(own, settings) for own in inventories], seeds, dtype=torch.float64
    )


@every
@pytest.mark.parametrize("features", ["set", "embedded"])
def test_a_model_starts_the_same_in_every_fleet(system: System, features: str) -> None:
    settings = settings_of(system, hidden=4, embedding=3, features=features)
    sizes = system.sizes(SMALL, settings)
    alone = initial(system, [SMALL], [5], settings).one(0, sizes)
    crowd = initial(system, [LARGE, SMALL, LARGE], [1, 5, 5], settings)
    for name, tensor in crowd.one(1, sizes).items():
        assert torch.equal(tensor, alone[name]), name
        assert tuple(tensor.shape) == expected_shapes(system.shapes(settings), sizes)[name]
        padded = crowd[name][1]
        assert padded.count_nonzero() == tensor.count_nonzero()
    other = initial(system, [SMALL], [6], settings).one(0, sizes)
    assert not torch.equal(other["embedding"], alone["embedding"])


@every
def test_starts(system: System) -> None:
    settings = settings_of(system, hidden=50, embedding=40, cell="lstm", forget_bias=0.5)
    first = initial(system, [LARGE], [1], settings)
    for tensor, units in (first["embedding"], 40), (first["output.weights"], sum(first["output.weights"].shape[1:])):
        assert 0.95 * math.sqrt(6 / units) < tensor.abs().max() <= math.sqrt(6 / units)
    assert not first["output.bias"].any()
    if isinstance(settings, RecurrentSettings):
        bias = first["forward.bias"][0].view(4, 50)
        assert bias.sum(dim=1).tolist() == [0, 25, 0, 0]  # input, forget, output, candidate
