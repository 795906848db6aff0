"""Trains one pack, in any process, and classifies its failures by what can be done about them."""

import gc
import math
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Literal

import torch

from reinflect.decode.search import Predictions
from reinflect.ensemble.member import Numbers, Trained
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
SIGNS: dict[Failure, tuple[tuple[type[Exception], ...], str]] = {
    "memory": (
        (MemoryError, torch.OutOfMemoryError),
        "out of memory|CU(BLAS|DNN)_STATUS_ALLOC_FAILED|DefaultCPUAllocator: (can't allocate|not enough) memory",
    ),
    "gpu": (
        (torch.AcceleratorError,),
        r"CUDA (error|driver|unknown error)|Triton Error \[CUDA\]|CU(BLAS|DNN)_STATUS|No CUDA GPUs are available|"
        "device-side assert|uncorrectable ECC error",
    ),
}
"""Classes of errors, and messages of torch, Triton and their libraries in errors without a class of their own."""


class PackError(Exception):
    """A pack could not be trained; another way may work."""

    def __init__(self, kind: Failure, reason: str = "") -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


def train_pack(
    pack: Pack, store: Store, stop: Callable[[], bool] = lambda: False, seconds: float = math.inf
) -> PackResult:
    """Train or resume a pack, and have its models predict; `seconds` are those between checkpoints.

    A stopped pack has the best models so far. Raises a `PackError` if another way may work.
    """
    device, checkpoint, log = pack.device, store.checkpoint(pack, seconds), store.log(pack)
    with classify_failures(), one_thread(device), store.taken(pack):
        trained, numbers, finished = loop.train(pack.specs, device=device, checkpoint=checkpoint, log=log, stop=stop)
        result = PackResult(
            pack.name,
            _with_predictions(pack, trained, numbers),
            finished,
            torch.cuda.get_device_name() if device == "cuda" else device,
            checkpoint.seconds,
            numbers={} if store.kept_numbers is None else numbers,
        )
    if device == "cuda":  # other processes wait for its memory
        gc.collect()
        torch.cuda.empty_cache()
    return replace(result, log=log.read_bytes())


def _with_predictions(pack: Pack, trained: list[Trained], numbers: Mapping[str, Numbers]) -> list[Trained]:
    """The models with their predictions for the dev items and the further items of their lessons."""
    usable = [(spec, model) for spec, model in zip(pack.specs, trained, strict=True) if model.usable]
    if not usable:
        return trained
    system, settings = SYSTEMS[pack.system], pack.specs[0].settings
    tasks = [(spec.lesson, spec.settings) for spec, _ in usable]
    lessons = list(dict.fromkeys(tasks))
    files = [Examples.to_inflect(system, (*lesson.dev, *lesson.asked), lesson.inventory, by) for lesson, by in lessons]
    models = [(spec.lesson.inventory, numbers[model.key]) for spec, model in usable]
    parameters, allowed = joined(system, settings, models, pack.device)
    decoder = system.equations.decoder(parameters, settings, allowed)
    predictions = predict_all(decoder, Stack(files, pack.device), [lessons.index(task) for task in tasks])
    complete = {model.key: model for model in trained}
    for (spec, model), (forms, scores) in zip(usable, predictions, strict=True):
        dev = len(spec.lesson.dev)
        split = Predictions(forms[:dev], scores[:dev]), Predictions(forms[dev:], scores[dev:])
        complete[model.key] = replace(model, dev=split[0], asked=split[1])
    return list(complete.values())


@contextmanager
def classify_failures() -> Iterator[None]:
    """Raise errors that are not bugs as a `PackError`, and release the memory of the failed work."""
    try:
        yield
        return
    except Exception as error:
        chain: list[BaseException] = [error]  # an error of memory may become another, on the way out of a graph
        while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
            chain.append(cause)
        failure = _failure(chain)
        if failure is None:
            raise
        for link in chain:
            traceback.clear_frames(link.__traceback__)  # the tensors of a failed update live in its frames
    gc.collect()
    if failure.kind == "memory":
        with suppress(RuntimeError):  # of a GPU that was lost before
            torch.cuda.empty_cache()
    raise failure


def _failure(chain: list[BaseException]) -> PackError | None:
    for kind, (classes, phrases) in SIGNS.items():
        for error in chain:
            if isinstance(error, classes) or (isinstance(error, RuntimeError) and re.search(phrases, str(error))):
                return PackError(kind, str(error).partition("\n")[0].strip())
    return None
