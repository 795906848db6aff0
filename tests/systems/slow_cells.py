"""What both slow systems are made of: LSTM cells, one symbol at a time, for one model and one item."""

from collections.abc import Mapping

import torch
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.systems.symbols import Inventory, RecurrentSettings

Weights = Mapping[str, Tensor]


class Reader:
    """An LSTM that is pushed one vector after the other, and can be emptied."""

    def __init__(self, kind: str, inputs: Tensor, recurrent: Tensor, bias: Tensor) -> None:
        self.kind, self.inputs, self.recurrent, self.bias = kind, inputs, recurrent, bias
        self.hidden = recurrent.shape[0]
        self.empty()

    @classmethod
    def named(cls, name: str, weights: Weights, settings: RecurrentSettings, *parts: str) -> "Reader":
        inputs = torch.cat([weights[f"{name}.{part}"] for part in parts or ["input"]])
        return cls(settings.cell, inputs, weights[f"{name}.recurrent"], weights[f"{name}.bias"])

    def empty(self) -> None:
        self.h = self.c = torch.zeros(self.hidden, dtype=self.bias.dtype)
        self.count = 0

    def push(self, x: Tensor) -> Tensor:
        step = _lstm if self.kind == "lstm" else _coupled
        self.h, self.c = step(x, self.h, self.c, self.inputs, self.recurrent, self.bias)
        self.count += 1
        return self.h

    def shown(self, when_empty: Tensor) -> Tensor:
        return self.h if self.count else when_empty


def _lstm(x: Tensor, h: Tensor, c: Tensor, w: Tensor, u: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    i, f, o, g = (x @ w + h @ u + b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _coupled(x: Tensor, h: Tensor, c: Tensor, w: Tensor, u: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """i = σ(Wx + Uh' + Pc' + b), c = (1 - i) c' + i tanh(Wx + Uh' + b), o = σ(Wx + Uh' + Pc + b), h = o tanh c."""
    w_i, w_o, w_c = w.chunk(3, dim=1)
    b_i, b_o, b_c = b.chunk(3)
    u_i, u_o, u_c, p_i, p_o = u.chunk(5, dim=1)
    i = torch.sigmoid(x @ w_i + h @ u_i + c @ p_i + b_i)
    c = (1 - i) * c + i * torch.tanh(x @ w_c + h @ u_c + b_c)
    o = torch.sigmoid(x @ w_o + h @ u_o + c @ p_o + b_o)
    return o * torch.tanh(c), c


def encoded(symbols: list[Tensor], weights: Weights, settings: RecurrentSettings, layer: str = "") -> list[Tensor]:
    """h_1 … h_n of a bidirectional LSTM."""
    forward, backward = (Reader.named(layer + name, weights, settings) for name in ("forward", "backward"))
    left = [forward.push(x) for x in symbols]
    right = [backward.push(x) for x in reversed(symbols)]
    return [torch.cat(both) for both in zip(left, reversed(right), strict=True)]


def features(bundle: Bundle, inventory: Inventory, weights: Weights, settings: RecurrentSettings) -> Tensor:
    """The vector f of a bundle; what training never saw in it is nothing."""
    some = weights["forward.bias"]
    if settings.features == "embedded":
        table = weights["features.embedding"]
        rows = [table[k + 1] if atom in bundle.atoms else table[0] for k, atom in enumerate(inventory.atoms)]
        return torch.cat([some[:0], *rows])
    counts = [bundle.atoms.count(atom) for atom in inventory.atoms]
    numbers = counts if settings.features == "counts" else [min(count, 1) for count in counts]
    return torch.tensor(numbers, dtype=some.dtype) * settings.feature_scale
