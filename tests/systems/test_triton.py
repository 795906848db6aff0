"""The GPU kernels on the CPU, in Triton's interpreter: the same numbers as the plain loops."""

import os
from functools import partial

os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are defined, so before anything imports them

import pytest
import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.kernels.recurrence import recurrence
from reinflect.systems.layers.precision import products
from reinflect.training.optimisers import Optimiser

pytest.importorskip("triton")

from reinflect.systems.kernels import triton_backend
from reinflect.training import triton_optimiser

SHAPES = [
    # models, steps, items, hidden
    (3, 5, 2, 20),
    (2, 1, 1, 7),
    (2, 3, 20, 36),  # more items than one block of rows holds
    (1, 4, 3, 40),  # more units than one slice of the inner loop holds
]


def run(
    function: object, gates: Tensor, recurrent: Tensor, gradient: Tensor, *others: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    outputs = function(gates, recurrent, *others)  # type: ignore[operator]
    by_gates, by_recurrent = torch.autograd.grad((outputs * gradient).sum(), (gates, recurrent))
    return outputs, by_gates, by_recurrent


def on_triton(gates: Tensor, recurrent: Tensor, keep: Tensor | None, steps: Tensor) -> Tensor:
    forward = partial(triton_backend.forward, steps=steps)
    return recurrence(forward, triton_backend.backward, gates, recurrent, keep)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_and_its_gradients_equal_the_cpu_s(shape: tuple[int, int, int, int], resets: bool, cell: str) -> None:
    plain, gate_width, weight_width = CELLS[cell].run, CELLS[cell].gates, CELLS[cell].recurrent
    models, steps, items, hidden = shape
    torch.manual_seed(models + steps)
    gates = torch.randn(models, steps, items, gate_width * hidden, requires_grad=True)
    # As in a fleet, a view into each model's row of parameters.
    size = weight_width * hidden * hidden
    flat = torch.randn(models, size + 11) * 0.3
    recurrent = flat[:, 5 : 5 + size].view(models, hidden, weight_width * hidden).requires_grad_()
    keep = (torch.rand(models, steps, items) > 0.3).float() if resets else None
    gradient = torch.randn(models, steps, items, hidden)
    every = torch.full((models,), steps, dtype=torch.int64)
    here = run(on_triton, gates, recurrent, gradient, keep, every)
    there = run(plain, gates, recurrent, gradient, keep)
    for one, other in zip(here, there, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cell", CELLS)
def test_in_reduced_precision_the_weights_are_rounded_and_nothing_else_changes(cell: str) -> None:
    plain, gate_width, weight_width = CELLS[cell].run, CELLS[cell].gates, CELLS[cell].recurrent
    torch.manual_seed(5)
    gates = torch.randn(2, 4, 3, 20 * gate_width, requires_grad=True)
    recurrent = (torch.randn(2, 20, 20 * weight_width) * 0.3).requires_grad_()
    rounded = recurrent.detach().half().float().requires_grad_()
    gradient = torch.randn(2, 4, 3, 20)
    with products("tf32"):  # the interpreter's products are exact all the same
        here = run(on_triton, gates, recurrent, gradient, None, torch.tensor([4, 4]))
    for one, other in zip(here, run(plain, gates, rounded, gradient), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    exact = run(plain, gates, recurrent, gradient)
    assert (here[0] - exact[0]).abs().max() > 1e-6


@pytest.mark.parametrize("cell", CELLS)
def test_a_model_stops_at_its_own_last_step(cell: str) -> None:
    plain, gate_width, weight_width = CELLS[cell].run, CELLS[cell].gates, CELLS[cell].recurrent
    torch.manual_seed(1)
    gates = torch.randn(2, 6, 2, 8 * gate_width, requires_grad=True)
    recurrent = (torch.randn(2, 8, 8 * weight_width) * 0.3).requires_grad_()
    counts = [6, 2]
    gradient = torch.randn(2, 6, 2, 8)
    gradient[1, 2:] = 0.0  # what comes after is read by nobody
    outputs, by_gates, by_recurrent = run(on_triton, gates, recurrent, gradient, None, torch.tensor(counts))
    whole = run(plain, gates, recurrent, gradient)
    for model, count in enumerate(counts):
        torch.testing.assert_close(outputs[model, :count], whole[0][model, :count], rtol=1e-5, atol=1e-5)
    assert (outputs[1, 2:] == 0).all()
    torch.testing.assert_close(by_gates, whole[1], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(by_recurrent, whole[2], rtol=1e-5, atol=1e-5)


def test_adadelta_equals_the_plain_one_and_leaves_inactive_models_alone() -> None:
    torch.manual_seed(2)
    settings = [Settings(), Settings(), Settings(step=0.3, rho=0.8, epsilon=1e-4, clip=2.0)]
    width = triton_optimiser.BLOCK + 17
    plain = torch.randn(3, width, dtype=torch.float64)
    fast = plain.float()
    first, second = torch.zeros_like(fast), torch.zeros_like(fast)
    optimiser = Optimiser(settings, plain)
    active = torch.tensor([1.0, 0.0, 1.0])
    before = fast[1].clone()
    for _ in range(3):
        gradient = torch.randn(3, width, dtype=torch.float64)
        clip = torch.tensor([own.clip for own in settings])
        scale = clip / torch.maximum(gradient.norm(dim=1), clip).float()
        numbers = [torch.tensor([getattr(own, name) for own in settings]) for name in ("step", "rho", "epsilon")]
        triton_optimiser.adadelta(fast, gradient.float(), first, second, scale, active, *numbers)
        optimiser.update(plain, gradient, active.double())
    torch.testing.assert_close(fast.double(), plain, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(first.double(), optimiser.first, rtol=1e-4, atol=1e-9)
    assert torch.equal(fast[1], before)
