"""Packs in worker processes, each with its own pipe, so that one that dies takes no other with it.

An update on a CPU is too little work to divide among threads; processes use all cores. A pool would leave semaphores on
the system if this process and its workers were killed together, so each worker has nothing but its pipe.
"""

import gc
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Protocol

from reinflect.errors import ReinflectError
from reinflect.run.failures import PackError
from reinflect.run.packs import Pack, PackResult
from reinflect.run.resources import without_interrupts
from reinflect.run.retries import Lost, Retries


class Run(Protocol):
    """Trains a pack. It is pickled for the workers; `report` is called with its progress."""

    def __call__(
        self, pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool], *, device: str
    ) -> PackResult: ...


STOP, QUIT = "stop", "quit"
SECONDS_BETWEEN_CHECKS = 0.2


class Processes:
    """Runs packs in several workers at once, which share `room` bytes of memory: a pack begins when it fits."""

    def __init__(
        self, run: Run, workers: int, report: Callable[[Any], None], retries: Retries, room: int | None = None
    ) -> None:
        self.run, self.workers, self.report, self.retries, self.room = run, workers, report, retries, room
        self._lock = retries.lock
        self._workers: list[_Worker] = []
        self._waiting: list[tuple[int, Pack]] = []
        self._busy: dict[int, Pack] = {}
        self._stopped = False

    def go(self, packs: Sequence[Pack], enough: Callable[[], bool] = lambda: False) -> list[PackResult | Lost | None]:
        """The result of each pack, in order; None for packs that had not begun when `enough` or `stop` ended it all."""
        results: list[PackResult | Lost | None] = [None] * len(packs)
        self._waiting = list(enumerate(packs))
        with ThreadPoolExecutor(self.workers) as threads:
            slots = [threads.submit(self._slot, results) for _ in range(self.workers)]
            try:
                while wait(slots, timeout=SECONDS_BETWEEN_CHECKS).not_done:
                    if not self._stopped and enough():
                        self.stop()
            except BaseException:
                self.stop(QUIT)
                raise
        for slot in slots:
            slot.result()
        return results

    def stop(self, message: str = STOP) -> None:
        """Have every worker stop at its next update and return what it has; with QUIT, end at once."""
        self._stopped = True
        with self._lock:
            for worker in self._workers:
                worker.send(message)

    def _slot(self, results: list[PackResult | Lost | None]) -> None:
        """Train pack after pack in one worker, which is replaced when it fails."""
        worker: _Worker | None = None

        def attempt(pack: Pack, device: str) -> PackResult:
            nonlocal worker
            worker = worker or _Worker(self)
            try:
                return worker.train(pack, device)
            except PackError as failure:
                if failure.kind != "memory":  # a process that lost its GPU cannot use another
                    worker.close()
                    worker = None
                raise

        try:
            while given := self._next():
                number, pack = given
                results[number] = self.retries.see_through(pack, attempt, lambda: self._stopped)
                with self._lock:
                    del self._busy[number]
        except BaseException:
            self.stop()
            raise
        finally:
            if worker:
                worker.close()

    def _next(self) -> tuple[int, Pack] | None:
        """Wait for room, then take the first pack that fits; None when no further pack is to begin."""
        while True:
            with self._lock:
                if self._stopped or not self._waiting:
                    return None
                left = None if self.room is None else self.room - sum(pack.bytes for pack in self._busy.values())
                for given in self._waiting:
                    number, pack = given
                    if left is None or not self._busy or pack.bytes <= left:
                        self._waiting.remove(given)
                        self._busy[number] = pack
                        return given
            time.sleep(SECONDS_BETWEEN_CHECKS)


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self, owner: Processes) -> None:
        self.owner = owner
        self._sending = threading.RLock()  # a signal's handler may send too
        context = get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,))
        with without_interrupts():
            self.process.start()
        there.close()  # only the worker has that end now, so that its death closes the pipe
        with owner._lock:
            owner._workers.append(self)
            if owner._stopped:
                self.send(STOP)

    def send(self, message: Any) -> None:
        with self._sending, suppress(OSError):  # `train` notices a dead worker
            self.pipe.send(message)

    def train(self, pack: Pack, device: str) -> PackResult:
        self.send((self.owner.run, pack, device))
        while True:
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                raise PackError("process") from None
            if isinstance(message, PackResult):
                return message
            if isinstance(message, Exception):
                raise message
            with self.owner._lock:
                self.owner.report(message)

    def close(self) -> None:
        with self.owner._lock:
            self.owner._workers.remove(self)
        self.pipe.close()  # at which the worker ends
        self.process.join()
        self.process.close()


# In the worker:

_stopped = threading.Event()


def _serve(pipe: Connection) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    work: SimpleQueue[tuple[Run, Pack, str]] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, work), daemon=True).start()
    with suppress(OSError):  # the process that started us is gone
        while True:
            run, pack, device = work.get()
            result = _run(pipe, run, pack, device)
            if device == "cuda":  # other workers wait for its memory
                gc.collect()
                with suppress(RuntimeError):  # of a GPU that was lost
                    torch.cuda.empty_cache()
            pipe.send(result)


def _listen(pipe: Connection, work: "SimpleQueue[tuple[Run, Pack, str]]") -> None:
    """Take packs and messages from the pipe; end this process with the one that started it."""
    try:
        while (message := pipe.recv()) != QUIT:
            if message == STOP:
                _stopped.set()
            else:
                work.put(message)
    finally:
        os._exit(1)


def _run(pipe: Connection, run: Run, pack: Pack, device: str) -> PackResult | Exception:
    """The result, or an exception that can be pickled and holds nothing of what was computed."""
    try:
        return run(pack, pipe.send, _stopped.is_set, device=device)
    except (ReinflectError, PackError) as error:
        return error.with_traceback(None)
    except Exception:
        return RuntimeError(f"in the process that trained {pack.name}:\n{traceback.format_exc()}")
