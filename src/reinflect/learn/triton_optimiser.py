"""AdaDelta and Adam as Triton kernels: every number is read and written once, and gradients stay where they are."""

from collections.abc import Sequence

import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _squares(gradient, sums, width, parts, first, block: tl.constexpr):
    model, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    places = part * block + tl.arange(0, block)
    slope = tl.load(gradient + model * width + places, mask=places < width, other=0.0)
    tl.store(sums + model * parts + first + part, tl.sum(slope * slope))


def squares(gradients: Sequence[Tensor]) -> Tensor:
    """The sum of squares of each model's gradients. *Shape:* (M, …) each → (M)"""
    models, parts = len(gradients[0]), [triton.cdiv(own[0].numel(), BLOCK) for own in gradients]
    sums, first = gradients[0].new_empty(models, sum(parts)), 0
    for own, many in zip(gradients, parts, strict=True):
        if many:
            _squares[(models, many)](own.contiguous(), sums, own[0].numel(), sum(parts), first, block=BLOCK)
        first += many
    return sums.sum(dim=1)


@triton.jit
def _step(
    parameters,
    gradient,
    first,
    second,
    scale,
    active,
    steps,
    rhos,
    epsilons,
    first_moments,
    second_moments,
    row,
    width,
    adam: tl.constexpr,
    block: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * block + tl.arange(0, block)
    inside = places < width
    at = model * row + places
    if tl.load(active + model) > 0:
        step, rho, epsilon = tl.load(steps + model), tl.load(rhos + model), tl.load(epsilons + model)
        slope = tl.load(gradient + model * width + places, mask=inside, other=0.0) * tl.load(scale + model)
        one, two = tl.load(first + at, mask=inside, other=0.0), tl.load(second + at, mask=inside, other=0.0)
        if adam:
            one += 0.1 * (slope - one)
            two = rho * two + (1.0 - rho) * slope * slope
            deviation = tl.sqrt(two / tl.load(second_moments + model)) + epsilon
            change = one / tl.load(first_moments + model) / deviation
        else:
            one = rho * one + (1.0 - rho) * slope * slope
            change = slope * tl.sqrt((two + epsilon) / (one + epsilon))
            two = rho * two + (1.0 - rho) * change * change
        tl.store(first + at, one, mask=inside)
        tl.store(second + at, two, mask=inside)
        tl.store(parameters + at, tl.load(parameters + at, mask=inside, other=0.0) - step * change, mask=inside)


def step(kind: str, parameters: Tensor, gradient: Tensor, first: Tensor, second: Tensor, *numbers: Tensor) -> None:
    """Update one parameter of the active models; `numbers` are the kernel's from `scale` on. *Shapes:* (M, …), then (M)

    All but the gradient are views into rows of the same length.
    """
    models, width = len(parameters), parameters[0].numel()
    if width:
        grid, given = (models, triton.cdiv(width, BLOCK)), (parameters, gradient.contiguous(), first, second)
        _step[grid](*given, *numbers, parameters.stride(0), width, adam=kind == "adam", block=BLOCK, num_warps=4)
