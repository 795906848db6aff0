"""What a worker of Dask is asked to do: say what it is, and train the pack of a parcel.

Everything that a worker is sent and sends back is plain data, and it keeps nothing on its disk.
"""

import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import torch

from reinflect import __version__
from reinflect.errors import ReinflectError
from reinflect.execution.failures import PackError
from reinflect.execution.packing import memory_of_the_gpu
from reinflect.execution.packs import train_pack
from reinflect.execution.parcels import opened
from reinflect.execution.retries import Lost, Retries
from reinflect.execution.run import Results, Standing
from reinflect.execution.state import State
from reinflect.training.lesson import Pack

KINDS = ("parameters", "logs", "packs")
"""The files of a pack, in the order in which they are kept: with the last one it is done."""
ENDING = (distributed.Status.closing, distributed.Status.closed)
SECONDS_TO_SAY = 2.0
"""For words of a process to be heard before it goes on, or ends."""


def about() -> dict[str, Any]:
    """What has to be known of a worker; of the client, that which has to be the same."""
    return {"versions": versions(), "gpu": _gpu()}


def versions() -> dict[str, str]:
    return {
        "reinflect": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.split("+")[0],
        "distributed": version("distributed"),
    }


def _gpu() -> dict[str, Any] | None:
    """Which it is, so that it is known who shares it, and how much memory packs may take there."""
    memory = memory_of_the_gpu()
    return None if memory is None else {"name": str(torch.cuda.get_device_properties(0).uuid), "memory": memory}


class UnwantedError(Exception):
    """Nobody waits for this pack any more: it was cancelled, or whoever asked for it is gone."""


def train_parcel(
    content: bytes, topic: str, *, device: str, save_models: bool, seconds_a_report: float
) -> dict[str, Any]:
    """Train a pack and give back its files. Events of the topic say how far it is, every so many seconds."""
    worker = distributed.get_worker()
    pack, key = opened(content), worker.get_current_task()

    def tell(**what: Any) -> None:
        worker.log_event(topic, {"pack": pack.name, "worker": worker.address} | what)

    def stop() -> bool:
        task = worker.state.tasks.get(key)
        if task is None or task.state != "executing" or worker.status in ENDING:
            raise UnwantedError
        return False

    tell(begun=True)
    try:
        with TemporaryDirectory(dir=worker.local_directory) as folder:
            found = train_in(
                Path(folder),
                pack,
                tell,
                stop,
                device=device,
                save_models=save_models,
                seconds_a_report=seconds_a_report,
            )
            return {
                "worker": worker.address,
                "lost": [found.pack, found.kind, found.reason] if isinstance(found, Lost) else None,
                "retried": list(found.retried) if isinstance(found, Results) else [],
                "files": {kind: _read(Path(folder, kind)) for kind in KINDS},
            }
    except UnwantedError:
        raise
    except Exception as error:
        tell(failed=first_line(error))
        time.sleep(SECONDS_TO_SAY)  # whoever sent it may want it to go elsewhere
        if isinstance(error, ReinflectError):  # as text: not every exception of ours survives the way
            raise RuntimeError(str(error)) from None
        raise


def first_line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, ReinflectError) else f"{type(error).__name__}: {text}"


def train_in(
    folder: Path,
    pack: Pack,
    tell: Callable[..., None],
    stop: Callable[[], bool],
    *,
    device: str,
    save_models: bool = False,
    seconds_a_report: float = 1.0,
) -> Results | Lost | None:
    """Train a pack in a folder, as a benchmark does in its own; no checkpoints, as they would end with the folder."""
    for kind in KINDS:
        (folder / kind).mkdir()
    state, said = State(folder / "training"), -math.inf

    def report(now: Standing) -> None:
        nonlocal said
        if not now.running or time.monotonic() - said >= seconds_a_report:
            said = time.monotonic()
            tell(standing=asdict(now))

    train = partial(
        train_pack,
        state=state,
        folder=folder / "packs",
        logs=folder / "logs",
        parameters=folder / "parameters" if save_models else None,
        seconds_between=math.inf,
    )

    def attempt(pack: Pack, device: str) -> Results:
        try:
            return train(pack, report, stop, device=device)
        except PackError as failure:
            if failure.kind == "gpu":
                _end(tell, failure.reason)
            raise

    retries = Retries(
        device,
        state=state,
        note=lambda text: tell(note=text),
        halved=lambda pack: tell(halved=pack.name),
        processes=True,
    )
    with state.held():
        return retries.see_through(pack, attempt, stop)


def _end(tell: Callable[..., None], reason: str) -> None:
    """A process that lost its GPU is of no use any more: Dask starts another, and gives the pack to one that works."""
    tell(note=f"note: the GPU of a worker failed ({reason}); the worker ends")
    time.sleep(SECONDS_TO_SAY)
    os._exit(1)


def _read(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
