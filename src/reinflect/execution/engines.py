"""Who trains the packs of a benchmark: this process and others that it starts, or the workers of a Dask cluster.

What is trained, and what becomes of it, is the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from reinflect.execution.cluster import Cluster, Where, connected
from reinflect.execution.dispatch import run_packs as run_packs_on_cluster
from reinflect.execution.execute import Watcher, run_packs
from reinflect.execution.packing import memory_of_the_gpu, part_of_a_gpu
from reinflect.execution.packs import train_pack
from reinflect.execution.run import Results
from reinflect.execution.state import State
from reinflect.files import atomic_path
from reinflect.training.lesson import Pack


@dataclass(frozen=True)
class Places:
    """Where everything goes that becomes of packs."""

    packs: Path
    logs: Path
    parameters: Path | None
    """None where models are not kept."""
    state: State
    seconds_between: float
    """Checkpoints, of those who take any."""

    def keep(self, pack: Pack, files: Mapping[str, Mapping[str, bytes]]) -> None:
        """Write the files of a pack that was trained elsewhere; that which makes it done comes last."""
        for kind, folder in (("parameters", self.parameters), ("logs", self.logs), ("packs", self.packs)):
            for name, content in files[kind].items():
                assert folder is not None
                with atomic_path(folder / Path(name).name) as part:
                    part.write_bytes(content)
        self.state.checkpoint(pack.stem).unlink(missing_ok=True)  # of an earlier run that trained it here


class Engine(Protocol):
    """Trains packs."""

    device: str
    budget: int | None
    """Bytes of a GPU's memory that a pack may take; None on a CPU."""

    def train(
        self, plan: Sequence[Pack], places: Places, watcher: Watcher, enough: Callable[[], bool]
    ) -> list[Results | None]:
        """What became of each pack, None where it has to be taken up another time; see `engine.run_packs`."""
        ...


class Here:
    """Processes on this machine."""

    def __init__(self, device: str, trainers: int, budget: int | None = None) -> None:
        """No pack takes more than a part of a GPU's memory, unless a budget says otherwise."""
        self.device, self.trainers = device, trainers
        self.memory = memory_of_the_gpu() if device == "cuda" else None
        self.budget = budget or (self.memory and part_of_a_gpu(self.memory))

    def train(
        self, plan: Sequence[Pack], places: Places, watcher: Watcher, enough: Callable[[], bool]
    ) -> list[Results | None]:
        run = partial(
            train_pack,
            folder=places.packs,
            state=places.state,
            logs=places.logs,
            parameters=places.parameters,
            seconds_between=places.seconds_between,
        )
        return run_packs(
            plan,
            run,
            device=self.device,
            workers=self.trainers,
            room=self.memory,
            watcher=watcher,
            state=places.state,
            enough=enough,
        )


class OnDask:
    """The workers of a cluster."""

    def __init__(self, cluster: Cluster, budget: int | None = None) -> None:
        self.cluster, self.device = cluster, cluster.device
        self.budget = budget or cluster.gpu_memory

    def train(
        self, plan: Sequence[Pack], places: Places, watcher: Watcher, enough: Callable[[], bool]
    ) -> list[Results | None]:
        save = places.parameters is not None
        return run_packs_on_cluster(self.cluster, plan, places.keep, save_models=save, watcher=watcher, enough=enough)


@contextmanager
def engine(where: Where | None, *, device: str, trainers: int, budget: int | None = None) -> Iterator[Engine]:
    """That of a Dask cluster, if one is named, for as long as the block lasts."""
    if where is None:
        yield Here(device, trainers, budget)
    else:
        with connected(where, device) as cluster:
            yield OnDask(cluster, budget)
