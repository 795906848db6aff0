"""The items of each update; AdaDelta and Adam over a fleet's flat parameters, and the schedules of their steps."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.layers.operations import on_numba, on_triton
from reinflect.layers.parameters import Parameters
from reinflect.settings import Schedule, Settings, key

POOL = 8
"""Batches in a pool, whose items are sorted by length, so that batches have little padding."""


def epoch_batches(lengths: NDArray[np.int64], batch: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """A shuffle of all items in batches of similar length; -1 fills the last one. *Shape:* (I) → (updates, batch)

    The order of lengths is the same for all models of equal size at the same epoch, so that the models of a fleet have
    their long batches at the same updates.
    """
    items = _permutation(key(seed, "shuffle", epoch), len(lengths))
    updates, pool = -(-len(items) // batch), POOL * batch
    padded = np.full(-(-len(items) // pool) * pool, -1, dtype=np.int64)
    padded[: len(items)] = items
    # One more than any length, for the rows after the last item. Small types sort faster.
    beyond = int(lengths.max()) + 1
    sizes = np.append(lengths, beyond).astype(np.min_scalar_type(beyond))[padded]
    if batch > 1:
        sorting = np.argsort(sizes.reshape(-1, pool), axis=1, kind="stable")
        sorting += np.arange(0, len(padded), pool)[:, np.newaxis]
        padded, sizes = padded[sorting.ravel()], sizes[sorting.ravel()]
    sizes[padded < 0] = 0
    longest = sizes[: updates * batch].reshape(updates, batch).max(axis=1)
    by_length = np.argsort(longest, kind="stable")
    order = by_length[_permutation(key("order", epoch, updates), updates)]
    return padded[: updates * batch].reshape(updates, batch)[order]


@lru_cache(maxsize=64)
def _permutation(seed: int, size: int) -> NDArray[np.int64]:
    """A shuffle, which models of many languages share."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(size)
    order.flags.writeable = False
    return order


class Optimiser:
    """Two running numbers per parameter, and a count of updates per model."""

    def __init__(self, settings: Sequence[Settings], parameters: Tensor) -> None:
        """*Shape:* settings (M), parameters (M, numbers)"""
        self.kind = settings[0].optimiser
        self.first = torch.zeros_like(parameters)
        self.second = torch.zeros_like(parameters)
        self.updates = torch.zeros(len(parameters), dtype=torch.int64, device=parameters.device)
        self.configure(settings)

    def configure(self, settings: Sequence[Settings]) -> None:
        """Use these settings from now on. *Shape:* (M)"""
        numbers = [(model.step, model.rho, model.epsilon, model.clip, 1.0 - model.rho) for model in settings]
        self._numbers = torch.tensor(numbers, dtype=torch.float64).T.contiguous().to(self.first)
        """The step, ρ, ε, clip and 1 - ρ of each model. *Shape:* (5, M)"""
        schedules = [(get_args(Schedule).index(model.schedule), model.warmup, model.decay) for model in settings]
        changing = any(kind or warmup for kind, warmup, _ in schedules)
        self._schedules = torch.tensor(schedules, device=self.first.device).T.contiguous() if changing else None
        """The number of each model's schedule, its warm-up and decay; None if no step changes. *Shape:* (3, M)"""

    def _steps(self) -> Tensor:
        """The step of each model at its current update. *Shape:* (M)"""
        step = self._numbers[0]
        return step if self._schedules is None else (step * factors(self.updates, *self._schedules)).to(step.dtype)

    def step(self, parameters: Parameters, active: Tensor) -> None:
        """One step of the active models with their latest gradients. *Shape:* active (M), 0 or 1"""
        if on_triton(parameters.flat):
            self.step_in_parts(parameters, active)
        else:
            self.update(parameters.flat, parameters.flat_gradient(), active)

    def step_in_parts(self, parameters: Parameters, active: Tensor) -> None:
        """As `step`, by a GPU's kernels."""
        from reinflect.layers import triton_loops

        self.updates += active.long()
        (_, rho, epsilon, clip, _), step = self._numbers, self._steps()
        scale = torch.maximum(triton_loops.squares(parameters.gradients).sqrt_(), clip).reciprocal() * clip
        moments = (1.0 - 0.9**self.updates, 1.0 - rho**self.updates)  # of Adam's averages, which begin at zero
        parts = zip(
            parameters.views.values(),
            parameters.gradients,
            parameters.split(self.first).values(),
            parameters.split(self.second).values(),
            strict=True,
        )
        for part in parts:
            triton_loops.step(self.kind, *part, scale, active, step, rho, epsilon, *moments)

    def update(self, parameters: Tensor, gradient: Tensor, active: Tensor) -> None:
        """As `step`, with numbers in one row for each model. *Shape:* (M, numbers), (M, numbers), (M)"""
        self.updates += active.long()
        (_, rho, epsilon, clip, _), step = self._numbers, self._steps()
        scale = torch.maximum(gradient.norm(dim=1), clip).reciprocal() * clip
        if self.kind == "adadelta" and on_numba(parameters):
            from reinflect.layers import numba_loops

            tensors = parameters, gradient, self.first, self.second, scale, active, step, rho, epsilon
            numba_loops.adadelta(*(tensor.detach().numpy() for tensor in tensors))
            return
        clipped = gradient * scale.unsqueeze(1)
        rule = self._adadelta if self.kind == "adadelta" else self._adam
        parameters.addcmul_(rule(clipped, active.unsqueeze(1)), step.unsqueeze(1), value=-1)

    def _adadelta(self, gradient: Tensor, active: Tensor) -> Tensor:
        """`first` averages squared gradients, `second` squared changes."""
        _, _, epsilon, _, share = self._numbers.unsqueeze(-1)
        _average(self.first, gradient * gradient, share * active)
        change: Tensor = gradient * (self.second + epsilon).div_(self.first + epsilon).sqrt_() * active
        _average(self.second, change * change, share * active)
        return change

    def _adam(self, gradient: Tensor, active: Tensor) -> Tensor:
        """`first` averages gradients, `second` squared gradients; ρ is the second's memory, 0.9 the first's."""
        _, rho, epsilon, _, share = self._numbers.unsqueeze(-1)
        _average(self.second, gradient * gradient, share * active)
        _average(self.first, gradient, 0.1 * active)
        counts = self.updates.clamp(min=1).to(gradient.dtype).unsqueeze(1)
        scale = self.second.div(1.0 - rho**counts).sqrt_().add_(epsilon)
        return self.first.div(1.0 - 0.9**counts).div_(scale).mul_(active)

    def keep(self, models: Sequence[int]) -> None:
        """Remove all models but these; `configure` must follow."""
        rows = torch.tensor(models, device=self.first.device)
        self.first, self.second, self.updates = self.first[rows], self.second[rows], self.updates[rows]

    def reset(self, model: int) -> None:
        self.first[model], self.second[model], self.updates[model] = 0.0, 0.0, 0


def factors(updates: Tensor, kinds: Tensor, warmup: Tensor, decay: Tensor) -> Tensor:
    """What each model's step is multiplied by at this update; `kinds` are indices of `Schedule`. *Shape:* (M) each"""
    # All schedules are computed and one is taken, so that a captured graph holds for every update.
    now, rise = updates.double(), warmup.clamp(min=1).double()
    left = 1.0 - ((now - warmup) / (decay - warmup).clamp(min=1)).clamp(0.0, 1.0)
    root, wave = (rise / now).clamp(max=1.0).sqrt(), 0.5 - 0.5 * torch.cos(math.pi * left)
    taken = torch.stack([torch.ones_like(left), root, left, wave]).gather(0, kinds.unsqueeze(0))
    return (now / rise).clamp(max=1.0) * taken.squeeze(0)


def _average(running: Tensor, new: Tensor, share: Tensor) -> None:
    """Move the running average by a share, 0 for inactive models. *Shape:* share (M, 1)"""
    running.addcmul_(new - running, share)
