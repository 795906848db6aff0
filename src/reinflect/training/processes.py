"""Packs in processes of their own.

What a CPU does for one update is too little to share out among threads; processes beside each other use all cores.
Every process is a pool of one, so that one that dies takes no other with it and we know which pack it had; what becomes
of that pack is for `training.retries` to say.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Protocol

from reinflect.errors import ReinflectError
from reinflect.training.failures import PackError
from reinflect.training.jobs import Pack
from reinflect.training.retries import Lost, Retries
from reinflect.training.run import Results


class Run(Protocol):
    """Trains a pack: given what to call with its progress, and what to ask whether to stop. Processes are sent it."""

    def __call__(
        self, pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool], *, device: str
    ) -> Results: ...


STOP, QUIT = "stop", "quit"


@dataclass(frozen=True)
class _Error:
    """In place of a result: what the user is to be told."""

    message: str


class Processes:
    """Runs packs in so many processes at once."""

    def __init__(self, run: Run, workers: int, report: Callable[[Any], None], retries: Retries) -> None:
        self.run, self.workers, self.report, self.retries = run, workers, report, retries
        self._lock = retries.lock
        self._links: list[Connection] = []
        self._stopped = False

    def go(self, packs: Sequence[Pack], enough: Callable[[], bool] = lambda: False) -> list[Results | Lost | None]:
        """The result of each pack, in their order; None for those that were not begun before `stop`.

        `enough` is asked now and then whether to stop.
        """
        results: list[Results | Lost | None] = [None] * len(packs)
        waiting = iter(enumerate(packs))
        try:
            with ThreadPoolExecutor(self.workers) as threads:
                slots = [threads.submit(self._slot, waiting, results) for _ in range(self.workers)]
                try:
                    while wait(slots, timeout=0.2).not_done:
                        if not self._stopped and enough():
                            self.stop()
                except BaseException:
                    self._tell(QUIT)
                    raise
        finally:
            for slot in slots:
                slot.result()
        return results

    def stop(self) -> None:
        """Let every process stop at its next update and return what it has."""
        self._stopped = True
        self._tell(STOP)

    def _tell(self, word: str) -> None:
        self._stopped = True
        with self._lock:
            for link in self._links:
                with suppress(OSError):
                    link.send(word)

    def _slot(self, waiting: Iterator[tuple[int, Pack]], results: list[Results | Lost | None]) -> None:
        """One process after another if need be, one pack after another."""
        worker: _Worker | None = None

        def attempt(pack: Pack, device: str) -> Results:
            nonlocal worker
            worker = worker or _Worker(self)
            try:
                return worker.do(pack, device)
            except PackError as failure:
                if failure.kind != "memory":  # a process that lost its GPU cannot use another
                    worker.close()
                    worker = None
                raise

        try:
            while not self._stopped:
                with self._lock:
                    given = next(waiting, None)
                if given is None:
                    break
                number, pack = given
                results[number] = self.retries.see_through(pack, attempt, lambda: self._stopped)
        except BaseException:
            self.stop()
            raise
        finally:
            if worker:
                worker.close()


class _Worker:
    """A process, and the line to it."""

    def __init__(self, owner: Processes) -> None:
        self.owner = owner
        context = get_context("spawn")
        self.here, self.there = context.Pipe()
        self.pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(self.there,))
        # This thread's processes inherit it: Ctrl-C, which a terminal sends to all, is for us to pass on. Only now, as
        # the first pool of all starts multiprocessing's tracker, which lets the signal through again.
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def do(self, pack: Pack, device: str) -> Results:
        try:
            future = self.pool.submit(_work, self.owner.run, pack, device)
            if not self.there.closed:  # the process has its own now, and its end must be the end of the line
                self.there.close()
                with self.owner._lock:
                    self.owner._links.append(self.here)
                    if self.owner._stopped:
                        self.here.send(STOP)
            self._listen(future)
            result = future.result()
        except BrokenProcessPool:
            raise PackError("process") from None
        if isinstance(result, _Error):
            raise ReinflectError(result.message)
        if isinstance(result, PackError):
            raise result
        return result

    def _listen(self, future: "Future[Any]") -> None:
        try:
            while not future.done() or self.here.poll(0):
                if self.here.poll(0.1):
                    word = self.here.recv()
                    with self.owner._lock:
                        self.owner.report(word)
        except (EOFError, OSError):
            wait([future])

    def close(self) -> None:
        self.pool.shutdown()
        with self.owner._lock:
            if self.here in self.owner._links:
                self.owner._links.remove(self.here)
        self.here.close()


# In the process:

_stopped = threading.Event()
_line: Connection | None = None


def _begin(line: Connection) -> None:
    global _line
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    _line = line
    threading.Thread(target=_listen, args=(line,), daemon=True).start()


def _listen(line: Connection) -> None:
    """Do what we are told; without the process that started us there is nobody to work for."""
    try:
        while line.recv() == STOP:
            _stopped.set()
    except (EOFError, OSError):
        pass
    os._exit(1)


def _work(run: Run, pack: Pack, device: str) -> Results | PackError | _Error:
    def report(word: Any) -> None:
        assert _line is not None
        _line.send(word)

    try:
        return run(pack, report, _stopped.is_set, device=device)
    except ReinflectError as error:  # as text: not every exception survives the way between processes
        return _Error(str(error))
    except PackError as failure:
        return PackError(failure.kind, failure.reason)
