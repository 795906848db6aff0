"""The parameters of a fleet: one flat row for each model, and named views into it."""

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from reinflect.settings import key
from reinflect.systems.symbols import Shape, Sizes, room, row_length


class Parameters:
    """Named tensors of shape (M, …) that are views into `flat` of shape (M, numbers per model)."""

    def __init__(self, shapes: Mapping[str, Shape], sizes: Sizes, flat: Tensor) -> None:
        self.shapes, self.sizes, self.flat = dict(shapes), dict(sizes), flat
        self.gradients: list[Tensor] = []
        """Of the latest loss, one for each of `views`."""
        self.views = self.split(flat)
        self._flat_gradient: Tensor | None = None

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
        """Initial parameters for one model per seed, the same in every fleet: they depend on its seed and sizes only.

        The padding, which is never read, is zero.
        """
        padded = padded or _largest(sizes)
        flat = torch.zeros(len(seeds), row_length(shapes, padded), dtype=dtype, device=device)
        parameters = cls(shapes, padded, flat)
        for name, shape in shapes.items():
            draw = cache(partial(_draw, shape))  # models of one seed, of several languages
            for model, (model_sizes, seed) in enumerate(zip(sizes, seeds, strict=True)):
                parameters.put(model, {name: draw(shape.resolved(model_sizes), key(seed, "initial", name))})
        return parameters

    @classmethod
    def join(
        cls,
        shapes: Mapping[str, Shape],
        sizes: Sequence[Sizes],
        models: Sequence[Mapping[str, Tensor]],
        device: torch.device | str = "cpu",
    ) -> "Parameters":
        """Models as `one` gives them, stacked again."""
        padded, first = _largest(sizes), next(iter(models[0].values()))
        parameters = cls(shapes, padded, first.new_zeros(len(models), row_length(shapes, padded)))
        for number, tensors in enumerate(models):
            parameters.put(number, tensors)
        return cls(shapes, padded, parameters.flat.to(device))

    def __getitem__(self, name: str) -> Tensor:
        return self.views[name]

    def __len__(self) -> int:
        return self.flat.shape[0]

    def split(self, flat: Tensor) -> dict[str, Tensor]:
        """The views into numbers that are laid out as the parameters are. *Shape:* as `flat`"""
        views, start = {}, 0
        for name, shape in self.shapes.items():
            resolved = shape.resolved(self.sizes)
            views[name] = flat[:, start : start + math.prod(resolved)].view(len(flat), *resolved)
            start += room(resolved)
        return views

    def watch(self) -> None:
        """Record operations from now on, for `derive`."""
        for view in self.views.values():
            view.requires_grad_()

    def derive(self, loss: Tensor) -> None:
        """Set `gradients` to those of a loss, after `watch`."""
        self.gradients = list(torch.autograd.grad(loss, list(self.views.values())))

    def flat_gradient(self) -> Tensor:
        """*Shape:* as `flat`"""
        if self._flat_gradient is None:
            self._flat_gradient = torch.zeros_like(self.flat)
            self._flat_parts = list(self.split(self._flat_gradient).values())
        torch._foreach_copy_(self._flat_parts, self.gradients)
        return self._flat_gradient

    def one(self, number: int, sizes: Sizes) -> dict[str, Tensor]:
        """One model's own parameters without padding, as they are stored. *Shapes:* without M"""
        return {
            name: view[number][tuple(slice(size) for size in self.shapes[name].resolved(sizes))].detach().clone()
            for name, view in self.views.items()
        }

    def put(self, number: int, tensors: Mapping[str, Tensor]) -> None:
        """Store parameters of one model, as `one` gives them."""
        for name, tensor in tensors.items():
            self.views[name][number][tuple(slice(size) for size in tensor.shape)] = tensor.to(self.flat)


Names = Mapping[str, Sequence[Hashable]]
"""What the rows of each named size stand for."""


def copy_rows(
    shapes: Mapping[str, Shape],
    target: dict[str, Tensor],
    names: Names,
    source: Mapping[str, Tensor],
    source_names: Names,
) -> int:
    """Copy a model's numbers (without padding) into another's rows of the same names, where all other sizes agree.

    Returns the count of copied numbers.
    """
    copied = 0
    for name, shape in shapes.items():
        if name not in source or source[name].dim() != len(shape.sizes):
            continue
        pairs_of_rows = []
        for size, source_size in zip(shape.sizes, source[name].shape, strict=True):
            if isinstance(size, str):
                numbers = {row: number for number, row in enumerate(source_names[size])}
                rows = enumerate(names[size])
                pairs_of_rows.append([(number, numbers[row]) for number, row in rows if row in numbers])
            else:
                pairs_of_rows.append([(number, number) for number in range(size)] if size == source_size else [])
        if all(pairs_of_rows):
            here, there = (np.ix_(*([pair[side] for pair in pairs] for pairs in pairs_of_rows)) for side in (0, 1))
            target[name][here] = source[name][there].to(target[name])
            copied += target[name][here].numel()
    return copied


def _largest(sizes: Sequence[Sizes]) -> dict[str, int]:
    return {name: max(model[name] for model in sizes) for name in sizes[0]}


def _draw(shape: Shape, sizes: tuple[int, ...], seed: int) -> Tensor:
    if shape.start in ("zero", "forget"):
        bias = torch.zeros(sizes, dtype=torch.float64)
        quarter = sizes[-1] // 4
        bias[..., quarter : 2 * quarter] = shape.forget
        return bias
    fans = sizes[-1] if shape.start == "embedding" else sum(sizes[-2:])
    limit = math.sqrt(6.0 / fans)
    return torch.from_numpy(np.random.Generator(np.random.PCG64(seed)).uniform(-limit, limit, sizes))
