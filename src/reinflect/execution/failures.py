"""What can happen to a pack that is nobody's mistake, told apart by what can be done about it."""

import gc
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import torch

Kind = Literal["memory", "gpu", "process"]
"""memory: there was too little of it. gpu: it does nothing any more for this process. process: it ended."""

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
"""What torch, Triton and the libraries below them say of it, in errors that have no class of their own."""


class PackError(Exception):
    """A pack could not be trained, but perhaps it can in another way."""

    def __init__(self, kind: Kind, reason: str = "") -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


@contextmanager
def told_apart() -> Iterator[None]:
    """Let such errors come out as a `PackError`, and let go of all that the work they ended held."""
    failure = None
    try:
        yield
    except Exception as error:
        chain = _chain(error)
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


def _chain(error: BaseException) -> list[BaseException]:
    """An error and those it came of: what began as one of memory may end as another, on the way out of a graph."""
    chain: list[BaseException] = []
    while error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__ or error
    return chain


def _failure(chain: list[BaseException]) -> PackError | None:
    for error in chain:
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or _says(error, SHORT_OF_MEMORY):
            return PackError("memory", _first_line(error))
    for error in chain:
        if isinstance(error, torch.AcceleratorError) or _says(error, GPU_LOST):
            return PackError("gpu", _first_line(error))
    return None


def _says(error: BaseException, phrases: tuple[str, ...]) -> bool:
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in phrases)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "").strip()
