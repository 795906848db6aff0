"""The GPU kernels on the CPU, in Triton's interpreter: the same numbers as the plain loops."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are defined, so before anything imports them

import pytest
import torch
from torch import Tensor

from reinflect.layers.cells import CELLS, recurrence
from reinflect.layers.operations import for_kernels, products
from reinflect.layers.parameters import Parameters
from reinflect.learn.optimiser import Optimiser
from reinflect.settings import Settings
from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE
from reinflect.systems.imitation.roll_in import Expert
from reinflect.systems.symbols import Shape, row_length
from tests.systems.test_lstm import assert_same, results

pytest.importorskip("triton")

from reinflect.layers import triton_cells, triton_loops
from reinflect.systems.imitation import triton_expert

SHAPES = [
    # models, steps, items, hidden
    (3, 5, 2, 20),
    (2, 1, 1, 7),
    (2, 3, 20, 36),  # more items than one block of rows holds
    (1, 4, 3, 40),  # more units than one slice of the inner loop holds
]


def inputs(cell: str, models: int, steps: int, items: int, hidden: int) -> tuple[Tensor, Tensor]:
    """Gates and recurrent weights; these are, as in a fleet, a view into each model's row of parameters."""
    torch.manual_seed(models + steps)
    gates = torch.randn(models, steps, items, CELLS[cell].gates * hidden)
    flat = torch.randn(models, CELLS[cell].recurrent * hidden * hidden + 11) * 0.3
    return gates, flat[:, 5:-6].view(models, hidden, CELLS[cell].recurrent * hidden)


def on_triton(*steps: int) -> Callable[..., Tensor]:
    """A run of so many steps of each model."""
    return partial(recurrence, partial(triton_cells.forward, steps=torch.tensor(steps)), triton_cells.backward)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_and_its_gradients_equal_the_cpu_s(shape: tuple[int, int, int, int], resets: bool, cell: str) -> None:
    models, steps, items, hidden = shape
    gates, recurrent = inputs(cell, *shape)
    keep = (torch.rand(models, steps, items) > 0.3).float() if resets else None
    gradient = torch.randn(models, steps, items, hidden)
    here = results(on_triton(*[steps] * models), gates, recurrent, keep, gradient)
    assert_same(here, results(CELLS[cell].run, gates, recurrent, keep, gradient), 1e-5)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("cell", CELLS)
def test_in_reduced_precision_products_are_those_of_half_precision(cell: str, size: float) -> None:
    """Gradients of any size that training meets keep the ten bits of half precision."""
    gates, recurrent = inputs(cell, 2, 4, 3, 20)
    gradient = torch.randn(2, 4, 3, 20) * size
    with products("tf32"):
        here = results(on_triton(4, 4), gates, recurrent, None, gradient)
    exact = results(CELLS[cell].run, gates, recurrent, None, gradient)
    distances = [float((one - other).norm() / other.norm()) for one, other in zip(here, exact, strict=True)]
    assert distances[0] < 1e-3
    assert distances[0] > 1e-6, "the products are exact"
    if size < 1e6:
        assert max(distances) < 2e-3
    else:
        assert all(torch.isfinite(one).all() for one in here), "what is too large is cut"


@pytest.mark.parametrize("cell", CELLS)
def test_a_model_stops_at_its_own_last_step(cell: str) -> None:
    gates, recurrent = inputs(cell, 2, 6, 2, 8)
    gradient = torch.randn(2, 6, 2, 8)
    gradient[1, 2:] = 0.0  # what comes after is read by nobody
    ours = results(on_triton(6, 2), gates, recurrent, None, gradient)
    whole = results(CELLS[cell].run, gates, recurrent, None, gradient)
    whole[0][1, 2:] = 0.0
    assert_same(ours, whole, 1e-5)
    assert (ours[0][1, 2:] == 0).all()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_single_step_equals_the_cpu_s(shape: tuple[int, int, int, int], cell: str) -> None:
    models, _, items, hidden = shape
    gates, recurrent = inputs(cell, models, 1, items, hidden)
    gates = gates[:, 0]
    state = torch.randn(models, items, hidden), torch.randn(models, hidden, items).transpose(1, 2)
    before = [part.clone() for part in state]
    found = triton_cells.step(gates, recurrent, state)
    assert_same(found, CELLS[cell].torch_step(gates, recurrent, state), 1e-5)
    assert all(torch.equal(one, other) for one, other in zip(state, before, strict=True))
    with products("tf32"):
        rounded = triton_cells.step(gates, for_kernels(recurrent), state)
    assert all(float((one - other).norm() / other.norm()) < 1e-2 for one, other in zip(rounded, found, strict=True))


WARM: dict[str, Any] = {"warmup": 2, "schedule": "inverse-sqrt"}
FALLING: dict[str, Any] = {"warmup": 1, "schedule": "cosine", "decay": 5}


@pytest.mark.parametrize(("one", "two"), [({}, {}), (WARM, FALLING)], ids=["constant", "scheduled"])
@pytest.mark.parametrize("kind", ["adadelta", "adam"])
def test_optimisers_equal_the_plain_ones_and_leave_inactive_models_alone(kind: Any, one: Any, two: Any) -> None:
    torch.manual_seed(2)
    other = Settings(optimiser=kind, step=0.3, rho=0.8, epsilon=1e-4, clip=2.0, **two)
    settings = [Settings(optimiser=kind, **one), Settings(optimiser=kind), other]
    shapes = {"large": Shape((triton_loops.BLOCK + 17,)), "none": Shape((0, 4)), "small": Shape((3, 5))}
    flat = torch.randn(3, row_length(shapes, {}), dtype=torch.float64)
    parameters = Parameters(shapes, {}, flat.float())
    plain, fast = Optimiser(settings, flat), Optimiser(settings, parameters.flat)
    before = parameters.flat[1].clone()
    active = torch.tensor([1.0, 0.0, 1.0])
    for _ in range(3):
        slopes = Parameters(shapes, {}, torch.zeros_like(flat))
        for view in slopes.views.values():
            view.copy_(torch.randn(view.shape))
        parameters.gradients = [view.float() for view in slopes.views.values()]
        norms = triton_loops.squares(parameters.gradients).sqrt()
        torch.testing.assert_close(norms.double(), slopes.flat.norm(dim=1), rtol=1e-5, atol=0)
        fast.step_in_parts(parameters, active)
        plain.update(flat, slopes.flat, active.double())
    torch.testing.assert_close(parameters.flat.double(), flat, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(fast.first.double(), plain.first, rtol=1e-4, atol=1e-9)
    torch.testing.assert_close(fast.second.double(), plain.second, rtol=1e-4, atol=1e-9)
    assert torch.equal(parameters.flat[1], before)


def test_the_expert_of_imitation_is_the_cpu_s() -> None:
    """Random actions from random lemmas and forms, with items that are done, and models that act by themselves."""
    torch.manual_seed(7)
    models, items, actions = 3, 5, FIRST_WRITE + 4
    lengths = torch.randint(0, 6, (models, items))
    lemma = torch.randint(FIRST_CHARACTER, FIRST_CHARACTER + 4, (models, 6, items))
    form = torch.randint(FIRST_CHARACTER, FIRST_CHARACTER + 4, (models, 7, items))
    form[torch.arange(7).view(1, -1, 1) >= torch.randint(0, 8, (models, 1, items))] = 0
    expert = Expert(lemma, lengths, form)
    costs, letters = expert.costs.int().contiguous(), expert.form.int().contiguous()
    distances, position = expert.distances.int(), torch.zeros_like(lengths)
    kinds = set()
    for _ in range(8):
        attended = lemma.gather(1, position.clamp(max=5).unsqueeze(1)).squeeze(1)
        scores = torch.log_softmax(torch.randn(models, items, actions), dim=-1)
        acts, done = (torch.rand(models, items) < share for share in (0.4, 0.2))
        given = position, attended, scores, torch.rand(models, items, actions), acts, done
        taken, right = triton_expert.act(costs, distances, letters, lengths, *given)
        expected = expert.act(*given)
        assert torch.equal(taken, expected[0])
        assert torch.equal(right, expected[1])
        kinds |= set(taken.flatten().tolist())
        written = torch.where(taken >= FIRST_WRITE, taken - (FIRST_WRITE - FIRST_CHARACTER), -1)
        written = torch.where((taken == COPY_NUMBER) & (position < lengths), attended, written)
        triton_expert.write(distances, letters, expert.wanted, written)
        expert.write(written)
        assert torch.equal(distances.long(), expert.distances)
        position = torch.minimum(position + ((taken == COPY_NUMBER) | (taken == DELETE_NUMBER)), lengths)
    assert kinds == set(range(actions))
