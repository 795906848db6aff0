"""The recurrent cells in torch: for single steps, double precision, a few words, and GPUs without Triton."""

from collections.abc import Callable

import torch
from torch import Tensor

State = tuple[Tensor, Tensor]
Step = Callable[[Tensor, Tensor, State], State]


def run(step: Step, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
    """The outputs of a run, beginning with the empty state.

    *Shape:* gates (M, T, B, 3H or 4H), recurrent (M, H, 4H or 5H), keep (M, T, B) → (M, T, B, H)
    """
    output = memory = gates.new_zeros(gates.shape[0], gates.shape[2], recurrent.shape[1])
    outputs = []
    for now in range(gates.shape[1]):
        if keep is not None:
            kept = keep[:, now].unsqueeze(-1)
            output, memory = output * kept, memory * kept
        output, memory = step(gates[:, now], recurrent, (output, memory))
        outputs.append(output)
    return torch.stack(outputs, dim=1)


def lstm_step(gates: Tensor, recurrent: Tensor, state: State) -> State:
    """One step. *Shape:* gates (M, B, 4H), recurrent (M, H, 4H), state two of (M, B, H)"""
    output, memory = state
    enter_in, forget_in, release_in, candidate_in = torch.baddbmm(gates, output, recurrent).chunk(4, dim=-1)
    memory = torch.sigmoid(forget_in) * memory + torch.sigmoid(enter_in) * torch.tanh(candidate_in)
    return torch.sigmoid(release_in) * torch.tanh(memory), memory


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
