"""The items of each update."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reinflect.chance import key

POOL = 8
"""Batches in a pool, whose items are sorted by length, so that batches have little padding."""


def epoch_batches(lengths: NDArray[np.int64], batch: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """A shuffle of all items in batches of similar length; -1 fills the last one. *Shape:* (I) → (updates, batch)

    The order of lengths is the same for all models of equal size at the same epoch, so that the models of a fleet have
    their long batches at the same updates.
    """
    items = _permutation(key(seed, "shuffle", epoch), len(lengths))
    updates, pool = -(-len(items) // batch), POOL * batch
    padded = np.full(-(-len(items) // pool) * pool, -1, dtype=np.int64)
    padded[: len(items)] = items
    # One more than any length, for the rows after the last item. Small types sort faster.
    beyond = int(lengths.max()) + 1
    sizes = np.append(lengths, beyond).astype(np.min_scalar_type(beyond))[padded]
    if batch > 1:
        sorting = np.argsort(sizes.reshape(-1, pool), axis=1, kind="stable")
        sorting += np.arange(0, len(padded), pool)[:, np.newaxis]
        padded, sizes = padded[sorting.ravel()], sizes[sorting.ravel()]
    sizes[padded < 0] = 0
    longest = sizes[: updates * batch].reshape(updates, batch).max(axis=1)
    by_length = np.argsort(longest, kind="stable")
    order = by_length[_permutation(key("order", epoch, updates), updates)]
    return padded[: updates * batch].reshape(updates, batch)[order]


@lru_cache(maxsize=64)
def _permutation(seed: int, size: int) -> NDArray[np.int64]:
    """A shuffle, which models of many languages share."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(size)
    order.flags.writeable = False
    return order
