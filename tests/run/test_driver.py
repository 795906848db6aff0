"""What the driver does about failures, in this process, in others and with a GPU that is not there."""

import gc
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from reinflect.ensemble.strategies import Trained
from reinflect.learn import loop
from reinflect.learn.fleet import Fleet
from reinflect.run import driver
from reinflect.run.driver import Execution, train_specs
from reinflect.run.packs import Pack, PackResult
from reinflect.run.store import Store
from reinflect.run.watch import Progress, Resources, Watcher
from reinflect.run.work import (
    LOST,
    Here,
    PackError,
    Processes,
    classify_failures,
    map_in_processes,
    stopped,
    train_pack,
)
from tests.crash.trials import nobody_left, wait_for
from tests.learn.tiny import pack

# What torch and Triton were seen to raise.
MEMORY: list[Exception] = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nGPU 0 has …"),
    RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    RuntimeError("Triton Error [CUDA]: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"),
    MemoryError(),
    RuntimeError("CUDA error: operation failed due to a previous error during capture"),
]
MEMORY[-1].__context__ = MEMORY[0]
GPU: list[Exception] = [
    torch.AcceleratorError("CUDA error: unspecified launch failure\nCUDA kernel errors …", 719),
    RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: uncorrectable ECC error encountered"),
    RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered"),
    RuntimeError("No CUDA GPUs are available"),
]


@pytest.mark.parametrize(
    ("error", "kind"), [*((one, "memory") for one in MEMORY), *((one, "gpu") for one in GPU)], ids=str
)
def test_failures_are_classified(error: Exception, kind: str) -> None:
    with pytest.raises(PackError) as caught, classify_failures():
        raise error
    assert caught.value.kind == kind
    assert "\n" not in caught.value.reason


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), KeyError("CUDA error"), KeyboardInterrupt()])
def test_mistakes_are_not_failures(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, classify_failures():
        raise error
    assert caught.value is error


# The loop, with packs whose training is made up


class Listener(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def progress(self, now: Progress) -> None:
        assert 0 <= now.share <= 1
        assert now.trained <= now.models


def result(own: Pack) -> PackResult:
    """A model's numbers say where it was trained."""
    where = {"on": np.array([own.device != "cpu"], dtype=np.float32)}
    facts: dict[str, Any] = {"dev_accuracy": 50.0, "best_epoch": 1, "usable": True}
    models = [
        Trained(system=spec.system, alignment=spec.lesson.alignment, seed=spec.seed, key=spec.digest, **facts)
        for spec in own.specs
    ]
    return PackResult(own.name, models, numbers={spec.digest: where for spec in own.specs})


Attempt = Callable[[Pack], PackResult]
Go = Callable[..., tuple[Execution, list[str], list[str]]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.beside(tmp_path / "model").held() as store:
        yield store


@pytest.fixture
def go(store: Store, monkeypatch: pytest.MonkeyPatch) -> Go:
    """Trains packs by a made-up attempt; the execution, the attempts, the notes without the word."""

    def trained(
        attempt: Attempt, *packs: Pack, device: str = "cuda", executor: type[Executor] = Here, **more: Any
    ) -> tuple[Execution, list[str], list[str]]:
        attempts, listener = list[str](), Listener()

        def tried(own: Pack, *_: object) -> PackResult:
            attempts.append(f"{own.name} {own.device}")
            return attempt(own)

        class InThisProcess(Processes):
            """Behaves like other processes, but has none."""

            def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
                return Here().submit(function, *arguments, **options)

        for name, value in {
            "train_pack": tried,
            "pack_specs": lambda *_: [replace(own, device=device) for own in packs],
            "prepared": lambda specs, _: specs,
            "memory_of_the_gpu": lambda: 300,
            "Processes": InThisProcess,
        }.items():
            monkeypatch.setattr(driver, name, value)
        specs = [spec for own in packs for spec in own.specs]
        workers = 2 if executor is Processes else 1
        resources = Resources(device, workers=workers, trainers=workers, watcher=listener, **more)
        execution = train_specs(specs, store, resources)
        notes = [note.removeprefix("note: ") for note in listener.notes if "resuming" not in note]
        assert notes == list(execution.retried)
        return execution, attempts, listener.notes

    return trained


def room_for(most: int) -> Attempt:
    """Only so many models fit into the memory of the GPU."""

    def attempt(own: Pack) -> PackResult:
        if own.device == "cuda" and len(own.specs) > most:
            raise PackError("memory", "too much")
        return result(own)

    return attempt


@pytest.mark.parametrize(("models", "most"), [(1, 0), (1, 1), (5, 2), (8, 8), (9, 1), (3, 0), (20, 3)])
def test_a_pack_that_is_too_large_is_halved_until_it_fits(models: int, most: int, go: Go, store: Store) -> None:
    own = pack(seeds=range(1, models + 1))
    execution, attempts, notes = go(room_for(most), own)
    assert execution.finished
    trained = store.get(own.specs)
    assert list(trained) == [spec.digest for spec in own.specs]
    members = [store.member(spec, trained[spec.digest]) for spec in own.specs]
    assert all(member.parameters["on"][0] == (most > 0) for member in members), "only single models go to the CPU"
    assert bool(notes) == (models > most)
    assert len(set(attempts)) == len(attempts)
    assert sum(map(len, (piece.specs for piece in execution.packs))) == models


def test_what_is_said_of_it(go: Go) -> None:
    _, attempts, notes = go(room_for(0), pack(seeds=[1, 2], name="haem-1"))
    assert attempts == ["haem-1 cuda", "haem-1a cuda", "haem-1a cpu", "haem-1b cuda", "haem-1b cpu"]
    assert notes == [
        "note: haem-1 (2 models) needs more memory than the GPU has; training it in two halves, haem-1a and haem-1b",
        "note: haem-1a (1 model) needs more memory than the GPU has; training it on the CPU",
        "note: haem-1b (1 model) needs more memory than the GPU has; training it on the CPU",
    ]


LOST_GPU = PackError("gpu", "CUDA error: unspecified launch failure")
KEPT = "; all other work is kept in {}: "
MEMORY_LOST = "not enough memory for even one model of {}" + KEPT + "make the models smaller"
PROCESS_LOST = "the process that trained {} ended unexpectedly (killed, or out of memory)" + KEPT
BROKEN = LOST("A process in the process pool was terminated abruptly")
Failing = tuple[type[Executor], str, Exception, int, list[str], str]
TABLE: list[Failing] = [
    (Here, "cuda", LOST_GPU, 1, ["one cuda", "one cpu", "two cpu"], ""),
    (Processes, "cuda", LOST_GPU, 1, ["one cuda", "two cuda", "one cpu"], ""),
    (Here, "cpu", LOST_GPU, 9, ["one cpu", "two cpu"], "the GPU failed when it trained {}" + KEPT),
    (Here, "cpu", PackError("memory", "?"), 9, ["one cpu", "two cpu"], MEMORY_LOST),
    (Processes, "cuda", PackError("memory", "?"), 1, ["one cuda", "two cuda", "one cpu"], ""),
    (Processes, "cpu", BROKEN, 1, ["one cpu", "two cpu", "one cpu"], ""),
    (Processes, "cpu", BROKEN, 2, ["one cpu", "two cpu", "one cpu", "one cpu"], ""),
    (Processes, "cpu", BROKEN, 3, ["one cpu", "two cpu", "one cpu", "one cpu"], PROCESS_LOST),
]
"""Executor, device, the failure of the pack `one`, how often it happens, the attempts, and how the command ends."""


@pytest.mark.parametrize("row", TABLE)
def test_what_happens_after_a_failure(row: Failing, go: Go, store: Store) -> None:
    executor, device, failure, left, attempts, message = row

    def attempt(own: Pack) -> PackResult:
        nonlocal left
        if own.name == "one" and left:
            left -= 1
            raise failure
        return result(own)

    packs = pack(name="one", seeds=[1]), pack(name="two", seeds=[2])
    execution, tried, _ = go(attempt, *packs, device=device, executor=executor)
    assert sorted(tried) == sorted(attempts)
    assert tried[0] == attempts[0]
    assert execution.finished == (not message)
    assert (execution.failed or "").startswith(message.format("one", store.state) if message else "")
    assert packs[1].specs[0].digest in store.get(packs[1].specs), "what is lost costs no other pack"


def test_several_losses_are_one_message(store: Store) -> None:
    assert driver.final_error([("haem-naive", "memory"), ("hacm-2", "process")], store) == (
        "the process that trained hacm-2 ended unexpectedly (killed, or out of memory), and not enough memory "
        f"for even one model of haem-naive; all other work is kept in {store.state}: run the same command again, "
        "perhaps with fewer --workers, and make the models smaller, such as with --set hidden=50, or their batches"
    )


@pytest.mark.parametrize("failure", [PackError("memory"), PackError("gpu"), BROKEN])
def test_nothing_is_tried_again_once_the_training_is_stopped(failure: Exception, go: Go) -> None:
    stop = False

    def attempt(*_: object) -> PackResult:
        nonlocal stop
        stop = True
        raise failure

    execution, tried, _ = go(attempt, pack(name="one"), pack(name="two", seeds=[7]), enough=lambda: stop)
    assert (len(tried), execution.finished, execution.failed) == (1, False, None)


def test_packs_share_the_memory_of_a_gpu(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack begins when it fits beside those that run; one that is too large for any room begins alone."""
    sizes = {"a": 200, "b": 150, "c": 90, "d": 400}
    packs = [Pack(name, pack(seeds=[number]).specs, size) for number, (name, size) in enumerate(sizes.items(), 1)]
    beside: list[tuple[str, list[str]]] = []
    plain = driver._Driver.submit

    def submit(self: Any, own: Pack) -> None:
        beside.append((own.name, sorted(other.name for other in self.running.values())))
        plain(self, own)

    monkeypatch.setattr(driver._Driver, "submit", submit)
    execution, _, _ = go(result, *packs, executor=Processes)
    assert execution.finished
    assert beside == [("a", []), ("c", ["a"]), ("b", []), ("d", [])]


# Real training


def test_a_failed_update_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = []

    def update(*_: object) -> None:
        tensor = torch.zeros(3)
        tensors.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(Fleet, "update", update)
    with pytest.raises(PackError, match="memory"):
        train_pack(pack(), store)
    gc.collect()
    assert tensors[0]() is None


def test_a_pack_that_diverges_altogether_is_a_result(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "finite", lambda self: [False] * len(self.running))
    trained = train_pack(pack(seeds=[1, 2]), store)
    assert trained.finished
    assert [(model.usable, model.restarts) for model in trained.models] == [(False, loop.MOST_RESTARTS)] * 2


# Processes


def wait_for_stop(_: int) -> int:
    while not stopped():
        time.sleep(0.01)
    return os.getpid()


def die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def test_a_process_that_dies_takes_no_other_with_it_and_is_replaced() -> None:
    with Processes() as processes:
        waiting = processes.submit(wait_for_stop, 0)
        first = processes.submit(die, 1).result()
        assert processes.submit(die, 2).result() == first, "it is used again"
        assert isinstance(processes.submit(die, 3).exception(), LOST)
        second = processes.submit(die, 4).result()
        assert second != first
        assert isinstance(processes.submit(int, "x").exception(), ValueError)
        assert processes.submit(die, 5).result() != second, "one that failed is replaced, too"
        assert not waiting.done()
        processes.stop()
        assert waiting.result() not in (first, os.getpid())


WAITING = (
    "import time; from reinflect.run.work import map_in_processes\n"
    "if __name__ == '__main__':\n"
    "    results = map_in_processes(time.sleep, [0, 0, 600, 600], workers=2)\n"
    "    next(results), print('ready', flush=True), list(results)"
)


@pytest.mark.skipif(os.name == "nt", reason="there are no groups of processes")
def test_processes_end_with_the_one_that_started_them() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.kill()
    wait_for(lambda: nobody_left(process.pid))


def doubled(number: int, parent: int) -> int:
    if number == 3 and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


@pytest.mark.parametrize("workers", [1, 2])
def test_where_processes_die_the_rest_is_done_here(workers: int) -> None:
    assert list(map_in_processes(doubled, [1, 2, 3, 4], [os.getpid()] * 4, workers=workers)) == [2, 4, 6, 8]
