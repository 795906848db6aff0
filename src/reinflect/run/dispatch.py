"""Sends packs to the workers of a Dask cluster, and writes the files that they send back.

A worker needs neither the data nor this machine's disk. When a worker is lost, Dask gives its pack to another, where
the pack starts again: its checkpoints are lost with the worker.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reinflect.errors import InputError, ReinflectError
from reinflect.run.cluster import PAUSE, Cluster, lost_means, no_workers
from reinflect.run.folder import WorkFolder
from reinflect.run.packing import weight
from reinflect.run.packs import Pack, PackResult, half_names
from reinflect.run.resources import Resources, on_interrupt
from reinflect.run.retries import Lost, final_error
from reinflect.run.train_pack import Standing

if TYPE_CHECKING:
    from distributed import Future

SECONDS_BETWEEN_CHECKS = 2.0
"""Of which workers there are."""
RETRIES = 3
"""Of a pack whose worker reports an error; the scheduler limits how many workers may die with one pack."""
FAILURES_TO_DISMISS = 2
"""Packs that fail at a worker, with none trained in between, before it is dismissed: a worker at which everything fails
is always free, and would be given every pack."""
FAILURES_TO_END = 10
"""Packs that fail in a row at the last worker, which is not dismissed, before training ends."""
AHEAD = 2
"""Packs sent for each worker. Not all at once: the scheduler keeps them in memory."""
REPORTS_A_SECOND = 100
"""Progress reports of all workers together."""


def run_packs(
    cluster: Cluster, work: Sequence[Pack], folder: WorkFolder, resources: Resources
) -> list[PackResult | None]:
    """Train packs, and keep their files; a stopped pack starts from its beginning next time."""
    with lost_means(cluster):
        return _Dispatch(cluster, work, folder, resources).go(resources.enough)


class _Dispatch:
    """Packs that wait, are at workers, or are done."""

    def __init__(self, cluster: Cluster, work: Sequence[Pack], folder: WorkFolder, resources: Resources) -> None:
        self.cluster, self.client, self.work, self.folder = cluster, cluster.client, work, folder
        self.watcher = resources.watcher
        # The longest first: then the last packs, for which some workers wait, are short.
        self.waiting = sorted(range(len(work)), key=lambda number: weight(work[number], cluster.device))
        self.running: dict[str, tuple[int, Future[Any]]] = {}
        self.results: list[PackResult | None] = [None] * len(work)
        self.names = [pack.name for pack in work]
        self.begun: set[str] = set()
        self.retried: dict[str, list[str]] = {}
        self.lost: list[Lost] = []
        self.failed: list[str] = []
        self.workers: set[str] = set()
        self.in_a_row: dict[str, list[str]] = {}
        """The packs that failed at a worker since it trained one, unless they had failed elsewhere before."""
        self.known, self.dismissed = set(cluster.checked), set[str]()
        self.last_check = -SECONDS_BETWEEN_CHECKS
        self.had_workers = time.monotonic()
        self.stopped = threading.Event()
        self.topic = f"reinflect-{uuid4().hex[:12]}"
        self.events: SimpleQueue[Any] = SimpleQueue()

    def go(self, enough: Callable[[], bool]) -> list[PackResult | None]:
        self.client.subscribe_topic(self.topic, lambda event: self.events.put(event[1]))
        try:
            with on_interrupt(self.stopped.set, self.watcher):
                while (self.waiting or self.running) and not self.stopped.is_set() and not enough():
                    self.check_workers()
                    self.submit()
                    with suppress(Empty):
                        self.handle(self.events.get(timeout=PAUSE))
                        while True:
                            self.handle(self.events.get_nowait())
                for _, future in list(self.running.values()):
                    if future.status == "finished":
                        self.collect(future)
        finally:
            with suppress(OSError, ValueError, CancelledError):
                self.client.unsubscribe_topic(self.topic)
                self.client.cancel([future for _, future in self.running.values()])
        if self.lost or self.failed:
            raise ReinflectError("; ".join([*([str(final_error(self.lost, None))] if self.lost else []), *self.failed]))
        return self.results

    def check_workers(self) -> None:
        if self.client.status != "running":
            raise CancelledError
        now = time.monotonic()
        if now - self.last_check < SECONDS_BETWEEN_CHECKS:
            return
        self.last_check, before, found = now, len(self.workers), self.client.nthreads()
        if new := {
            address: threads for address, threads in found.items() if address not in self.known | self.dismissed
        }:
            usable, complaints = self.cluster.check(new, gpu=self.cluster.device == "cuda")
            self.known |= set(usable)  # a worker that did not answer is asked again
            for address, complaint in complaints.items():
                self.dismiss(address, complaint)
        self.workers = set(found) - self.dismissed
        if len(self.workers) != before:
            self.watcher.begin(self.names, max(1, len(self.workers)))
        if self.workers:
            self.had_workers = now
        elif now - self.had_workers > self.cluster.where.wait:
            raise no_workers(self.cluster)

    def dismiss(self, address: str, complaint: str) -> None:
        self.dismissed.add(address)
        self.watcher.note(f"note: {complaint}; it is not used any more")
        self.client.retire_workers([address])

    def submit(self) -> None:
        from reinflect.run.worker import train_pack

        while self.waiting and len(self.running) < AHEAD * len(self.workers):
            number = self.waiting.pop()
            pack = self.work[number]
            key = f"{pack.name}-{self.topic}"
            future = self.client.submit(
                train_pack,
                pack,
                self.topic,
                device=self.cluster.device,
                save_models=self.folder.parameters is not None,
                exact=self.folder.decimals is None,
                seconds_a_report=max(1.0, len(self.workers) / REPORTS_A_SECOND),
                key=key,
                retries=RETRIES,
                pure=False,
            )
            self.running[key] = number, future
            future.add_done_callback(self.events.put)

    def handle(self, event: "Mapping[str, Any] | Future[Any]") -> None:
        """Handle the event of a worker, or a pack that is done."""
        if not isinstance(event, Mapping):
            self.collect(event)
            return
        name = event["pack"]
        if "standing" in event:
            self.watcher.standing(Standing(**event["standing"]))
        elif "note" in event:
            self.watcher.note(event["note"])
        elif "halved" in event:
            if event["halved"] in self.names:  # else another worker did so before, and died
                place = self.names.index(event["halved"])
                self.names[place : place + 1] = half_names(event["halved"])
                self.watcher.begin(self.names, max(1, len(self.workers)))
        elif "failed" in event:
            self.begun.discard(name)
            self.retry(name, f"{name} failed at the worker {event['worker']} ({event['failed']}); trying again")
            self.count_failure(event["worker"], name, event["failed"])
        elif name in self.begun:
            self.retry(name, f"the worker that trained {name} ended unexpectedly; {event['worker']} starts it again")
        else:
            self.begun.add(name)

    def count_failure(self, worker: str, name: str, reason: str) -> None:
        """Dismiss a worker at which several packs failed that failed nowhere else."""
        if worker in self.dismissed or any(name in packs for other, packs in self.in_a_row.items() if other != worker):
            return
        packs = self.in_a_row.setdefault(worker, [])
        if name not in packs:
            packs.append(name)
        if self.workers - self.dismissed - {worker}:
            if len(packs) >= FAILURES_TO_DISMISS:
                several = " and ".join(packs)
                self.dismiss(worker, f"{several} failed one after the other at the Dask worker at {worker} ({reason})")
        elif len(packs) >= FAILURES_TO_END:
            found = f"{len(packs)} packs in a row failed at {worker}, the last Dask worker ({reason})"
            raise InputError(found, "correct that and run the same command again: finished packs are kept")

    def retry(self, name: str, text: str) -> None:
        self.retried.setdefault(name, []).append(text)
        self.watcher.note(f"note: {text}")

    def collect(self, future: "Future[Any]") -> None:
        """Write the files of a pack that is done, or note that it cannot be trained."""
        from distributed import KilledWorker

        from reinflect.run.worker import first_line

        key = str(future.key)
        if key not in self.running:
            return
        if future.status not in ("finished", "error"):  # the scheduler was restarted
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
            self.folder.write_files(pack, made["files"])
            if made["lost"]:
                self.lost.append(Lost(*made["lost"]))
            else:
                self.in_a_row.pop(made["worker"], None)
            retried = (*self.retried.get(pack.name, ()), *made["retried"])
            self.results[number] = PackResult(pack.name, [], made["lost"] is None, retried=retried)
