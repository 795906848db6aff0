"""Parameters: how they start, and that a fleet is its members."""

import math

import pytest
import torch

from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory, RecurrentSettings, expected_shapes
from reinflect.systems.system import System
from tests.systems.small_fleets import settings_of

SMALL, LARGE = Inventory(("a", "b"), ("V",)), Inventory(tuple("abcdefg"), ("N", "PL", "V"))
both = pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))


def initial(system: System, inventories: list[Inventory], seeds: list[int], settings: Settings) -> Parameters:
    return Parameters.initial(
        system.shapes(settings), [system.sizes(own, settings) for own in inventories], seeds, dtype=torch.float64
    )


@both
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


@both
def test_starts(system: System) -> None:
    settings = settings_of(system, hidden=50, embedding=40, cell="lstm", forget_bias=0.5)
    first = initial(system, [LARGE], [1], settings)
    embedding = first["embedding"]
    assert embedding.abs().max() <= math.sqrt(6 / 40)
    assert embedding.abs().max() > 0.95 * math.sqrt(6 / 40)
    output = first["output.weights"]
    assert output.abs().max() <= math.sqrt(6 / sum(output.shape[1:]))
    assert output.abs().max() > 0.9 * math.sqrt(6 / sum(output.shape[1:]))
    assert not first["output.bias"].any()
    if isinstance(settings, RecurrentSettings):
        bias = first["forward.bias"][0].view(4, 50)
        assert bias.sum(dim=1).tolist() == [0, 25, 0, 0]  # input, forget, output, candidate
