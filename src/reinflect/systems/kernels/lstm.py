"""LSTMs over whole sequences, for many models at once.

The input projections are done beforehand, for all steps together (`gates`), so a run is only the recurrence. Its
backward pass is written by hand: it keeps the gates, and forms the gradient of the recurrent weights in one product
over all steps instead of one per step.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import pairwise

import torch
from torch import Tensor

FEW_ITEMS = 4


def lstm(gates: Tensor, recurrent: Tensor, keep: Tensor | None = None, steps: Tensor | None = None) -> Tensor:
    """The outputs of a standard LSTM; the order of gates is input, forget, output, candidate.

    `keep` is 0 where a state is emptied before the step that reads there, else 1. `steps` says how many steps of each
    model matter; what comes after them is anything at all.

    *Shape:* gates (M, T, B, 4H), recurrent (M, H, 4H), keep (M, T, B), steps (M) → (M, T, B, H)
    """
    outputs: Tensor
    if gates.dtype != torch.float32 or gates.device.type not in ("cpu", "cuda"):
        outputs = _Lstm.apply(gates, recurrent, keep)  # type: ignore[no-untyped-call]
    elif gates.device.type == "cpu" and is_quick(gates):
        outputs = _forward(gates, recurrent, keep)[0][:, 1:]
    elif gates.device.type == "cpu":
        outputs = _CompiledLstm.apply(gates, recurrent, keep)  # type: ignore[no-untyped-call]
    elif triton_is_here():
        from reinflect.systems.kernels.triton_lstm import TritonLstm

        if steps is None:
            steps = torch.full((len(gates),), gates.shape[1], dtype=torch.int64, device=gates.device)
        outputs = TritonLstm.apply(gates, recurrent, keep, steps)  # type: ignore[no-untyped-call]
    else:
        outputs = _Lstm.apply(gates, recurrent, keep)  # type: ignore[no-untyped-call]
    return outputs


def is_quick(gates: Tensor) -> bool:
    """Whether a run is over sooner than the compiled loops are loaded: a word or two, to be inflected.

    By its items alone: how a model decodes its items does not depend on its neighbours.
    """
    return gates.shape[2] <= FEW_ITEMS and not torch.is_grad_enabled()


@cache
def triton_is_here() -> bool:
    return find_spec("triton") is not None


def lstm_step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """One step. *Shape:* gates (M, B, 4H), state two of (M, B, H)"""
    output, memory = state
    hidden = output.shape[-1]
    mixed = torch.baddbmm(gates, output, recurrent)
    enter, forget, release = torch.sigmoid(mixed[..., : 3 * hidden]).chunk(3, dim=-1)
    memory = forget * memory + enter * torch.tanh(mixed[..., 3 * hidden :])
    return release * torch.tanh(memory), memory


def _forward(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs and memories with the empty state in front, and the gates after their non-linearities."""
    models, steps, items, width = gates.shape
    hidden = width // 4
    outputs = gates.new_empty(models, steps + 1, items, hidden)
    memories = gates.new_empty(models, steps + 1, items, hidden)
    outputs[:, 0] = 0.0
    memories[:, 0] = 0.0
    active = torch.empty_like(gates)
    for step in range(steps):
        before, memory = outputs[:, step], memories[:, step]
        if keep is not None:
            kept = keep[:, step].unsqueeze(-1)
            before, memory = before * kept, memory * kept
        mixed = torch.baddbmm(gates[:, step], before, recurrent)
        here = active[:, step]
        torch.sigmoid(mixed[..., : 3 * hidden], out=here[..., : 3 * hidden])
        torch.tanh(mixed[..., 3 * hidden :], out=here[..., 3 * hidden :])
        enter, forget, release, candidate = here.chunk(4, dim=-1)
        new = memories[:, step + 1]
        torch.mul(forget, memory, out=new)
        new.addcmul_(enter, candidate)
        torch.mul(release, torch.tanh(new), out=outputs[:, step + 1])
    return outputs, memories, active


class _Lstm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:  # type: ignore[no-untyped-def]
        outputs, memories, active = _forward(gates, recurrent, keep)
        ctx.save_for_backward(outputs, memories, active, recurrent, keep)
        return outputs[:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        outputs, memories, active, recurrent, keep = ctx.saved_tensors
        steps, hidden = active.shape[1], outputs.shape[-1]
        gradient = gradients[0]
        flow = torch.empty_like(active)  # of the gates before their non-linearities
        # σ' = s(1 - s) and tanh' = 1 - g², for all steps at once
        slopes = torch.empty_like(active)
        sigmoids, candidates = active[..., : 3 * hidden], active[..., 3 * hidden :]
        torch.addcmul(sigmoids, sigmoids, sigmoids, value=-1.0, out=slopes[..., : 3 * hidden])
        torch.addcmul(active.new_ones(()), candidates, candidates, value=-1.0, out=slopes[..., 3 * hidden :])
        shown = torch.tanh(memories[:, 1:])
        release = active[..., 2 * hidden : 3 * hidden]
        to_memory = torch.addcmul(active.new_ones(()), shown, shown, value=-1.0).mul_(release)
        transposed = recurrent.transpose(1, 2)
        from_later: Tensor | None = None
        memory_later: Tensor | None = None
        for step in range(steps - 1, -1, -1):
            output = gradient[:, step] if from_later is None else gradient[:, step] + from_later
            memory = output * to_memory[:, step]
            if memory_later is not None:
                memory += memory_later
            enter, forget, _, candidate = active[:, step].chunk(4, dim=-1)
            to_enter, to_forget, to_release, to_candidate = flow[:, step].chunk(4, dim=-1)
            torch.mul(memory, candidate, out=to_enter)
            torch.mul(memory, memories[:, step], out=to_forget)
            torch.mul(output, shown[:, step], out=to_release)
            torch.mul(memory, enter, out=to_candidate)
            if keep is not None:
                to_forget.mul_(keep[:, step].unsqueeze(-1))
            flow[:, step].mul_(slopes[:, step])
            memory_later = memory.mul_(forget)
            from_later = torch.bmm(flow[:, step], transposed)
            if keep is not None:
                kept = keep[:, step].unsqueeze(-1)
                memory_later = memory_later * kept
                from_later = from_later * kept
        return flow, recurrent_gradient(outputs, flow, keep), None


def recurrent_gradient(outputs: Tensor, flow: Tensor, keep: Tensor | None) -> Tensor:
    """The sum of h'ᵀ · flow over all steps and items, in one product."""
    before = outputs[:, :-1]
    if keep is not None:
        before = before * keep.unsqueeze(-1)
    product: Tensor = torch.bmm(before.flatten(1, 2).transpose(1, 2), flow.flatten(1, 2))
    return product


class _CompiledLstm(torch.autograd.Function):
    """The same run on the CPU, by the compiled loops of `models.compiled`."""

    @staticmethod
    def forward(ctx, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:  # type: ignore[no-untyped-def]
        from reinflect.systems.kernels import compiled

        models, steps, items, width = gates.shape
        active = gates.detach().clone(memory_format=torch.contiguous_format)
        outputs = gates.new_empty(models, steps + 1, items, width // 4)
        memories = torch.empty_like(outputs)
        shown = gates.new_empty(models, steps, items, width // 4)
        weights = recurrent.detach().contiguous()
        kept = gates.new_empty(1, 1, 1) if keep is None else keep.contiguous()
        arrays = [tensor.numpy() for tensor in (active, weights, kept)]
        states = [tensor.numpy() for tensor in (outputs, memories, shown)]
        in_threads(models, lambda first, last: compiled.forward(*arrays, keep is not None, *states, first, last))
        ctx.save_for_backward(outputs, memories, shown, active, recurrent, keep)
        return outputs[:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        from reinflect.systems.kernels import compiled

        outputs, memories, shown, active, recurrent, keep = ctx.saved_tensors
        flow = torch.empty_like(active)
        transposed = recurrent.detach().transpose(1, 2).contiguous()
        kept = active.new_empty(1, 1, 1) if keep is None else keep.contiguous()
        arrays = [tensor.numpy() for tensor in (gradients[0].contiguous(), active, transposed, kept)]
        states = [tensor.numpy() for tensor in (memories, shown, flow)]
        in_threads(len(active), lambda first, last: compiled.backward(*arrays, keep is not None, *states, first, last))
        return flow, recurrent_gradient(outputs, flow, keep), None


def in_threads(models: int, run: Callable[[int, int], None]) -> None:
    """Share the models out among as many threads as torch uses; the compiled loops run beside each other."""
    parts = min(models, torch.get_num_threads())
    if parts <= 1:
        run(0, models)
        return
    bounds = [models * part // parts for part in range(parts + 1)]
    others = [_POOL.submit(run, first, last) for first, last in pairwise(bounds[1:])]
    run(bounds[0], bounds[1])
    for other in others:
        other.result()


_POOL = ThreadPoolExecutor(thread_name_prefix="lstm")
