"""A Dask cluster: how it is reached, or started on this machine, and whether its workers are fit for the work.

A worker is a process with one thread, for a core or a GPU.
"""

import json
import logging
import re
import signal
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reinflect.errors import InputError, ReinflectError, quoted
from reinflect.execution.packing import part_of_a_gpu
from reinflect.files import read_text

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_WAIT = 60.0
"""For workers, where none are there."""
ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^\s/]+:\d{1,5}")
PAUSE = 0.2
CONFIGURATION = {
    "distributed.admin.large-graph-warning-threshold": "100 GiB",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
}
"""Parcels of a GPU are large, and Dask would say so each time. What it watches a hundred times a second is of no use
for work that takes minutes; nor is giving all memory back at once, which costs a tenth of the speed."""


@dataclass(frozen=True)
class Where:
    """Which cluster: that of a scheduler, or one of so many processes on this machine."""

    scheduler: str | None = None
    workers: int = 1
    wait: float = SECONDS_TO_WAIT


def address_in(path: Path | str) -> str:
    """The address of a scheduler, from the file that it writes."""
    remedy = "name the file that dask scheduler --scheduler-file wrote"
    try:
        found = json.loads(read_text(path))
    except ValueError:
        raise InputError("this is not the file of a scheduler", remedy, path=path) from None
    address = found.get("address") if isinstance(found, dict) else None
    if not isinstance(address, str):
        raise InputError("found no address of a scheduler in it", remedy, path=path)
    return address


@contextmanager
def connected(where: Where, device: str) -> Iterator["Cluster"]:
    """A cluster whose workers are fit for the work; `device` is cpu, cuda, or auto, as they have it."""
    try:
        import dask
        import distributed
    except ImportError:
        raise InputError(
            "--engine dask needs Dask, which is not installed", "install it: pip install 'reinflect[cluster]'"
        ) from None
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(CONFIGURATION))
        stack.enter_context(_quiet())
        if where.scheduler is None:
            with _uninterrupted():
                local = distributed.LocalCluster(
                    n_workers=where.workers,
                    threads_per_worker=1,
                    memory_limit=0,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            client = distributed.Client(stack.enter_context(local), set_as_default=False)
        else:
            client = _client(where.scheduler)
        stack.enter_context(client)
        yield Cluster(client, where, device)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Threads and processes that are started in the block never hear of Ctrl-C, which a terminal sends to all."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets the signal through again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _client(address: str) -> "Client":
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    if not ADDRESS.fullmatch(address):
        raise InputError(f"found {quoted(address)} in the place of a scheduler's address", "give tcp://HOST:PORT")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # we look for ourselves
        try:
            return Client(address, set_as_default=False)
        except OSError as error:
            reason = next(iter(str(error).splitlines()), "no answer")
            raise InputError(
                f"could not reach a Dask scheduler at {quoted(address, 80)} ({reason})",
                "check the address, and that dask scheduler runs there",
            ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """What Dask would log here, we say in our own words."""
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


class Cluster:
    """Workers that are there, and what they can do."""

    def __init__(self, client: "Client", where: Where, device: str) -> None:
        self.client, self.where = client, where
        with lost_means(self):
            self.wait_for_workers(1 if where.scheduler else where.workers)
            found = self.look_at(self.workers())
        self.seen = frozenset(found.about)
        for complaint in found.complaints.values():
            raise InputError(complaint, "start workers from the same environment, with --nthreads 1")
        gpus = [about["gpu"] for about in found.about.values()]
        if device == "cuda" and not all(gpus):
            raise InputError("found workers without a GPU", "start them where there is one, or use --device cpu")
        self.device = "cuda" if device != "cpu" and gpus and all(gpus) else "cpu"
        shared = Counter(gpu["name"] for gpu in gpus if gpu)
        self.gpu_memory = min((part_of_a_gpu(gpu["memory"], shared[gpu["name"]]) for gpu in gpus if gpu), default=None)
        """What a pack may take of a worker's GPU."""

    @property
    def place(self) -> str:
        return self.where.scheduler or "this machine"

    def workers(self) -> dict[str, int]:
        """Their addresses, and how many threads they have."""
        found: dict[str, int] = self.client.nthreads()
        return found

    def wait_for_workers(self, fewest: int) -> None:
        try:
            self.client.wait_for_workers(fewest, timeout=max(self.where.wait, PAUSE))
        except TimeoutError:
            raise no_workers(self) from None

    def look_at(self, workers: Mapping[str, int], *, gpu: bool = False) -> "Looked":
        """Ask workers what they are; whether they have to have a GPU is not known before all have answered once."""
        from reinflect.execution.worker import about, first_line, versions

        answers = self.client.run(about, workers=list(workers), on_error="return") if workers else {}
        complaints, here = {}, versions()
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # gone since
            who = f"the Dask worker at {address}"
            if isinstance(answer, BaseException):
                complaints[address] = f"{who} cannot do what this reinflect asks for ({first_line(answer)})"
                continue
            other = [f"{name} {own}, not {here[name]}" for name, own in answer["versions"].items() if own != here[name]]
            if other:
                complaints[address] = f"{who} has {', '.join(other)} as here"
            elif workers[address] != 1:
                complaints[address] = f"{who} has {workers[address]} threads, of which only one can train"
            elif gpu and not answer["gpu"]:
                complaints[address] = f"{who} has no GPU, which these packs are made for"
        fit = {address: answer for address, answer in answers.items() if isinstance(answer, dict)}
        return Looked({address: answer for address, answer in fit.items() if address not in complaints}, complaints)


@dataclass(frozen=True)
class Looked:
    """What workers said of themselves, and what is wrong with others."""

    about: Mapping[str, Mapping[str, Any]]
    complaints: Mapping[str, str]


@contextmanager
def lost_means(cluster: Cluster) -> Iterator[None]:
    """Say what it means when the scheduler is gone."""
    try:
        yield
    except (OSError, CancelledError):  # whatever we were waiting for
        raise ReinflectError(
            f"lost the Dask scheduler at {cluster.place}; packs that were done are kept: run the same again when it "
            "is there, or with another --engine"
        ) from None


def no_workers(cluster: Cluster) -> ReinflectError:
    return InputError(
        f"the Dask scheduler at {cluster.place} has had no worker for {cluster.where.wait:g} s",
        f"start some, such as dask worker {cluster.where.scheduler or 'ADDRESS'} --nthreads 1, or give them more time "
        "with --wait SECONDS",
    )


def no_use(worker: str, packs: int, reason: str) -> ReinflectError:
    return InputError(
        f"{packs} packs in a row failed at {worker}, the last Dask worker that is left ({reason})",
        "put that right and run the same again: packs that were done are kept",
    )
