"""Executors for this process and for others on this machine.

An update on a CPU is too little work to divide among threads; processes use all cores.
"""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from typing import Any, TypeVar

T = TypeVar("T")

STOP, QUIT = 1, 2
"""What the processes of a pool are told: stop at the next update and return what there is; end at once."""
SECONDS_BETWEEN_LOOKS = 0.2
LOST = BrokenExecutor
"""The error of a call whose process died."""


class Here(Executor):
    """Calls functions in this process, when they are submitted."""

    def submit(self, function: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """Processes that take a call each, and are told when to stop.

    Each is a pool of its own, so that one that dies takes no other with it. The next call replaces it, as it does one
    whose call failed: a process that lost its GPU cannot use another. A call is pickled at once: the pool's
    thread would do so later, while this one caches attributes of what it sends.
    """

    def __init__(self) -> None:
        self._context = get_context("spawn")
        self._flag = self._context.RawValue("b", 0)
        self._pools = dict[ProcessPoolExecutor, Future[Any]]()

    def submit(self, function: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        call = pickle.dumps((function, arguments, options))
        with without_interrupts():
            for pool in [pool for pool, last in self._pools.items() if last.done()]:
                if self._pools.pop(pool).exception() is None:
                    with suppress(LOST):  # it has died since
                        self._pools[pool] = future = pool.submit(_call, call)
                        return future
                pool.shutdown()
            pool = ProcessPoolExecutor(1, self._context, _begin, (self._flag,))
            self._pools[pool] = future = pool.submit(_call, call)
        return future

    def stop(self) -> None:
        """Have every call that asks `stopped` return what it has."""
        self._flag.value = STOP

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._flag.value = STOP if kind is None or issubclass(kind, Exception) else QUIT
        for pool in self._pools:
            pool.shutdown()


def map_in_processes(function: Callable[..., T], *arguments: Sequence[Any], workers: int) -> Iterator[T]:
    """As `map`, in several processes; where these die, as for lack of memory, the rest is done in this one."""
    done, workers = 0, min(workers, len(arguments[0]))
    if workers > 1:
        start = get_context("spawn")
        with suppress(LOST), ProcessPoolExecutor(workers, start, _begin) as pool:
            for result in pool.map(function, *arguments):
                done += 1
                yield result
    yield from map(function, *(sequence[done:] for sequence in arguments))


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Processes started in the block, and their threads, ignore Ctrl-C, which a terminal sends to every process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the processes:

_flag: Any = None


def _call(pickled: bytes) -> Any:
    function, arguments, options = pickle.loads(pickled)
    return function(*arguments, **options)


def _begin(flag: Any = None) -> None:
    """Ignore Ctrl-C, and end with the process that started this one."""
    global _flag
    _flag = flag
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if flag is not None:
        import torch

        torch.set_num_threads(1)
    threading.Thread(target=_end_in_time, daemon=True).start()


def _end_in_time() -> None:
    parent = parent_process()
    while parent is not None and parent.is_alive() and (_flag is None or _flag.value != QUIT):
        parent.join(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def stopped() -> bool:
    """Whether this process has been told to stop."""
    return bool(_flag.value)
