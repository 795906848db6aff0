"""Random numbers are uniform, independent, and belong to their place alone; dropout masks are made of them."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from reinflect.layers.operations import Dropout, dropped, keys, uniform
from reinflect.settings import key

SEEDS = list(range(1, 9))


def test_numbers_are_uniform() -> None:
    numbers = uniform(keys(SEEDS, "dropout", 3), (40_000,)).double().numpy()
    assert numbers.min() >= 0
    assert numbers.max() < 1
    for row in numbers:
        assert stats.chisquare(np.histogram(row, bins=64, range=(0, 1))[0]).pvalue > 1e-4
        # The last bits as well, and the pairs of numbers that follow each other.
        assert stats.chisquare(np.bincount((row * 2**24).astype(int) % 16, minlength=16)).pvalue > 1e-4
        pairs = np.histogram2d(row[:-1:2], row[1::2], bins=8, range=[[0, 1], [0, 1]])[0]
        assert stats.chisquare(pairs.flatten()).pvalue > 1e-4


def test_models_purposes_and_neighbouring_keys_are_independent() -> None:
    """Of two rows of N numbers the correlation is normal with deviation 1/√N."""
    count = 50_000
    near = keys([1], "dropout", 0) + torch.arange(20)  # the updates of an epoch have keys in a row
    every = torch.cat([keys(SEEDS, "dropout", 0), keys(SEEDS, "dropout", 1), keys(SEEDS, "other", 0), near])
    numbers = uniform(every, (count,)).double().numpy()
    off_diagonal = np.corrcoef(numbers)[np.triu_indices(len(numbers), 1)]
    off_diagonal = off_diagonal[np.abs(off_diagonal) < 0.999]  # the first neighbour is seed 1's own key
    assert len(off_diagonal) == len(numbers) * (len(numbers) - 1) // 2 - 1
    assert np.abs(off_diagonal).max() < 5 / np.sqrt(count)


def test_a_place_keeps_its_number_when_the_shape_grows() -> None:
    some = keys([4, 5], "x")
    small, large = uniform(some, (2, 3, 5), (9, 50, 5)), uniform(some, (4, 20, 5), (9, 50, 5))
    assert torch.equal(small, large[:, :2, :3])
    assert torch.equal(uniform(some, (2, 3, 5)), uniform(some, (2, 3, 5), (2, 3, 5)))
    assert len(np.unique(large[0])) == large[0].numel()


def test_keys_differ_by_every_part() -> None:
    made = {key(*parts) for parts in [(1, "a", 0), (1, "a", 1), (2, "a", 0), (1, "b", 0), (1, "a"), ("1a", 0), (11, 0)]}
    assert len(made) == 7
    assert keys([3, 4], "a").tolist() == [keys([3], "a").item(), keys([4], "a").item()]


def masks(some: Tensor, rate: float, length: int, items: int, width: int, *, variational: bool) -> Tensor:
    ones = torch.ones(len(some), length, items, width)
    return dropped(ones, Dropout.of(some, [rate] * len(some), ones.dtype), 0, variational=variational)


@pytest.mark.parametrize("variational", [False, True])
def test_masks(variational: bool) -> None:
    length, items, width = 9, 4, 50
    some = keys([1, 2, 3], "dropout", 7)
    mask = masks(some, 0.3, length, items, width, variational=variational)
    assert np.unique(mask).tolist() == [0.0, pytest.approx(1 / 0.7)]
    drawn = mask[:, :1] if variational else mask
    share = (drawn == 0).float().mean().item()
    assert abs(share - 0.3) < 5 * (0.21 / drawn.numel()) ** 0.5
    assert torch.equal(mask, mask[:, :1].expand_as(mask)) == variational
    # No two models or items, nor two steps of plain dropout, share a mask.
    separate = drawn.reshape(-1, width)
    assert len(np.unique(separate, axis=0)) == len(separate)


@pytest.mark.parametrize("variational", [False, True])
def test_each_model_has_its_own_rate(variational: bool) -> None:
    some, rates = keys([1, 2, 3], "x"), [0.3, 0.0, 0.5]
    states = torch.randn(3, 4, 5, 6)
    together = dropped(states, Dropout.of(some, rates, states.dtype), 2, variational=variational)
    for number, rate in enumerate(rates):
        own = slice(number, number + 1)
        expected = states[own] * masks(some[own] + 2, rate, 4, 5, 6, variational=variational)
        assert torch.equal(together[own], expected)
        assert torch.equal(together[own], states[own]) == (rate == 0)


@pytest.mark.parametrize("variational", [False, True])
def test_compiled_masks_are_those_of_double_precision(variational: bool) -> None:
    some, rates, states = keys([1, 2, 3], "dropout", 7), [0.3, 0.0, 0.5], torch.ones(3, 9, 5, 70)
    single = dropped(states, Dropout.of(some, rates, states.dtype), 4, variational=variational)
    double = dropped(states.double(), Dropout.of(some, rates, torch.float64), 4, variational=variational)
    assert torch.equal(single, double.float())
