"""AdaDelta and Adam as Triton kernels: every number is read and written once, and gradients stay in place."""

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
    models, parts = len(gradients[0]), [triton.cdiv(gradient[0].numel(), BLOCK) for gradient in gradients]
    sums, first = gradients[0].new_empty(models, sum(parts)), 0
    for gradient, blocks in zip(gradients, parts, strict=True):
        if blocks:
            grid, width = (models, blocks), gradient[0].numel()
            _squares[grid](gradient.contiguous(), sums, width, sum(parts), first, block=BLOCK)
        first += blocks
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
        a, b = tl.load(first + at, mask=inside, other=0.0), tl.load(second + at, mask=inside, other=0.0)
        if adam:
            a += 0.1 * (slope - a)
            b = rho * b + (1.0 - rho) * slope * slope
            deviation = tl.sqrt(b / tl.load(second_moments + model)) + epsilon
            change = a / tl.load(first_moments + model) / deviation
        else:
            a = rho * a + (1.0 - rho) * slope * slope
            change = slope * tl.sqrt((b + epsilon) / (a + epsilon))
            b = rho * b + (1.0 - rho) * change * change
        tl.store(first + at, a, mask=inside)
        tl.store(second + at, b, mask=inside)
        tl.store(parameters + at, tl.load(parameters + at, mask=inside, other=0.0) - step * change, mask=inside)


def step(kind: str, parameters: Tensor, gradient: Tensor, first: Tensor, second: Tensor, *numbers: Tensor) -> None:
    """Update one parameter of the active models; `numbers` are the kernel's from `scale` on. *Shapes:* (M, …), then (M)

    All but the gradient are views into rows of the same length.
    """
    models, width = len(parameters), parameters[0].numel()
    if width:
        grid, tensors = (models, triton.cdiv(width, BLOCK)), (parameters, gradient.contiguous(), first, second)
        _step[grid](*tensors, *numbers, parameters.stride(0), width, adam=kind == "adam", block=BLOCK, num_warps=4)
