"""The LSTM's recurrence as Triton kernels: a whole run of one model is one program on the GPU.

With a thousand small models the cost of a step is not its arithmetic but fetching each model's recurrent weights and
launching a dozen operations. Here one program carries a block of a model's items through all its steps, the weights
come from the cache, and a model's steps end where its own sequences do. The gradient of the weights is left to one
product over all steps, as everywhere.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from reinflect.systems.layers.precision import for_kernels, in_kernels


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _weights(places, inside):
    return tl.load(places, mask=inside, other=0.0).to(tl.float32)


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
        tl.debug_barrier()  # the state that was stored is read back in another arrangement
        base = (model * longest + step) * items
        at = (base + row[:, None]) * (4 * hidden) + unit[None, :]
        enter = tl.load(gates + at, mask=here, other=0.0)
        forget = tl.load(gates + at + hidden, mask=here, other=0.0)
        release = tl.load(gates + at + 2 * hidden, mask=here, other=0.0)
        candidate = tl.load(gates + at + 3 * hidden, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        before = states + step * items * hidden
        for first in range(0, hidden, inner):
            k = first + tl.arange(0, inner)
            in_k = k < hidden
            h = tl.load(before + row[:, None] * hidden + k[None, :], mask=in_row[:, None] & in_k[None, :], other=0.0)
            h = h * kept[:, None]
            tile = weights + k[:, None] * (4 * hidden) + unit[None, :]
            inside = in_k[:, None] & in_unit[None, :]
            enter = tl.dot(h, _weights(tile, inside), enter, input_precision=precision)
            forget = tl.dot(h, _weights(tile + hidden, inside), forget, input_precision=precision)
            release = tl.dot(h, _weights(tile + 2 * hidden, inside), release, input_precision=precision)
            candidate = tl.dot(h, _weights(tile + 3 * hidden, inside), candidate, input_precision=precision)
        enter, forget, release = tl.sigmoid(enter), tl.sigmoid(forget), tl.sigmoid(release)
        candidate = _tanh(candidate)
        memory = forget * (memory * kept[:, None]) + enter * candidate
        tl.store(active + at, enter, mask=here)
        tl.store(active + at + hidden, forget, mask=here)
        tl.store(active + at + 2 * hidden, release, mask=here)
        tl.store(active + at + 3 * hidden, candidate, mask=here)
        after = (step + 1) * items * hidden
        tl.store(cells + after + place, memory, mask=here)
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
        at = (base + row[:, None]) * (4 * hidden) + unit[None, :]
        enter = tl.load(active + at, mask=here, other=0.0)
        forget = tl.load(active + at + hidden, mask=here, other=0.0)
        release = tl.load(active + at + 2 * hidden, mask=here, other=0.0)
        candidate = tl.load(active + at + 3 * hidden, mask=here, other=0.0)
        old = tl.load(cells + step * items * hidden + place, mask=here, other=0.0)
        new = tl.load(cells + (step + 1) * items * hidden + place, mask=here, other=0.0)
        kept = tl.full((rows,), 1.0, dtype=tl.float32)
        if resets:
            kept = tl.load(keep + base + row, mask=in_row, other=1.0)
        shown = _tanh(new)
        output = tl.load(gradient + (base + row[:, None]) * hidden + unit[None, :], mask=here, other=0.0)
        output += tl.load(passed + place, mask=here, other=0.0)
        memory = output * release * (1.0 - shown * shown) + later
        to_enter = memory * candidate * enter * (1.0 - enter)
        to_forget = memory * old * kept[:, None] * forget * (1.0 - forget)
        to_release = output * shown * release * (1.0 - release)
        to_candidate = memory * enter * (1.0 - candidate * candidate)
        later = memory * forget * kept[:, None]
        tl.store(flow + at, to_enter, mask=here)
        tl.store(flow + at + hidden, to_forget, mask=here)
        tl.store(flow + at + 2 * hidden, to_release, mask=here)
        tl.store(flow + at + 3 * hidden, to_candidate, mask=here)
        tl.debug_barrier()
        # dh' = flow · Uᵀ, a gate and a slice of units at a time
        total = tl.zeros((rows, block), dtype=tl.float32)
        for first in range(0, 4 * hidden, inner):
            j = first + tl.arange(0, inner)
            in_j = j < 4 * hidden
            given = tl.load(
                flow + (base + row[:, None]) * (4 * hidden) + j[None, :],
                mask=in_row[:, None] & in_j[None, :],
                other=0.0,
            )
            tile = _weights(weights + unit[None, :] * (4 * hidden) + j[:, None], in_j[:, None] & in_unit[None, :])
            total = tl.dot(given, tile, total, input_precision=precision)
        tl.store(passed + place, total * kept[:, None], mask=here)
        step -= 1


def _options(hidden: int, items: int) -> dict[str, Any]:
    block = max(16, triton.next_power_of_2(hidden))
    return {
        "hidden": hidden,
        "block": block,
        "inner": 32 if block <= 128 else 16,
        "rows": 16 if items <= 16 else 32,
        "precision": in_kernels(),
        "num_warps": 4 if block <= 64 else 8,
    }


def run_forward(
    kernel: Any, gates: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor, hidden: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs and memories with the empty state in front, and the gates after their non-linearities.

    Steps past a model's own are left at zero.
    """
    models, longest, items, _ = gates.shape
    gates = gates.contiguous()
    outputs = gates.new_zeros(models, longest + 1, items, hidden)
    memories = torch.zeros_like(outputs)
    active = torch.empty_like(gates)
    options = _options(hidden, items)
    kernel[(models, triton.cdiv(items, options["rows"]))](
        gates,
        recurrent,
        gates if keep is None else keep.contiguous(),
        steps,
        outputs,
        memories,
        active,
        recurrent.stride(0),
        longest,
        items,
        resets=keep is not None,
        **options,
    )
    return outputs, memories, active


def run_backward(
    kernel: Any,
    gradient: Tensor,
    recurrent: Tensor,
    keep: Tensor | None,
    steps: Tensor,
    memories: Tensor,
    active: Tensor,
) -> Tensor:
    """The gradient of the gates before their non-linearities; zero for steps past a model's own."""
    models, longest, items, _ = active.shape
    hidden = memories.shape[-1]
    flow = torch.zeros_like(active)
    scratch = memories.new_empty(models, items, hidden)
    options = _options(hidden, items)
    kernel[(models, triton.cdiv(items, options["rows"]))](
        gradient.contiguous(),
        recurrent,
        active if keep is None else keep.contiguous(),
        steps,
        memories,
        active,
        flow,
        scratch,
        recurrent.stride(0),
        longest,
        items,
        resets=keep is not None,
        **options,
    )
    return flow


class TritonLstm(torch.autograd.Function):
    """`models.lstm.lstm` on a GPU."""

    @staticmethod
    def forward(ctx, gates: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor) -> Tensor:
        recurrent = for_kernels(recurrent)
        outputs, memories, active = run_forward(_forward, gates, recurrent, keep, steps, gates.shape[-1] // 4)
        ctx.save_for_backward(outputs, memories, active, recurrent, keep, steps)
        return outputs[:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        from reinflect.systems.kernels.lstm import recurrent_gradient

        outputs, memories, active, recurrent, keep, steps = ctx.saved_tensors
        flow = run_backward(_backward, gradients[0], recurrent, keep, steps, memories, active)
        return flow, recurrent_gradient(outputs, flow, keep), None, None
