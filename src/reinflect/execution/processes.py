"""Packs in processes of their own.

What a CPU does for one update is too little to share out among threads; processes beside each other use all cores.
Each has a line of its own to us, so that one that dies takes no other with it and we know which pack it had; what
becomes of that pack is for `training.retries` to say. The line is all there is between us: the semaphores of a pool
would stay on the system when we are killed together with all our processes.
"""

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Protocol

from reinflect.errors import ReinflectError
from reinflect.execution.failures import PackError
from reinflect.execution.retries import Lost, Retries
from reinflect.execution.run import Results
from reinflect.training.lesson import Pack


class Run(Protocol):
    """Trains a pack: given what to call with its progress, and what to ask whether to stop. Processes are sent it."""

    def __call__(
        self, pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool], *, device: str
    ) -> Results: ...


STOP, QUIT = "stop", "quit"
SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class _Error:
    """In place of a result: what the user is to be told."""

    message: str


@dataclass(frozen=True)
class _Bug:
    """In place of a result: an error that nobody expected, as text."""

    traceback: str


@dataclass(frozen=True)
class _Done:
    """The last word of a process on a pack; all others are reports."""

    result: Results | PackError | _Error | _Bug


class Processes:
    """Runs packs in so many processes at once, or as many as there is room for.

    `room` are the bytes of memory that they share: a pack begins when what it takes is left.
    """

    def __init__(
        self,
        run: Run,
        workers: int,
        report: Callable[[Any], None],
        retries: Retries,
        room: int | None = None,
    ) -> None:
        self.run, self.workers, self.report, self.retries, self.room = run, workers, report, retries, room
        self._lock = retries.lock
        self._workers: list[_Worker] = []
        self._waiting: list[tuple[int, Pack]] = []
        self._busy: dict[int, Pack] = {}
        self._stopped = False

    def go(self, packs: Sequence[Pack], enough: Callable[[], bool] = lambda: False) -> list[Results | Lost | None]:
        """The result of each pack, in their order; None for those that were not begun before `stop`.

        `enough` is asked now and then whether to stop.
        """
        results: list[Results | Lost | None] = [None] * len(packs)
        self._waiting = list(enumerate(packs))
        try:
            with ThreadPoolExecutor(self.workers) as threads:
                slots = [threads.submit(self._slot, results) for _ in range(self.workers)]
                try:
                    while wait(slots, timeout=SECONDS_BETWEEN_LOOKS).not_done:
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
            for worker in self._workers:
                worker.tell(word)

    def _slot(self, results: list[Results | Lost | None]) -> None:
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
        """The first pack that there is room for, once there is; None where none is to begin any more."""
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
            time.sleep(SECONDS_BETWEEN_LOOKS)


class _Worker:
    """A process, and the line to it."""

    def __init__(self, owner: Processes) -> None:
        self.owner = owner
        self._sending = threading.RLock()  # what is told may come from a signal's handler
        context = get_context("spawn")
        self.here, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,))
        # This thread's processes inherit it: Ctrl-C, which a terminal sends to all, is for us to pass on. The tracker
        # of multiprocessing comes first, as starting it lets the signal through again.
        if sys.platform != "win32":
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.process.start()
        there.close()  # the process has its own now, and its end must be the end of the line
        with owner._lock:
            owner._workers.append(self)
            if owner._stopped:
                self.tell(STOP)

    def tell(self, word: Any) -> None:
        with self._sending, suppress(OSError):  # whoever has died is found out when we listen
            self.here.send(word)

    def do(self, pack: Pack, device: str) -> Results:
        self.tell((self.owner.run, pack, device))
        result = self._listen()
        if isinstance(result, _Error):
            raise ReinflectError(result.message)
        if isinstance(result, _Bug):
            raise RuntimeError(f"in the process that trained {pack.name}:\n{result.traceback}")
        if isinstance(result, PackError):
            raise result
        return result

    def _listen(self) -> Results | PackError | _Error | _Bug:
        while True:
            try:
                word = self.here.recv()
            except (EOFError, OSError):
                raise PackError("process") from None
            if isinstance(word, _Done):
                return word.result
            with self.owner._lock:
                self.owner.report(word)

    def close(self) -> None:
        with self.owner._lock:
            self.owner._workers.remove(self)
        self.here.close()  # at which it ends
        self.process.join()
        self.process.close()


# In the process:

_stopped = threading.Event()


def _serve(line: Connection) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    work: SimpleQueue[tuple[Run, Pack, str]] = SimpleQueue()
    threading.Thread(target=_obey, args=(line, work), daemon=True).start()
    with suppress(OSError):  # if nobody listens any more
        while True:
            run, pack, device = work.get()
            result = _work(line, run, pack, device)
            if device == "cuda":  # others wait for its memory
                gc.collect()
                with suppress(RuntimeError):  # of a GPU that was lost
                    torch.cuda.empty_cache()
            line.send(_Done(result))


def _obey(line: Connection, work: "SimpleQueue[tuple[Run, Pack, str]]") -> None:
    """Do what we are told; without the process that started us there is nobody to work for."""
    try:
        while (word := line.recv()) != QUIT:
            if word == STOP:
                _stopped.set()
            else:
                work.put(word)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(1)


def _work(line: Connection, run: Run, pack: Pack, device: str) -> Results | PackError | _Error | _Bug:
    try:
        return run(pack, line.send, _stopped.is_set, device=device)
    except ReinflectError as error:  # as text: not every exception survives the way between processes
        return _Error(str(error))
    except PackError as failure:
        return PackError(failure.kind, failure.reason)
    except Exception:
        return _Bug(traceback.format_exc())
