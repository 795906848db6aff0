"""The recurrent cells: in torch, by numba on a CPU, by Triton on a GPU.

"lstm" is the standard cell; its gates are input, forget, output and candidate. "coupled" is the cell of the 2017 code
(DyNet 1.1), with coupled input and forget gates and with peepholes; its gates are input, output and candidate:

i = σ(x_i + U_i h' + P_i c'), c = (1 - i) c' + i tanh(x_c + U_c h'), o = σ(x_o + U_o h' + P_o c), h = o tanh c.

Its recurrent weights are U_i, U_o, U_c, P_i, P_o side by side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from reinflect.layers.examples import Lemmas
from reinflect.layers.operations import Dropout, dropped, for_kernels, linear, on_numba, on_triton, pick, rows
from reinflect.layers.parameters import Parameters
from reinflect.systems.symbols import CELL_WIDTHS, RecurrentSettings

FEW_ITEMS, MANY_ITEMS = 4, 32

State = tuple[Tensor, Tensor]
"""The output and the memory. *Shapes:* (M, B, H)"""
Step = Callable[[Tensor, Tensor, State], State]
Forward = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, ...]]
"""From gates, recurrent weights and keep to the outputs, the memories and what else `Backward` needs. Outputs and
memories, (M, T + 1, B, H), begin with the empty state."""
Backward = Callable[[Tensor, Tensor | None, Sequence[Tensor]], Tensor]
"""From the gradient of the outputs, keep and the results of `Forward` to the gradient of the gates before their
non-linearities, (M, T, B, gates · H)."""


@dataclass(frozen=True)
class Cell:
    """A recurrent cell. The widths of its gates and of its recurrent weights are in units of H."""

    torch_step: Step
    gates: int
    recurrent: int

    def step(self, gates: Tensor, recurrent: Tensor, state: State) -> State:
        """The output and the memory after one more step, without gradients, by weights that `for_steps` gave.

        *Shape:* gates (M, B, gates · H), recurrent (M, H, recurrent · H), state two of (M, B, H)
        """
        if on_numba(gates) and gates.shape[1] > FEW_ITEMS:
            from reinflect.layers import numba_cells

            return numba_cells.step(gates, recurrent, state)
        if on_triton(gates):
            from reinflect.layers import triton_cells

            return triton_cells.step(gates, recurrent, state)
        return self.torch_step(gates, recurrent, state)

    def run(self, gates: Tensor, recurrent: Tensor, keep: Tensor | None = None, steps: Tensor | None = None) -> Tensor:
        """The outputs of whole sequences. `gates` are the input projections of all steps, made beforehand.

        `keep` is 0 where the state is emptied before the step, else 1. `steps` is the number of steps of each model
        that matter; the outputs of later steps are undefined.

        *Shape:* gates (M, T, B, gates · H), recurrent (M, H, recurrent · H), keep (M, T, B), steps (M) → (M, T, B, H)
        """
        # Only the number of items counts, so that the predictions for a model's items do not depend on other models.
        if on_numba(gates) and (gates.shape[2] > FEW_ITEMS or torch.is_grad_enabled()):
            from reinflect.layers import numba_cells

            if keep is None and gates.shape[2] >= MANY_ITEMS and not torch.is_grad_enabled():
                return numba_cells.run(gates, recurrent)
            return recurrence(numba_cells.forward, numba_cells.backward, gates, recurrent, keep)
        if gates.dtype == torch.float32 and on_triton(gates):
            from reinflect.layers import triton_cells

            forward = partial(triton_cells.forward, steps=steps)
            return recurrence(forward, triton_cells.backward, gates, recurrent, keep)
        return self.torch_run(gates, recurrent, keep)

    def torch_run(self, gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
        """As `run`, in any precision on any device."""
        output = memory = gates.new_zeros(gates.shape[0], gates.shape[2], recurrent.shape[1])
        outputs = []
        for now in range(gates.shape[1]):
            if keep is not None:
                kept = keep[:, now].unsqueeze(-1)
                output, memory = output * kept, memory * kept
            output, memory = self.torch_step(gates[:, now], recurrent, (output, memory))
            outputs.append(output)
        return torch.stack(outputs, dim=1)


def _lstm_step(gates: Tensor, recurrent: Tensor, state: State) -> State:
    output, memory = state
    enter_in, forget_in, release_in, candidate_in = torch.baddbmm(gates, output, recurrent).chunk(4, dim=-1)
    memory = torch.sigmoid(forget_in) * memory + torch.sigmoid(enter_in) * torch.tanh(candidate_in)
    return torch.sigmoid(release_in) * torch.tanh(memory), memory


def _coupled_step(gates: Tensor, recurrent: Tensor, state: State) -> State:
    output, memory = state
    hidden = output.shape[-1]
    peep_enter, peep_release = recurrent[..., 3 * hidden :].chunk(2, dim=-1)
    enter_in, release_in, candidate_in = torch.baddbmm(gates, output, recurrent[..., : 3 * hidden]).chunk(3, dim=-1)
    enter = torch.sigmoid(torch.baddbmm(enter_in, memory, peep_enter))
    memory = memory + enter * (torch.tanh(candidate_in) - memory)
    release = torch.sigmoid(torch.baddbmm(release_in, memory, peep_release))
    return release * torch.tanh(memory), memory


CELLS = {
    "lstm": Cell(_lstm_step, *CELL_WIDTHS["lstm"]),
    "coupled": Cell(_coupled_step, *CELL_WIDTHS["coupled"]),
}


def for_steps(recurrent: Tensor) -> Tensor:
    """Recurrent weights for many calls of `step`."""
    return for_kernels(recurrent) if on_triton(recurrent) else recurrent


class _Recurrence(torch.autograd.Function):
    """The outputs of a run with a backward pass of our own: the gradient of the weights is one product over all steps
    instead of one for each. *Shape:* (M, T, B, H)
    """

    @staticmethod
    def forward(ctx: Any, forward: Forward, backward: Backward, *tensors: Any) -> Tensor:
        results = forward(*tensors)
        ctx.gate_gradient = backward
        ctx.save_for_backward(tensors[2], *results)
        return results[0][:, 1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        keep, *results = ctx.saved_tensors
        (outputs, memories, *_), d_gates = results, ctx.gate_gradient(gradients[0], keep, results)
        hidden, width = outputs.shape[-1], d_gates.shape[-1]
        # The sums of h'ᵀ · d_gates over all steps and items, then those of the peepholes. *Shape:* (M, H, 4H or 5H)
        whole = outputs.new_empty(len(outputs), hidden, width if width == 4 * hidden else 5 * hidden)

        def add(states: Tensor, kept: Tensor | None, gates: slice, column: int) -> None:
            states = states if kept is None else states * kept.unsqueeze(-1)
            slopes = d_gates[..., gates].flatten(1, 2)
            torch.bmm(states.flatten(1, 2).transpose(1, 2), slopes, out=whole[..., column : column + slopes.shape[-1]])

        add(outputs[:, :-1], keep, slice(None), 0)
        if width != 4 * hidden:
            add(memories[:, :-1], keep, slice(hidden), 3 * hidden)
            add(memories[:, 1:], None, slice(hidden, 2 * hidden), 4 * hidden)
        return None, None, d_gates, whole, None


recurrence: Callable[[Forward, Backward, Tensor, Tensor, Tensor | None], Tensor] = _Recurrence.apply


def feature_vector(parameters: Parameters, lemmas: Lemmas, settings: RecurrentSettings) -> Tensor:
    """f: an n-hot vector, or one embedding per feature, row 0 for absent ones. *Shape:* (M, B, P or P·F)"""
    features = lemmas.features
    if settings.features != "embedded":
        return features.clamp(min=0)
    present, ours = features > 0, features >= 0
    numbers = torch.arange(1, present.shape[-1] + 1, device=present.device)
    # Features of other models' languages have a zero vector: their weights must not learn from it.
    return (rows(parameters["features.embedding"], present * numbers) * ours.unsqueeze(-1)).flatten(2)


def projected(parameters: Parameters, name: str, embedding: Tensor) -> Tensor:
    """W·E(symbol) + b of an LSTM, once per symbol instead of once per step. *Shape:* (M, V, E) → (M, V, G)"""
    return linear(embedding, parameters[f"{name}.input"], parameters[f"{name}.bias"])


def read(
    parameters: Parameters,
    name: str,
    embedding: Tensor,
    numbers: Tensor,
    settings: RecurrentSettings,
    steps: Tensor,
    keep: Tensor | None = None,
) -> Tensor:
    """Run one LSTM over symbols. *Shape:* numbers (M, L, B), steps of each model (M) → (M, L, B, H)"""
    gates = rows(projected(parameters, name, embedding), numbers)
    keep = None if keep is None else keep.to(gates.dtype)
    return CELLS[settings.cell].run(gates, parameters[f"{name}.recurrent"], keep, steps)


def encode(parameters: Parameters, lemmas: Lemmas, settings: RecurrentSettings, states: Tensor | None = None) -> Tensor:
    """h_1 … h_n: a bidirectional LSTM over the lemma, or over the states of another. *Shape:* (M, N, B, 2H)"""
    steps, run = lemmas.lengths.amax(dim=1), CELLS[settings.cell].run
    positions = torch.arange(lemmas.symbols.shape[1], device=lemmas.symbols.device).view(1, -1, 1)
    from_the_end = (lemmas.lengths.unsqueeze(1) - 1 - positions).clamp_(min=0)
    if states is None:
        forwards, backwards = (
            read(parameters, name, parameters["embedding"], numbers, settings, steps)
            for name, numbers in (("forward", lemmas.symbols), ("backward", lemmas.reversed))
        )
    else:
        forwards, backwards = (
            run(projected(parameters, name, inputs), parameters[f"{name}.recurrent"], None, steps)
            for name, inputs in (("deeper.forward", states), ("deeper.backward", pick(states, from_the_end)))
        )
    return torch.cat([forwards, pick(backwards, from_the_end)], dim=-1)


def dropping(states: Tensor, name: str, purpose: int, settings: RecurrentSettings, dropout: Dropout | None) -> Tensor:
    """States after dropout, if the settings ask for it in the part of this name. *Shape:* (M, L, B, D)"""
    if dropout is None or name not in settings.dropout_on:
        return states
    return dropped(states, dropout, purpose, variational=settings.dropout_kind == "variational")
