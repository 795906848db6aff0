"""Trains one pack, and classifies its failures by what can be done about them; executors for this and other processes.

An update on a CPU is too little work to divide among threads; processes use all cores.
"""

import gc
import math
import os
import re
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, parent_process, resource_tracker
from typing import Any, Literal, TypeVar

import torch

from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Numbers, Trained
from reinflect.layers.examples import Examples, Stack
from reinflect.layers.operations import one_thread
from reinflect.learn import loop
from reinflect.learn.scoring import joined, predict_all
from reinflect.run.packs import Pack, PackResult
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
    system, settings = SYSTEMS[pack.specs[0].system], pack.specs[0].settings
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


T = TypeVar("T")

STOP, QUIT = 1, 2
"""What the processes of a pool are told: stop at the next update and return what there is; end at once."""
SECONDS_BETWEEN_LOOKS = 0.2
LOST = BrokenExecutor
"""The error of a call whose process died."""


class Here(Executor):
    """Calls functions in this process, when they are submitted."""

    def submit(self, function: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """Processes that take a call each, and are told when to stop.

    Each is a pool of its own, so that one that dies takes no other with it. The next call replaces it, as it does one
    whose call failed: a process that lost its GPU cannot use another.
    """

    def __init__(self) -> None:
        self._context = get_context("spawn")
        self._flag = self._context.RawValue("b", 0)
        self._pools = dict[ProcessPoolExecutor, Future[Any]]()

    def submit(self, function: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        with without_interrupts():
            for pool in [pool for pool, last in self._pools.items() if last.done()]:
                if self._pools.pop(pool).exception() is None:
                    with suppress(LOST):  # it has died since
                        self._pools[pool] = future = pool.submit(function, *arguments, **options)
                        return future
                pool.shutdown()
            pool = ProcessPoolExecutor(1, self._context, _begin, (self._flag,))
            self._pools[pool] = future = pool.submit(function, *arguments, **options)
        return future

    def stop(self) -> None:
        """Have every call that asks `stopped` return what it has."""
        self._flag.value = STOP

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._flag.value = STOP if kind is None or issubclass(kind, Exception) else QUIT
        for pool in self._pools:
            pool.shutdown()


def map_in_processes(function: Callable[..., T], *arguments: Sequence[Any], workers: int) -> Iterator[T]:
    """As `map`, in several processes; where these die, as for lack of memory, the rest is done in this one."""
    done, workers = 0, min(workers, len(arguments[0]))
    if workers > 1:
        start = get_context("spawn")
        with suppress(LOST), ProcessPoolExecutor(workers, start, _begin) as pool:
            for result in pool.map(function, *arguments):
                done += 1
                yield result
    yield from map(function, *(sequence[done:] for sequence in arguments))


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Processes started in the block, and their threads, ignore Ctrl-C, which a terminal sends to every process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the processes:

_flag: Any = None


def _begin(flag: Any = None) -> None:
    """Ignore Ctrl-C, and end with the process that started this one."""
    global _flag
    _flag = flag
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if flag is not None:
        import torch

        torch.set_num_threads(1)
    threading.Thread(target=_end_in_time, daemon=True).start()


def _end_in_time() -> None:
    parent = parent_process()
    while parent is not None and parent.is_alive() and (_flag is None or _flag.value != QUIT):
        parent.join(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def stopped() -> bool:
    """Whether this process has been told to stop."""
    return bool(_flag.value)
