"""Handling decoder states, whichever system they are of."""

from collections.abc import Container
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class Focus(NamedTuple):
    """What a decoder goes by in a state, besides what it remembers: for those who want to see it at work."""

    position: Tensor
    """The symbol it attends to, of all that its encoder has read, or one past the last. *Shape:* (M, B)"""
    gate: Tensor | None = None
    """How much of the probabilities is generated, where the rest is copied. *Shape:* (M, B)"""
    attention: Tensor | None = None
    """How much it attends to each symbol, where it attends to all of them. *Shape:* (M, B, N)"""


def select(state: S, items: Tensor, but: Container[str] = ()) -> S:
    """A state with only these items, in this order; an item may come several times. *Shape:* items (M, B')

    The fields named in `but` stay as they are.
    """
    own = {field.name: getattr(state, field.name) for field in fields(state)}
    return type(state)(**{name: value if name in but else _selected(value, items) for name, value in own.items()})


def _selected(value: Any, items: Tensor) -> Any:
    if value is None:
        return None
    if isinstance(value, Tensor):
        index = items.view(*items.shape, *[1] * (value.dim() - 2)).expand(*items.shape, *value.shape[2:])
        return value.gather(1, index)
    return select(value, items)
