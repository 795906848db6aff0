"""A pack that was sent is the pack that arrives."""

import pickle
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.member import TrainedModel
from reinflect.learn.lesson import Lesson, ModelSpec, Phase
from reinflect.learn.loop import train
from reinflect.run.failures import PackError
from reinflect.run.packs import Pack, PackResult
from reinflect.run.retries import Lost
from reinflect.run.train_pack import run_pack
from reinflect.run.worker import UnwantedError, train_in
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory, load_preset
from tests.learn.tiny import SMALL, fleet_of, lesson, pack, small

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ITEMS = st.lists(st.builds(Item, TEXT, TEXT.map(Bundle), TEXT, st.integers(0, 9)), max_size=4).map(tuple)
ALIGNMENTS = st.lists(st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple), max_size=3).map(tuple)
CHANGED = st.fixed_dictionaries({}, optional={"step": st.floats(0.001, 10), "loss": st.sampled_from(["mean", "sum"])})
LESSONS = st.builds(
    Lesson,
    ITEMS,
    ITEMS,
    ITEMS,
    TEXT,
    TEXT,
    st.sampled_from(["naive", "smart", "none"]),
    TEXT,
    st.none() | st.integers(0, 99),
    ALIGNMENTS,
    st.lists(st.builds(Phase, ITEMS, ALIGNMENTS, st.integers(1, 99), CHANGED), max_size=2).map(tuple),
)


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    lessons = draw(st.lists(LESSONS, min_size=1, max_size=3))
    system = draw(st.sampled_from(sorted(SYSTEMS)))
    kind = st.builds(SYSTEMS[system].settings, step=st.floats(0.001, 10), epochs=st.integers(1, 99))
    settings = draw(st.lists(kind, min_size=1, max_size=2))
    starts = [None, *draw(st.lists(st.builds(start, st.just(system), TEXT, st.integers(0, 9)), max_size=2))]
    specs = st.builds(
        ModelSpec,
        st.sampled_from(lessons),
        st.just(system),
        st.sampled_from(settings),
        st.integers(1, 2**60),
        st.sampled_from(starts),
    )
    return Pack(draw(TEXT), tuple(draw(st.lists(specs, min_size=1, max_size=6))))


def start(system: str, characters: str, number: int) -> TrainedModel:
    """A model to start from."""
    inventory = Inventory(tuple(dict.fromkeys(characters)), ("V", "PST"))
    parameters = {"some": np.array([[number, 2.5]], dtype=np.float32), "none": np.zeros((0, 3), dtype=np.float32)}
    return TrainedModel(system, "naive", 7, small(system), inventory, 50.0, parameters=parameters)


def plain(whole: Pack) -> object:
    """All that is in a pack, and which models share a lesson, or a model to start from."""
    lessons = list(dict.fromkeys(spec.lesson for spec in whole.specs))
    starts = list({id(spec.start): spec.start for spec in whole.specs if spec.start}.values())
    return [
        (whole.name, whole.system, whole.fingerprint),
        [
            (lessons.index(spec.lesson), spec.seed, spec.settings, [one is spec.start for one in starts])
            for spec in whole.specs
        ],
        [vars(one) | {"digest": one.digest, "inventory": one.inventory} for one in lessons],
        [(one.system, one.settings, one.inventory, one.fingerprint) for one in starts],
    ]


@given(packs())
def test_nothing_is_lost_on_the_way(whole: Pack) -> None:
    assert plain(pickle.loads(pickle.dumps(whole))) == plain(whole)


def test_the_work_is_the_same_to_the_last_setting() -> None:
    for system in SYSTEMS:
        settings = [load_preset(name)[system] for name in ("low", "medium", "high")]
        whole = Pack("all", tuple(ModelSpec(lesson("greek"), system, own, 1) for own in settings))
        there = pickle.loads(pickle.dumps(whole))
        assert there.fingerprint == whole.fingerprint
        assert there.stem == whole.stem


def test_a_pack_that_arrives_trains_as_the_one_that_was_sent() -> None:
    """With phases before the real items, and a model to start from."""
    own = lesson("german")
    phase = Phase(own.train[:6], own.alignments[:6], 2, {"step": 0.5})
    begin = trained_here(pack(seeds=[5]))
    specs = [ModelSpec(replace(own, phases=(phase,)), "haem", SMALL, seed, begin) for seed in (1, 2)]
    whole = Pack("phases", tuple(specs))
    sent, arrived = fleet_of(whole), fleet_of(pickle.loads(pickle.dumps(whole)))
    assert torch.equal(sent.parameters.flat, arrived.parameters.flat), "both start from the same model"
    assert [[settings for _, settings in one.stages] for one in arrived.runs] == [
        [settings for _, settings in one.stages] for one in sent.runs
    ]
    here, there = (trained_in_full(one) for one in (whole, pickle.loads(pickle.dumps(whole))))
    assert here == there


def trained_here(own: Pack) -> TrainedModel:
    models, _ = train(own.specs)
    return models[0]


def trained_in_full(own: Pack) -> list[tuple[str, str]]:
    models, finished = train(own.specs)
    assert finished
    return [(model.key, model.fingerprint) for model in models]


class Told:
    """Remembers what a worker says."""

    def __init__(self) -> None:
        self.words: list[dict[str, object]] = []

    def __call__(self, **what: object) -> None:
        self.words.append(what)


def files(folder: Path) -> list[str]:
    return sorted(f"{path.parent.name}/{path.name.split('.')[0]}" for path in folder.rglob("*") if path.is_file())


def test_a_worker_leaves_the_files_of_its_pack_and_no_other(tmp_path: Path) -> None:
    told = Told()
    results = train_in(
        tmp_path, pickle.loads(pickle.dumps(pack())), told, lambda: False, device="cpu", save_models=True
    )
    assert isinstance(results, PackResult)
    assert results.finished
    models = [f"parameters/haem-naive-{seed}" for seed in (1, 2, 3)]
    assert files(tmp_path) == ["logs/haem-naive", "packs/haem-naive", *models]
    standing = [word["standing"] for word in told.words]
    assert standing
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(standing)) is not None
    assert isinstance(standing[-1], dict)
    assert standing[-1]["running"] == 0


def test_a_pack_that_is_too_large_for_a_worker_is_trained_there_in_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small_packs_only(whole: Pack, *arguments: object, **options: object) -> PackResult:
        if len(whole.specs) > 2:
            raise PackError("memory", "no room")
        return run_pack(whole, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("reinflect.run.worker.run_pack", small_packs_only)
    told = Told()
    results = train_in(tmp_path, pack(), told, lambda: False, device="cpu")
    assert isinstance(results, PackResult)
    assert results.finished
    assert ["training it in two halves" in text for text in results.retried] == [True]
    assert files(tmp_path) == ["logs/haem-naivea", "logs/haem-naiveb", "packs/haem-naivea", "packs/haem-naiveb"]
    assert {"halved": "haem-naive"} in told.words
    assert any("note" in word for word in told.words)


def test_what_nobody_can_train_is_given_back_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> PackResult:
        raise PackError("memory", "no room")

    monkeypatch.setattr("reinflect.run.worker.run_pack", never)
    found = train_in(tmp_path, pack(seeds=[1]), Told(), lambda: False, device="cpu")
    assert found == Lost("haem-naive", "memory")
    assert files(tmp_path) == []


def test_a_process_that_lost_its_gpu_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> PackResult:
        raise PackError("gpu", "it fell off")

    def end(status: int) -> None:
        raise SystemExit(status)

    monkeypatch.setattr("reinflect.run.worker.run_pack", broken)
    monkeypatch.setattr("reinflect.run.worker.SECONDS_TO_SEND", 0)
    monkeypatch.setattr("reinflect.run.worker.os._exit", end)
    told = Told()
    with pytest.raises(SystemExit):
        train_in(tmp_path, pack(), told, lambda: False, device="cuda")
    assert told.words == [{"note": "note: the GPU of a worker failed (it fell off); the worker ends"}]


def test_a_pack_that_nobody_wants_any_more_is_dropped_at_once(tmp_path: Path) -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        if asked > 5:
            raise UnwantedError
        return False

    with pytest.raises(UnwantedError):
        train_in(tmp_path, pack(settings=SMALL), Told(), stop, device="cpu")
    assert asked == 6
    assert not list(tmp_path.glob("packs/*"))
