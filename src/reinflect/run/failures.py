"""Failures of a pack that are not bugs, classified by what can be done about them."""

import gc
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import torch

Kind = Literal["memory", "gpu", "process"]
"""memory: not enough. gpu: this process cannot use it any more. process: it ended."""

SHORT_OF_MEMORY = (
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",
)
GPU_LOST = (
    "CUDA error",
    "Triton Error [CUDA]",
    "CUDA driver",
    "CUDA unknown error",
    "CUBLAS_STATUS",
    "CUDNN_STATUS",
    "No CUDA GPUs are available",
    "device-side assert",
    "uncorrectable ECC error",
)
"""Messages of torch, Triton and their libraries, in errors without a class of their own."""


class PackError(Exception):
    """A pack could not be trained; another way may work."""

    def __init__(self, kind: Kind, reason: str = "") -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


@contextmanager
def classify_failures() -> Iterator[None]:
    """Raise such errors as a `PackError`, and release the memory of the failed work."""
    failure = None
    try:
        yield
    except Exception as error:
        chain: list[BaseException] = [error]  # an error of memory may become another, on the way out of a graph
        while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
            chain.append(cause)
        failure = _failure(chain)
        if failure is None:
            raise
        for one in chain:
            traceback.clear_frames(one.__traceback__)  # the tensors of a failed update live in its frames
    if failure is not None:
        gc.collect()
        if failure.kind == "memory":
            with suppress(RuntimeError):  # of a GPU that was lost before
                torch.cuda.empty_cache()
        raise failure


def _failure(chain: list[BaseException]) -> PackError | None:
    kinds: list[tuple[Kind, tuple[type[Exception], ...], tuple[str, ...]]] = [
        ("memory", (MemoryError, torch.OutOfMemoryError), SHORT_OF_MEMORY),
        ("gpu", (torch.AcceleratorError,), GPU_LOST),
    ]
    for kind, classes, phrases in kinds:
        for error in chain:
            text = str(error)
            if isinstance(error, classes) or (isinstance(error, RuntimeError) and any(own in text for own in phrases)):
                return PackError(kind, next(iter(text.splitlines()), "").strip())
    return None
