"""Which items a model sees at which update."""

import numpy as np
from numpy.typing import NDArray

from reinflect.models.randomness import key

POOL = 8
"""Batches are cut from pools of so many batches' items, sorted by length, so that little of a batch is padding."""


def epoch_batches(lengths: NDArray[np.int64], batch: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """A shuffle of all items in batches of like length; -1 fills the last. Depends on the model alone.

    The batches come in an order of lengths that is the same for all models of equal size at the same epoch, so that
    the models of a fleet have long batches together and short batches together.

    *Shape:* (I) → (updates, batch)
    """
    items = np.random.Generator(np.random.PCG64(key(seed, "shuffle", epoch))).permutation(len(lengths))
    updates = -(-len(items) // batch)
    padded = np.full(updates * batch, -1, dtype=np.int64)
    padded[: len(items)] = items
    if batch > 1:
        for start in range(0, len(items), POOL * batch):
            pool = padded[start : start + POOL * batch]
            real = pool[pool >= 0]
            pool[: len(real)] = real[np.argsort(lengths[real], kind="stable")]
    batches = padded.reshape(updates, batch)
    longest = np.where(batches >= 0, lengths[batches], 0).max(axis=1)
    by_length = np.argsort(longest, kind="stable")
    order = np.random.Generator(np.random.PCG64(key("order", epoch, updates))).permutation(updates)
    return batches[by_length[order]]
