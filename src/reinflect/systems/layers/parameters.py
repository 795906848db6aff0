"""The parameters of a fleet: one flat row of numbers per model, and named views into it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reinflect.systems.layers.randomness import key


@dataclass(frozen=True, slots=True)
class Shape:
    """One parameter of one model: how large it is and how it starts.

    `sizes` may name dimensions that differ between the models of a fleet (`"symbols"`); a fleet pads them.
    """

    sizes: tuple[int | str, ...]
    start: str = "glorot"
    """glorot: uniform by fan-in and fan-out; embedding: uniform ±√(6/dimension); zero; forget: zero but for an LSTM's
    forget gate, which starts at `forget`."""
    forget: float = 0.0


Sizes = Mapping[str, int]
"""How large the named dimensions are."""

ALIGNED = 32
"""Every parameter, and every model's row, starts at a multiple of so many numbers: a GPU reads memory in such pieces,
and a pass over rows of odd length took it twice as long."""


class Parameters:
    """Named tensors of shape (M, …) that are views into `flat` of shape (M, numbers per model)."""

    def __init__(self, shapes: Mapping[str, Shape], sizes: Sizes, flat: Tensor) -> None:
        self.shapes, self.sizes, self.flat = dict(shapes), dict(sizes), flat
        self.latest_gradient = flat.new_empty(0)
        self._gradient_views: list[Tensor] = []
        self.views = _views(self.shapes, self.sizes, flat)

    @classmethod
    def initial(
        cls,
        shapes: Mapping[str, Shape],
        sizes: Sequence[Sizes],
        seeds: Sequence[int],
        *,
        padded: Sizes | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> "Parameters":
        """Fresh parameters for one model per seed.

        Each model draws from its own seed and by its own sizes, so that it starts the same in every fleet; the
        padding, which nothing reads, is zero.
        """
        padded = padded or {name: max(own[name] for own in sizes) for name in sizes[0]}
        rows = torch.zeros(len(seeds), row_length(shapes, padded), dtype=dtype, device=device)
        views = _views(shapes, padded, rows)
        for name, shape in shapes.items():
            alike: dict[tuple[tuple[int, ...], int], list[int]] = {}  # models of one seed, in however many languages
            for model, (own, seed) in enumerate(zip(sizes, seeds, strict=True)):
                alike.setdefault((_resolve(shape, own), seed), []).append(model)
            for (resolved, seed), models in alike.items():
                drawn = torch.from_numpy(_draw(shape, resolved, key(seed, "initial", name)))
                drawn, corner = drawn.to(device=device, dtype=dtype), tuple(slice(size) for size in resolved)
                for model in models:
                    views[name][model][corner] = drawn
        return cls(shapes, padded, rows)

    def __getitem__(self, name: str) -> Tensor:
        return self.views[name]

    def __len__(self) -> int:
        return self.flat.shape[0]

    def watch(self) -> None:
        """From now on, note how losses come about, so that `gradient` can tell."""
        for view in self.views.values():
            view.requires_grad_()
        self.latest_gradient = torch.zeros_like(self.flat)
        self._gradient_views = list(_views(self.shapes, self.sizes, self.latest_gradient).values())

    def gradient(self, loss: Tensor) -> Tensor:
        """The gradient of a loss by all parameters, once `watch` was called. *Shape:* as `flat`"""
        torch._foreach_copy_(self._gradient_views, torch.autograd.grad(loss, list(self.views.values())))
        return self.latest_gradient

    def one(self, model: int, sizes: Sizes) -> dict[str, Tensor]:
        """One model's own parameters without padding, as they are stored. *Shapes:* without M"""
        return {
            name: view[model][tuple(slice(size) for size in _resolve(self.shapes[name], sizes))].detach().clone()
            for name, view in self.views.items()
        }

    @classmethod
    def join(
        cls, shapes: Mapping[str, Shape], sizes: Sequence[Sizes], models: Sequence[Mapping[str, Tensor]]
    ) -> "Parameters":
        """Models as `one` gave them, stacked again."""
        padded = {name: max(own[name] for own in sizes) for name in sizes[0]}
        some = next(iter(models[0].values()))
        flat = torch.zeros(len(models), row_length(shapes, padded), dtype=some.dtype, device=some.device)
        views = _views(shapes, padded, flat)
        for number, model in enumerate(models):
            for name, tensor in model.items():
                views[name][number][tuple(slice(size) for size in tensor.shape)] = tensor
        return cls(shapes, padded, flat)


def expected_shapes(shapes: Mapping[str, Shape], sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The size of every parameter of one model, for checking a file."""
    return {name: _resolve(shape, sizes) for name, shape in shapes.items()}


def _resolve(shape: Shape, sizes: Sizes) -> tuple[int, ...]:
    return tuple(sizes[size] if isinstance(size, str) else size for size in shape.sizes)


def row_length(shapes: Mapping[str, Shape], sizes: Sizes) -> int:
    """How many numbers a model of these sizes has, gaps included."""
    return sum(_room(_resolve(shape, sizes)) for shape in shapes.values())


def _room(sizes: tuple[int, ...]) -> int:
    return -(-math.prod(sizes) // ALIGNED) * ALIGNED


def _views(shapes: Mapping[str, Shape], sizes: Sizes, flat: Tensor) -> dict[str, Tensor]:
    views, start = {}, 0
    for name, shape in shapes.items():
        resolved = _resolve(shape, sizes)
        end = start + math.prod(resolved)
        views[name] = flat[:, start:end].view(flat.shape[0], *resolved)
        start += _room(resolved)
    return views


def _draw(shape: Shape, sizes: tuple[int, ...], seed: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    if shape.start == "zero":
        return np.zeros(sizes)
    if shape.start == "forget":
        bias = np.zeros(sizes)
        quarter = sizes[-1] // 4
        bias[..., quarter : 2 * quarter] = shape.forget
        return bias
    fans = sizes[-1] if shape.start == "embedding" else sum(sizes[-2:])
    limit = math.sqrt(6.0 / fans)
    return np.random.Generator(np.random.PCG64(seed)).uniform(-limit, limit, sizes)
