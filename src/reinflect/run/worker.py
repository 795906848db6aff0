"""What a Dask worker runs: `about` describes it, `train_pack` trains a pack.

Everything that a worker is sent and sends back is plain data, and it keeps nothing on its disk.
"""

import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import torch

from reinflect import __version__
from reinflect.errors import ReinflectError
from reinflect.run.failures import PackError
from reinflect.run.folder import KINDS, WorkFolder
from reinflect.run.packing import memory_of_the_gpu
from reinflect.run.packs import Pack, PackResult
from reinflect.run.retries import Lost, Retries
from reinflect.run.train_pack import run_pack

ENDING = (distributed.Status.closing, distributed.Status.closed)
SECONDS_TO_SEND = 2.0
"""For events to be sent before a process continues or ends."""


def about() -> dict[str, Any]:
    """The versions, which must be those of the client, and the GPU: its name, and the memory packs may take."""
    memory = memory_of_the_gpu()
    gpu = None if memory is None else {"name": str(torch.cuda.get_device_properties(0).uuid), "memory": memory}
    return {"versions": versions(), "gpu": gpu}


def versions() -> dict[str, str]:
    return {
        "reinflect": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.split("+")[0],
        "distributed": version("distributed"),
    }


class UnwantedError(Exception):
    """The pack was cancelled, or its client is gone."""


def train_pack(pack: Pack, topic: str, **options: Any) -> dict[str, Any]:
    """Train a pack and return its files; events of the topic report its progress. `options` are those of `train_in`."""
    worker = distributed.get_worker()
    key = worker.get_current_task()

    def send(**event: Any) -> None:
        worker.log_event(topic, {"pack": pack.name, "worker": worker.address} | event)

    def stop() -> bool:
        task = worker.state.tasks.get(key)
        if task is None or task.state != "executing" or worker.status in ENDING:
            raise UnwantedError
        return False

    send(begun=True)
    try:
        with TemporaryDirectory(dir=worker.local_directory) as folder:
            found = train_in(Path(folder), pack, send, stop, **options)
            files = {kind: sorted(Path(folder, kind).glob("*")) for kind in KINDS}
            return {
                "worker": worker.address,
                "lost": [found.pack, found.kind] if isinstance(found, Lost) else None,
                "retried": list(found.retried) if isinstance(found, PackResult) else [],
                "files": {kind: {path.name: path.read_bytes() for path in paths} for kind, paths in files.items()},
            }
    except Exception as error:
        if not isinstance(error, UnwantedError):
            send(failed=first_line(error))
            time.sleep(SECONDS_TO_SEND)  # the client may want the pack to be trained elsewhere
        raise


def first_line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, ReinflectError) else f"{type(error).__name__}: {text}"


def train_in(
    folder: Path,
    pack: Pack,
    send: Callable[..., None],
    stop: Callable[[], bool],
    *,
    device: str,
    save_models: bool = False,
    exact: bool = False,
    seconds_a_report: float = 1.0,
) -> PackResult | Lost | None:
    """Train a pack in a temporary folder, without checkpoints, which would end with the folder."""
    work = WorkFolder.inside(folder, save_models=save_models)
    if exact:
        work = replace(work, decimals=None)
    seconds = {"seconds_between": math.inf, "seconds_a_report": seconds_a_report}

    def attempt(pack: Pack, device: str) -> PackResult:
        try:
            return run_pack(pack, lambda now: send(standing=asdict(now)), stop, folder=work, device=device, **seconds)
        except PackError as failure:
            if failure.kind == "gpu":  # a new process may work: Dask starts one, and retries the pack
                send(note=f"note: the GPU of a worker failed ({failure.reason}); the worker ends")
                time.sleep(SECONDS_TO_SEND)
                os._exit(1)
            raise

    retries = Retries(
        device, folder=work, note=lambda text: send(note=text), halved=lambda own: send(halved=own.name), processes=True
    )
    with work.held():
        return retries.see_through(pack, attempt, stop)
