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

from reinflect.layers.operations import for_kernels, in_kernels

FEW_PROGRAMS = 32
"""Up to this number a program takes a whole processor of the GPU. More programs take half of one each: each is slower
by itself, but all together are faster, and leave room for the kernels of other processes."""


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
    _launch(_forward, gates, recurrent, keep, steps, outputs, memories, outputs, memories, active, whole=True)
    return outputs, memories, active, recurrent, steps


def backward(gradient: Tensor, keep: Tensor | None, results: Sequence[Tensor]) -> Tensor:
    """The gradient is zero for steps past a model's own."""
    _, memories, active, recurrent, steps = results
    d_gates = torch.zeros_like(active)
    scratch = torch.empty_like(memories[:, 0], memory_format=torch.contiguous_format)
    _launch(_backward, gradient.contiguous(), recurrent, keep, steps, memories, active, d_gates, scratch)
    return d_gates


def step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """One step, as `Cell.step`, with weights that `for_kernels` gave."""
    output, memory = (part.contiguous() for part in state)
    after = torch.empty_like(output), torch.empty_like(memory)
    gates = gates.contiguous().unsqueeze(1)
    _launch(_forward, gates, recurrent, None, gates, output, memory, *after, gates, whole=False)
    return after


def _launch(
    kernel: Any, inputs: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor, *others: Tensor, **flags: bool
) -> None:
    models, longest, items, _ = inputs.shape
    hidden = recurrent.shape[1]
    coupled = recurrent.shape[-1] == 5 * hidden
    block, rows = max(16, triton.next_power_of_2(hidden)), 16 if items <= 32 else 32
    programs = models * triton.cdiv(items, rows)
    kernel[(models, triton.cdiv(items, rows))](
        inputs,
        recurrent,
        inputs if keep is None else keep.contiguous(),
        steps,
        *others,
        recurrent_stride=recurrent.stride(0),
        longest=longest,
        items=items,
        coupled=coupled,
        hidden=hidden,
        width=3 * hidden if coupled else 4 * hidden,
        weights_width=recurrent.shape[-1],
        block=block,
        inner=32,
        rows=rows,
        resets=keep is not None,
        precision=in_kernels(),
        num_warps=4 if block <= 64 or (block <= 256 and rows == 16 and programs > FEW_PROGRAMS) else 8,
        **flags,
    )


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _weights(places, inside):
    return tl.load(places, mask=inside, other=0.0)


@triton.jit
def _left(places, inside, scale: tl.constexpr, weights):
    """States or gradients as the left side of a product with these weights, in their precision.

    `scale` moves gradients to the middle of half precision's range; what is still too large is cut.
    """
    values = tl.load(places, mask=inside, other=0.0)
    if scale != 1.0:
        values = tl.minimum(tl.maximum(values * scale, -60000.0), 60000.0)
    return values.to(weights.dtype)


@triton.jit(do_not_specialize=["longest", "items"])
def _forward(
    gates,
    recurrent,
    keep,
    steps,
    states,
    cells,
    new_states,
    new_cells,
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
    whole: tl.constexpr,
):
    """The steps of a block of a model's items, beginning with the first of the states and cells.

    In a `whole` run each new state follows the one before in `states` and `cells`, and `active` takes what the gates
    let through; else there is a single step.
    """
    model = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * rows + tl.arange(0, rows)
    unit = tl.arange(0, block)
    in_row, in_unit = row < items, unit < hidden
    here = in_row[:, None] & in_unit[None, :]
    offset = row[:, None] * hidden + unit[None, :]
    at = row[:, None] * width + unit[None, :]
    weights = recurrent + model * recurrent_stride + unit[None, :]
    to_release, to_candidate = weights + width - 2 * hidden, weights + width - hidden
    size, count = items * hidden, 1
    states, cells = states + model * size, cells + model * size
    new_states, new_cells = new_states + model * size, new_cells + model * size
    if whole:
        states, cells = states + model * longest * size, cells + model * longest * size
        new_states, new_cells = states + size, cells + size
        count = tl.load(steps + model)
    memory = tl.load(cells + offset, mask=here, other=0.0)
    step = 0
    while step < count:
        tl.debug_barrier()  # the state that was stored is read back in another arrangement
        base = (model * longest + step) * items
        now, passed = gates + base * width, active + base * width
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        enter = tl.zeros((rows, block), dtype=tl.float32)
        forget = tl.zeros((rows, block), dtype=tl.float32)
        candidate = tl.zeros((rows, block), dtype=tl.float32)
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            part, in_slice = row[:, None] * hidden + k[None, :], in_row[:, None] & (k < hidden)[None, :]
            inside, tile = (k < hidden)[:, None] & in_unit[None, :], k[:, None] * weights_width
            tile_enter = _weights(weights + tile, inside)
            h = _left(states + part, in_slice, 1.0, tile_enter)
            enter = tl.dot(h, tile_enter, enter, input_precision=precision)
            candidate = tl.dot(h, _weights(to_candidate + tile, inside), candidate, input_precision=precision)
            if coupled:
                c = _left(cells + part, in_slice, 1.0, tile_enter)
                enter = tl.dot(c, _weights(weights + 3 * hidden + tile, inside), enter, input_precision=precision)
            else:
                forget = tl.dot(h, _weights(weights + hidden + tile, inside), forget, input_precision=precision)
        enter = tl.sigmoid(tl.load(now + at, mask=here, other=0.0) + enter * kept[:, None])
        candidate = _tanh(tl.load(now + at + width - hidden, mask=here, other=0.0) + candidate * kept[:, None])
        memory = memory * kept[:, None]
        if whole:
            tl.store(passed + at, enter, mask=here)
            tl.store(passed + at + width - hidden, candidate, mask=here)
        if coupled:
            memory = memory + enter * (candidate - memory)
        else:
            forget = tl.sigmoid(tl.load(now + at + hidden, mask=here, other=0.0) + forget * kept[:, None])
            if whole:
                tl.store(passed + at + hidden, forget, mask=here)
            memory = forget * memory + enter * candidate
        tl.store(new_cells + offset, memory, mask=here)
        tl.debug_barrier()  # the new memory is read back for the output gate's peephole
        release = tl.zeros((rows, block), dtype=tl.float32)
        peeped = tl.zeros((rows, block), dtype=tl.float32)
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            part, in_slice = row[:, None] * hidden + k[None, :], in_row[:, None] & (k < hidden)[None, :]
            inside, tile = (k < hidden)[:, None] & in_unit[None, :], k[:, None] * weights_width
            tile_release = _weights(to_release + tile, inside)
            h = _left(states + part, in_slice, 1.0, tile_release)
            release = tl.dot(h, tile_release, release, input_precision=precision)
            if coupled:
                c = _left(new_cells + part, in_slice, 1.0, tile_release)
                peeped = tl.dot(c, _weights(weights + 4 * hidden + tile, inside), peeped, input_precision=precision)
        release = tl.load(now + at + width - 2 * hidden, mask=here, other=0.0) + release * kept[:, None] + peeped
        release = tl.sigmoid(release)
        if whole:
            tl.store(passed + at + width - 2 * hidden, release, mask=here)
        tl.store(new_states + offset, release * _tanh(memory), mask=here)
        states, cells = states + size, cells + size
        new_states, new_cells = new_states + size, new_cells + size
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
    offset = row[:, None] * hidden + unit[None, :]
    cells = memories + model * (longest + 1) * items * hidden
    passed = scratch + model * items * hidden
    transposed = recurrent + model * recurrent_stride + unit[None, :] * weights_width
    scale: tl.constexpr = 1024.0 if recurrent.dtype.element_ty == tl.float16 else 1.0
    count = tl.load(steps + model)
    d_memory = tl.zeros((rows, block), dtype=tl.float32)
    tl.store(passed + offset, d_memory, mask=here)
    step = count - 1
    while step >= 0:
        tl.debug_barrier()
        base = (model * longest + step) * items
        flow = d_gates + (base + row[:, None]) * width
        at = (base + row[:, None]) * width + unit[None, :]
        release = tl.load(active + at + width - 2 * hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        squashed = _tanh(tl.load(cells + (step + 1) * items * hidden + offset, mask=here, other=0.0))
        output = tl.load(gradient + (base + row[:, None]) * hidden + unit[None, :], mask=here, other=0.0)
        output += tl.load(passed + offset, mask=here, other=0.0)
        tl.store(d_gates + at + width - 2 * hidden, output * squashed * release * (1.0 - release), mask=here)
        d_memory = output * release * (1.0 - squashed * squashed) + d_memory
        total = tl.zeros((rows, block), dtype=tl.float32)
        peeped = tl.zeros((rows, block), dtype=tl.float32)
        tl.debug_barrier()
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_slice, inside = in_row[:, None] & (k < hidden)[None, :], (k < hidden)[:, None] & in_unit[None, :]
            tile = _weights(transposed + width - 2 * hidden + k[:, None], inside)
            d_release = _left(flow + width - 2 * hidden + k[None, :], in_slice, scale, tile)
            total = tl.dot(d_release, tile, total, input_precision=precision)
            if coupled:  # through the output gate's peephole
                tile = _weights(transposed + 4 * hidden + k[:, None], inside)
                peeped = tl.dot(d_release, tile, peeped, input_precision=precision)
        d_memory += peeped * (1.0 / scale)
        enter = tl.load(active + at, mask=here, other=0.0)
        candidate = tl.load(active + at + width - hidden, mask=here, other=0.0)
        old = tl.load(cells + step * items * hidden + offset, mask=here, other=0.0) * kept[:, None]
        tl.store(d_gates + at + width - hidden, d_memory * enter * (1.0 - candidate * candidate), mask=here)
        if coupled:
            tl.store(d_gates + at, d_memory * (candidate - old) * enter * (1.0 - enter), mask=here)
            d_memory = d_memory * (1.0 - enter)
        else:
            forget = tl.load(active + at + hidden, mask=here, other=0.0)
            tl.store(d_gates + at, d_memory * candidate * enter * (1.0 - enter), mask=here)
            tl.store(d_gates + at + hidden, d_memory * old * forget * (1.0 - forget), mask=here)
            d_memory = d_memory * forget
        peeped = tl.zeros((rows, block), dtype=tl.float32)
        tl.debug_barrier()
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_slice, inside = in_row[:, None] & (k < hidden)[None, :], (k < hidden)[:, None] & in_unit[None, :]
            tile = _weights(transposed + k[:, None], inside)
            d_enter = _left(flow + k[None, :], in_slice, scale, tile)
            total = tl.dot(d_enter, tile, total, input_precision=precision)
            tile = _weights(transposed + width - hidden + k[:, None], inside)
            d_candidate = _left(flow + width - hidden + k[None, :], in_slice, scale, tile)
            total = tl.dot(d_candidate, tile, total, input_precision=precision)
            if coupled:  # through the input gate's peephole
                tile = _weights(transposed + 3 * hidden + k[:, None], inside)
                peeped = tl.dot(d_enter, tile, peeped, input_precision=precision)
            else:
                tile = _weights(transposed + hidden + k[:, None], inside)
                d_forget = _left(flow + hidden + k[None, :], in_slice, scale, tile)
                total = tl.dot(d_forget, tile, total, input_precision=precision)
        d_memory = (d_memory + peeped * (1.0 / scale)) * kept[:, None]
        tl.store(passed + offset, total * (1.0 / scale) * kept[:, None], mask=here)
        step -= 1
