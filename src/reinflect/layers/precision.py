"""The precision of products on a GPU, and the number of threads on a CPU.

A GPU's matrix units use 10 of the 23 bits of a single-precision number (tf32). Three products with 10 bits make a
nearly exact one; outside of the recurrences, exact products are made without these units.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor


def in_kernels() -> str:
    """Triton's name for the current precision."""
    return "tf32" if torch.backends.cuda.matmul.allow_tf32 else "tf32x3"


def for_kernels(weights: Tensor) -> Tensor:
    """Weights for the recurrences' kernels; half precision has the bits that tf32 uses, and is read twice as fast."""
    return weights.half() if torch.backends.cuda.matmul.allow_tf32 else weights


@contextmanager
def products(precision: Literal["single", "tf32"]) -> Iterator[None]:
    """Products on a GPU have this precision inside the block. A CPU's are always exact."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """Use one thread if the device is a CPU, for reproducible results; two gain an eighth, or lose much when busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if torch.device(device).type == "cpu" else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
