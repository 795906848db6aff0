"""The precision of products on a GPU, and the number of threads on a CPU.

A GPU's matrix units use 10 of the 23 bits of a single-precision number (tf32), or 7, at twice the rate (bf16). Three
products with 10 bits make a nearly exact one; outside of the recurrences, exact products are made without these units.
The recurrences never use fewer than 10 bits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor

Precision = Literal["single", "tf32", "bf16"]

_now: Precision = "single"


def in_kernels() -> str:
    """Triton's name for the current precision."""
    return "tf32x3" if _now == "single" else "tf32"


def is_bf16(given: Tensor) -> bool:
    """Whether products with this tensor, outside of the recurrences, are to be made in bf16."""
    return _now == "bf16" and given.device.type == "cuda" and given.dtype == torch.float32


def for_kernels(weights: Tensor) -> Tensor:
    """Weights for the recurrences' kernels; half precision has the bits that tf32 uses, and is read twice as fast."""
    return weights if _now == "single" else weights.half()


@contextmanager
def products(precision: Precision) -> Iterator[None]:
    """Products on a GPU have this precision inside the block. A CPU's are always exact."""
    global _now
    before, before_torch = _now, torch.backends.cuda.matmul.allow_tf32
    _now, torch.backends.cuda.matmul.allow_tf32 = precision, precision != "single"
    try:
        yield
    finally:
        _now, torch.backends.cuda.matmul.allow_tf32 = before, before_torch


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """Use one thread in the block, if the device is a CPU.

    The operations are small: two threads gain an eighth on an idle machine and take fifty times longer on a busy one.
    One thread also makes results reproducible.
    """
    before = torch.get_num_threads()
    if torch.device(device).type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
