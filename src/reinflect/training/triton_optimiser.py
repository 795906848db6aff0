"""AdaDelta in one pass over the parameters, as a Triton kernel that reads and writes memory once."""

import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _adadelta(parameters, gradient, first, second, scale, active, steps, rhos, epsilons, width, block: tl.constexpr):
    model = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * block + tl.arange(0, block)
    inside = places < width
    at = model * width + places
    if tl.load(active + model) > 0:
        step, rho, epsilon = tl.load(steps + model), tl.load(rhos + model), tl.load(epsilons + model)
        slope = tl.load(gradient + at, mask=inside, other=0.0) * tl.load(scale + model)
        average = rho * tl.load(first + at, mask=inside, other=0.0) + (1.0 - rho) * slope * slope
        changes = tl.load(second + at, mask=inside, other=0.0)
        change = slope * tl.sqrt((changes + epsilon) / (average + epsilon))
        tl.store(first + at, average, mask=inside)
        tl.store(second + at, rho * changes + (1.0 - rho) * change * change, mask=inside)
        tl.store(parameters + at, tl.load(parameters + at, mask=inside, other=0.0) - step * change, mask=inside)


def adadelta(parameters: Tensor, *others: Tensor) -> None:
    """Update the active models, with the kernel's arguments. *Shapes:* (M, numbers) up to `second`, then (M)"""
    models, width = parameters.shape
    grid = (models, triton.cdiv(width, BLOCK))
    _adadelta[grid](parameters, *others, width, block=BLOCK, num_warps=4)
