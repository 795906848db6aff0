"""The recurrent cells, and the backend that runs each of them.

"lstm" is the standard cell; its gates are input, forget, output and candidate. "coupled" is the cell of the 2017 code
(DyNet 1.1), with coupled input and forget gates and with peepholes; its gates are input, output and candidate:

i = σ(x_i + U_i h' + P_i c'), c = (1 - i) c' + i tanh(x_c + U_c h'), o = σ(x_o + U_o h' + P_o c), h = o tanh c.

Its recurrent weights are U_i, U_o, U_c, P_i, P_o side by side.
"""

from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

import torch
from torch import Tensor

from reinflect.layers import torch_backend
from reinflect.layers.precision import for_kernels
from reinflect.layers.recurrence import recurrence
from reinflect.systems.symbols import CELL_WIDTHS

FEW_ITEMS, MANY_ITEMS = 4, 32


@dataclass(frozen=True)
class Cell:
    """A recurrent cell. The widths of its gates and of its recurrent weights are in units of H."""

    torch_step: torch_backend.Step
    gates: int
    recurrent: int

    def step(self, gates: Tensor, recurrent: Tensor, state: torch_backend.State) -> torch_backend.State:
        """The output and the memory after one more step, without gradients, by weights that `for_steps` gave.

        *Shape:* gates (M, B, gates · H), recurrent (M, H, recurrent · H), state two of (M, B, H)
        """
        if gates.device.type == "cpu" and gates.dtype == torch.float32 and gates.shape[1] > FEW_ITEMS:
            from reinflect.layers import numba_cells

            return numba_cells.step(gates, recurrent, state)
        if _on_triton(gates):
            from reinflect.layers import triton_cells

            return triton_cells.step(gates, recurrent, state)
        return self.torch_step(gates, recurrent, state)

    def run(self, gates: Tensor, recurrent: Tensor, keep: Tensor | None = None, steps: Tensor | None = None) -> Tensor:
        """The outputs of whole sequences. `gates` are the input projections of all steps, made beforehand.

        `keep` is 0 where the state is emptied before the step, else 1. `steps` is the number of steps of each model
        that matter; the outputs of later steps are undefined.

        *Shape:* gates (M, T, B, gates · H), recurrent (M, H, recurrent · H), keep (M, T, B), steps (M) → (M, T, B, H)
        """
        device = gates.device.type if gates.dtype == torch.float32 else None
        # A few words to inflect take less time than loading the compiled loops. Only the number of items counts, so
        # that the predictions for a model's items do not depend on other models.
        if device == "cpu" and (gates.shape[2] > FEW_ITEMS or torch.is_grad_enabled()):
            from reinflect.layers import numba_cells

            if keep is None and gates.shape[2] >= MANY_ITEMS and not torch.is_grad_enabled():
                return numba_cells.run(gates, recurrent)
            return recurrence(numba_cells.forward, numba_cells.backward, gates, recurrent, keep)
        if _on_triton(gates):
            from reinflect.layers import triton_cells

            forward = partial(triton_cells.forward, steps=steps)
            return recurrence(forward, triton_cells.backward, gates, recurrent, keep)
        return torch_backend.run(self.torch_step, gates, recurrent, keep)


CELLS = {
    "lstm": Cell(torch_backend.lstm_step, *CELL_WIDTHS["lstm"]),
    "coupled": Cell(torch_backend.coupled_step, *CELL_WIDTHS["coupled"]),
}


def for_steps(recurrent: Tensor) -> Tensor:
    """Recurrent weights for many calls of `step`."""
    return for_kernels(recurrent) if _on_triton(recurrent) else recurrent


def _on_triton(given: Tensor) -> bool:
    return given.device.type == "cuda" and given.dtype != torch.float64 and triton_is_here()


@cache
def triton_is_here() -> bool:
    return find_spec("triton") is not None
