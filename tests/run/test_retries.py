"""Packs that fail, without a GPU to fail on."""

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reinflect.ensemble.member import TrainedModel
from reinflect.learn import loop
from reinflect.learn.fleet import Fleet
from reinflect.run.failures import PackError, classify_failures
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult
from reinflect.run.retries import Attempt, Lost, Retries, final_error
from reinflect.run.train_pack import run_pack
from tests.learn.tiny import pack

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


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[WorkFolder]:
    own = WorkFolder.beside(tmp_path / "model")
    with own.held():
        yield own


def results(own: Pack, device: str = "cpu") -> PackResult:
    """A model's parameters say where it was trained."""
    where = {"on": np.array([device != "cpu"], dtype=np.float32)}
    models = [
        TrainedModel(
            spec.system,
            spec.lesson.alignment,
            spec.seed,
            spec.settings,
            spec.lesson.inventory,
            50.0,
            key=spec.digest,
            parameters=where,
        )
        for spec in own.specs
    ]
    return PackResult(own.name, models, device=device)


def fits(most: int, tried: list[str], device: str = "cuda") -> Attempt:
    """Only so many models fit into the memory of the device."""

    def attempt(own: Pack, on: str) -> PackResult:
        tried.append(f"{own.name} {on}")
        if on == device and len(own.specs) > most:
            raise PackError("memory", "too much")
        return results(own, on)

    return attempt


@pytest.mark.parametrize(
    ("error", "kind"), [*((one, "memory") for one in MEMORY), *((one, "gpu") for one in GPU)], ids=str
)
def test_failures_are_classified(error: Exception, kind: str) -> None:
    with pytest.raises(PackError) as caught, classify_failures():
        raise error
    assert caught.value.kind == kind
    assert "\n" not in caught.value.reason


def test_what_began_as_an_error_of_memory_is_one() -> None:
    def capture() -> None:
        try:
            raise MEMORY[0]
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    with pytest.raises(PackError) as caught, classify_failures():
        capture()
    assert caught.value.kind == "memory"


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), KeyError("CUDA error"), KeyboardInterrupt()])
def test_mistakes_are_not_failures(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, classify_failures():
        raise error
    assert caught.value is error


def test_a_failure_holds_nothing_of_what_was_computed() -> None:
    held = []

    def update() -> None:
        tensor = torch.zeros(3)
        held.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("CUDA out of memory.")

    try:
        with classify_failures():
            update()
    except PackError as error:
        kept = error
    gc.collect()
    assert kept.kind == "memory"
    assert held[0]() is None


@given(models=st.integers(1, 20), most=st.integers(0, 20))
def test_a_pack_that_is_too_large_is_halved_until_it_fits(models: int, most: int) -> None:
    own, tried, notes = pack(seeds=range(1, models + 1)), list[str](), list[str]()
    with TemporaryDirectory() as place:
        folder = WorkFolder.beside(Path(place) / "model")
        with folder.held():
            done = Retries("cuda", folder=folder, note=notes.append).see_through(own, fits(most, tried))
    assert isinstance(done, PackResult)
    assert [one.key for one in done.models] == [spec.digest for spec in own.specs]
    assert [one.seed for one in done.models] == [spec.seed for spec in own.specs]
    assert done.finished
    assert all(one.parameters["on"][0] == (most > 0) for one in done.models), "only single models go to the CPU"
    assert notes == [f"note: {text}" for text in done.retried]
    assert bool(notes) == (models > most)
    assert len(set(tried)) == len(tried)


def test_what_is_said_of_it(folder: WorkFolder) -> None:
    own, notes = pack(seeds=[1, 2], name="haem-1"), list[str]()
    Retries("cuda", folder=folder, note=notes.append).see_through(own, fits(0, []))
    assert notes == [
        "note: haem-1 (2 models) needs more memory than the GPU has; training it in two halves, haem-1a and haem-1b",
        "note: haem-1a (1 model) needs more memory than the GPU has; training it on the CPU",
        "note: haem-1b (1 model) needs more memory than the GPU has; training it on the CPU",
    ]


def test_a_machine_with_too_little_memory_for_one_model(folder: WorkFolder) -> None:
    own = pack(seeds=[1, 2, 3])
    lost = Retries("cpu", folder=folder).see_through(own, fits(0, [], "cpu"))
    assert lost == Lost("haem-naive", "memory")
    message = str(final_error([lost, Lost("hacm-2", "process")], None))
    assert message == (
        "the process that trained hacm-2 ended unexpectedly (killed, or out of memory), and not enough memory "
        "for even one model of haem-naive; run the same command again, perhaps with fewer --workers, and make the "
        "models smaller, such as with --set hidden=50, or their batches"
    )
    kept = f"; all other work is kept in {folder.state}: make the models smaller"
    assert kept in str(final_error([lost], folder))


def loses_the_gpu(tried: list[str]) -> Attempt:
    def attempt(own: Pack, device: str) -> PackResult:
        tried.append(f"{own.name} {device}")
        if device != "cpu":
            raise PackError("gpu", "CUDA error: unspecified launch failure")
        return results(own, device)

    return attempt


@pytest.mark.parametrize(("processes", "then"), [(False, "cpu"), (True, "cuda")])
def test_after_the_gpu_is_lost(folder: WorkFolder, processes: bool, then: str) -> None:
    tried: list[str] = []
    retries = Retries("cuda", folder=folder, processes=processes)
    first, second = pack(name="one"), pack(name="two")
    done = retries.see_through(first, loses_the_gpu(tried))
    assert isinstance(done, PackResult)
    assert "unspecified launch failure" in done.retried[0]
    retries.see_through(second, fits(9, tried))
    assert tried == ["one cuda", "one cpu", f"two {then}"]


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_process_has_two_lives(folder: WorkFolder, deaths: int) -> None:
    lives = iter([True] * deaths + [False])

    def attempt(own: Pack, _: str) -> PackResult:
        if next(lives):
            raise PackError("process")
        return results(own)

    done = Retries("cpu", folder=folder).see_through(pack(), attempt)
    assert isinstance(done, PackResult) if deaths == 1 else done == Lost("haem-naive", "process")


@pytest.mark.parametrize("kind", ["memory", "gpu"])
def test_nothing_is_tried_again_once_the_training_is_stopped(folder: WorkFolder, kind: str) -> None:
    stopped = False

    def attempt(*_: object) -> PackResult:
        nonlocal stopped
        assert not stopped
        stopped = True
        raise PackError(kind)  # type: ignore[arg-type]

    retries = Retries("cuda", folder=folder)
    assert retries.see_through(pack(), attempt, lambda: stopped) == PackResult("haem-naive", [], finished=False)
    assert retries.see_through(pack(), attempt, lambda: stopped) is None


def test_a_model_that_is_lost_costs_no_other(folder: WorkFolder) -> None:
    own, tried = pack(seeds=[1, 2, 3, 4]), list[str]()

    def attempt(one: Pack, device: str) -> PackResult:
        if any(spec.seed == 1 for spec in one.specs):
            tried.append(one.name)
            raise PackError("memory", "too much")
        return fits(4, tried, "cpu")(one, device)

    assert Retries("cpu", folder=folder).see_through(own, attempt) == Lost("haem-naiveaa", "memory")
    assert [name.removesuffix(" cpu") for name in tried] == [
        "haem-naive",
        "haem-naivea",
        "haem-naiveaa",
        "haem-naiveab",
        "haem-naiveb",
    ]


def test_a_training_that_is_stopped_between_halves_keeps_the_first(folder: WorkFolder) -> None:
    own, tried = pack(seeds=[1, 2, 3]), list[str]()
    done = Retries("cuda", folder=folder).see_through(own, fits(2, tried), lambda: len(tried) == 2)
    assert isinstance(done, PackResult)
    assert not done.finished
    assert [one.seed for one in done.models] == [1, 2]


def test_a_training_is_resumed_with_its_halves(tmp_path: Path) -> None:
    folder = WorkFolder.beside(tmp_path / "model")
    own, tried, names = pack(seeds=[1, 2, 3, 4, 5], name="haem-1"), list[str](), list[str]()
    with folder.held():
        folder.checkpoint(pack(name="keep")).path.touch()
        retries = Retries("cuda", folder=folder, halved=lambda one: names.append(one.name))
        retries.see_through(own, fits(2, tried))
    assert names == ["haem-1", "haem-1a"]
    assert [one.name for one in folder.pieces(own)] == ["haem-1aa", "haem-1ab", "haem-1b"]
    tried.clear()
    with folder.held():
        done = Retries("cuda", folder=folder).see_through(own, fits(2, tried))
    assert tried == ["haem-1aa cuda", "haem-1ab cuda", "haem-1b cuda"]
    assert isinstance(done, PackResult)
    assert [one.seed for one in done.models] == [1, 2, 3, 4, 5]
    other = replace(own, specs=own.specs[:4])
    assert folder.pieces(other) == [other], "of other work"
    folder.remove()
    assert folder.pieces(own) == [own]


def test_halves_are_all_of_a_pack() -> None:
    own = pack(seeds=[1, 2, 3])
    one, two = own.halves()
    assert (*one.specs, *two.specs) == own.specs
    assert len({some.fingerprint for some in (own, one, two)}) == 3
    assert len({some.stem for some in (own, one, two)}) == 3


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


def trained(done: PackResult | Lost | None, folder: WorkFolder) -> list[dict[str, Sequence[float]]]:
    assert isinstance(done, PackResult)
    whole = [folder.with_parameters(one) for one in done.models]
    return [{name: array.flatten().tolist() for name, array in one.parameters.items()} for one in whole]


@pytest.mark.parametrize("error", [MEMORY[0], GPU[0]], ids=["memory", "gpu"])
def test_models_are_what_they_are_without_the_accident(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, folder, plain = pack(), WorkFolder.beside(tmp_path / "model"), WorkFolder.beside(tmp_path / "plain")

    def attempt(some: Pack, _: str) -> PackResult:
        return run_pack(some, folder=folder, device="cpu", seconds_between=0.0)

    with plain.held():
        expected = trained(run_pack(own, folder=plain), plain)
    with folder.held():
        monkeypatch.setattr(Fleet, "update", failing(1, error, Fleet.update))
        found = trained(Retries("cuda", folder=folder).see_through(own, attempt), folder)
        pieces = own.halves() if error is MEMORY[0] else (own,)
        assert folder.pieces(own) == [own] if len(pieces) == 1 else len(folder.pieces(own)) == 2
        files = sorted(path.name for path in folder.state.glob("*.jsonl"))
        assert files == sorted(f"{piece.stem}.log.jsonl" for piece in pieces)
        assert not list(folder.state.glob("*.checkpoint"))
        folder.remove()
    assert not folder.state.exists()
    for one, other in zip(found, expected, strict=True):
        for name, numbers in one.items():
            assert numbers == pytest.approx(other[name], abs=1e-4)


def test_a_pack_that_diverges_altogether_is_a_result(folder: WorkFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "finite", lambda self: [False] * len(self.running))
    done = run_pack(pack(seeds=[1, 2]), folder=folder)
    assert done.finished
    assert [(one.usable, one.restarts) for one in done.models] == [(False, loop.MOST_RESTARTS)] * 2
