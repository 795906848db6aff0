"""The cell of the 2017 code (DyNet 1.1): coupled input and forget gates, and peepholes.

i = σ(x_i + U_i h' + P_i c'), c = (1 - i) c' + i tanh(x_c + U_c h'), o = σ(x_o + U_o h' + P_o c), h = o tanh c.
`recurrent` holds U_i, U_o, U_c, P_i, P_o side by side.
"""

import torch
from torch import Tensor

from reinflect.systems.kernels.lstm import in_threads, is_quick, triton_is_here


def coupled(gates: Tensor, recurrent: Tensor, keep: Tensor | None = None, steps: Tensor | None = None) -> Tensor:
    """The outputs of a run; the arguments are those of `models.lstm.lstm`.

    *Shape:* gates (M, T, B, 3H), recurrent (M, H, 5H), keep (M, T, B), steps (M) → (M, T, B, H)
    """
    outputs: Tensor
    if gates.dtype == torch.float32 and gates.device.type == "cpu" and not is_quick(gates):
        outputs = _CompiledCoupled.apply(gates, recurrent, keep)  # type: ignore[no-untyped-call]
        return outputs
    if gates.dtype == torch.float32 and gates.device.type == "cuda" and triton_is_here():
        from reinflect.systems.kernels.triton_coupled import TritonCoupled

        if steps is None:
            steps = torch.full((len(gates),), gates.shape[1], dtype=torch.int64, device=gates.device)
        outputs = TritonCoupled.apply(gates, recurrent, keep, steps)  # type: ignore[no-untyped-call]
        return outputs
    return plain(gates, recurrent, keep)


def plain(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
    """Step by step, the gradients left to torch."""
    models, _, items, width = gates.shape
    state = (gates.new_zeros(models, items, width // 3),) * 2
    outputs = []
    for step in range(gates.shape[1]):
        if keep is not None:
            kept = keep[:, step].unsqueeze(-1)
            state = (state[0] * kept, state[1] * kept)
        state = coupled_step(gates[:, step], recurrent, state)
        outputs.append(state[0])
    return torch.stack(outputs, dim=1)


def coupled_step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """One step. *Shape:* gates (M, B, 3H), state two of (M, B, H)"""
    output, memory = state
    hidden = output.shape[-1]
    peep_enter, peep_release = recurrent[..., 3 * hidden :].chunk(2, dim=-1)
    enter_in, release_in, candidate_in = torch.baddbmm(gates, output, recurrent[..., : 3 * hidden]).chunk(3, dim=-1)
    enter = torch.sigmoid(torch.baddbmm(enter_in, memory, peep_enter))
    memory = memory + enter * (torch.tanh(candidate_in) - memory)
    release = torch.sigmoid(torch.baddbmm(release_in, memory, peep_release))
    return release * torch.tanh(memory), memory


def coupled_gradient(outputs: Tensor, memories: Tensor, flow: Tensor, keep: Tensor | None) -> Tensor:
    """The gradient of U_i, U_o, U_c, P_i, P_o, each by one product over all steps. *Shape:* (M, H, 5H)"""
    hidden = outputs.shape[-1]
    before, old, new = outputs[:, :-1], memories[:, :-1], memories[:, 1:]
    if keep is not None:
        before, old = before * keep.unsqueeze(-1), old * keep.unsqueeze(-1)

    def product(states: Tensor, given: Tensor) -> Tensor:
        return torch.bmm(states.flatten(1, 2).transpose(1, 2), given.flatten(1, 2))

    to_enter, to_release = flow[..., :hidden], flow[..., hidden : 2 * hidden]
    return torch.cat([product(before, flow), product(old, to_enter), product(new, to_release)], dim=-1)


class _CompiledCoupled(torch.autograd.Function):
    """The run on the CPU, by the compiled loops of `models.compiled`."""

    @staticmethod
    def forward(ctx, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:  # type: ignore[no-untyped-def]
        from reinflect.systems.kernels import compiled

        models, steps, items, width = gates.shape
        hidden = width // 3
        active = gates.detach().clone(memory_format=torch.contiguous_format)
        outputs = gates.new_empty(models, steps + 1, items, hidden)
        memories = torch.empty_like(outputs)
        shown = gates.new_empty(models, steps, items, hidden)
        weights = [own.contiguous() for own in _parts(recurrent.detach(), hidden)]
        kept = gates.new_empty(1, 1, 1) if keep is None else keep.contiguous()
        arrays = [tensor.numpy() for tensor in (active, *weights, kept)]
        states = [tensor.numpy() for tensor in (outputs, memories, shown)]
        in_threads(
            models, lambda first, last: compiled.coupled_forward(*arrays, keep is not None, *states, first, last)
        )
        ctx.save_for_backward(outputs, memories, shown, active, recurrent, keep)
        return outputs[:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        from reinflect.systems.kernels import compiled

        outputs, memories, shown, active, recurrent, keep = ctx.saved_tensors
        flow = torch.empty_like(active)
        weights = [own.transpose(1, 2).contiguous() for own in _parts(recurrent.detach(), outputs.shape[-1])]
        kept = active.new_empty(1, 1, 1) if keep is None else keep.contiguous()
        arrays = [tensor.numpy() for tensor in (gradients[0].contiguous(), active, *weights, kept)]
        states = [tensor.numpy() for tensor in (memories, shown, flow)]
        in_threads(
            len(active), lambda first, last: compiled.coupled_backward(*arrays, keep is not None, *states, first, last)
        )
        return flow, coupled_gradient(outputs, memories, flow, keep), None


def _parts(recurrent: Tensor, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """U, P_i and P_o."""
    return recurrent[..., : 3 * hidden], recurrent[..., 3 * hidden : 4 * hidden], recurrent[..., 4 * hidden :]
