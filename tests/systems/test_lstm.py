"""The compiled cells, torch's and a plain loop under autograd are the same cells."""

import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from reinflect.layers import numba_cells
from reinflect.layers.cells import CELLS, FEW_ITEMS, MANY_ITEMS
from tests.systems.slow_cells import Reader

SIZES = [(1, 1, 1, 1), (2, 3, 1, 4), (1, 7, 3, 5), (3, 4, 2, 6), (2, 2, 5, 7), (1, 12, 4, 16), (5, 1, 3, 3)]
"""Models, steps, items, hidden."""
Size = tuple[int, int, int, int]
lstm = CELLS["lstm"].run


Inputs = tuple[Tensor, Tensor, Tensor | None, Tensor]


def a_run(size: Size, resets: bool, kind: str = "lstm", large: float = 2.0) -> Inputs:
    """Gates, recurrent weights, resets and the gradient of the outputs, in double precision."""
    models, steps, items, hidden = size
    chance, cell = torch.Generator().manual_seed(sum(size) + resets), CELLS[kind]

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=chance, dtype=torch.float64)

    keep = (torch.rand(models, steps, items, generator=chance) > 0.4).double() if resets else None
    return (
        large * normal(models, steps, items, cell.gates * hidden),
        normal(models, hidden, cell.recurrent * hidden),
        keep,
        normal(models, steps, items, hidden),
    )


def single(run: Inputs) -> Any:
    return tuple(None if tensor is None else tensor.float() for tensor in run)


def results(
    run: Callable[..., Tensor], gates: Tensor, recurrent: Tensor, keep: Tensor | None, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs and both gradients."""
    gates, recurrent = gates.detach().requires_grad_(), recurrent.detach().requires_grad_()
    outputs = run(gates, recurrent, keep)
    of_gates, of_weights = torch.autograd.grad(outputs, [gates, recurrent], gradient)
    return outputs.detach(), of_gates, of_weights


def one_by_one(kind: str) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
    """Each item of each model on its own, symbol by symbol."""

    def run(gates: Tensor, recurrent: Tensor, keep: Tensor | None) -> Tensor:
        models, steps, items, width = gates.shape
        nothing = torch.zeros(width, dtype=gates.dtype)
        outputs = []
        for m, b in product(range(models), range(items)):
            reader = Reader(kind, torch.eye(width, dtype=gates.dtype), recurrent[m], nothing)
            for t in range(steps):
                if keep is not None and keep[m, t, b] == 0:
                    reader.empty()
                outputs.append(reader.push(gates[m, t, b]))
        return torch.stack(outputs).view(models, items, steps, -1).transpose(1, 2)

    return run


def assert_same(left: tuple[Tensor, ...], right: tuple[Tensor, ...], close: float) -> None:
    for one, other in zip(left, right, strict=True):
        torch.testing.assert_close(one.double(), other.double(), rtol=close, atol=close)


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", CELLS)
def test_runs_and_gradients_are_those_of_each_item_on_its_own(kind: str, size: Size, resets: bool) -> None:
    run, cell = a_run(size, resets, kind), CELLS[kind]
    slow = results(one_by_one(kind), *run)
    assert_same(results(cell.run, *run), slow, 1e-10)
    fast = results(cell.run, *single(run))
    assert fast[0].dtype == torch.float32
    assert_same(fast, slow, 2e-5)
    assert_same(fast, results(cell.torch_run, *single(run)), 2e-5)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("items", [FEW_ITEMS + 1, MANY_ITEMS])
def test_decoders_step_and_run_without_gradients_to_the_same_states(kind: str, items: int) -> None:
    """Compiled for the CPU, in single precision, against torch's steps in double precision."""
    cell = CELLS[kind]
    gates, recurrent, _, _ = a_run((2, 6, items, 5), False, kind)
    exact = (torch.zeros(2, items, 5, dtype=torch.float64),) * 2
    fast = (torch.zeros(2, items, 5),) * 2
    with torch.no_grad():
        run = cell.run(gates.float(), recurrent.float())
        for t in range(6):
            exact = cell.torch_step(gates[:, t], recurrent, exact)
            fast = cell.step(gates[:, t].float(), recurrent.float(), fast)
            assert_same((run[:, t], *fast), (exact[0], *exact), 1e-6)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("items", [1, FEW_ITEMS, FEW_ITEMS + 1])
def test_a_few_words_need_no_compiled_loops(kind: str, items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = CELLS[kind]
    gates, recurrent, keep, _ = a_run((2, 6, items, 5), True, kind)
    assert keep is not None
    arguments = (gates.float(), recurrent.float(), keep.float(), None)
    loaded = cell.run(*arguments)
    if items <= FEW_ITEMS:
        monkeypatch.setitem(sys.modules, "reinflect.layers.numba_cells", None)
        monkeypatch.delattr("reinflect.layers.numba_cells")
    with torch.no_grad():
        assert_same((cell.run(*arguments),), (loaded,), 2e-5)


def test_inputs_may_be_views_into_something_else_and_are_left_alone() -> None:
    inputs = single(a_run((2, 5, 3, 6), True))
    before = [tensor.clone() for tensor in inputs]
    expected = results(lstm, *inputs)
    assert all(torch.equal(now, then) for now, then in zip(inputs, before, strict=True))

    def strewn(tensor: Tensor) -> Tensor:
        wide = torch.full((*tensor.shape[:-1], 2 * tensor.shape[-1]), float("nan"))
        wide[..., ::2] = tensor
        view = wide.transpose(0, 1).contiguous().transpose(0, 1)[..., ::2]
        assert not view.is_contiguous()
        return view

    assert_same(results(lstm, *map(strewn, inputs)), expected, 1e-6)


def test_a_model_has_the_same_bits_alone_and_among_others() -> None:
    gates, recurrent, _, gradient = single(a_run((4, 6, 3, 9), False))
    together = results(lstm, gates, recurrent, None, gradient)
    alone = results(lstm, gates[2:3], recurrent[2:3], None, gradient[2:3])
    assert torch.equal(together[0][2:3], alone[0])
    assert torch.equal(together[1][2:3], alone[1])


def test_large_gates_do_no_harm() -> None:
    run = a_run((1, 6, 2, 5), False, large=60.0)
    fast = results(lstm, *single(run))
    assert all(torch.isfinite(tensor).all() for tensor in fast)
    assert_same(fast, results(one_by_one("lstm"), *run), 2e-5)


def test_tanh_is_good_to_single_precision() -> None:
    x = np.concatenate([np.linspace(-12, 12, 200_001), np.geomspace(1e-20, 1, 1001), [0.0, -0.0, 1e30, -1e30]])
    values = x.astype(np.float32)
    exact = np.tanh(values.astype(np.float64))
    numba_cells._tanh(values)
    assert np.abs(values - exact).max() < 3e-7
    assert np.abs(values).max() <= 1.0
    small = (np.abs(exact) < 0.5) & (exact != 0)
    assert (np.abs(values - exact)[small] / np.abs(exact[small])).max() < 1e-6


def test_a_model_that_has_gone_astray_is_seen_and_stays_alone() -> None:
    gates, recurrent, keep, gradient = single(a_run((3, 5, 4, 6), True))
    sound = results(lstm, gates, recurrent, keep, gradient)
    gates[1] = torch.nan
    found = results(lstm, gates, recurrent, keep, gradient)
    for now, then in zip(found, sound, strict=True):
        assert torch.equal(now[[0, 2]], then[[0, 2]])
        assert not torch.isfinite(now[1]).any()
