"""How exactly a GPU multiplies.

Its matrix units take numbers of single precision with 10 of their 23 bits (tf32). Three such products make one that is
nearly exact, and three times as dear; outside of the recurrences, exact products are made without these units.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor

Precision = Literal["single", "tf32"]

_now: Precision = "single"


def in_kernels() -> str:
    """What Triton calls the products that are to be made now."""
    return {"single": "tf32x3", "tf32": "tf32"}[_now]


def for_kernels(weights: Tensor) -> Tensor:
    """Weights as the recurrences' kernels read them, step after step.

    Half precision has as many bits as the matrix units take, and is read in half the time.
    """
    return weights.half() if _now == "tf32" else weights


@contextmanager
def products(precision: Precision) -> Iterator[None]:
    """Inside, products on a GPU are made so. A CPU's are always exact."""
    global _now
    before, before_torch = _now, torch.backends.cuda.matmul.allow_tf32
    _now, torch.backends.cuda.matmul.allow_tf32 = precision, precision == "tf32"
    try:
        yield
    finally:
        _now, torch.backends.cuda.matmul.allow_tf32 = before, before_torch
