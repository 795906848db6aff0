"""AdaDelta and Adam over a fleet's flat parameters, a model a row."""

from collections.abc import Sequence

import torch
from torch import Tensor

from reinflect.settings import Settings


class Optimiser:
    """Two running numbers per parameter, and a count of updates per model."""

    def __init__(self, settings: Settings, parameters: Tensor) -> None:
        self.settings = settings
        self.first = torch.zeros_like(parameters)
        self.second = torch.zeros_like(parameters)
        self.updates = torch.zeros(len(parameters), dtype=torch.int64, device=parameters.device)

    def update(self, parameters: Tensor, gradient: Tensor, active: Tensor) -> None:
        """One step of the models that are active; the others stay exactly as they are. *Shape:* active (M), 0 or 1"""
        norm = gradient.norm(dim=1)
        gradient.mul_((self.settings.clip / norm.clamp(min=self.settings.clip)).unsqueeze(1))
        everyone = bool(active.all()) if active.device.type == "cpu" else False
        self.updates += active.long()
        if self.settings.optimiser == "adadelta":
            change = self._adadelta(gradient, None if everyone else active.unsqueeze(1))
        else:
            change = self._adam(gradient, None if everyone else active.unsqueeze(1))
        parameters.sub_(change, alpha=self.settings.step)

    def _adadelta(self, gradient: Tensor, active: Tensor | None) -> Tensor:
        """`first` averages squared gradients, `second` squared changes."""
        rho, epsilon = self.settings.rho, self.settings.epsilon
        _average(self.first, gradient * gradient, 1.0 - rho, active)
        change = gradient.mul_((self.second + epsilon).div_(self.first + epsilon).sqrt_())
        if active is not None:
            change.mul_(active)
        _average(self.second, change * change, 1.0 - rho, active)
        return change

    def _adam(self, gradient: Tensor, active: Tensor | None) -> Tensor:
        """`first` averages gradients, `second` squared gradients; ρ is the second's memory, 0.9 the first's."""
        _average(self.second, gradient * gradient, 1.0 - self.settings.rho, active)
        _average(self.first, gradient, 0.1, active)
        counts = self.updates.clamp(min=1).to(gradient.dtype).unsqueeze(1)
        scale = self.second.div(1.0 - self.settings.rho**counts).sqrt_().add_(self.settings.epsilon)
        change = self.first.div(1.0 - 0.9**counts).div_(scale)
        return change if active is None else change.mul_(active)

    def keep(self, models: Sequence[int]) -> None:
        """Forget all models but these."""
        rows = torch.tensor(models, device=self.first.device)
        self.first, self.second = self.first[rows], self.second[rows]
        self.updates = self.updates[rows]

    def reset(self, model: int) -> None:
        self.first[model], self.second[model], self.updates[model] = 0.0, 0.0, 0


def _average(running: Tensor, new: Tensor, share: float, active: Tensor | None) -> None:
    running.lerp_(new, share) if active is None else running.add_((new - running).mul_(active), alpha=share)
