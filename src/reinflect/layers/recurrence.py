"""A run over whole sequences with a hand-written backward pass: what the backends and both cells share.

A backend forms the gradient of the gates step by step. The gradient of the recurrent weights is one product over all
steps instead of one per step.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Forward = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, ...]]
"""From gates, recurrent weights and keep to the outputs, the memories and what else `Backward` needs.

Outputs and memories, (M, T + 1, B, H), begin with the empty state.
"""

Backward = Callable[[Tensor, Tensor | None, Sequence[Tensor]], Tensor]
"""From the gradient of the outputs, keep and the results of `Forward` to the gradient of the gates.

The gradient is that of the gates before their non-linearities, (M, T, B, 3H or 4H).
"""


def recurrence(forward: Forward, backward: Backward, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
    """The outputs of a run by a backend's two functions. *Shape:* (M, T, B, H)"""
    outputs: Tensor = _Recurrence.apply(forward, backward, gates, recurrent, keep)  # type: ignore[no-untyped-call]
    return outputs


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, forward: Forward, backward: Backward, gates: Tensor, recurrent: Tensor, keep: Tensor | None
    ) -> Tensor:
        results = forward(gates, recurrent, keep)
        ctx.gate_gradient = backward
        ctx.save_for_backward(keep, *results)
        return results[0][:, 1:]

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[None, None, Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        keep, *results = ctx.saved_tensors
        d_gates = ctx.gate_gradient(gradients[0], keep, results)
        return None, None, d_gates, _weight_gradient(results[0], results[1], d_gates, keep), None


def _weight_gradient(outputs: Tensor, memories: Tensor, d_gates: Tensor, keep: Tensor | None) -> Tensor:
    """The sums of h'ᵀ · d_gates over all steps and items, then those of the peepholes. *Shape:* (M, H, 4H or 5H)"""
    hidden, width = outputs.shape[-1], d_gates.shape[-1]
    whole = outputs.new_empty(len(outputs), hidden, width if width == 4 * hidden else 5 * hidden)

    def add(states: Tensor, kept: Tensor | None, gates: slice, place: int) -> None:
        states = states if kept is None else states * kept.unsqueeze(-1)
        given = d_gates[..., gates].flatten(1, 2)
        out = whole[..., place : place + given.shape[-1]]
        torch.bmm(states.flatten(1, 2).transpose(1, 2), given, out=out)

    add(outputs[:, :-1], keep, slice(None), 0)
    if width != 4 * hidden:
        add(memories[:, :-1], keep, slice(hidden), 3 * hidden)
        add(memories[:, 1:], None, slice(hidden, 2 * hidden), 4 * hidden)
    return whole
