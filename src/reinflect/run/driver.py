"""Trains specs: prepares and packs those that are not finished, and trains the packs in one loop over an executor.

A pack that is too large for the memory becomes two halves, down to single models; what a GPU cannot train is trained on
the CPU; a pack whose process died is begun again. Whatever cannot be trained at all, all other packs are kept.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan
from typing import Any

from reinflect.errors import InputError, ReinflectError
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.run.cluster import Cluster, connected, first_line, train_elsewhere, versions
from reinflect.run.packs import PARTS_OF_A_GPU, Pack, PackResult, by_key, memory_of_the_gpu, open_groups, pack_specs
from reinflect.run.store import Store
from reinflect.run.watch import Epochs, Progress, Resources, on_interrupt
from reinflect.run.work import LOST, Failure, Here, PackError, Processes, map_in_processes, stopped, train_pack
from reinflect.systems.kind import UNALIGNED

WORTH_PROCESSES = 20_000
"""Items that take as long to align as processes take to start."""
MOST_DEATHS = 3
"""Of processes that train one pack."""
PAUSE = 0.2
"""Seconds between two looks at the progress."""
FINAL: dict[Failure, tuple[str, str]] = {
    "process": (
        "the process that trained {} ended unexpectedly (killed, or out of memory)",
        "run the same command again, perhaps with fewer --workers",
    ),
    "memory": (
        "not enough memory for even one model of {}",
        "make the models smaller, such as with --set hidden=50, or their batches",
    ),
    "gpu": ("the GPU failed when it trained {}", "run the same command again with --device cpu"),
}
"""Finding and remedy where no attempt succeeded."""


@dataclass(frozen=True)
class Execution:
    """The course of a training; its models are in the store."""

    packs: Sequence[Pack]
    """The packs that this command trained, or began."""
    finished: bool
    preparing: float
    training: float = 0.0
    """Seconds."""
    retried: Sequence[str] = ()
    """Failures, and what was done about them."""
    failed: str | None = None
    """Packs that could not be trained, as an error message; all others were."""


def train_specs(specs: Sequence[ModelSpec], store: Store, resources: Resources, about: str = "") -> Execution:
    """Train the specs that the store, which the caller holds, does not have yet.

    `about` is a note about the data, for a user whose cluster is there: what is wrong with it is said in one line.
    """
    began, note = time.monotonic(), resources.watcher.note
    store.read(note)
    done = by_key(store.results)
    trained = sum(spec.digest in done for spec in specs)
    if trained == len(specs):
        store.note_earlier(specs, [], note)
    if trained == len(specs) or resources.enough():
        return Execution([], trained == len(specs), time.monotonic() - began)
    with ExitStack() as stack:
        scheduler = resources.scheduler
        cluster = stack.enter_context(connected(scheduler, resources.device)) if scheduler else None
        device = cluster.device if cluster else resources.device
        memory = memory_of_the_gpu() if device == "cuda" and not cluster else None
        budget = cluster.budget if cluster else memory and memory // PARTS_OF_A_GPU
        if about:
            note(about)
        groups = prepared(open_groups(specs, done, device), resources)
        packs = [
            replace(piece, specs=unfinished)
            for pack in pack_specs(groups, device, resources.pack_memory or budget)
            for piece in store.pieces(pack)
            if (unfinished := tuple(spec for spec in piece.specs if spec.digest not in done))
        ]
        store.note_earlier(specs, packs, note)
        preparing = time.monotonic() - began
        workers = min(resources.trainers or (1 if device == "cuda" else resources.workers), len(packs))
        executor = cluster.executor if cluster else Processes() if workers > 1 else Here()
        driver = _Driver(packs, store, resources, executor, workers, cluster, memory, trained, len(specs))
        stack.enter_context(on_interrupt(driver.interrupted.set, resources.watcher))
        if cluster is None:
            stack.enter_context(executor)
        try:
            driver.run()
            failed = final_error(driver.lost, store) if driver.lost else None
        except ReinflectError as error:  # what is finished is kept
            failed = str(error)
    training = time.monotonic() - began - preparing
    done = by_key(store.finished)
    finished = all(spec.digest in done for spec in specs)
    return Execution(driver.packs, finished, preparing, training, driver.retried, failed)


@dataclass
class _Driver:
    """Packs that wait, are being trained, or are lost."""

    packs: list[Pack]
    store: Store
    resources: Resources
    executor: Executor
    workers: int
    cluster: Cluster | None
    memory: int | None
    """Of the GPU that packs share."""
    trained: int
    models: int
    """Models that are trained, and models in all."""

    def __post_init__(self) -> None:
        self.waiting, self.running = deque(self.packs), dict[Future[PackResult], Pack]()
        self.epochs, self.deaths = dict[Pack, Epochs](), Counter[str]()
        self.retried, self.lost = list[str](), list[tuple[str, Failure]]()
        self.interrupted = threading.Event()
        self.weight_done, self.first_share = 0, nan
        self.began, self.last_look = time.monotonic(), -PAUSE

    def run(self) -> None:
        """Train all packs, unless `stopped`."""
        while self.running or (self.waiting and not self.stopped()):
            self.submit_what_fits()
            if self.cluster and self.stopped():
                return  # what its workers have begun is lost
            done, _ = wait(self.running, timeout=PAUSE, return_when=FIRST_COMPLETED)
            ended = [(self.running.pop(future), future) for future in done]
            if not isinstance(self.executor, Here):
                self.submit_what_fits()  # so that no worker waits while results are written
            for pack, future in ended:
                self.collect(pack, future)
            if self.look() and isinstance(self.executor, Processes):
                self.executor.stop()

    def stopped(self) -> bool:
        return self.interrupted.is_set() or self.resources.enough()

    def submit_what_fits(self) -> None:
        """Begin the packs for which a worker is free, and there is room in the memory they share."""
        limit = self.cluster.limit() if self.cluster else self.workers
        for pack in list(self.waiting):
            if len(self.running) >= limit or self.stopped():
                return
            taken = sum(other.bytes for other in self.running.values())
            if not self.running or self.memory is None or taken + pack.bytes <= self.memory:
                self.waiting.remove(pack)
                self.submit(pack)

    def submit(self, pack: Pack) -> None:
        store = replace(self.store, results=[])  # for a worker process
        if self.cluster:
            future = self.executor.submit(train_elsewhere, pack, store, versions())
        else:
            most = max(spec.settings.epochs + sum(phase.epochs for phase in spec.lesson.phases) for spec in pack.specs)
            self.epochs[pack] = Epochs(store.log(pack), most)
            stop = stopped if isinstance(self.executor, Processes) else self.look
            future = self.executor.submit(train_pack, pack, store, stop, self.resources.checkpoint_seconds)
        self.running[future] = pack

    def collect(self, pack: Pack, future: "Future[PackResult]") -> None:
        """Keep the result of a pack, or do something about its failure."""
        self.epochs.pop(pack, None)
        try:
            result = future.result()
        except PackError as error:
            self.deal_with(pack, error.kind, error.reason)
        except LOST:
            self.deaths[pack.name] += 1
            self.deal_with(pack, "process")
        except (Exception, CancelledError) as error:
            if self.cluster is None or isinstance(error, ReinflectError):
                raise
            self.cluster.limit()  # which explains that the scheduler is gone
            if type(error).__name__ != "KilledWorker":
                what = f"{pack.name} could not be trained on a Dask worker ({first_line(error)})"
                raise InputError(what, "correct that and run the same command again: finished packs are kept") from None
            self.deaths[pack.name] = MOST_DEATHS  # as many workers as the scheduler sacrifices
            self.deal_with(pack, "process")
        else:
            self.store.put(pack, result)
            if result.finished:
                self.weight_done += pack.weight
                self.trained += len(pack.specs)
                scored = [model.dev_accuracy for model in result.models if model.dev_accuracy >= 0]
                mean = sum(scored) / len(scored) if scored else nan
                self.resources.watcher.finished(pack.name, result.seconds, mean, self.progress())

    def deal_with(self, pack: Pack, kind: Failure, reason: str = "") -> None:
        """Try a pack in another way after a failure; if there is none, it is lost."""
        if self.stopped():
            return
        again = [pack]
        if kind == "memory" and len(pack.specs) > 1:
            again = self.store.halve(pack)
            memory = "this machine" if pack.device == "cpu" else "the GPU"
            text = f"{pack.name} ({len(pack.specs)} models) needs more memory than {memory} has; "
            text += f"training it in two halves, {' and '.join(half.name for half in again)}"
        elif kind == "process" and self.deaths[pack.name] < MOST_DEATHS:
            text = f"the process that trained {pack.name} ended unexpectedly; trying again"
        elif kind == "process" or pack.device == "cpu":
            self.lost.append((pack.name, kind))
            return
        elif kind == "memory":
            again = [pack.on_cpu()]
            text = f"{pack.name} (1 model) needs more memory than the GPU has; training it on the CPU"
        else:
            again, packs = [pack.on_cpu()], "it"
            if isinstance(self.executor, Here):  # this process cannot use the GPU any more
                self.waiting, packs = deque(other.on_cpu() for other in self.waiting), "it and all further packs"
            text = f"the GPU failed while it trained {pack.name} ({reason}); training {packs} on the CPU"
        number = [other.name for other in self.packs].index(pack.name)
        self.packs[number : number + 1] = again
        self.waiting.extendleft(reversed(again))
        self.retried.append(text)
        self.resources.watcher.note(f"note: {text}")

    def look(self) -> bool:
        """Show the progress every so often; whether to stop."""
        if time.monotonic() - self.last_look >= PAUSE:
            self.last_look = time.monotonic()
            self.resources.watcher.progress(self.progress())
        return self.stopped()

    def progress(self) -> Progress:
        weight = float(self.weight_done)
        for pack, epochs in self.epochs.items():
            epochs.read_on()
            weight += pack.weight * epochs.epoch / epochs.epochs
        share = weight / sum(pack.weight for pack in self.packs)
        if isnan(self.first_share):  # what earlier commands did of packs they began took no time
            self.first_share = share
        now = share - self.first_share
        left = (time.monotonic() - self.began) * (1 - share) / now if now > 0 else nan
        running = {pack.name: epochs for pack, epochs in self.epochs.items()}
        return Progress(self.trained, self.models, running, share, left)


def final_error(lost: Sequence[tuple[str, Failure]], store: Store) -> str:
    """The error when all other packs are finished."""
    findings, remedies = [], []
    for kind, (what, remedy) in FINAL.items():
        if names := [name for name, failure in lost if failure == kind]:
            findings.append(what.format(", ".join(names)))
            remedies.append(remedy)
    return f"{', and '.join(findings)}; all other work is kept in {store.state}: {', and '.join(remedies)}"


def prepared(specs: Sequence[ModelSpec], resources: Resources) -> list[ModelSpec]:
    """The specs with their lessons aligned and augmented, each lesson once, the largest first."""
    lessons = sorted(dict.fromkeys(spec.lesson for spec in specs), key=lambda lesson: -len(lesson.train))
    several, watcher = any(lesson.label for lesson in lessons), resources.watcher
    items = sum(len(lesson.train) for lesson in lessons if lesson.alignment != UNALIGNED)
    show: Callable[[str, int, int], None] | None = None if several else watcher.working
    prepare = partial(_added, cache=resources.alignment_cache, show=show)
    complete: dict[Lesson, Lesson] = {}
    workers = resources.workers if several and items >= WORTH_PROCESSES else 1
    for lesson, added in zip(lessons, map_in_processes(prepare, lessons, workers=workers), strict=True):
        complete[lesson] = replace(lesson, aligner=None, augmentations=(), **added)
        if several:
            watcher.working("aligning all files", len(complete), len(lessons))
    return [replace(spec, lesson=complete[spec.lesson]) for spec in specs]


def _added(lesson: Lesson, **more: Any) -> Mapping[str, Any]:
    """What preparing adds to a lesson. Its items stay where they are: lessons of one language share them in a pack."""
    done = lesson.prepared(**more)
    return {"alignments": done.alignments, "phases": done.phases}
