"""Packs on their way to the workers of a Dask cluster, and their files on the way back.

A worker is sent a parcel and gives back the files of a pack, which are written here: it needs neither the data nor
this machine's disk. That a worker is lost, and that a pack then goes to another, is Dask's business; the pack begins
anew there, as its checkpoints would be gone with the worker.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reinflect.errors import ReinflectError
from reinflect.execution.cluster import PAUSE, Cluster, lost_means, no_use, no_workers
from reinflect.execution.execute import Watcher, on_interrupt
from reinflect.execution.packs import weight
from reinflect.execution.parcels import parcel
from reinflect.execution.retries import Lost, final_error
from reinflect.execution.run import Results, Standing
from reinflect.execution.state import half_names
from reinflect.training.lesson import Pack

if TYPE_CHECKING:
    from distributed import Future

SECONDS_A_LOOK = 2.0
"""Between two looks at which workers there are."""
RETRIES = 3
"""Of a pack that fails at a worker which goes on; how many workers may die with one is the scheduler's to say."""
IN_A_ROW = 2
"""Packs that fail at a worker, with none trained in between, before it is sent away: one at which everything fails is
always free, and would have all there are."""
IN_A_ROW_AT_THE_LAST = 10
"""The same of the last worker, which is not sent away but ends the run."""
AHEAD = 2
"""Packs that are on their way for each worker. Not all at once: the scheduler keeps them in memory."""
REPORTS_A_SECOND = 100
"""What all workers together may say of how far they are."""

Keep = Callable[[Pack, Mapping[str, Mapping[str, bytes]]], None]
"""Called with a pack and its files, by kind and name."""


def run_packs(
    cluster: Cluster,
    work: Sequence[Pack],
    keep: Keep,
    *,
    save_models: bool = False,
    watcher: Watcher | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> list[Results | None]:
    """Train packs, and have their files kept; as `engine.run_packs`, but what is stopped begins anew next time."""
    with lost_means(cluster):
        return _Dispatch(cluster, work, keep, watcher or Watcher(), save_models).go(enough)


class _Dispatch:
    """The packs of a run, each of which waits, is on its way, or is done."""

    def __init__(self, cluster: Cluster, work: Sequence[Pack], keep: Keep, watcher: Watcher, save_models: bool) -> None:
        self.cluster, self.client, self.work, self.keep, self.watcher = cluster, cluster.client, work, keep, watcher
        self.save_models = save_models
        # The longest first: what is left for the end, when some workers have nothing to do, is short.
        self.waiting = sorted(range(len(work)), key=lambda number: weight(work[number], cluster.device))
        self.running: dict[str, tuple[int, Future[Any]]] = {}
        self.results: list[Results | None] = [None] * len(work)
        self.names = [pack.name for pack in work]
        self.begun: set[str] = set()
        self.retried: dict[str, list[str]] = {}
        self.lost: list[Lost] = []
        self.failed: list[str] = []
        self.workers: dict[str, int] = {}
        self.in_a_row: dict[str, list[str]] = {}
        """The packs that failed at a worker since it trained one, unless they had failed elsewhere before."""
        self.known, self.away = set(cluster.seen), set[str]()
        self.looked = -SECONDS_A_LOOK
        self.worked = time.monotonic()
        self.stopped = threading.Event()
        self.topic = f"reinflect-{uuid4().hex[:12]}"
        self.heard: SimpleQueue[Any] = SimpleQueue()

    def go(self, enough: Callable[[], bool]) -> list[Results | None]:
        self.client.subscribe_topic(self.topic, lambda event: self.heard.put(event[1]))
        try:
            with on_interrupt(self.stopped.set, self.watcher):
                while (self.waiting or self.running) and not self.stopped.is_set() and not enough():
                    self.look()
                    self.send()
                    self.hear()
                for _, future in list(self.running.values()):
                    if future.status == "finished":
                        self.take(future)
        finally:
            self.end()
        if self.lost or self.failed:
            raise ReinflectError("; ".join([*([str(final_error(self.lost, None))] if self.lost else []), *self.failed]))
        return self.results

    def look(self) -> None:
        """See whether the scheduler is there, and which workers."""
        if self.client.status != "running":
            raise CancelledError
        now = time.monotonic()
        if now - self.looked < SECONDS_A_LOOK:
            return
        self.looked, before = now, len(self.workers)
        found = self.cluster.workers()
        if new := {address: threads for address, threads in found.items() if address not in self.known | self.away}:
            looked = self.cluster.look_at(new, gpu=self.cluster.device == "cuda")
            self.known |= set(looked.about)  # who could not answer is asked again
            for address, complaint in looked.complaints.items():
                self.send_away(address, complaint)
        self.workers = {address: threads for address, threads in found.items() if address not in self.away}
        if len(self.workers) != before:
            self.watcher.begin(self.names, max(1, len(self.workers)))
        if self.workers:
            self.worked = now
        elif now - self.worked > self.cluster.where.wait:
            raise no_workers(self.cluster)

    def send_away(self, address: str, complaint: str) -> None:
        self.away.add(address)
        self.watcher.note(f"note: {complaint}; it is sent away")
        self.client.retire_workers([address])

    def send(self) -> None:
        from reinflect.execution.worker import train_parcel

        while self.waiting and len(self.running) < AHEAD * len(self.workers):
            number = self.waiting.pop()
            pack = self.work[number]
            key = f"{pack.name}-{self.topic}"
            future = self.client.submit(
                train_parcel,
                parcel(pack),
                self.topic,
                device=self.cluster.device,
                save_models=self.save_models,
                seconds_a_report=max(1.0, len(self.workers) / REPORTS_A_SECOND),
                key=key,
                retries=RETRIES,
                pure=False,
            )
            self.running[key] = number, future
            future.add_done_callback(self.heard.put)

    def hear(self) -> None:
        with suppress(Empty):
            word = self.heard.get(timeout=PAUSE)
            while True:
                self.note(word) if isinstance(word, dict) else self.take(word)
                word = self.heard.get_nowait()

    def note(self, word: Mapping[str, Any]) -> None:
        """Hear what a worker says of its pack."""
        name = word["pack"]
        if "standing" in word:
            self.watcher.standing(Standing(**word["standing"]))
        elif "note" in word:
            self.watcher.note(word["note"])
        elif "halved" in word:
            if word["halved"] in self.names:  # not so when another worker did it before, and died
                place = self.names.index(word["halved"])
                self.names[place : place + 1] = half_names(word["halved"])
                self.watcher.begin(self.names, max(1, len(self.workers)))
        elif "failed" in word:
            self.begun.discard(name)
            self.say(name, f"{name} failed at the worker {word['worker']} ({word['failed']}); trying again")
            self.judge(word["worker"], name, word["failed"])
        elif name in self.begun:
            self.say(name, f"the worker that trained {name} ended before its time; {word['worker']} begins it anew")
        else:
            self.begun.add(name)

    def judge(self, worker: str, name: str, reason: str) -> None:
        """A pack failed: see whether that is the worker's fault."""
        if worker in self.away or any(name in packs for other, packs in self.in_a_row.items() if other != worker):
            return
        packs = self.in_a_row.setdefault(worker, [])
        if name not in packs:
            packs.append(name)
        if not set(self.workers) - self.away - {worker}:
            if len(packs) >= IN_A_ROW_AT_THE_LAST:
                raise no_use(worker, len(packs), reason)
        elif len(packs) >= IN_A_ROW:
            several = f"{' and '.join(packs)} failed one after the other at the Dask worker at {worker} ({reason})"
            self.send_away(worker, several)

    def say(self, name: str, text: str) -> None:
        self.retried.setdefault(name, []).append(text)
        self.watcher.note(f"note: {text}")

    def take(self, future: "Future[Any]") -> None:
        """A pack is done, or nothing could be done about it."""
        from distributed import KilledWorker

        from reinflect.execution.worker import first_line

        key = str(future.key)
        if key not in self.running:
            return
        if future.status not in ("finished", "error"):  # which only a scheduler does that began anew
            raise CancelledError
        number, _ = self.running.pop(key)
        pack = self.work[number]
        error = future.exception()
        if isinstance(error, KilledWorker):
            self.lost.append(Lost(pack.name, "process"))
        elif error is not None:
            self.failed.append(f"{pack.name} could not be trained ({first_line(error)})")
        else:
            made = future.result()
            self.keep(pack, made["files"])
            if made["lost"]:
                self.lost.append(Lost(*made["lost"]))
            else:
                self.in_a_row.pop(made["worker"], None)
            retried = (*self.retried.get(pack.name, ()), *made["retried"])
            self.results[number] = Results((), made["lost"] is None, retried)

    def end(self) -> None:
        """Let go of what is not done."""
        with suppress(OSError, ValueError, CancelledError):
            self.client.unsubscribe_topic(self.topic)
            self.client.cancel([future for _, future in self.running.values()])
