"""Decoder states of any system."""

from collections.abc import Container
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from reinflect.layers.batches import Lemmas

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class Focus(NamedTuple):
    """What a decoder attends to in a state, to explain its predictions."""

    position: Tensor
    """The attended symbol of the source, or one past the last. *Shape:* (M, B)"""
    gate: Tensor | None = None
    """The share of the probability that is generated; the rest is copied. *Shape:* (M, B)"""
    attention: Tensor | None = None
    """The weight of each symbol, in soft attention. *Shape:* (M, B, N)"""


@dataclass(frozen=True, kw_only=True)
class LemmaState:
    """The state of a decoder that reads a lemma; every tensor has the items in its second dimension.

    *Shapes:* symbols and literals (M, B, N), lengths and position (M, B)
    """

    symbols: Tensor
    literals: Tensor
    lengths: Tensor
    position: Tensor
    """The attended symbol, from 0."""

    @staticmethod
    def first(lemmas: Lemmas) -> dict[str, Tensor]:
        """These fields before the first step."""
        return {
            "symbols": lemmas.symbols.transpose(1, 2),
            "literals": (lemmas.symbols if lemmas.literals is None else lemmas.literals).transpose(1, 2),
            "lengths": lemmas.lengths,
            "position": torch.zeros_like(lemmas.lengths),
        }


def select(state: S, items: Tensor, but: Container[str] = ()) -> S:
    """A state with these items, which may repeat; fields named in `but` stay as they are. *Shape:* items (M, B')"""
    own = {field.name: getattr(state, field.name) for field in fields(state)}
    return type(state)(**{name: value if name in but else _selected(value, items) for name, value in own.items()})


def _selected(value: Any, items: Tensor) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(_selected(own, items) for own in value)
    if isinstance(value, Tensor):
        index = items.view(*items.shape, *[1] * (value.dim() - 2)).expand(*items.shape, *value.shape[2:])
        return value.gather(1, index)
    return select(value, items)
