"""Random numbers compiled for the CPU: those of `randomness.uniform`, made where they are used."""

import numpy as np
import torch
from torch import Tensor

from reinflect.compiled import compiled

ONE = 0x1000000
"""`draw` gives one of the numbers below it; the torch version divides by it."""


def masks(keys: Tensor, rates: Tensor, inverse_keep: Tensor, room: int, length: int, items: int, width: int) -> Tensor:
    """What dropout multiplies states by; `room` is the most steps. *Shape:* (M) each → (M, L, B, D)"""
    made = torch.empty(len(keys), length, items, width)
    _fill(made.numpy(), keys.numpy(), rates.numpy(), inverse_keep.numpy(), room)
    return made


@compiled(nogil=True, inline="always")
def draw(key, place):
    """A number from a model's key and the place of its use. numba makes 64 bits of a product of 32: each is cut."""
    mixed = np.uint32(np.uint32(key) * np.uint32(0x9E3779B1) + np.uint32(place) * np.uint32(0x85EBCA77))
    mixed = np.uint32((mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x7FEB352D))
    mixed = np.uint32((mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x846CA68B))
    return (mixed ^ (mixed >> np.uint32(15))) & np.uint32(ONE - 1)


@compiled(nogil=True)
def _fill(made, keys, rates, inverse_keep, room):
    models, length, items, width = made.shape
    for m in range(models):
        for step in range(length):
            for item in range(items):
                row, first = made[m, step, item], (item * room + step) * width
                for unit in range(width):
                    drawn = np.float32(draw(keys[m], first + unit)) / np.float32(ONE)
                    row[unit] = inverse_keep[m] if drawn >= rates[m] else np.float32(0.0)
