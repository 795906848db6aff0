"""Dropout and AdaDelta compiled for the CPU: every number is read and written once."""

import numpy as np
import torch
from torch import Tensor

from reinflect.compiled import FAST, compiled

DRAWS = 0x1000000
"""`_draw` gives a number below it; the torch version divides by it."""


def masks(keys: Tensor, rates: Tensor, inverse_keep: Tensor, room: int, length: int, items: int, width: int) -> Tensor:
    """What dropout multiplies states by, drawn as `operations.uniform` draws. *Shape:* (M) each → (M, L, B, D)"""
    factors = torch.empty(len(keys), length, items, width)
    _fill(factors.numpy(), keys.numpy(), rates.numpy(), inverse_keep.numpy(), room)
    return factors


@compiled(nogil=True, inline="always")
def _draw(key, position):
    """A number from a model's key and the position of its use. numba makes 64 bits of a product of 32: each is cut."""
    mixed = np.uint32(np.uint32(key) * np.uint32(0x9E3779B1) + np.uint32(position) * np.uint32(0x85EBCA77))
    mixed = np.uint32((mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x7FEB352D))
    mixed = np.uint32((mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x846CA68B))
    return (mixed ^ (mixed >> np.uint32(15))) & np.uint32(DRAWS - 1)


@compiled(nogil=True)
def _fill(factors, keys, rates, inverse_keep, room):
    models, length, items, width = factors.shape
    for m in range(models):
        for step in range(length):
            for item in range(items):
                row, first = factors[m, step, item], (item * room + step) * width
                for unit in range(width):
                    drawn = np.float32(_draw(keys[m], first + unit)) / np.float32(DRAWS)
                    row[unit] = inverse_keep[m] if drawn >= rates[m] else np.float32(0.0)


@compiled(**FAST)
def adadelta(parameters, gradient, first, second, scale, active, step, rho, epsilon):
    """Update the models that are active. *Shapes:* (M, numbers) up to `second`, then (M)"""
    unit = np.float32(1.0)
    for m in range(parameters.shape[0]):
        if active[m] == 0:
            continue
        p, g, a, b, s = parameters[m], gradient[m], first[m], second[m], scale[m]
        k, r, e = step[m], rho[m], epsilon[m]
        for j in range(p.shape[0]):
            slope = g[j] * s
            a[j] = r * a[j] + (unit - r) * slope * slope
            change = slope * np.sqrt((b[j] + e) / (a[j] + e))
            b[j] = r * b[j] + (unit - r) * change * change
            p[j] -= k * change
