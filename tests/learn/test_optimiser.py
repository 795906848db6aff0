"""Which items come at which update; the optimisers do what torch's do, a model a row, and leave the others alone."""

import math
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reinflect.learn.optimiser import POOL, Optimiser, epoch_batches, factors
from reinflect.settings import Schedule, Settings, key

ADADELTA = Settings(optimiser="adadelta", step=0.7, rho=0.9, epsilon=1e-5, clip=1e9)
ADAM = Settings(optimiser="adam", step=0.03, rho=0.99, epsilon=1e-7, clip=1e9)
MODELS, NUMBERS = 3, 17

THEIRS: dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]] = {
    "adadelta": lambda parameters: torch.optim.Adadelta(parameters, lr=0.7, rho=0.9, eps=1e-5),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.03, betas=(0.9, 0.99), eps=1e-7),
}
kinds = pytest.mark.parametrize("settings", [ADADELTA, ADAM], ids=list(THEIRS))


def problem(dtype: torch.dtype) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Where to start, and the gradient of a different curved function for each model."""
    chance = torch.Generator().manual_seed(1)
    start = torch.randn(MODELS, NUMBERS, generator=chance, dtype=torch.float64).to(dtype)
    scale = torch.rand(MODELS, NUMBERS, generator=chance, dtype=torch.float64).to(dtype) * 5
    return start, lambda now: scale * torch.sin(now * scale) + now


dtypes = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)


@kinds
@dtypes
def test_each_models_gradient_is_clipped_on_its_own(settings: Settings, dtype: torch.dtype) -> None:
    clipping = Settings(optimiser=settings.optimiser, clip=2.0)
    parameters = torch.zeros(3, 4, dtype=dtype)
    optimiser = Optimiser([clipping] * 3, parameters)
    gradient = torch.tensor([[30.0, 40.0, 0, 0], [0.3, 0.4, 0, 0], [0, 0, 0, 0]], dtype=dtype)
    optimiser.update(parameters, gradient, torch.ones(3, dtype=dtype))
    # `second` of Adam and `first` of AdaDelta average the squared gradients.
    squared = (optimiser.first if settings.optimiser == "adadelta" else optimiser.second) / (1 - clipping.rho)
    expected = torch.tensor([[1.2, 1.6, 0, 0], [0.3, 0.4, 0, 0], [0, 0, 0, 0]], dtype=dtype)
    torch.testing.assert_close(squared.sqrt(), expected, rtol=1e-5, atol=1e-6)


@kinds
@dtypes
def test_a_model_that_has_gone_astray_does_not_lead_others_there(settings: Settings, dtype: torch.dtype) -> None:
    ours, slope = problem(dtype)
    alone, expected = Optimiser([settings], ours[:1]), ours[:1].clone()
    optimiser = Optimiser([settings] * MODELS, ours)
    for _ in range(3):
        gradient = slope(ours)
        gradient[1] = torch.nan
        optimiser.update(ours, gradient, torch.ones(MODELS, dtype=dtype))
        alone.update(expected, slope(torch.cat([expected] * 3))[:1], torch.ones(1, dtype=dtype))
    assert torch.isfinite(ours[[0, 2]]).all()
    assert not torch.isfinite(ours[1]).any()
    torch.testing.assert_close(ours[:1], expected)


SCHEDULES: list[dict[str, Any]] = [
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
def test_each_model_follows_its_own_schedule(settings: Settings, dtype: torch.dtype, close: float) -> None:
    """As torch's optimisers do, one for each model, whose step is set by the plain formula before every update."""
    own = [msgspec.structs.replace(settings, **changes) for changes in SCHEDULES]
    chance = torch.Generator().manual_seed(3)
    start = torch.randn(1, NUMBERS, generator=chance, dtype=torch.float64).to(dtype).repeat(len(own), 1)
    ours, optimiser = start.clone(), Optimiser(own, start)
    alone = [row.clone().double().requires_grad_() for row in start]
    others, counts = [THEIRS[settings.optimiser]([row]) for row in alone], [0] * len(own)
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


VARIANTS: dict[str, list[dict[str, Any]]] = {
    "numbers": [{}, {"step": 0.1, "rho": 0.7, "epsilon": 1e-3, "clip": 0.5}, {"rho": 0.5}],
    "schedules": [SCHEDULES[7], SCHEDULES[0], SCHEDULES[3]],
}


@kinds
@dtypes
@pytest.mark.parametrize("variant", VARIANTS)
def test_models_are_together_what_they_are_alone(settings: Settings, dtype: torch.dtype, variant: str) -> None:
    """To the bit; and they go on with what is theirs when another leaves or starts again."""
    of_each = [msgspec.structs.replace(settings, **changes) for changes in VARIANTS[variant]]
    start, slope = problem(dtype)
    together, optimiser = start.clone(), Optimiser(of_each, start)
    alone = [start[k : k + 1].clone() for k in range(MODELS)]
    apart = [Optimiser([each], row) for each, row in zip(of_each, alone, strict=True)]
    columns = list(range(MODELS))
    for update in range(24):
        if update == 8:
            optimiser.reset(2)
            apart[2].reset(0)
            assert not optimiser.first[2].any()
            assert not optimiser.second[2].any()
        if update == 16:
            columns = [2, 1]
            optimiser.keep(columns)
            optimiser.configure([of_each[number] for number in columns])
            together = together[columns].clone()
        slopes = slope(torch.cat(alone))
        optimiser.update(together, slopes[columns], torch.ones(len(columns), dtype=dtype))
        for number, row in enumerate(alone):
            apart[number].update(row, slopes[number : number + 1], torch.ones(1, dtype=dtype))
    assert optimiser.updates.tolist() == [16, 24]
    assert torch.equal(together, torch.cat([alone[number] for number in columns]))
    assert len({row.sum().item() for row in torch.cat(alone) - start}) == MODELS


def test_factors_ask_for_no_value() -> None:
    """They are part of captured graphs, in which no number can be looked at: neither can it on this device."""
    given = torch.zeros(4, 3, dtype=torch.int64, device="meta")
    assert factors(*given).shape == (3,)


def test_factors_of_many_updates() -> None:
    """Also of models without any update, which must not become infinite or nothing."""
    own = [Settings(schedule=schedule, warmup=10**3, decay=10**9) for schedule in get_args(Schedule)]
    others = [torch.tensor([getattr(each, name) for each in own]) for name in ("warmup", "decay")]
    for update in (0, 1, 999, 1000, 1001, 10**8 + 1, 10**9 - 1, 10**9, 10**9 + 1):
        found = factors(torch.full((len(own),), update), torch.arange(len(own)), *others)
        assert found.tolist() == pytest.approx([slow_factor(each, update) for each in own], rel=1e-9, abs=1e-15)


def slow_batches(lengths: np.ndarray, batch: int, seed: int, epoch: int) -> list[list[int]]:
    """The same pool by pool, in lists."""
    left = np.random.Generator(np.random.PCG64(key(seed, "shuffle", epoch))).permutation(len(lengths)).tolist()
    made = []
    while left:
        pool, left = left[: POOL * batch], left[POOL * batch :]
        pool.sort(key=lambda item: lengths[item])
        made += [pool[start : start + batch] for start in range(0, len(pool), batch)]
    made.sort(key=lambda items: max(lengths[item] for item in items))
    order = np.random.Generator(np.random.PCG64(key("order", epoch, len(made)))).permutation(len(made))
    return [made[number] + [-1] * (batch - len(made[number])) for number in order]


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=150), st.integers(1, 20), st.integers(0, 9), st.integers(0, 9)
)
def test_batches_are_those_of_the_slow_program(lengths: list[int], batch: int, seed: int, epoch: int) -> None:
    own = np.array(lengths)
    assert epoch_batches(own, batch, seed, epoch).tolist() == slow_batches(own, batch, seed, epoch)
