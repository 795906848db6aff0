"""Processes for work other than training: aligning, and combining predictions."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

T = TypeVar("T")


def map_in_processes(function: Callable[..., T], *arguments: Sequence[Any], workers: int) -> Iterator[T]:
    """As `map`, in several processes; where these die, as for lack of memory, the rest is done in this one."""
    done, workers = 0, min(workers, len(arguments[0]))
    if workers > 1:
        start = get_context("spawn")
        with suppress(BrokenProcessPool), ProcessPoolExecutor(workers, start, initializer=_begin) as pool:
            for result in pool.map(function, *arguments):
                done += 1
                yield result
    yield from map(function, *(own[done:] for own in arguments))


def _begin() -> None:
    """Ignore Ctrl-C, which a terminal sends to every process, and end with the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)
