"""Operations with a backward pass of our own give the gradients that torch gives."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.layers import operations
from reinflect.layers.operations import SMALL_TABLE, _Rows, bf16_product, linear, rows
from reinflect.layers.precision import products
from tests.learn.tiny import fleet_of, pack, small, updated


@pytest.mark.parametrize("height", [1, 7, SMALL_TABLE, SMALL_TABLE + 1])
def test_rows_and_their_gradients_are_those_of_each_model_s_own_table(height: int) -> None:
    torch.manual_seed(height)
    table = torch.randn(3, height, 5, dtype=torch.float64, requires_grad=True)
    numbers = torch.randint(height, (3, 4, 6))
    gradient = torch.randn(3, 4, 6, 5, dtype=torch.float64)
    expected = torch.stack([F.embedding(own, one) for own, one in zip(numbers, table, strict=True)])
    (by_table,) = torch.autograd.grad((expected * gradient).sum(), table)
    for taken in (_Rows.apply(table, numbers), rows(table, numbers)):  # type: ignore[no-untyped-call]
        torch.testing.assert_close(taken, expected)
        (own,) = torch.autograd.grad((taken * gradient).sum(), table)
        torch.testing.assert_close(own, by_table)


def distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).detach().norm() / other.detach().norm())


@pytest.mark.parametrize("shape", [(3, 8, 16, 5), (1, 1, 300, 7), (2, 4, 0, 3), (2, 0, 4, 3)])
def test_bf16_rounds_what_is_multiplied_and_nothing_else(shape: tuple[int, int, int, int]) -> None:
    """The sums have all bits of single precision: only the sides, and the gradients that come in, are rounded."""
    models, height, inner, width = shape
    torch.manual_seed(inner)
    left, right = torch.randn(models, height, inner), torch.randn(models, inner, width)
    gradient = torch.randn(models, height, width)
    given = left.clone().requires_grad_(), right.clone().requires_grad_()
    found = bf16_product(*given)
    by_left, by_right = torch.autograd.grad(found, given, gradient)
    assert {own.dtype for own in (found, by_left, by_right)} == {torch.float32}
    a, b, g = (own.bfloat16().double() for own in (left, right, gradient))
    for own, rounded, exact in (
        (found, a @ b, left @ right),
        (by_left, g @ b.mT, gradient @ right.mT),
        (by_right, a.mT @ g, left.mT @ gradient),
    ):
        torch.testing.assert_close(own.double(), rounded, rtol=1e-5, atol=1e-5)
        if exact.numel() and exact.any():
            assert 1e-4 < distance(own, exact) < 2**-7
    (alone,) = torch.autograd.grad(bf16_product(left, given[1]), given[1], gradient)
    assert torch.equal(alone, by_right)


@pytest.mark.parametrize("biased", [False, True])
def test_linear_in_bf16_is_near_the_exact_one(biased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(4)
    inputs, weights = torch.randn(2, 3, 5, 40, requires_grad=True), torch.randn(2, 40, 6, requires_grad=True)
    bias = torch.randn(2, 6, requires_grad=True) if biased else None
    given = (inputs, weights) if bias is None else (inputs, weights, bias)
    gradient = torch.randn(2, 3, 5, 6)
    exact = linear(inputs, weights, bias)
    slopes = torch.autograd.grad(exact, given, gradient)
    with products("bf16"):
        assert torch.equal(linear(inputs, weights, bias), exact), "a CPU's products are always exact"
    monkeypatch.setattr(operations, "is_bf16", lambda _: True)
    found = linear(inputs, weights, bias)
    assert found.shape == exact.shape
    for one, other in zip((found, *torch.autograd.grad(found, given, gradient)), (exact, *slopes), strict=True):
        assert distance(one, other) < 2**-7
    assert not torch.equal(found, exact)
    if bias is not None:
        torch.testing.assert_close(torch.autograd.grad(linear(*given), bias, gradient)[0], gradient.sum(dim=(1, 2)))


@pytest.mark.parametrize("system", ["hacm", "haem", "soft"])
def test_fleets_with_products_in_bf16(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU the setting does nothing; where products are rounded, parameters are nearly those of exact ones."""
    plain = updated(fleet_of(pack(system)), 1)
    there = updated(fleet_of(pack(system, small(system, precision="bf16"))), 1)
    assert torch.equal(plain.parameters.flat, there.parameters.flat)
    monkeypatch.setattr(operations, "is_bf16", lambda given: given.dtype == torch.float32)
    rounded = updated(fleet_of(pack(system, small(system, precision="bf16"))), 1)
    assert rounded.parameters.flat.dtype == torch.float32
    assert 1e-6 < distance(rounded.parameters.flat, plain.parameters.flat) < 1e-2
