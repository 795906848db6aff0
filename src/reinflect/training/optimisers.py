"""AdaDelta and Adam over a fleet's flat parameters, one row for each model."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.systems.kernels.cells import triton_is_here


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
        numbers = [(own.step, own.rho, own.epsilon, own.clip, 1.0 - own.rho) for own in settings]
        self._numbers = torch.tensor(numbers, dtype=torch.float64).T.contiguous().to(self.first)
        """Each model's own step, ρ, ε, clip and 1 - ρ. *Shape:* (5, M)"""

    def update(self, parameters: Tensor, gradient: Tensor, active: Tensor) -> None:
        """One step of the active models, with gradients clipped for each model. *Shape:* active (M), 0 or 1"""
        step, rho, epsilon, clip, _ = self._numbers
        scale = torch.maximum(gradient.norm(dim=1), clip).reciprocal() * clip
        self.updates += active.long()
        one_pass = _one_pass_adadelta(parameters) if self.kind == "adadelta" else None
        if one_pass is not None:
            one_pass(parameters, gradient, self.first, self.second, scale, active, step, rho, epsilon)
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


def _average(running: Tensor, new: Tensor, share: Tensor) -> None:
    """Move the running average by a share, 0 for inactive models. *Shape:* share (M, 1)"""
    running.addcmul_(new - running, share)


def _one_pass_adadelta(parameters: Tensor) -> Callable[..., None] | None:
    """AdaDelta without intermediate tensors, if there is a kernel for these parameters."""
    if parameters.dtype != torch.float32:
        return None
    if parameters.device.type == "cuda" and triton_is_here():
        from reinflect.training import triton_optimiser

        return triton_optimiser.adadelta
    if parameters.device.type == "cpu":
        return _compiled_adadelta
    return None


def _compiled_adadelta(*tensors: Tensor) -> None:
    from reinflect.training import compiled

    compiled.adadelta(*(tensor.detach().numpy() for tensor in tensors))
