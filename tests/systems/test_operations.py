"""Operations with a backward pass of our own give the gradients that torch gives."""

import pytest
import torch
import torch.nn.functional as F

from reinflect.layers.operations import SMALL_TABLE, _Rows, rows


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
