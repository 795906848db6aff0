"""The coupled cell's recurrence as Triton kernels; see `models.triton_lstm`, which these follow.

The output gate looks at the new memory, so a step has a second product that waits for the first.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from reinflect.systems.kernels.coupled import coupled_gradient
from reinflect.systems.kernels.triton_lstm import _tanh, _weights, run_backward, run_forward
from reinflect.systems.layers.precision import for_kernels


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
    hidden: tl.constexpr,
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
        tl.debug_barrier()
        base = (model * longest + step) * items
        at = (base + row[:, None]) * (3 * hidden) + unit[None, :]
        enter = tl.load(gates + at, mask=here, other=0.0)
        release = tl.load(gates + at + hidden, mask=here, other=0.0)
        candidate = tl.load(gates + at + 2 * hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        now = step * items * hidden
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_k = k < hidden
            part = row[:, None] * hidden + k[None, :]
            known = in_row[:, None] & in_k[None, :]
            h = tl.load(states + now + part, mask=known, other=0.0) * kept[:, None]
            c = tl.load(cells + now + part, mask=known, other=0.0) * kept[:, None]
            tile = weights + k[:, None] * (5 * hidden) + unit[None, :]
            inside = in_k[:, None] & in_unit[None, :]
            enter = tl.dot(h, _weights(tile, inside), enter, input_precision=precision)
            release = tl.dot(h, _weights(tile + hidden, inside), release, input_precision=precision)
            candidate = tl.dot(h, _weights(tile + 2 * hidden, inside), candidate, input_precision=precision)
            enter = tl.dot(c, _weights(tile + 3 * hidden, inside), enter, input_precision=precision)
        enter, candidate = tl.sigmoid(enter), _tanh(candidate)
        memory = memory * kept[:, None]
        memory = memory + enter * (candidate - memory)
        after = (step + 1) * items * hidden
        tl.store(cells + after + place, memory, mask=here)
        tl.debug_barrier()  # the new memory is read back for the output gate's peephole
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_k = k < hidden
            part = row[:, None] * hidden + k[None, :]
            c = tl.load(cells + after + part, mask=in_row[:, None] & in_k[None, :], other=0.0)
            tile = weights + k[:, None] * (5 * hidden) + 4 * hidden + unit[None, :]
            release = tl.dot(
                c,
                _weights(tile, in_k[:, None] & in_unit[None, :]),
                release,
                input_precision=precision,
            )
        release = tl.sigmoid(release)
        tl.store(active + at, enter, mask=here)
        tl.store(active + at + hidden, release, mask=here)
        tl.store(active + at + 2 * hidden, candidate, mask=here)
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
    flow,
    scratch,
    recurrent_stride,
    longest,
    items,
    hidden: tl.constexpr,
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
    weights = recurrent + model * recurrent_stride
    count = tl.load(steps + model)
    later = tl.zeros((rows, block), dtype=tl.float32)
    tl.store(passed + place, later, mask=here)
    step = count - 1
    while step >= 0:
        tl.debug_barrier()
        base = (model * longest + step) * items
        at = (base + row[:, None]) * (3 * hidden) + unit[None, :]
        enter = tl.load(active + at, mask=here, other=0.0)
        release = tl.load(active + at + hidden, mask=here, other=0.0)
        candidate = tl.load(active + at + 2 * hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        old = tl.load(cells + step * items * hidden + place, mask=here, other=0.0) * kept[:, None]
        shown = _tanh(tl.load(cells + (step + 1) * items * hidden + place, mask=here, other=0.0))
        output = tl.load(gradient + (base + row[:, None]) * hidden + unit[None, :], mask=here, other=0.0)
        output += tl.load(passed + place, mask=here, other=0.0)
        tl.store(flow + at + hidden, output * shown * release * (1.0 - release), mask=here)
        memory = output * release * (1.0 - shown * shown) + later
        tl.debug_barrier()
        for first in range(0, hidden, inner):  # through the output gate's peephole
            j = first + tl.arange(0, inner)
            in_j = j < hidden
            given = tl.load(
                flow + (base + row[:, None]) * (3 * hidden) + hidden + j[None, :],
                mask=in_row[:, None] & in_j[None, :],
                other=0.0,
            )
            tile = _weights(
                weights + unit[None, :] * (5 * hidden) + 4 * hidden + j[:, None], in_j[:, None] & in_unit[None, :]
            )
            memory = tl.dot(given, tile, memory, input_precision=precision)
        tl.store(flow + at, memory * (candidate - old) * enter * (1.0 - enter), mask=here)
        tl.store(flow + at + 2 * hidden, memory * enter * (1.0 - candidate * candidate), mask=here)
        later = memory * (1.0 - enter)
        tl.debug_barrier()
        total = tl.zeros((rows, block), dtype=tl.float32)
        for first in range(0, 3 * hidden, inner):
            j = first + tl.arange(0, inner)
            in_j = j < 3 * hidden
            given = tl.load(
                flow + (base + row[:, None]) * (3 * hidden) + j[None, :],
                mask=in_row[:, None] & in_j[None, :],
                other=0.0,
            )
            tile = _weights(weights + unit[None, :] * (5 * hidden) + j[:, None], in_j[:, None] & in_unit[None, :])
            total = tl.dot(given, tile, total, input_precision=precision)
        for first in range(0, hidden, inner):  # through the input gate's peephole
            j = first + tl.arange(0, inner)
            in_j = j < hidden
            given = tl.load(
                flow + (base + row[:, None]) * (3 * hidden) + j[None, :],
                mask=in_row[:, None] & in_j[None, :],
                other=0.0,
            )
            tile = _weights(
                weights + unit[None, :] * (5 * hidden) + 3 * hidden + j[:, None], in_j[:, None] & in_unit[None, :]
            )
            later = tl.dot(given, tile, later, input_precision=precision)
        later = later * kept[:, None]
        tl.store(passed + place, total * kept[:, None], mask=here)
        step -= 1


class TritonCoupled(torch.autograd.Function):
    """`models.coupled.coupled` on a GPU."""

    @staticmethod
    def forward(ctx, gates: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor) -> Tensor:
        recurrent = for_kernels(recurrent)
        outputs, memories, active = run_forward(_forward, gates, recurrent, keep, steps, gates.shape[-1] // 3)
        ctx.save_for_backward(outputs, memories, active, recurrent, keep, steps)
        return outputs[:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        outputs, memories, active, recurrent, keep, steps = ctx.saved_tensors
        flow = run_backward(_backward, gradients[0], recurrent, keep, steps, memories, active)
        return flow, coupled_gradient(outputs, memories, flow, keep), None, None
