"""The optimisers do what torch's do, a model a row, and leave the others alone."""

import math
from collections.abc import Callable
from typing import get_args

import msgspec
import pytest
import torch
from torch import Tensor

from reinflect.learn import optimisers
from reinflect.learn.optimisers import Optimiser, factors
from reinflect.settings import Schedule, Settings

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


SCHEDULES: list[dict[str, object]] = [
    {},
    {"warmup": 6},
    {"schedule": "inverse-sqrt"},
    {"schedule": "inverse-sqrt", "warmup": 4},
    {"schedule": "linear", "decay": 25},
    {"schedule": "linear", "warmup": 7, "decay": 30},
    {"schedule": "cosine", "decay": 1},
    {"schedule": "cosine", "warmup": 5, "decay": 100},
]


def slow_factor(own: Settings, update: int) -> float:
    """Of the step at this update of a model, the first being 1."""
    if update < own.warmup:
        return update / own.warmup
    if own.schedule == "constant":
        return 1.0
    if own.schedule == "inverse-sqrt":
        return math.sqrt(max(own.warmup, 1) / update)
    if update >= own.decay:
        return 0.0
    done = (update - own.warmup) / (own.decay - own.warmup)
    return 1 - done if own.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2


@kinds
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 2e-5)], ids=str)
def test_each_model_follows_its_own_schedule(
    settings: Settings, theirs: Torch, dtype: torch.dtype, close: float
) -> None:
    """As torch's optimisers do, one for each model, whose step is set by the plain formula before every update."""
    own = [msgspec.structs.replace(settings, **changes) for changes in SCHEDULES]
    chance = torch.Generator().manual_seed(3)
    start = torch.randn(1, NUMBERS, generator=chance, dtype=torch.float64).to(dtype).repeat(len(own), 1)
    ours, optimiser = start.clone(), Optimiser(own, start)
    alone = [row.clone().double().requires_grad_() for row in start]
    others, counts = [theirs([row]) for row in alone], [0] * len(own)
    for update in range(40):
        active = [(update + number) % 4 != 1 for number in range(len(own))]
        optimiser.update(ours, torch.sin(3 * ours) + ours, torch.tensor(active).to(dtype))
        for number in (number for number, acts in enumerate(active) if acts):
            counts[number] += 1
            row = alone[number]
            row.grad = (torch.sin(3 * row) + row).detach()
            others[number].param_groups[0]["lr"] = own[number].step * slow_factor(own[number], counts[number])
            others[number].step()
    assert optimiser.updates.tolist() == counts
    torch.testing.assert_close(ours.double(), torch.stack([row.detach() for row in alone]), rtol=close, atol=close)
    assert len({tuple(row) for row in (ours - start).tolist()}) == len(own), "some schedules do the same"


@kinds
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_models_of_different_schedules_are_together_what_they_are_alone(
    settings: Settings, theirs: Torch, dtype: torch.dtype
) -> None:
    """To the bit, the model without a schedule too; and they go on with theirs when others leave or start again."""
    del theirs
    own = [msgspec.structs.replace(settings, **changes) for changes in (SCHEDULES[7], SCHEDULES[0], SCHEDULES[3])]
    start, slope = problem(dtype)
    together, optimiser = start.clone(), Optimiser(own, start)
    alone = [start[k : k + 1].clone() for k in range(MODELS)]
    apart = [Optimiser([each], row) for each, row in zip(own, alone, strict=True)]
    columns = list(range(MODELS))
    for update in range(24):
        if update == 8:
            optimiser.reset(2)
            apart[2].reset(0)
        if update == 16:
            columns = [1, 2]
            optimiser.keep(columns)
            optimiser.configure([own[number] for number in columns])
            together = together[columns].clone()
        slopes = slope(torch.cat(alone))
        optimiser.update(together, slopes[columns], torch.ones(len(columns), dtype=dtype))
        for number, row in enumerate(alone):
            apart[number].update(row, slopes[number : number + 1], torch.ones(1, dtype=dtype))
    assert optimiser.updates.tolist() == [24, 16]
    assert torch.equal(together, torch.cat([alone[number] for number in columns]))


@kinds
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_constant_steps_cost_nothing(
    settings: Settings, theirs: Torch, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    del theirs
    start, slope = problem(dtype)
    scheduled, plain = start.clone(), start.clone()
    mixed = [*[settings] * (MODELS - 1), msgspec.structs.replace(settings, warmup=3)]
    one, other = Optimiser(mixed, scheduled), Optimiser([msgspec.structs.replace(settings, decay=9)] * MODELS, plain)
    for _ in range(10):
        one.update(scheduled, slope(scheduled), torch.ones(MODELS, dtype=dtype))
        with monkeypatch.context() as patch:
            patch.setattr(optimisers, "factors", lambda *_: pytest.fail("computed although no step changes"))
            other.update(plain, slope(plain), torch.ones(MODELS, dtype=dtype))
    assert torch.equal(scheduled[:-1], plain[:-1])
    assert not torch.equal(scheduled[-1], plain[-1])


def test_factors_ask_for_no_value() -> None:
    """They are part of captured graphs, in which no number can be looked at: neither can it on this device."""
    given = torch.zeros(4, 3, dtype=torch.int64, device="meta")
    assert factors(*given).shape == (3,)


def test_factors_of_many_updates() -> None:
    """Also of models without any update, which must not become infinite or nothing."""
    names = get_args(Schedule)
    own = [Settings(schedule=name, warmup=10**3, decay=10**9) for name in names]
    others = [torch.tensor([getattr(each, key) for each in own]) for key in ("warmup", "decay")]
    for update in (0, 1, 999, 1000, 1001, 10**8 + 1, 10**9 - 1, 10**9, 10**9 + 1):
        found = factors(torch.full((len(own),), update), torch.arange(len(own)), *others)
        assert found.tolist() == pytest.approx([slow_factor(each, update) for each in own], rel=1e-9, abs=1e-15)
