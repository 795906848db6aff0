"""AdaDelta and Adam over a fleet's flat parameters, a model a row."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from reinflect.models.lstm import triton_is_here
from reinflect.settings import Settings


class Optimiser:
    """Two running numbers per parameter, and a count of updates per model."""

    def __init__(self, settings: Settings, parameters: Tensor) -> None:
        self.settings = settings
        self.first = torch.zeros_like(parameters)
        self.second = torch.zeros_like(parameters)
        self.updates = torch.zeros(len(parameters), dtype=torch.int64, device=parameters.device)

    def update(self, parameters: Tensor, gradient: Tensor, active: Tensor) -> None:
        """One step of the models that are active; the others stay exactly as they are.

        The gradient is clipped model by model. *Shape:* active (M), 0 or 1
        """
        settings = self.settings
        scale = settings.clip / gradient.norm(dim=1).clamp(min=settings.clip)
        self.updates += active.long()
        one_pass = _one_pass_adadelta(parameters) if settings.optimiser == "adadelta" else None
        if one_pass is not None:
            tensors = (parameters, gradient, self.first, self.second, scale, active)
            one_pass(*tensors, settings.step, settings.rho, settings.epsilon)
            return
        clipped = gradient * scale.unsqueeze(1)
        rule = self._adadelta if settings.optimiser == "adadelta" else self._adam
        parameters.sub_(rule(clipped, active.unsqueeze(1)), alpha=settings.step)

    def _adadelta(self, gradient: Tensor, active: Tensor) -> Tensor:
        """`first` averages squared gradients, `second` squared changes."""
        rho, epsilon = self.settings.rho, self.settings.epsilon
        _average(self.first, gradient * gradient, 1.0 - rho, active)
        change = gradient * (self.second + epsilon).div_(self.first + epsilon).sqrt_() * active
        _average(self.second, change * change, 1.0 - rho, active)
        return change

    def _adam(self, gradient: Tensor, active: Tensor) -> Tensor:
        """`first` averages gradients, `second` squared gradients; ρ is the second's memory, 0.9 the first's."""
        _average(self.second, gradient * gradient, 1.0 - self.settings.rho, active)
        _average(self.first, gradient, 0.1, active)
        counts = self.updates.clamp(min=1).to(gradient.dtype).unsqueeze(1)
        scale = self.second.div(1.0 - self.settings.rho**counts).sqrt_().add_(self.settings.epsilon)
        return self.first.div(1.0 - 0.9**counts).div_(scale).mul_(active)

    def keep(self, models: Sequence[int]) -> None:
        """Forget all models but these."""
        rows = torch.tensor(models, device=self.first.device)
        self.first, self.second = self.first[rows], self.second[rows]
        self.updates = self.updates[rows]

    def reset(self, model: int) -> None:
        self.first[model], self.second[model], self.updates[model] = 0.0, 0.0, 0


def _average(running: Tensor, new: Tensor, share: float, active: Tensor) -> None:
    running.add_((new - running).mul_(active), alpha=share)


def _one_pass_adadelta(parameters: Tensor) -> Callable[..., None] | None:
    """AdaDelta without intermediate tensors, where there is one for these parameters."""
    if parameters.dtype != torch.float32:
        return None
    if parameters.device.type == "cuda" and triton_is_here():
        from reinflect.training import triton_optimiser

        return triton_optimiser.adadelta
    if parameters.device.type == "cpu":
        return _compiled_adadelta
    return None


def _compiled_adadelta(*arguments: Tensor | float) -> None:
    from reinflect.training import compiled

    tensors, numbers = arguments[:6], arguments[6:]
    arrays = [tensor.detach().numpy() for tensor in tensors if isinstance(tensor, Tensor)]
    compiled.adadelta(*arrays, *(np.float32(number) for number in numbers))
