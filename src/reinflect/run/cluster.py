"""The workers of a Dask cluster: each a process with one thread, which needs neither the data nor this machine's disk.

When a worker is lost, Dask gives its pack to another, where the pack starts again.
"""

import logging
import platform
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch

from reinflect import __version__
from reinflect.errors import InputError, ReinflectError, quoted
from reinflect.run.packs import PARTS_OF_A_GPU, Pack, PackResult, memory_of_the_gpu
from reinflect.run.store import Store
from reinflect.run.work import train_pack

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_WAIT = 60.0
"""For a worker, before the command gives up."""
RETRIES = 3
"""Of a pack whose worker reports an error; the scheduler limits how many workers may die with one pack."""
AHEAD = 2
"""Packs sent for each worker. Not all at once: the scheduler keeps them in memory."""
REMEDY = "start workers from the same environment, with --nthreads 1"


def versions() -> dict[str, str]:
    """What must be the same wherever packs of one command are trained."""
    return {
        "reinflect": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.split("+")[0],
        "distributed": version("distributed"),
    }


# On the workers:


def check_worker(wanted: Mapping[str, str], dask_worker: Any = None) -> tuple[str, int] | None:
    """The name of this worker's GPU and the memory packs may take; an error if the worker is of no use."""
    from distributed import get_worker

    worker, there, complaint = dask_worker or get_worker(), versions(), ""
    if other := [f"{name} {there[name]}, not {number}" for name, number in wanted.items() if there[name] != number]:
        complaint = f"has {', '.join(other)} as here"
    elif (threads := worker.state.nthreads) != 1:
        complaint = f"has {threads} threads, of which only one can train"
    if complaint:
        raise InputError(f"the Dask worker at {worker.address} {complaint}", REMEDY)
    memory = memory_of_the_gpu()
    return None if memory is None else (str(torch.cuda.get_device_properties(0).uuid), memory)


def train_elsewhere(pack: Pack, store: Store, wanted: Mapping[str, str]) -> PackResult:
    """Train a pack where the folder of the store may not exist; checkpoints would end with the worker."""
    check_worker(wanted)
    with TemporaryDirectory() as folder:
        return train_pack(pack, replace(store, state=Path(folder)), unwanted)


def unwanted() -> bool:
    """Whether the pack that this worker trains was cancelled, or its command is gone."""
    from distributed import Status, get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state != "executing" or worker.status in (Status.closing, Status.closed)


# In the command:


class Cluster:
    """A cluster whose first workers have been checked."""

    def __init__(self, client: "Client", device: str) -> None:
        self.client, self.address = client, client.scheduler_info()["address"]
        self.executor: Executor = client.get_executor(pure=False, retries=RETRIES)
        self._had_worker = time.monotonic()
        while not self.limit():
            time.sleep(0.2)
        with self._lost_means():
            gpus = client.run(check_worker, versions(), on_error="return")
        for address, error in gpus.items():
            if isinstance(error, InputError):
                raise error
            if isinstance(error, BaseException):
                finding = f"the Dask worker at {address} cannot run this version of reinflect ({first_line(error)})"
                raise InputError(finding, REMEDY)
        if device == "cuda" and not all(gpus.values()):
            raise InputError("found workers without a GPU", "start them where there is one, or use --device cpu")
        self.device = "cuda" if device != "cpu" and all(gpus.values()) else "cpu"
        shared = Counter(name for name, _ in filter(None, gpus.values()))
        memory = [size // max(PARTS_OF_A_GPU, shared[name]) for name, size in filter(None, gpus.values())]
        self.budget = min(memory) if self.device == "cuda" else None
        """Bytes of a worker's GPU that a pack may take."""

    def limit(self) -> int:
        """How many packs to have sent; an error if the scheduler is gone, or has had no worker for too long."""
        with self._lost_means():
            if self.client.status != "running":
                raise OSError
            workers = len(self.client.nthreads())
        if workers:
            self._had_worker = time.monotonic()
        elif time.monotonic() - self._had_worker > SECONDS_TO_WAIT:
            raise InputError(
                f"the Dask scheduler at {self.address} has had no worker for {SECONDS_TO_WAIT:g} s",
                f"start some, such as dask worker {self.address} --nthreads 1",
            )
        return AHEAD * workers

    @contextmanager
    def _lost_means(self) -> Iterator[None]:
        """Explain the errors Dask raises when the scheduler is gone."""
        try:
            yield
        except OSError:
            raise ReinflectError(
                f"lost the Dask scheduler at {self.address}; finished packs are kept: run the same command again when "
                "it is back, or without --dask"
            ) from None


@contextmanager
def connected(address: str, device: str) -> Iterator[Cluster]:
    """A cluster with checked workers; `device` is cpu, cuda, or auto for what the workers have."""
    try:
        import dask
        import distributed
        from distributed.versions import VersionMismatchWarning
    except ImportError as error:
        finding = f"--dask needs the package {error.name}, which is not installed"
        raise InputError(finding, "install it: pip install 'reinflect[cluster]'") from None
    # Dask logs and warns of problems that we report in one line, and of the large packs for a GPU.
    configuration = dask.config.set({"distributed.admin.large-graph-warning-threshold": "100 GiB"})
    with configuration, distributed.utils.silence_logging_cmgr(logging.CRITICAL):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)
            named = "scheduler_file" if Path(address).is_file() else "address"
            try:
                client = distributed.Client(**{named: address}, set_as_default=False)
            except (OSError, TypeError, ValueError, LookupError) as error:  # also of a file of something else
                finding = f"could not reach a Dask scheduler at {quoted(address, 80)} ({first_line(error)})"
                remedy = "give tcp://HOST:PORT or the file of dask scheduler --scheduler-file, and check that it runs"
                raise InputError(finding, remedy) from None
        try:
            yield Cluster(client, device)
        finally:
            with suppress(OSError, TimeoutError):
                client.close(timeout=5)  # running packs, too, end at their next update


def first_line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, ReinflectError) else f"{type(error).__name__}: {text}"
