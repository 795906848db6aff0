"""Engines train packs: in this process and others it starts, or on the workers of a Dask cluster."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from reinflect.run.cluster import connected
from reinflect.run.dispatch import run_packs as run_packs_on_cluster
from reinflect.run.folder import WorkFolder
from reinflect.run.packing import memory_of_the_gpu, part_of_a_gpu
from reinflect.run.packs import Pack, PackResult
from reinflect.run.processes import Processes
from reinflect.run.resources import Resources, on_interrupt
from reinflect.run.retries import Lost, Retries, final_error
from reinflect.run.train_pack import run_pack


@dataclass(frozen=True)
class Engine:
    """Trains packs on a device."""

    device: str
    budget: int | None
    """Bytes of GPU memory a pack may take; None on a CPU."""
    train: Callable[[Sequence[Pack], WorkFolder], list[PackResult | None]]
    """The result of each pack; None for those stopped before their turn."""


@contextmanager
def engine(resources: Resources) -> Iterator[Engine]:
    """The engine these resources ask for, connected while the block lasts."""
    if resources.cluster is not None:
        with connected(resources.cluster, resources.device) as cluster:
            budget = resources.pack_memory or cluster.gpu_memory
            yield Engine(cluster.device, budget, partial(run_packs_on_cluster, cluster, resources=resources))
        return
    device = resources.device
    workers = resources.trainers or (1 if device == "cuda" else resources.workers)
    memory = memory_of_the_gpu() if device == "cuda" else None
    train = partial(run_packs, resources=resources, workers=workers, room=memory)
    yield Engine(device, resources.pack_memory or (memory and part_of_a_gpu(memory)), train)


def run_packs(
    packs: Sequence[Pack], folder: WorkFolder, resources: Resources, *, workers: int, room: int | None
) -> list[PackResult | None]:
    """Train packs in this process, or in several at once that share `room` bytes of memory.

    A pack that fails is tried in other ways (see `execution.retries`); packs without a result are an error at the end.
    """
    watcher, workers, names = resources.watcher, min(workers, len(packs)), [pack.name for pack in packs]
    run = partial(run_pack, folder=folder, seconds_between=resources.checkpoint_seconds)

    def halved(pack: Pack) -> None:
        place = names.index(pack.name)
        names[place : place + 1] = [half.name for half in pack.halves()]
        watcher.begin(names, workers)

    retries = Retries(resources.device, folder=folder, note=watcher.note, halved=halved, processes=workers > 1)
    watcher.begin(names, workers)
    if workers > 1:
        processes = Processes(run, workers, watcher.standing, retries, room)
        with on_interrupt(processes.stop, watcher):
            found = processes.go(packs, resources.enough)
    else:
        interrupted = threading.Event()

        def stop() -> bool:
            return interrupted.is_set() or resources.enough()

        def attempt(pack: Pack, device: str) -> PackResult:
            return run(pack, watcher.standing, stop, device=device)

        with on_interrupt(interrupted.set, watcher):
            found = [retries.see_through(pack, attempt, stop) for pack in packs]
    if lost := [one for one in found if isinstance(one, Lost)]:
        raise final_error(lost, folder)
    return [one for one in found if not isinstance(one, Lost)]
