"""Trains one pack, in any process, and classifies its failures by what can be done about them."""

import gc
import math
import platform
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch

from reinflect import __version__
from reinflect.decode.search import Predictions
from reinflect.ensemble.member import Numbers, Trained
from reinflect.errors import InputError
from reinflect.layers.examples import Examples, Stack
from reinflect.layers.operations import one_thread
from reinflect.learn import loop
from reinflect.learn.scoring import joined, predict_all
from reinflect.run.pack_files import PackResult
from reinflect.run.packs import Pack
from reinflect.run.store import Store
from reinflect.systems import SYSTEMS

Failure = Literal["memory", "gpu", "process"]
"""memory: not enough. gpu: this process cannot use it any more. process: it ended."""
SHORT_OF_MEMORY = (
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",
)
GPU_LOST = (
    "CUDA error",
    "Triton Error [CUDA]",
    "CUDA driver",
    "CUDA unknown error",
    "CUBLAS_STATUS",
    "CUDNN_STATUS",
    "No CUDA GPUs are available",
    "device-side assert",
    "uncorrectable ECC error",
)
"""Messages of torch, Triton and their libraries, in errors without a class of their own."""


class PackError(Exception):
    """A pack could not be trained; another way may work."""

    def __init__(self, kind: Failure, reason: str = "") -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


def train_pack(
    pack: Pack, store: Store, stop: Callable[[], bool] = lambda: False, device: str = "cpu", seconds: float = math.inf
) -> PackResult:
    """Train or resume a pack, and have its models predict; checkpoints are so many seconds apart.

    A stopped pack has the best models so far. Raises a `PackError` if another way may work.
    """
    checkpoint = store.checkpoint(pack, seconds)
    with classify_failures(), one_thread(device), store.taken(pack):
        trained, numbers, finished = loop.train(
            pack.specs, device=device, checkpoint=checkpoint, log=store.log(pack), stop=stop
        )
        models = _with_predictions(pack, trained, numbers, device)
        name = torch.cuda.get_device_name() if device == "cuda" else device
        if store.kept_numbers is None:
            numbers = {}
        result = PackResult(pack.name, models, finished, name, checkpoint.seconds, numbers=numbers)
    if device == "cuda":  # other processes wait for its memory
        gc.collect()
        torch.cuda.empty_cache()
    return replace(result, log=store.log(pack).read_bytes())


def _with_predictions(pack: Pack, trained: list[Trained], numbers: Mapping[str, Numbers], device: str) -> list[Trained]:
    """The models with their predictions for the dev items and the further items of their lessons."""
    usable = [(spec, model) for spec, model in zip(pack.specs, trained, strict=True) if model.usable]
    if not usable:
        return trained
    system, settings = SYSTEMS[pack.system], pack.specs[0].settings
    tasks = [(spec.lesson, spec.settings) for spec, _ in usable]
    lessons = list(dict.fromkeys(tasks))
    files = [Examples.to_inflect(system, (*lesson.dev, *lesson.asked), lesson.inventory, by) for lesson, by in lessons]
    models = [(spec.lesson.inventory, numbers[model.key]) for spec, model in usable]
    parameters, allowed = joined(system, settings, models, device)
    decoder = system.equations.decoder(parameters, settings, allowed)
    predictions = predict_all(decoder, Stack(files, device), [lessons.index(task) for task in tasks])
    complete = {model.key: model for model in trained}
    for (spec, model), (forms, scores) in zip(usable, predictions, strict=True):
        dev = len(spec.lesson.dev)
        split = Predictions(forms[:dev], scores[:dev]), Predictions(forms[dev:], scores[dev:])
        complete[model.key] = replace(model, dev=split[0], asked=split[1])
    return list(complete.values())


def train_elsewhere(
    pack: Pack, store: Store, stop: Callable[[], bool], device: str, wanted: Mapping[str, str]
) -> PackResult:
    """Train a pack where the folder of the store may not exist; checkpoints would end with the worker.

    Refuses to train with other versions than are wanted.
    """
    if complaint := differing(versions(), wanted):
        raise InputError(f"a Dask worker {complaint}", "start workers from the same environment, with --nthreads 1")
    with TemporaryDirectory() as folder:
        return train_pack(pack, replace(store, state=Path(folder)), stop, device)


def versions() -> dict[str, str]:
    """What must be the same wherever packs of one command are trained."""
    try:
        distributed = version("distributed")
    except PackageNotFoundError:
        distributed = "none"
    return {
        "reinflect": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.split("+")[0],
        "distributed": distributed,
    }


def differing(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Such as `has reinflect 0.1, not 0.2 as here`; empty if all versions are the same."""
    other = [f"{name} {there.get(name)}, not {number}" for name, number in here.items() if there.get(name) != number]
    return f"has {', '.join(other)} as here" if other else ""


@contextmanager
def classify_failures() -> Iterator[None]:
    """Raise errors that are not bugs as a `PackError`, and release the memory of the failed work."""
    failure = None
    try:
        yield
    except Exception as error:
        chain: list[BaseException] = [error]  # an error of memory may become another, on the way out of a graph
        while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
            chain.append(cause)
        failure = _failure(chain)
        if failure is None:
            raise
        for link in chain:
            traceback.clear_frames(link.__traceback__)  # the tensors of a failed update live in its frames
    if failure is not None:
        gc.collect()
        if failure.kind == "memory":
            with suppress(RuntimeError):  # of a GPU that was lost before
                torch.cuda.empty_cache()
        raise failure


def _failure(chain: list[BaseException]) -> PackError | None:
    kinds: list[tuple[Failure, tuple[type[Exception], ...], tuple[str, ...]]] = [
        ("memory", (MemoryError, torch.OutOfMemoryError), SHORT_OF_MEMORY),
        ("gpu", (torch.AcceleratorError,), GPU_LOST),
    ]
    for kind, classes, phrases in kinds:
        for error in chain:
            text = str(error)
            if isinstance(error, classes) or (
                isinstance(error, RuntimeError) and any(phrase in text for phrase in phrases)
            ):
                return PackError(kind, next(iter(text.splitlines()), "").strip())
    return None
