"""Dropout, AdaDelta and Adam as Triton kernels: every number is read and written once, and gradients stay in place."""

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _drop(
    states, out, keys, rates, inverse_keep, numbers, items, width, room, variational: tl.constexpr, block: tl.constexpr
):
    model = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * block + tl.arange(0, block)
    inside = places < numbers
    unit, item, step = places % width, places // width % items, places // width // items
    if variational:
        step = step * 0
    # Unsigned numbers of 32 bits wrap around, as the masks of `operations.uniform` make larger ones do.
    where = ((item.to(tl.uint32) * room + step.to(tl.uint32)) * width + unit.to(tl.uint32)).to(tl.uint32)
    seed = tl.load(keys + model).to(tl.uint32)
    mixed = (seed * 0x9E3779B1 + where * 0x85EBCA77).to(tl.uint32)
    mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D).to(tl.uint32)
    mixed = ((mixed ^ (mixed >> 16)) * 0x846CA68B).to(tl.uint32)
    drawn = ((mixed ^ (mixed >> 15)) & 0xFFFFFF).to(tl.float32) / 0x1000000
    number = tl.load(states + model * numbers + places, mask=inside, other=0.0).to(tl.float32)
    kept = tl.where(drawn >= tl.load(rates + model), number * tl.load(inverse_keep + model), 0.0)
    tl.store(out + model * numbers + places, kept, mask=inside)


class _Dropped(torch.autograd.Function):
    """The gradient is dropped as the states were."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, *how: Any) -> Tensor:
        ctx.how, states = how, states.contiguous()
        models, steps, items, width = states.shape
        numbers, out = steps * items * width, torch.empty_like(states)
        if numbers:
            keys, rates, inverse_keep, room, variational = how
            arguments = states, out, keys, rates, inverse_keep, numbers, items, width, room
            _drop[(models, triton.cdiv(numbers, BLOCK))](*arguments, variational=variational, block=BLOCK)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return dropped(gradients[0], *ctx.how), *[None] * len(ctx.how)


def dropped(states: Tensor, keys: Tensor, rates: Tensor, inverse_keep: Tensor, room: int, variational: bool) -> Tensor:
    """States after dropout; `room` is the most steps. *Shape:* states (M, L, B, D), others (M)"""
    result: Tensor = _Dropped.apply(states, keys, rates, inverse_keep, room, variational)
    return result


@triton.jit
def _squares(gradient, sums, width, parts, first, block: tl.constexpr):
    model, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    places = part * block + tl.arange(0, block)
    slope = tl.load(gradient + model * width + places, mask=places < width, other=0.0)
    tl.store(sums + model * parts + first + part, tl.sum(slope * slope))


def squares(gradients: Sequence[Tensor]) -> Tensor:
    """The sum of squares of each model's gradients. *Shape:* (M, …) each → (M)"""
    models, parts = len(gradients[0]), [triton.cdiv(gradient[0].numel(), BLOCK) for gradient in gradients]
    sums, first = gradients[0].new_empty(models, sum(parts)), 0
    for gradient, blocks in zip(gradients, parts, strict=True):
        if blocks:
            grid, width = (models, blocks), gradient[0].numel()
            _squares[grid](gradient.contiguous(), sums, width, sum(parts), first, block=BLOCK)
        first += blocks
    return sums.sum(dim=1)


@triton.jit
def _step(
    parameters,
    gradient,
    first,
    second,
    scale,
    active,
    steps,
    rhos,
    epsilons,
    first_moments,
    second_moments,
    row,
    width,
    adam: tl.constexpr,
    block: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * block + tl.arange(0, block)
    inside = places < width
    at = model * row + places
    if tl.load(active + model) > 0:
        step, rho, epsilon = tl.load(steps + model), tl.load(rhos + model), tl.load(epsilons + model)
        slope = tl.load(gradient + model * width + places, mask=inside, other=0.0) * tl.load(scale + model)
        a, b = tl.load(first + at, mask=inside, other=0.0), tl.load(second + at, mask=inside, other=0.0)
        if adam:
            a += 0.1 * (slope - a)
            b = rho * b + (1.0 - rho) * slope * slope
            deviation = tl.sqrt(b / tl.load(second_moments + model)) + epsilon
            change = a / tl.load(first_moments + model) / deviation
        else:
            a = rho * a + (1.0 - rho) * slope * slope
            change = slope * tl.sqrt((b + epsilon) / (a + epsilon))
            b = rho * b + (1.0 - rho) * change * change
        tl.store(first + at, a, mask=inside)
        tl.store(second + at, b, mask=inside)
        tl.store(parameters + at, tl.load(parameters + at, mask=inside, other=0.0) - step * change, mask=inside)


def step(kind: str, parameters: Tensor, gradient: Tensor, first: Tensor, second: Tensor, *numbers: Tensor) -> None:
    """Update one parameter of the active models; `numbers` are the kernel's from `scale` on. *Shapes:* (M, …), then (M)

    All but the gradient are views into rows of the same length.
    """
    models, width = len(parameters), parameters[0].numel()
    if width:
        grid, tensors = (models, triton.cdiv(width, BLOCK)), (parameters, gradient.contiguous(), first, second)
        _step[grid](*tensors, *numbers, parameters.stride(0), width, adam=kind == "adam", block=BLOCK, num_warps=4)
