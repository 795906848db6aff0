"""The workers of a Dask cluster: each a process with one thread, which needs neither the data nor this machine's disk.

When a worker is lost, Dask gives its pack to another, where the pack starts again.
"""

import logging
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reinflect.errors import InputError, ReinflectError, quoted
from reinflect.run.packs import PARTS_OF_A_GPU, memory_of_the_gpu
from reinflect.run.work import differing, versions

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_WAIT = 60.0
"""For a worker, before the command gives up."""
PAUSE = 0.2
RETRIES = 3
"""Of a pack whose worker reports an error; the scheduler limits how many workers may die with one pack."""
AHEAD = 2
"""Packs sent for each worker. Not all at once: the scheduler keeps them in memory."""
CONFIGURATION = {"distributed.admin.large-graph-warning-threshold": "100 GiB"}
"""No warnings about the large packs for a GPU."""


def unwanted() -> bool:
    """Whether the pack that this worker trains was cancelled, or its command is gone."""
    from distributed import Status, get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state != "executing" or worker.status in (Status.closing, Status.closed)


def about() -> dict[str, Any]:
    """What a worker is: its versions, and its GPU's name and the memory packs may take."""
    import torch

    memory = memory_of_the_gpu()
    gpu = None if memory is None else (str(torch.cuda.get_device_properties(0).uuid), memory)
    return {"versions": versions(), "gpu": gpu}


class Cluster:
    """A cluster whose first workers have been checked."""

    def __init__(self, client: "Client", address: str, device: str) -> None:
        self.client, self.address = client, address
        self.executor: Executor = client.get_executor(pure=False, retries=RETRIES)
        self._had_worker = time.monotonic()
        with self._lost_means():
            while not client.nthreads():
                self.check()
                time.sleep(PAUSE)
            gpus = self._gpus(client.nthreads())
        if device == "cuda" and not all(gpus):
            raise InputError("found workers without a GPU", "start them where there is one, or use --device cpu")
        self.device = "cuda" if device != "cpu" and all(gpus) else "cpu"
        shared = Counter(gpu[0] for gpu in gpus if gpu)
        memory = [gpu[1] // max(PARTS_OF_A_GPU, shared[gpu[0]]) for gpu in gpus if gpu]
        self.budget = min(memory) if self.device == "cuda" else None
        """Bytes of a worker's GPU that a pack may take."""

    def _gpus(self, threads: Mapping[str, int]) -> list[Any]:
        """The GPU of each worker; an error if a worker cannot be used."""
        gpus = []
        for address, answer in self.client.run(about, on_error="return").items():
            if isinstance(answer, BaseException):
                complaint = f"cannot run this version of reinflect ({first_line(answer)})"
            elif threads.get(address, 1) != 1:
                complaint = f"has {threads[address]} threads, of which only one can train"
            else:
                complaint = differing(answer["versions"], versions())
                gpus.append(answer["gpu"])
            if complaint:
                remedy = "start workers from the same environment, with --nthreads 1"
                raise InputError(f"the Dask worker at {address} {complaint}", remedy)
        return gpus

    def limit(self) -> int:
        """How many packs to have sent."""
        with self._lost_means():
            return AHEAD * len(self.client.nthreads())

    def check(self) -> None:
        """Raise an error if the scheduler is gone, or has had no worker for too long."""
        with self._lost_means():
            if self.client.status != "running":
                raise OSError
            if self.client.nthreads():
                self._had_worker = time.monotonic()
            elif time.monotonic() - self._had_worker > SECONDS_TO_WAIT:
                raise InputError(
                    f"the Dask scheduler at {self.address} has had no worker for {SECONDS_TO_WAIT:g} s",
                    f"start some, such as dask worker {self.address} --nthreads 1",
                )

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
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(CONFIGURATION))
        # We report the same problems in one line.
        stack.enter_context(distributed.utils.silence_logging_cmgr(logging.CRITICAL))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # `Cluster` checks versions
            named = "scheduler_file" if Path(address).is_file() else "address"
            try:
                client = distributed.Client(**{named: address}, set_as_default=False)
            except (OSError, TypeError, ValueError, LookupError) as error:  # also of a file of something else
                finding = f"could not reach a Dask scheduler at {quoted(address, 80)} ({first_line(error)})"
                remedy = "give tcp://HOST:PORT or the file of dask scheduler --scheduler-file, and check that it runs"
                raise InputError(finding, remedy) from None
        stack.callback(_leave, client)
        cluster = Cluster(client, client.scheduler_info()["address"], device)
        stack.callback(cluster.executor.shutdown, wait=False)  # running packs, too, end at their next update
        yield cluster


def _leave(client: "Client") -> None:
    with suppress(OSError, TimeoutError):
        client.close(timeout=5)


def first_line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, ReinflectError) else f"{type(error).__name__}: {text}"
