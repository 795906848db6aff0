"""The kinds of LSTM cell."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from reinflect.systems.kernels.coupled import coupled, coupled_step
from reinflect.systems.kernels.lstm import lstm, lstm_step


@dataclass(frozen=True)
class Cell:
    """A cell's run over whole sequences, its single step, and how wide its weights are, in units of H."""

    run: Callable[[Tensor, Tensor, Tensor | None, Tensor | None], Tensor]
    step: Callable[[Tensor, Tensor, tuple[Tensor, Tensor]], tuple[Tensor, Tensor]]
    gates: int
    recurrent: int


CELLS = {
    "lstm": Cell(lstm, lstm_step, gates=4, recurrent=4),
    "coupled": Cell(coupled, coupled_step, gates=3, recurrent=5),
}
