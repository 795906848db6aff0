"""Which items come at which update."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.learn.optimiser import POOL, epoch_batches
from reinflect.settings import key


def lengths_of(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(2, 60, count)


def slow_batches(lengths: np.ndarray, batch: int, seed: int, epoch: int) -> list[list[int]]:
    """The same pool by pool, in lists."""
    left = np.random.Generator(np.random.PCG64(key(seed, "shuffle", epoch))).permutation(len(lengths)).tolist()
    made = []
    while left:
        pool, left = left[: POOL * batch], left[POOL * batch :]
        pool.sort(key=lambda item: lengths[item])
        made += [pool[start : start + batch] for start in range(0, len(pool), batch)]
    made.sort(key=lambda items: max(lengths[item] for item in items))
    order = np.random.Generator(np.random.PCG64(key("order", epoch, len(made)))).permutation(len(made))
    return [made[number] + [-1] * (batch - len(made[number])) for number in order]


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=150), st.integers(1, 20), st.integers(0, 9), st.integers(0, 9)
)
def test_batches_are_those_of_the_slow_program(lengths: list[int], batch: int, seed: int, epoch: int) -> None:
    own = np.array(lengths)
    assert epoch_batches(own, batch, seed, epoch).tolist() == slow_batches(own, batch, seed, epoch)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    lengths = lengths_of(100)
    orders = {epoch_batches(lengths, 2, seed, epoch).tobytes() for seed in (1, 2) for epoch in (0, 1)}
    assert len(orders) == 4


@pytest.mark.parametrize("batch", [2, 8, 32])
def test_like_lengths_come_together(batch: int) -> None:
    """Far less of a batch is padding than if it were drawn at random."""
    lengths = lengths_of(1000)

    def padding(batches: np.ndarray) -> float:
        padded = np.where(batches >= 0, lengths[batches], 0)
        return float((padded.max(axis=1) * batch).sum() / lengths.sum()) - 1

    at_random = np.random.default_rng(1).permutation(992).reshape(-1, batch)
    assert padding(epoch_batches(lengths, batch, 1, 0)) < 0.5 * padding(at_random)


def test_fleets_have_their_long_batches_together() -> None:
    """At an update, batches of two models are about as long as each other; over an epoch they are shuffled."""
    first, second = lengths_of(400, 1), lengths_of(400, 2)
    longest = [own[epoch_batches(own, 4, seed, 3)].max(axis=1) for seed, own in ((1, first), (2, second))]
    assert np.corrcoef(*longest)[0, 1] > 0.95
    assert abs(np.corrcoef(longest[0], np.arange(100))[0, 1]) < 0.4
