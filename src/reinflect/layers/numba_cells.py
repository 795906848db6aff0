"""The recurrent cells compiled for the CPU by numba.

At the small batches these models are trained with, a run in torch spends most of its time on calls: twenty steps of a
dozen tensor operations on a few hundred numbers each. Here a run is one call.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from reinflect.compiled import FAST, compiled


def forward(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> tuple[Tensor, ...]:
    models, steps, items, _ = gates.shape
    active = gates.clone(memory_format=torch.contiguous_format)
    outputs = gates.new_empty(models, steps + 1, items, recurrent.shape[1])
    memories = torch.empty_like(outputs)
    squashed = gates.new_empty(models, steps, items, recurrent.shape[1])
    kept = gates.new_ones(models, steps, items) if keep is None else keep.contiguous()
    recurrent = recurrent.detach().contiguous()
    _forward(*(tensor.numpy() for tensor in (active, recurrent, kept, outputs, memories, squashed)))
    return outputs, memories, squashed, active, recurrent, kept


def backward(gradient: Tensor, _: Tensor | None, results: Sequence[Tensor]) -> Tensor:
    _, memories, squashed, active, recurrent, kept = results
    d_gates = torch.empty_like(active)
    tensors = gradient.contiguous(), active, recurrent, kept, memories, squashed, d_gates
    _backward(*(tensor.numpy() for tensor in tensors))
    return d_gates


def run(gates: Tensor, recurrent: Tensor) -> Tensor:
    """The outputs of a run without gradients, as `step` after `step`: faster for many items."""
    models, steps, items, _ = gates.shape
    outputs = gates.new_empty(models, steps, items, recurrent.shape[1])
    state = (torch.zeros_like(outputs[:, 0]),) * 2
    for now in range(steps):
        state = step(gates[:, now], recurrent, state)
        outputs[:, now] = state[0]
    return outputs


def step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """One step of a decoder: products by torch, which is faster for many items, and the rest in one call each."""
    (output, memory), width = state, gates.shape[-1]
    hidden, weights = memory.shape[-1], recurrent.detach()
    mixed = torch.baddbmm(gates, output, weights[..., :width])
    new, squashed = (torch.empty_like(memory, memory_format=torch.contiguous_format) for _ in range(2))
    # To what follows the products, the items of all models are alike.
    rows, old, after, outputs = (part.reshape(-1, part.shape[-1]).numpy() for part in (mixed, memory, new, squashed))
    if width == 4 * hidden:
        lstm(rows, old, after, outputs, outputs)
        return squashed, new
    mixed[..., :hidden].baddbmm_(memory, weights[..., width : width + hidden])
    _enter(rows, old, after)
    mixed[..., hidden : 2 * hidden].baddbmm_(new, weights[..., width + hidden :])
    _release(rows, after, outputs, outputs)
    return squashed, new


INLINED = {**FAST, "inline": "always"}
"""Options of a cell's arithmetic. LLVM would inline it too, but optimise it twice, and a function from the cache would
round differently from one just compiled."""


@compiled(**FAST)
def add_product(out, start, left, right, column, width):
    """out[:, start : start + width] += left @ right[:, column : column + width]."""
    rows, inner = left.shape
    whole = inner - inner % 4  # `out` is loaded and stored every fourth step; two rows share each weight that is loaded
    stop, end, row = start + width, column + width, 0
    while row + 1 < rows:
        first, second = out[row, start:stop], out[row + 1, start:stop]
        upper, lower = left[row], left[row + 1]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = upper[k], upper[k + 1], upper[k + 2], upper[k + 3]
            b0, b1, b2, b3 = lower[k], lower[k + 1], lower[k + 2], lower[k + 3]
            w0, w1 = right[k, column:end], right[k + 1, column:end]
            w2, w3 = right[k + 2, column:end], right[k + 3, column:end]
            for j in range(width):
                first[j] += a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
                second[j] += b0 * w0[j] + b1 * w1[j] + b2 * w2[j] + b3 * w3[j]
        for k in range(whole, inner):
            a0, b0, w0 = upper[k], lower[k], right[k, column:end]
            for j in range(width):
                first[j] += a0 * w0[j]
                second[j] += b0 * w0[j]
        row += 2
    if row < rows:
        first, upper = out[row, start:stop], left[row]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = upper[k], upper[k + 1], upper[k + 2], upper[k + 3]
            w0, w1 = right[k, column:end], right[k + 1, column:end]
            w2, w3 = right[k + 2, column:end], right[k + 3, column:end]
            for j in range(width):
                first[j] += a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
        for k in range(whole, inner):
            a0, w0 = upper[k], right[k, column:end]
            for j in range(width):
                first[j] += a0 * w0[j]


@compiled(**FAST)
def _add_back(out, left, right, column, width):
    """out += left[:, :width] @ right[:, column : column + width]ᵀ: sums along rows, so that nothing is transposed."""
    rows, inner = out.shape
    end, row = column + width, 0
    while row + 1 < rows:
        first, second, upper, lower = out[row], out[row + 1], left[row, :width], left[row + 1, :width]
        for k in range(inner):
            weights = right[k, column:end]
            a = b = np.float32(0.0)
            for j in range(width):
                a += upper[j] * weights[j]
                b += lower[j] * weights[j]
            first[k] += a
            second[k] += b
        row += 2
    if row < rows:
        first, upper = out[row], left[row, :width]
        for k in range(inner):
            weights = right[k, column:end]
            a = np.float32(0.0)
            for j in range(width):
                a += upper[j] * weights[j]
            first[k] += a


@compiled(**FAST)
def _tanh(values):
    """tanh in place: a continued fraction near zero, then the double-angle rule twice; good to single precision.

    Written out because the library's tanh keeps the loop from being vectorised. So does an index such as
    `row[hidden + j]`, which numba tests for being negative: here and below, a part of a row is a slice.
    """
    for j in range(len(values)):
        x = min(max(values[j], np.float32(-9.0)), np.float32(9.0)) * np.float32(0.25)
        s = x * x
        top = x * (((s + np.float32(378.0)) * s + np.float32(17325.0)) * s + np.float32(135135.0))
        low = ((np.float32(28.0) * s + np.float32(3150.0)) * s + np.float32(62370.0)) * s + np.float32(135135.0)
        top, low = np.float32(2.0) * top * low, low * low + top * top
        values[j] = np.float32(2.0) * top * low / (low * low + top * top)


@compiled(**FAST)
def _forward(gates, recurrent, keep, outputs, memories, squashed):
    """Run all models. `gates` become the gates after their non-linearities.

    `outputs` and `memories` (M, T + 1, B, H) begin with the empty state; `squashed` is tanh of the memories.
    """
    models, steps, items, width = gates.shape
    hidden = squashed.shape[3]
    before = np.empty((items, hidden), dtype=gates.dtype)
    old = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(models):
        outputs[m, 0] = 0.0
        memories[m, 0] = 0.0
        for t in range(steps):
            for b in range(items):
                kept = keep[m, t, b]
                for k in range(hidden):
                    before[b, k] = outputs[m, t, b, k] * kept
                    old[b, k] = memories[m, t, b, k] * kept
            here, new, seen, out = gates[m, t], memories[m, t + 1], squashed[m, t], outputs[m, t + 1]
            add_product(here, 0, before, recurrent[m], 0, width)
            if width == 4 * hidden:
                lstm(here, old, new, seen, out)
            else:
                coupled(here, old, new, seen, out, recurrent[m])


@compiled(**FAST)
def _backward(gradient, gates, recurrent, keep, memories, squashed, d_gates):
    """The gradient of the gates before their non-linearities."""
    models, steps, items, width = gates.shape
    hidden = squashed.shape[3]
    d_output = np.empty((items, hidden), dtype=gates.dtype)
    d_memory = np.empty((items, hidden), dtype=gates.dtype)
    peep = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(models):
        d_output[:] = 0.0
        d_memory[:] = 0.0
        for t in range(steps - 1, -1, -1):
            kept = keep[m, t]
            d_here, here, old, seen, to = gradient[m, t], gates[m, t], memories[m, t], squashed[m, t], d_gates[m, t]
            if width == 4 * hidden:
                _lstm_backward(d_here, d_output, d_memory, here, old, seen, kept, to)
            else:
                _coupled_backward(d_here, d_output, d_memory, here, old, seen, kept, to, recurrent[m], peep)
            d_output[:] = 0.0
            _add_back(d_output, to, recurrent[m], 0, width)
            for b in range(items):
                for k in range(hidden):
                    d_output[b, k] *= kept[b]


@compiled(**INLINED)
def lstm(gates, memories, new, squashed, outputs):
    """One step of all items: the non-linearities of the gates in place, the new memories, their tanh, the outputs."""
    items, hidden = memories.shape
    half = np.float32(0.5)
    for b in range(items):
        row, seen = gates[b], squashed[b]
        for j in range(3 * hidden):  # σ(x) = (1 + tanh(x / 2)) / 2
            row[j] *= half
        _tanh(row)
        for j in range(3 * hidden):
            row[j] = row[j] * half + half
        forget, release, candidate = row[hidden : 2 * hidden], row[2 * hidden : 3 * hidden], row[3 * hidden :]
        for k in range(hidden):
            new[b, k] = forget[k] * memories[b, k] + row[k] * candidate[k]
            seen[k] = new[b, k]
        _tanh(seen)
        for k in range(hidden):
            outputs[b, k] = release[k] * seen[k]


@compiled(**INLINED)
def _lstm_backward(gradient, d_output, d_memory, gates, memories, squashed, keep, d_gates):
    """One step of all items, back: the gradient of the gates, and `d_memory` from that of the new to the old memory.

    `gradient` and `d_output` are what the loss and the later steps give to the output.
    """
    items, hidden = memories.shape
    unit = np.float32(1.0)
    for b in range(items):
        row, seen, to, kept = gates[b], squashed[b], d_gates[b], keep[b]
        for k in range(hidden):
            enter, forget, release, candidate = row[k], row[hidden + k], row[2 * hidden + k], row[3 * hidden + k]
            d_out = gradient[b, k] + d_output[b, k]
            d_new = d_out * release * (unit - seen[k] * seen[k]) + d_memory[b, k]
            to[k] = d_new * candidate * enter * (unit - enter)
            to[hidden + k] = d_new * memories[b, k] * kept * forget * (unit - forget)
            to[2 * hidden + k] = d_out * seen[k] * release * (unit - release)
            to[3 * hidden + k] = d_new * enter * (unit - candidate * candidate)
            d_memory[b, k] = d_new * forget * kept


@compiled(**INLINED)
def coupled(gates, memories, new, squashed, outputs, recurrent):
    """One step of all items, as `lstm`."""
    hidden = memories.shape[1]
    add_product(gates, 0, memories, recurrent, 3 * hidden, hidden)
    _enter(gates, memories, new)
    add_product(gates, hidden, new, recurrent, 4 * hidden, hidden)
    _release(gates, new, squashed, outputs)


@compiled(**INLINED)
def _enter(gates, memories, new):
    """The input gate and the candidate in place, and the new memories."""
    items, hidden = memories.shape
    half = np.float32(0.5)
    for b in range(items):
        enter, candidate = gates[b, :hidden], gates[b, 2 * hidden :]
        for k in range(hidden):
            enter[k] *= half
        _tanh(enter)
        _tanh(candidate)
        for k in range(hidden):
            enter[k] = enter[k] * half + half
            new[b, k] = memories[b, k] + enter[k] * (candidate[k] - memories[b, k])


@compiled(**INLINED)
def _release(gates, new, squashed, outputs):
    """The output gate in place, the tanh of the memories, and the outputs."""
    items, hidden = new.shape
    half = np.float32(0.5)
    for b in range(items):
        release, seen = gates[b, hidden : 2 * hidden], squashed[b]
        for k in range(hidden):
            release[k] *= half
            seen[k] = new[b, k]
        _tanh(release)
        _tanh(seen)
        for k in range(hidden):
            release[k] = release[k] * half + half
            outputs[b, k] = release[k] * seen[k]


@compiled(**INLINED)
def _coupled_backward(gradient, d_output, d_memory, gates, memories, squashed, keep, d_gates, recurrent, peep):
    """One step of all items, back, as `_lstm_backward`."""
    items, hidden = memories.shape
    unit = np.float32(1.0)
    for b in range(items):
        row, to, seen = gates[b], d_gates[b], squashed[b]
        for k in range(hidden):
            release = row[hidden + k]
            d_out = gradient[b, k] + d_output[b, k]
            to[hidden + k] = d_out * seen[k] * release * (unit - release)
            peep[b, k] = to[hidden + k]
            d_memory[b, k] = d_out * release * (unit - seen[k] * seen[k]) + d_memory[b, k]
    _add_back(d_memory, peep, recurrent, 4 * hidden, hidden)
    for b in range(items):
        row, to, kept = gates[b], d_gates[b], keep[b]
        for k in range(hidden):
            enter, candidate = row[k], row[2 * hidden + k]
            to[k] = d_memory[b, k] * (candidate - memories[b, k] * kept) * enter * (unit - enter)
            to[2 * hidden + k] = d_memory[b, k] * enter * (unit - candidate * candidate)
            peep[b, k] = to[k]
            d_memory[b, k] = d_memory[b, k] * (unit - enter)
    _add_back(d_memory, peep, recurrent, 3 * hidden, hidden)
    for b in range(items):
        for k in range(hidden):
            d_memory[b, k] *= keep[b]
