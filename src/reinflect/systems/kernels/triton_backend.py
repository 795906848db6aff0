"""The recurrent cells as Triton kernels: the run of one model is one program on the GPU.

With a thousand small models a step's time is not its arithmetic but fetching each model's recurrent weights and
launching a dozen operations. Here one program carries a block of a model's items through all its steps, the weights
come from the cache, and a model's steps end where its own sequences do.

Where `coupled` is set, the output gate reads the new memory, so a step has a second product that waits for the first.
"""

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from reinflect.systems.layers.precision import for_kernels, in_kernels


def forward(gates: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor | None) -> tuple[Tensor, ...]:
    """Steps past a model's own are left at zero."""
    models, longest, items, _ = gates.shape
    gates = gates.contiguous()
    if steps is None:
        steps = torch.full((models,), longest, dtype=torch.int64, device=gates.device)
    recurrent = for_kernels(recurrent)
    outputs = gates.new_zeros(models, longest + 1, items, recurrent.shape[1])
    memories = torch.zeros_like(outputs)
    active = torch.empty_like(gates)
    _launch(_forward, gates, recurrent, keep, steps, outputs, memories, active)
    return outputs, memories, active, recurrent, steps


def backward(gradient: Tensor, keep: Tensor | None, results: Sequence[Tensor]) -> Tensor:
    """The gradient is zero for steps past a model's own."""
    _, memories, active, recurrent, steps = results
    d_gates = torch.zeros_like(active)
    scratch = torch.empty_like(memories[:, 0], memory_format=torch.contiguous_format)
    _launch(_backward, gradient.contiguous(), recurrent, keep, steps, memories, active, d_gates, scratch)
    return d_gates


def _launch(kernel: Any, given: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor, *others: Tensor) -> None:
    models, longest, items, _ = given.shape
    hidden = recurrent.shape[1]
    coupled = recurrent.shape[-1] == 5 * hidden
    block, rows = max(16, triton.next_power_of_2(hidden)), 16 if items <= 16 else 32
    kernel[(models, triton.cdiv(items, rows))](
        given,
        recurrent,
        given if keep is None else keep.contiguous(),
        steps,
        *others,
        recurrent.stride(0),
        longest,
        items,
        coupled=coupled,
        hidden=hidden,
        width=3 * hidden if coupled else 4 * hidden,
        weights_width=recurrent.shape[-1],
        block=block,
        inner=32 if block <= 128 else 16,
        rows=rows,
        resets=keep is not None,
        precision=in_kernels(),
        num_warps=4 if block <= 64 else 8,
    )


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _weights(places, inside):
    return tl.load(places, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def _add_product(
    total,
    left,
    right,
    in_row,
    in_unit,
    depth: tl.constexpr,
    stride: tl.constexpr,
    inner: tl.constexpr,
    precision: tl.constexpr,
):
    """Total + left · right, a slice of `inner` at a time; the pointers are those of the first slice's beginning."""
    for first in range(0, depth, inner):
        k = first + tl.arange(0, inner)
        in_k = k < depth
        given = tl.load(left + k[None, :], mask=in_row[:, None] & in_k[None, :], other=0.0)
        tile = _weights(right + k[:, None] * stride, in_k[:, None] & in_unit[None, :])
        total = tl.dot(given, tile, total, input_precision=precision)
    return total


@triton.jit(do_not_specialize=["longest", "items"])
def _forward(
    gates,
    recurrent,
    keep,
    steps,
    outputs,
    memories,
    active,
    recurrent_stride,
    longest,
    items,
    coupled: tl.constexpr,
    hidden: tl.constexpr,
    width: tl.constexpr,
    weights_width: tl.constexpr,
    block: tl.constexpr,
    inner: tl.constexpr,
    rows: tl.constexpr,
    resets: tl.constexpr,
    precision: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * rows + tl.arange(0, rows)
    unit = tl.arange(0, block)
    in_row, in_unit = row < items, unit < hidden
    here = in_row[:, None] & in_unit[None, :]
    states = outputs + model * (longest + 1) * items * hidden
    cells = memories + model * (longest + 1) * items * hidden
    place = row[:, None] * hidden + unit[None, :]
    memory = tl.zeros((rows, block), dtype=tl.float32)
    tl.store(states + place, memory, mask=here)
    tl.store(cells + place, memory, mask=here)
    weights = recurrent + model * recurrent_stride
    count = tl.load(steps + model)
    step = 0
    while step < count:
        tl.debug_barrier()  # the state that was stored is read back in another arrangement
        base = (model * longest + step) * items
        at = (base + row[:, None]) * width + unit[None, :]
        enter = tl.load(gates + at, mask=here, other=0.0)
        if not coupled:
            forget = tl.load(gates + at + hidden, mask=here, other=0.0)
        release = tl.load(gates + at + width - 2 * hidden, mask=here, other=0.0)
        candidate = tl.load(gates + at + width - hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        now, after = step * items * hidden, (step + 1) * items * hidden
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_k = k < hidden
            part = row[:, None] * hidden + k[None, :]
            known = in_row[:, None] & in_k[None, :]
            tile = weights + k[:, None] * weights_width + unit[None, :]
            inside = in_k[:, None] & in_unit[None, :]
            h = tl.load(states + now + part, mask=known, other=0.0) * kept[:, None]
            enter = tl.dot(h, _weights(tile, inside), enter, input_precision=precision)
            if not coupled:
                forget = tl.dot(h, _weights(tile + hidden, inside), forget, input_precision=precision)
            release = tl.dot(h, _weights(tile + width - 2 * hidden, inside), release, input_precision=precision)
            candidate = tl.dot(h, _weights(tile + width - hidden, inside), candidate, input_precision=precision)
            if coupled:
                c = tl.load(cells + now + part, mask=known, other=0.0) * kept[:, None]
                enter = tl.dot(c, _weights(tile + 3 * hidden, inside), enter, input_precision=precision)
        enter, candidate = tl.sigmoid(enter), _tanh(candidate)
        memory = memory * kept[:, None]
        if coupled:
            memory = memory + enter * (candidate - memory)
            tl.store(cells + after + place, memory, mask=here)
            tl.debug_barrier()  # the new memory is read back for the output gate's peephole
            left, right = cells + after + row[:, None] * hidden, weights + 4 * hidden + unit[None, :]
            release = _add_product(release, left, right, in_row, in_unit, hidden, weights_width, inner, precision)
        else:
            forget = tl.sigmoid(forget)
            memory = forget * memory + enter * candidate
            tl.store(cells + after + place, memory, mask=here)
            tl.store(active + at + hidden, forget, mask=here)
        release = tl.sigmoid(release)
        tl.store(active + at, enter, mask=here)
        tl.store(active + at + width - 2 * hidden, release, mask=here)
        tl.store(active + at + width - hidden, candidate, mask=here)
        tl.store(states + after + place, release * _tanh(memory), mask=here)
        step += 1


@triton.jit(do_not_specialize=["longest", "items"])
def _backward(
    gradient,
    recurrent,
    keep,
    steps,
    memories,
    active,
    d_gates,
    scratch,
    recurrent_stride,
    longest,
    items,
    coupled: tl.constexpr,
    hidden: tl.constexpr,
    width: tl.constexpr,
    weights_width: tl.constexpr,
    block: tl.constexpr,
    inner: tl.constexpr,
    rows: tl.constexpr,
    resets: tl.constexpr,
    precision: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * rows + tl.arange(0, rows)
    unit = tl.arange(0, block)
    in_row, in_unit = row < items, unit < hidden
    here = in_row[:, None] & in_unit[None, :]
    place = row[:, None] * hidden + unit[None, :]
    cells = memories + model * (longest + 1) * items * hidden
    passed = scratch + model * items * hidden
    transposed = recurrent + model * recurrent_stride + unit[None, :] * weights_width
    count = tl.load(steps + model)
    d_memory = tl.zeros((rows, block), dtype=tl.float32)
    tl.store(passed + place, d_memory, mask=here)
    step = count - 1
    while step >= 0:
        tl.debug_barrier()
        base = (model * longest + step) * items
        flow = d_gates + (base + row[:, None]) * width
        at = (base + row[:, None]) * width + unit[None, :]
        enter = tl.load(active + at, mask=here, other=0.0)
        if not coupled:
            forget = tl.load(active + at + hidden, mask=here, other=0.0)
        release = tl.load(active + at + width - 2 * hidden, mask=here, other=0.0)
        candidate = tl.load(active + at + width - hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        old = tl.load(cells + step * items * hidden + place, mask=here, other=0.0) * kept[:, None]
        shown = _tanh(tl.load(cells + (step + 1) * items * hidden + place, mask=here, other=0.0))
        output = tl.load(gradient + (base + row[:, None]) * hidden + unit[None, :], mask=here, other=0.0)
        output += tl.load(passed + place, mask=here, other=0.0)
        to_release = output * shown * release * (1.0 - release)
        d_memory = output * release * (1.0 - shown * shown) + d_memory
        if coupled:
            tl.store(d_gates + at + hidden, to_release, mask=here)
            tl.debug_barrier()  # through the output gate's peephole
            left, right = flow + hidden, transposed + 4 * hidden
            d_memory = _add_product(d_memory, left, right, in_row, in_unit, hidden, 1, inner, precision)
            tl.store(d_gates + at, d_memory * (candidate - old) * enter * (1.0 - enter), mask=here)
        else:
            tl.store(d_gates + at, d_memory * candidate * enter * (1.0 - enter), mask=here)
            tl.store(d_gates + at + hidden, d_memory * old * forget * (1.0 - forget), mask=here)
            tl.store(d_gates + at + 2 * hidden, to_release, mask=here)
        tl.store(d_gates + at + width - hidden, d_memory * enter * (1.0 - candidate * candidate), mask=here)
        to_old = d_memory * (1.0 - enter) if coupled else d_memory * forget
        tl.debug_barrier()
        total = tl.zeros((rows, block), dtype=tl.float32)
        total = _add_product(total, flow, transposed, in_row, in_unit, width, 1, inner, precision)
        if coupled:  # through the input gate's peephole
            to_old = _add_product(to_old, flow, transposed + 3 * hidden, in_row, in_unit, hidden, 1, inner, precision)
        d_memory = to_old * kept[:, None]
        tl.store(passed + place, total * kept[:, None], mask=here)
        step -= 1
