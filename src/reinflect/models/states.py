"""Handling decoder states, whichever system they are of."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


def select(state: S, items: Tensor) -> S:
    """A state with only these items, in this order; an item may come several times. *Shape:* items (M, B')"""
    return type(state)(**{field.name: _selected(getattr(state, field.name), items) for field in fields(state)})


def _selected(value: Any, items: Tensor) -> Any:
    if value is None:
        return None
    if isinstance(value, Tensor):
        index = items.view(*items.shape, *[1] * (value.dim() - 2)).expand(*items.shape, *value.shape[2:])
        return value.gather(1, index)
    return select(value, items)
