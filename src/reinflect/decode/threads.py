"""Threads: each product by one of them, and models shared out among several.

The products of decoding are small. Several threads for one of them wait for each other: a word then takes up to a
hundred times as long.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

WORTH_THREADS = 1500
"""Items times models: with fewer, threads wait for each other more than they gain."""
Model = TypeVar("Model")
Decoded = TypeVar("Decoded")
_alone = RLock()


def shared_out(decode: Callable[[Model], Decoded], models: Sequence[Model], items: int) -> list[Decoded]:
    """The result of `decode` for each model, by as many threads as are worth while; their number changes no number."""
    threads = min(len(models), _threads()) if items * len(models) >= WORTH_THREADS else 1
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return list((pool.map if threads > 1 else map)(decode, models))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Make NumPy's products by one thread in the block, which other threads must wait for: the limit is the process's.

    There is nothing to wait for where the environment set the limit before NumPy was imported, as it does for commands.
    """
    if _is_one_from_the_start():
        yield
    else:
        with _alone, _controller().limit(limits=1, user_api="blas"):
            yield


@cache
def _controller() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController  # importing it takes as long as inflecting many words

    return ThreadpoolController()


def _is_one_from_the_start() -> bool:
    blas: str = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    return "openblas" in blas and (os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")) == "1"


def _threads() -> int:
    """The number of threads that may work beside each other."""
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
