"""Packs that fail, without a GPU to fail on."""

import gc
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reinflect.execution.failures import PackError, told_apart
from reinflect.execution.retries import Attempt, Lost, Retries, final_error, halves, pieces
from reinflect.execution.run import Learnt, Results, run_pack
from reinflect.execution.state import State
from reinflect.training import loop
from reinflect.training.checkpoint import fingerprint
from reinflect.training.fleet import Fleet
from reinflect.training.lesson import Pack
from tests.training.tiny import pack

# What torch and Triton were seen to raise.
MEMORY: list[Exception] = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nGPU 0 has …"),
    RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    RuntimeError("Triton Error [CUDA]: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"),
    MemoryError(),
]
GPU: list[Exception] = [
    torch.AcceleratorError("CUDA error: unspecified launch failure\nCUDA kernel errors …", 719),
    RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: uncorrectable ECC error encountered"),
    RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered"),
    RuntimeError("No CUDA GPUs are available"),
]


def results(own: Pack, device: str = "cpu") -> Results:
    """A model's parameters say where it was trained."""
    where = {"on": np.array([device != "cpu"], dtype=np.float32)}
    return Results([Learnt(n, model.seed, 50.0, 0, True, where, ()) for n, model in enumerate(own.models)], ended=True)


def fits(most: int, tried: list[str], device: str = "cuda") -> Attempt:
    """Only so many models fit into the memory of the device."""

    def attempt(own: Pack, on: str) -> Results:
        tried.append(f"{own.name} {on}")
        if on == device and len(own.models) > most:
            raise PackError("memory", "too much")
        return results(own, on)

    return attempt


@pytest.mark.parametrize(
    ("error", "kind"), [*((one, "memory") for one in MEMORY), *((one, "gpu") for one in GPU)], ids=str
)
def test_failures_are_told_apart(error: Exception, kind: str) -> None:
    with pytest.raises(PackError) as caught, told_apart():
        raise error
    assert caught.value.kind == kind
    assert "\n" not in caught.value.reason


def test_what_began_as_an_error_of_memory_is_one() -> None:
    def capture() -> None:
        try:
            raise MEMORY[0]
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    with pytest.raises(PackError) as caught, told_apart():
        capture()
    assert caught.value.kind == "memory"


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), KeyError("CUDA error"), KeyboardInterrupt()])
def test_mistakes_are_not_failures(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, told_apart():
        raise error
    assert caught.value is error


def test_a_failure_holds_nothing_of_what_was_computed() -> None:
    held = []

    def update() -> None:
        tensor = torch.zeros(3)
        held.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("CUDA out of memory.")

    try:
        with told_apart():
            update()
    except PackError as error:
        kept = error
    gc.collect()
    assert kept.kind == "memory"
    assert held[0]() is None


@given(models=st.integers(1, 20), most=st.integers(0, 20))
def test_a_pack_that_is_too_large_is_halved_until_it_fits(models: int, most: int) -> None:
    own, tried, notes = pack(seeds=range(1, models + 1)), list[str](), list[str]()
    done = Retries("cuda", note=notes.append).see_through(own, fits(most, tried))
    assert isinstance(done, Results)
    assert [one.number for one in done.models] == list(range(models))
    assert [one.seed for one in done.models] == [model.seed for model in own.models]
    assert done.ended
    assert all(one.parameters["on"][0] == (most > 0) for one in done.models), "only single models go to the CPU"
    assert notes == [f"note: {text}" for text in done.retried]
    assert bool(notes) == (models > most)
    assert len(set(tried)) == len(tried)


def test_what_is_said_of_it() -> None:
    own, notes = pack(seeds=[1, 2], name="haem-1"), list[str]()
    Retries("cuda", note=notes.append).see_through(own, fits(0, []))
    assert notes == [
        "note: haem-1 (2 models) needs more memory than the GPU has; training it in two halves, haem-1a and haem-1b",
        "note: haem-1a needs more memory than the GPU has, though it is one model; training it on the CPU",
        "note: haem-1b needs more memory than the GPU has, though it is one model; training it on the CPU",
    ]


def test_a_machine_with_too_little_memory_for_one_model() -> None:
    own = pack(seeds=[1, 2, 3])
    lost = Retries("cpu").see_through(own, fits(0, [], "cpu"))
    assert lost == Lost("haem-naive", "memory", "too much")
    message = str(final_error([lost, Lost("hacm-2", "process")], None))
    assert message == (
        "the process that trained hacm-2 ended before its time (killed, or out of memory), and there is too little "
        "memory for even one model of haem-naive; run the same again, perhaps with fewer --workers, and make the "
        "models smaller, such as with --set hidden=50, or their batches"
    )


def loses_the_gpu(tried: list[str]) -> Attempt:
    def attempt(own: Pack, device: str) -> Results:
        tried.append(f"{own.name} {device}")
        if device != "cpu":
            raise PackError("gpu", "CUDA error: unspecified launch failure")
        return results(own, device)

    return attempt


@pytest.mark.parametrize(("processes", "then"), [(False, "cpu"), (True, "cuda")])
def test_after_the_gpu_is_lost(processes: bool, then: str) -> None:
    tried: list[str] = []
    retries = Retries("cuda", processes=processes)
    first, second = pack(name="one"), pack(name="two")
    done = retries.see_through(first, loses_the_gpu(tried))
    assert isinstance(done, Results)
    assert "unspecified launch failure" in done.retried[0]
    retries.see_through(second, fits(9, tried))
    assert tried == ["one cuda", "one cpu", f"two {then}"]


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_process_has_two_lives(deaths: int) -> None:
    lives = iter([True] * deaths + [False])

    def attempt(own: Pack, _: str) -> Results:
        if next(lives):
            raise PackError("process")
        return results(own)

    done = Retries("cpu").see_through(pack(), attempt)
    assert isinstance(done, Results) if deaths == 1 else done == Lost("haem-naive", "process")


@pytest.mark.parametrize("kind", ["memory", "gpu"])
def test_nothing_is_tried_again_once_the_run_is_stopped(kind: str) -> None:
    stopped = False

    def attempt(*_: object) -> Results:
        nonlocal stopped
        assert not stopped
        stopped = True
        raise PackError(kind)  # type: ignore[arg-type]

    retries = Retries("cuda")
    assert retries.see_through(pack(), attempt, lambda: stopped) == Results((), ended=False)
    assert retries.see_through(pack(), attempt, lambda: stopped) is None


def test_a_model_that_is_lost_costs_no_other() -> None:
    own, tried = pack(seeds=[1, 2, 3, 4]), list[str]()

    def attempt(one: Pack, device: str) -> Results:
        if any(model.seed == 1 for model in one.models):
            tried.append(one.name)
            raise PackError("memory", "too much")
        return fits(4, tried, "cpu")(one, device)

    assert Retries("cpu").see_through(own, attempt) == Lost("haem-naiveaa", "memory", "too much")
    assert [name.removesuffix(" cpu") for name in tried] == [
        "haem-naive",
        "haem-naivea",
        "haem-naiveaa",
        "haem-naiveab",
        "haem-naiveb",
    ]


def test_a_run_that_is_stopped_between_halves_keeps_the_first() -> None:
    own, tried = pack(seeds=[1, 2, 3]), list[str]()
    done = Retries("cuda").see_through(own, fits(2, tried), lambda: len(tried) == 2)
    assert isinstance(done, Results)
    assert not done.ended
    assert [one.seed for one in done.models] == [1, 2]


def test_a_run_goes_on_with_its_halves(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    own, tried, names = pack(seeds=[1, 2, 3, 4, 5], name="haem-1"), list[str](), list[str]()
    with state.held():
        state.checkpoint("keep").touch()
        retries = Retries("cuda", state=state, halved=lambda one: names.append(one.name))
        retries.see_through(own, fits(2, tried))
    assert names == ["haem-1", "haem-1a"]
    assert [one.name for one in pieces(own, state)] == ["haem-1aa", "haem-1ab", "haem-1b"]
    tried.clear()
    with state.held():
        done = Retries("cuda", state=state).see_through(own, fits(2, tried))
    assert tried == ["haem-1aa cuda", "haem-1ab cuda", "haem-1b cuda"]
    assert isinstance(done, Results)
    assert [one.number for one in done.models] == [0, 1, 2, 3, 4]
    other = replace(own, models=own.models[:4])
    assert pieces(other, state) == [other], "of other work"
    state.remove()
    assert pieces(own, state) == [own]


def test_halves_are_all_of_a_pack() -> None:
    own = pack(seeds=[1, 2, 3])
    one, two = halves(own)
    assert (*one.models, *two.models) == own.models
    assert len({fingerprint(some) for some in (own, one, two)}) == 3


def failing(times: int, error: Exception, original: Callable[..., object]) -> Callable[..., object]:
    """The first so many updates of all fail."""
    left = times

    def update(*arguments: object) -> object:
        nonlocal left
        if left:
            left -= 1
            raise error
        return original(*arguments)

    return update


def trained(done: Results | Lost | None) -> list[dict[str, Sequence[float]]]:
    assert isinstance(done, Results)
    return [{name: array.flatten().tolist() for name, array in one.parameters.items()} for one in done.models]


@pytest.mark.parametrize("error", [MEMORY[0], GPU[0]], ids=["memory", "gpu"])
def test_models_are_what_they_are_without_the_accident(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, state = pack(), State(tmp_path / "model")

    def attempt(some: Pack, _: str) -> Results:
        return run_pack(some, state=state, device="cpu", seconds_between=0.0)

    with state.held():
        expected = trained(run_pack(own))
        monkeypatch.setattr(Fleet, "update", failing(1, error, Fleet.update))
        found = trained(Retries("cuda", state=state).see_through(own, attempt))
        files = sorted(path.name for path in state.folder.glob("*.jsonl"))
        assert files == (["haem-naivea.jsonl", "haem-naiveb.jsonl"] if error is MEMORY[0] else ["haem-naive.jsonl"])
        state.remove()
    for one, other in zip(found, expected, strict=True):
        for name, numbers in one.items():
            assert numbers == pytest.approx(other[name], abs=1e-4)


def test_a_pack_that_diverges_altogether_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "finite", lambda self: [False] * len(self.running))
    done = run_pack(pack(seeds=[1, 2]))
    assert done.ended
    assert [(one.usable, one.restarts) for one in done.models] == [(False, loop.MOST_RESTARTS)] * 2
