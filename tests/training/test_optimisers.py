"""The optimisers do what torch's do, a model a row, and leave the others alone."""

from collections.abc import Callable

import msgspec
import pytest
import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.training.optimisers import Optimiser

ADADELTA = Settings(optimiser="adadelta", step=0.7, rho=0.9, epsilon=1e-5, clip=1e9)
ADAM = Settings(optimiser="adam", step=0.03, rho=0.99, epsilon=1e-7, clip=1e9)
MODELS, NUMBERS = 3, 17

Torch = Callable[[list[Tensor]], torch.optim.Optimizer]


def torch_adadelta(parameters: list[Tensor]) -> torch.optim.Optimizer:
    return torch.optim.Adadelta(parameters, lr=0.7, rho=0.9, eps=1e-5)


def torch_adam(parameters: list[Tensor]) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.03, betas=(0.9, 0.99), eps=1e-7)


kinds = pytest.mark.parametrize(
    ("settings", "theirs"), [(ADADELTA, torch_adadelta), (ADAM, torch_adam)], ids=["adadelta", "adam"]
)


def problem(dtype: torch.dtype) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Where to start, and the gradient of a different curved function for each model."""
    chance = torch.Generator().manual_seed(1)
    start = torch.randn(MODELS, NUMBERS, generator=chance, dtype=torch.float64).to(dtype)
    scale = torch.rand(MODELS, NUMBERS, generator=chance, dtype=torch.float64).to(dtype) * 5
    return start, lambda now: scale * torch.sin(now * scale) + now


@kinds
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 2e-5)], ids=str)
def test_the_same_as_torch(settings: Settings, theirs: Torch, dtype: torch.dtype, close: float) -> None:
    """Models join in at different updates; each has its own count and averages."""
    start, slope = problem(dtype)
    ours = start.clone()
    optimiser = Optimiser([settings] * MODELS, ours)
    alone = [row.clone().double().requires_grad_() for row in start]
    others = [theirs([row]) for row in alone]
    for update in range(40):
        active = torch.tensor([1, update % 3 != 1, update >= 5]).to(dtype)
        optimiser.update(ours, slope(ours), active)
        all_slopes = slope(torch.stack([row.detach() for row in alone]))
        for number, (row, other) in enumerate(zip(alone, others, strict=True)):
            if active[number]:
                row.grad = all_slopes[number].double()
                other.step()
    torch.testing.assert_close(ours.double(), torch.stack([row.detach() for row in alone]), rtol=close, atol=close)
    assert (ours - start).abs().min() > 0


@kinds
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_each_model_has_its_own_numbers(settings: Settings, theirs: Torch, dtype: torch.dtype) -> None:
    del theirs
    other = msgspec.structs.replace(settings, step=0.1, rho=0.7, epsilon=1e-3, clip=0.5)
    third = msgspec.structs.replace(settings, rho=0.5)
    own = [settings, other, third]
    start, slope = problem(dtype)
    together, optimiser = start.clone(), Optimiser(own, start)
    alone = [start[k : k + 1].clone() for k in range(MODELS)]
    optimisers = [Optimiser([settings], row) for settings, row in zip(own, alone, strict=True)]
    columns = list(range(MODELS))
    for update in range(12):
        if update == 6:  # the others go on with theirs when one leaves
            columns = [2, 1]
            optimiser.keep(columns)
            optimiser.configure([own[number] for number in columns])
            together = together[columns].clone()
        everyone = torch.zeros(MODELS, NUMBERS, dtype=dtype)
        everyone[columns] = together
        optimiser.update(together, slope(everyone)[columns], torch.ones(len(columns), dtype=dtype))
        slopes = slope(torch.cat(alone))
        for number, row in enumerate(alone):
            optimisers[number].update(row, slopes[number : number + 1], torch.ones(1, dtype=dtype))
    for place, number in enumerate(columns):
        torch.testing.assert_close(together[place], alone[number][0], rtol=1e-6, atol=1e-7)
        assert (together[place] - start[number]).abs().min() > 0


@kinds
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_models_that_are_not_active_are_not_touched(settings: Settings, theirs: Torch, dtype: torch.dtype) -> None:
    del theirs
    ours, slope = problem(dtype)
    optimiser = Optimiser([settings] * MODELS, ours)
    optimiser.update(ours, slope(ours), torch.ones(MODELS, dtype=dtype))
    before = [tensor.clone() for tensor in (ours, optimiser.first, optimiser.second, optimiser.updates)]
    optimiser.update(ours, slope(ours), torch.tensor([1, 0, 1]).to(dtype))
    for now, then in zip((ours, optimiser.first, optimiser.second, optimiser.updates), before, strict=True):
        assert torch.equal(now[1], then[1])
        assert not torch.equal(now[0], then[0])


@kinds
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_each_models_gradient_is_clipped_on_its_own(settings: Settings, theirs: Torch, dtype: torch.dtype) -> None:
    del settings
    kind = "adadelta" if theirs is torch_adadelta else "adam"
    clipping = Settings(optimiser=kind, clip=2.0)  # type: ignore[arg-type]
    parameters = torch.zeros(3, 4, dtype=dtype)
    optimiser = Optimiser([clipping] * 3, parameters)
    gradient = torch.tensor([[30.0, 40.0, 0, 0], [0.3, 0.4, 0, 0], [0, 0, 0, 0]], dtype=dtype)
    optimiser.update(parameters, gradient, torch.ones(3, dtype=dtype))
    # `second` of Adam and `first` of AdaDelta average the squared gradients.
    squared = (optimiser.first if kind == "adadelta" else optimiser.second) / (1 - clipping.rho)
    expected = torch.tensor([[1.2, 1.6, 0, 0], [0.3, 0.4, 0, 0], [0, 0, 0, 0]], dtype=dtype)
    torch.testing.assert_close(squared.sqrt(), expected, rtol=1e-5, atol=1e-6)


@kinds
def test_a_model_that_has_gone_astray_does_not_lead_others_there(settings: Settings, theirs: Torch) -> None:
    del theirs
    for dtype in (torch.float32, torch.float64):
        ours, slope = problem(dtype)
        alone, expected = Optimiser([settings], ours[:1]), ours[:1].clone()
        optimiser = Optimiser([settings] * MODELS, ours)
        for _ in range(3):
            gradient = slope(ours)
            gradient[1] = torch.nan
            optimiser.update(ours, gradient, torch.ones(MODELS, dtype=dtype))
            alone.update(expected, slope(torch.cat([expected] * 3))[:1], torch.ones(1, dtype=dtype))
        assert torch.isfinite(ours[0]).all()
        assert torch.isfinite(ours[2]).all()
        assert not torch.isfinite(ours[1]).any()
        torch.testing.assert_close(ours[:1], expected)


@kinds
def test_keeping_some_and_starting_one_anew(settings: Settings, theirs: Torch) -> None:
    del theirs
    ours, slope = problem(torch.float64)
    optimiser = Optimiser([settings] * MODELS, ours)
    for _ in range(3):
        optimiser.update(ours, slope(ours), torch.ones(MODELS, dtype=torch.float64))
    second, third = optimiser.second[1].clone(), optimiser.second[2].clone()
    optimiser.keep([2, 1])
    assert torch.equal(optimiser.second, torch.stack([third, second]))
    optimiser.reset(0)
    assert optimiser.updates.tolist() == [0, 3]
    assert not optimiser.first[0].any()
    assert not optimiser.second[0].any()
    assert torch.equal(optimiser.second[1], second)
