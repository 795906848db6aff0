"""Dropout's masks compiled for the CPU: the random numbers of `randomness.uniform`, compared where they are made."""

import numpy as np
import torch
from torch import Tensor

from reinflect.compiling import compiled


def masks(keys: Tensor, rates: Tensor, inverse_keep: Tensor, room: int, length: int, items: int, width: int) -> Tensor:
    """What states are multiplied by; `room` is the most steps. *Shape:* (M) each → (M, L, B, D)"""
    made = torch.empty(len(keys), length, items, width)
    _fill(made.numpy(), keys.numpy().astype(np.uint32), rates.numpy(), inverse_keep.numpy(), room)
    return made


@compiled(nogil=True)
def _fill(made, keys, rates, inverse_keep, room):
    """numba makes 64 bits of a product of 32: each is cut again."""
    cut = np.uint32
    models, length, items, width = made.shape
    for m in range(models):
        seed, rate, kept = cut(keys[m] * cut(0x9E3779B1)), rates[m], inverse_keep[m]
        for step in range(length):
            for item in range(items):
                row, first = made[m, step, item], (item * room + step) * width
                for unit in range(width):
                    mixed = cut(seed + cut(cut(first + unit) * cut(0x85EBCA77)))
                    mixed = cut((mixed ^ (mixed >> cut(16))) * cut(0x7FEB352D))
                    mixed = cut((mixed ^ (mixed >> cut(16))) * cut(0x846CA68B))
                    mixed = (mixed ^ (mixed >> cut(15))) & cut(0xFFFFFF)
                    row[unit] = kept if np.float32(mixed) / np.float32(0x1000000) >= rate else np.float32(0.0)
