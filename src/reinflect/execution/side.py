"""Processes for the work beside the training: aligning, and combining what models say."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from multiprocessing import get_context, parent_process
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def side_processes(workers: int) -> Iterator[Executor | None]:
    """Processes for work beside the training, started when there is some; none if there is to be one worker."""
    if workers == 1:
        yield None
        return
    with _Later(workers) as pool:
        yield pool


class _Later(Executor):
    """Makes a pool when there is work: before that, there is nothing that a kill would leave on the system."""

    def __init__(self, workers: int) -> None:
        self._workers, self._over = workers, False

    @cached_property
    def _pool(self) -> Executor:
        return ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=_begin)

    def submit(self, work: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Future[T]:
        if self._over:
            raise RuntimeError("these processes have ended")
        return self._pool.submit(work, *given, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over = True
        if "_pool" in vars(self):
            self._pool.shutdown(wait, cancel_futures=cancel_futures)


def start(processes: Executor, workers: int) -> None:
    """Have them ready by the time they are needed."""
    for _ in range(workers):
        processes.submit(int)


def _begin() -> None:
    """Ctrl-C, which a terminal sends to all, is for the process that started us; without it there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)
