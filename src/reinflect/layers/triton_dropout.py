"""Dropout as a Triton kernel: the random numbers of `randomness.uniform`, made where they are used."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _drop(
    states,
    outputs,
    out,
    keys,
    rates,
    inverse_keep,
    numbers,
    items,
    width,
    room,
    variational: tl.constexpr,
    relu: tl.constexpr,
    block: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * block + tl.arange(0, block)
    inside = places < numbers
    unit, item, step = places % width, places // width % items, places // width // items
    if variational:
        step = step * 0
    # Unsigned numbers of 32 bits wrap around, as the masks of `uniform` make larger ones do.
    where = ((item.to(tl.uint32) * room + step.to(tl.uint32)) * width + unit.to(tl.uint32)).to(tl.uint32)
    seed = tl.load(keys + model).to(tl.uint32)
    mixed = (seed * 0x9E3779B1 + where * 0x85EBCA77).to(tl.uint32)
    mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D).to(tl.uint32)
    mixed = ((mixed ^ (mixed >> 16)) * 0x846CA68B).to(tl.uint32)
    drawn = ((mixed ^ (mixed >> 15)) & 0xFFFFFF).to(tl.float32) / 0x1000000
    own = tl.load(states + model * numbers + places, mask=inside, other=0.0).to(tl.float32)
    if relu:
        own = tl.where(tl.load(outputs + model * numbers + places, mask=inside, other=0.0) > 0, own, 0.0)
    kept = tl.where(drawn >= tl.load(rates + model), own * tl.load(inverse_keep + model), 0.0)
    tl.store(out + model * numbers + places, kept, mask=inside)


def _dropped(states: Tensor, outputs: Tensor, *how: Any) -> Tensor:
    """With `relu`, only where `outputs`, the states themselves or what became of them, are positive."""
    keys, rates, inverse_keep, room, variational, relu = how
    states = states.contiguous()
    models, steps, items, width = states.shape
    numbers, out = steps * items * width, torch.empty_like(states)
    if numbers:
        given = states, outputs.contiguous(), out, keys, rates, inverse_keep, numbers, items, width, room
        _drop[(models, triton.cdiv(numbers, BLOCK))](*given, variational=variational, relu=relu, block=BLOCK)
    return out


class _Dropped(torch.autograd.Function):
    """The gradient is dropped as the states were."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, *how: Any) -> Tensor:
        ctx.how, out = how, _dropped(states, states, *how)
        if how[-1]:
            ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        outputs = ctx.saved_tensors or gradients
        return _dropped(gradients[0], outputs[0], *ctx.how), *[None] * len(ctx.how)


def dropped(
    states: Tensor, keys: Tensor, rates: Tensor, inverse_keep: Tensor, room: int, *, variational: bool, relu: bool
) -> Tensor:
    """States, or ReLU of them, after dropout; `room` is the most steps. *Shape:* states (M, L, B, D), others (M)"""
    result: Tensor = _Dropped.apply(states, keys, rates, inverse_keep, room, variational, relu)
    return result
