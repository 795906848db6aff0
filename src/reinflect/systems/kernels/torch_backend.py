"""The recurrent cells in torch: for single steps, double precision, a few words, and GPUs without Triton."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from reinflect.systems.kernels.recurrence import recurrence

State = tuple[Tensor, Tensor]


def lstm(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
    """The outputs of a run. *Shape:* gates (M, T, B, 4H), recurrent (M, H, 4H), keep (M, T, B) → (M, T, B, H)"""
    return recurrence(_lstm_forward, _lstm_backward, gates, recurrent, keep)


def lstm_step(gates: Tensor, recurrent: Tensor, state: State) -> State:
    """One step. *Shape:* gates (M, B, 4H), recurrent (M, H, 4H), state two of (M, B, H)"""
    output, memory, _, _ = _lstm(gates, recurrent, state, fused=False)
    return output, memory


def _lstm(gates: Tensor, recurrent: Tensor, state: State, *, fused: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One step: output, memory, the input, forget and output gates side by side, and the candidate.

    A run adds to the memory by a `fused` operation, which rounds once; a step of a decoder rounds twice. Predictions of
    existing models depend on both.
    """
    output, memory = state
    hidden = output.shape[-1]
    mixed = torch.baddbmm(gates, output, recurrent)
    opened = torch.sigmoid(mixed[..., : 3 * hidden])
    candidate = torch.tanh(mixed[..., 3 * hidden :])
    enter, forget, release = opened.chunk(3, dim=-1)
    memory = forget * memory
    memory = torch.addcmul(memory, enter, candidate) if fused else memory + enter * candidate
    return release * torch.tanh(memory), memory, opened, candidate


def _lstm_forward(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> tuple[Tensor, ...]:
    outputs, memories, *others = _scan(partial(_lstm, fused=True), gates, recurrent, keep)
    empty = torch.zeros_like(outputs[0])
    stacked = [torch.stack(each, dim=1) for each in ((empty, *outputs), (empty, *memories), *others)]
    return *stacked, recurrent


def _lstm_backward(gradient: Tensor, keep: Tensor | None, results: Sequence[Tensor]) -> Tensor:
    _, memories, opened, candidates, recurrent = results
    hidden = memories.shape[-1]
    one = opened.new_ones(())
    # σ' = s(1 - s) and tanh' = 1 - g², for all steps at once
    slopes = [torch.addcmul(opened, opened, opened, value=-1.0), torch.addcmul(one, candidates, candidates, value=-1.0)]
    shown = torch.tanh(memories[:, 1:])
    to_memory = torch.addcmul(one, shown, shown, value=-1.0).mul_(opened[..., 2 * hidden :])
    d_gates = torch.cat(slopes, dim=-1)
    transposed = recurrent.transpose(1, 2)
    d_output = d_memory = torch.full_like(gradient[:, 0], -0.0)  # x + -0.0 is x to the bit, also where x is -0.0
    for step in reversed(range(gradient.shape[1])):
        d_output = gradient[:, step] + d_output
        d_memory = d_output * to_memory[:, step] + d_memory
        enter, forget, _ = opened[:, step].chunk(3, dim=-1)
        old = memories[:, step] if keep is None else memories[:, step] * keep[:, step].unsqueeze(-1)
        parts = [d_memory * candidates[:, step], d_memory * old, d_output * shown[:, step], d_memory * enter]
        d_gates[:, step].mul_(torch.cat(parts, dim=-1))
        d_memory = d_memory * forget
        d_output = torch.bmm(d_gates[:, step], transposed)
        if keep is not None:
            kept = keep[:, step].unsqueeze(-1)
            d_output, d_memory = d_output * kept, d_memory * kept
    return d_gates


def coupled(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
    """The outputs of a run. *Shape:* gates (M, T, B, 3H), recurrent (M, H, 5H), keep (M, T, B) → (M, T, B, H)"""
    outputs, _ = _scan(coupled_step, gates, recurrent, keep)
    return torch.stack(outputs, dim=1)


def coupled_step(gates: Tensor, recurrent: Tensor, state: State) -> State:
    """One step. *Shape:* gates (M, B, 3H), recurrent (M, H, 5H), state two of (M, B, H)"""
    output, memory = state
    hidden = output.shape[-1]
    peep_enter, peep_release = recurrent[..., 3 * hidden :].chunk(2, dim=-1)
    enter_in, release_in, candidate_in = torch.baddbmm(gates, output, recurrent[..., : 3 * hidden]).chunk(3, dim=-1)
    enter = torch.sigmoid(torch.baddbmm(enter_in, memory, peep_enter))
    memory = memory + enter * (torch.tanh(candidate_in) - memory)
    release = torch.sigmoid(torch.baddbmm(release_in, memory, peep_release))
    return release * torch.tanh(memory), memory


def _scan(
    step: Callable[[Tensor, Tensor, State], tuple[Tensor, ...]], gates: Tensor, recurrent: Tensor, keep: Tensor | None
) -> list[tuple[Tensor, ...]]:
    """What `step` returns, beginning with the empty state: the outputs of all steps, their memories and the rest."""
    empty = gates.new_zeros(gates.shape[0], gates.shape[2], recurrent.shape[1])
    output, memory = empty, empty
    found = []
    for now in range(gates.shape[1]):
        if keep is not None:
            kept = keep[:, now].unsqueeze(-1)
            output, memory = output * kept, memory * kept
        found.append(step(gates[:, now], recurrent, (output, memory)))
        output, memory, *_ = found[-1]
    return list(zip(*found, strict=True))
