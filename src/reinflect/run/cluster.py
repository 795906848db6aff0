"""A Dask cluster: connecting to it, or starting it on this machine, and checking its workers.

A worker is a process with one thread, for a core or a GPU.
"""

import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from reinflect.errors import InputError, ReinflectError, quoted
from reinflect.files import read_bytes, read_text
from reinflect.run.packing import part_of_a_gpu
from reinflect.run.resources import without_interrupts

if TYPE_CHECKING:
    from distributed import Client, Security

SECONDS_TO_WAIT = 60.0
"""For a first worker."""
ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^\s/]+:\d{1,5}")
PAUSE = 0.2
CONFIGURATION = {
    "distributed.admin.large-graph-warning-threshold": "100 GiB",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
}
"""No warnings about the large packs for a GPU; no monitoring every few milliseconds for work that takes minutes; and
no trimming of memory, which costs a tenth of the speed."""


@dataclass(frozen=True)
class Where:
    """The cluster of a scheduler, or a number of workers to start on this machine."""

    scheduler: str | None = None
    workers: int = 1
    wait: float = SECONDS_TO_WAIT
    tls: tuple[str, str, str] | None = None
    """The files of the authority, the certificate and its key, for a scheduler that asks for them."""


def address_in(path: Path | str) -> str:
    """The address in a scheduler file."""
    try:
        return msgspec.json.decode(read_text(path), type=_SchedulerFile).address
    except ValueError:
        remedy = "give the file that dask scheduler --scheduler-file wrote"
        raise InputError("not a scheduler file", remedy, path=path) from None


class _SchedulerFile(msgspec.Struct):
    address: str


@contextmanager
def connected(where: Where, device: str) -> Iterator["Cluster"]:
    """A cluster with checked workers; `device` is cpu, cuda, or auto for what the workers have."""
    try:
        import cryptography  # noqa: F401 - for the certificate of a local cluster
        import dask
        import distributed

        from reinflect.run.local_cluster import local_cluster
    except ImportError as error:
        found = f"--engine dask needs the package {error.name}, which is not installed"
        raise InputError(found, "install it: pip install 'reinflect[cluster]'") from None
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(CONFIGURATION))
        # We report the same problems in one line.
        stack.enter_context(distributed.utils.silence_logging_cmgr(logging.CRITICAL))
        if where.scheduler is None:
            with without_interrupts():
                local = local_cluster(where.workers)
            client = distributed.Client(stack.enter_context(local), set_as_default=False)
        else:
            client = _client(where.scheduler, where.tls)
        stack.enter_context(client)
        yield Cluster(client, where, device)


def _client(address: str, tls: tuple[str, str, str] | None) -> "Client":
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    if not ADDRESS.fullmatch(address):
        raise InputError(f"found {quoted(address)}, not the address of a scheduler", "give tcp://HOST:PORT")
    if tls and "://" not in address:
        address = f"tls://{address}"
    if tls and not address.startswith("tls://"):
        found = f"found --tls for {quoted(address, 80)}, a scheduler without TLS"
        raise InputError(found, "give tls://HOST:PORT, or leave out --tls")
    security = _security(address, tls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # `Cluster` checks versions
        try:
            return Client(address, set_as_default=False, security=security)
        except OSError as error:
            reason = next(iter(str(error).splitlines()), "no answer")
            also = ", and that the same authority signed both certificates" if tls else ""
            remedy = f"check the address, that dask scheduler is running there{also}"
            raise InputError(f"could not reach a Dask scheduler at {quoted(address, 80)} ({reason})", remedy) from None


def _security(address: str, tls: tuple[str, str, str] | None) -> "Security":
    """The certificate for a scheduler: from these files, or from Dask's own configuration."""
    from distributed import Security

    files = dict(zip(("tls_ca_file", "tls_client_cert", "tls_client_key"), tls or (), strict=False))
    for path in files.values():
        read_bytes(path)  # raises the right error
    made = Security(**files)
    try:
        context = made.get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:
        remedy = "give --tls AUTHORITY CERTIFICATE KEY: PEM files without a password, and the key of this certificate"
        raise InputError(f"the certificate for the scheduler cannot be used ({error})", remedy) from None
    if address.startswith("tls://") and context is None:
        found = f"the scheduler at {quoted(address, 80)} needs a certificate"
        raise InputError(found, "give it with --tls AUTHORITY CERTIFICATE KEY")
    return made


class Cluster:
    """A cluster whose workers have been checked, and what they can do."""

    def __init__(self, client: "Client", where: Where, device: str) -> None:
        self.client, self.where, self.place = client, where, where.scheduler or "this machine"
        with lost_means(self):
            try:
                client.wait_for_workers(1 if where.scheduler else where.workers, timeout=max(where.wait, PAUSE))
            except TimeoutError:
                raise no_workers(self) from None
            found, complaints = self.check(client.nthreads())
        for complaint in complaints.values():
            raise InputError(complaint, "start workers from the same environment, with --nthreads 1")
        self.checked = frozenset(found)
        gpus = [about["gpu"] for about in found.values()]
        if device == "cuda" and not all(gpus):
            raise InputError("found workers without a GPU", "start them where there is one, or use --device cpu")
        self.device = "cuda" if device != "cpu" and gpus and all(gpus) else "cpu"
        shared = Counter(gpu["name"] for gpu in gpus if gpu)
        self.gpu_memory = min((part_of_a_gpu(gpu["memory"], shared[gpu["name"]]) for gpu in gpus if gpu), default=None)
        """Bytes of a worker's GPU that a pack may take."""

    def check(
        self, workers: Mapping[str, int], *, gpu: bool = False
    ) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
        """What usable workers are, and what is wrong with the others. `workers` has their threads by address."""
        from reinflect.run.worker import about, first_line, versions

        answers = self.client.run(about, workers=list(workers), on_error="return") if workers else {}
        found, complaints, here = {}, {}, versions()
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # the worker is gone
            if isinstance(answer, BaseException):
                complaint = f"cannot run this version of reinflect ({first_line(answer)})"
            elif other := [
                f"{name} {own}, not {here[name]}" for name, own in answer["versions"].items() if own != here[name]
            ]:
                complaint = f"has {', '.join(other)} as here"
            elif workers[address] != 1:
                complaint = f"has {workers[address]} threads, of which only one can train"
            elif gpu and not answer["gpu"]:
                complaint = "has no GPU, which these packs need"
            else:
                found[address] = answer
                continue
            complaints[address] = f"the Dask worker at {address} {complaint}"
        return found, complaints


@contextmanager
def lost_means(cluster: Cluster) -> Iterator[None]:
    """Explain the errors Dask raises when the scheduler is gone."""
    try:
        yield
    except (OSError, CancelledError):
        raise ReinflectError(
            f"lost the Dask scheduler at {cluster.place}; finished packs are kept: run the same command again when it "
            "is back, or with another --engine"
        ) from None


def no_workers(cluster: Cluster) -> ReinflectError:
    return InputError(
        f"the Dask scheduler at {cluster.place} has had no worker for {cluster.where.wait:g} s",
        f"start some, such as dask worker {cluster.where.scheduler or 'ADDRESS'} --nthreads 1, or wait longer with "
        "--wait SECONDS",
    )
