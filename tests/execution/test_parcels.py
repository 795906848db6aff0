"""A pack that was sent is the pack that arrives."""

import pickle
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.execution.failures import PackError
from reinflect.execution.parcels import opened, parcel
from reinflect.execution.retries import Lost
from reinflect.execution.run import Results, run_pack
from reinflect.execution.worker import UnwantedError, train_in
from reinflect.settings import Settings, load_preset
from reinflect.training.checkpoint import fingerprint
from reinflect.training.lesson import Lesson, Model, Pack, Split
from tests.training.tiny import SMALL, lesson, pack

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ITEMS = st.lists(st.builds(Item, TEXT, TEXT.map(Bundle), TEXT, st.integers(0, 9)), max_size=4).map(tuple)
LESSONS = st.builds(
    Lesson,
    st.sampled_from(["naive", "smart", "none"]),
    st.builds(Split, ITEMS, ITEMS, ITEMS),
    st.lists(st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple), max_size=3).map(tuple),
    TEXT,
)
SETTINGS = st.builds(Settings, step=st.floats(0.001, 10), epochs=st.integers(1, 99))


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    lessons = draw(st.lists(LESSONS, min_size=1, max_size=3))
    settings = draw(st.lists(SETTINGS, min_size=1, max_size=2))
    models = st.builds(Model, st.sampled_from(lessons), st.integers(1, 2**60), st.sampled_from(settings))
    return Pack(draw(TEXT), draw(st.sampled_from(["hacm", "haem", "soft"])), tuple(draw(st.lists(models, max_size=6))))


def plain(whole: Pack) -> object:
    """All that is in a pack, and which models share a lesson."""
    lessons = list(dict.fromkeys(model.lesson for model in whole.models))
    return [
        (whole.name, whole.system),
        [(lessons.index(model.lesson), model.seed, model.settings) for model in whole.models],
        [(one.alignment, one.split, one.alignments, one.label) for one in lessons],
    ]


@given(packs())
def test_nothing_is_lost_on_the_way(whole: Pack) -> None:
    assert plain(opened(parcel(whole))) == plain(whole)


def test_the_work_is_the_same_to_the_last_setting() -> None:
    settings = [preset for name in ("low", "medium", "high") for preset in load_preset(name).values()]
    whole = Pack("all", "haem", tuple(Model(lesson("greek"), 1, own) for own in settings))
    assert fingerprint(opened(parcel(whole))) == fingerprint(whole)


def test_a_parcel_has_no_object_in_it_that_anyone_has_to_trust() -> None:
    content = parcel(pack())
    assert type(content) is bytes
    assert len(content) < len(pickle.dumps(pack()))


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
    results = train_in(tmp_path, opened(parcel(pack())), told, lambda: False, device="cpu", save_models=True)
    assert isinstance(results, Results)
    assert results.ended
    models = [f"parameters/--haem-naive-{seed}" for seed in (1, 2, 3)]
    assert files(tmp_path) == ["logs/haem-naive", "packs/haem-naive", *models]
    standing = [word["standing"] for word in told.words]
    assert standing
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(standing)) is not None
    assert isinstance(standing[-1], dict)
    assert standing[-1]["running"] == 0


def test_a_pack_that_is_too_large_for_a_worker_is_trained_there_in_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small_packs_only(whole: Pack, *arguments: object, **options: object) -> Results:
        if len(whole.models) > 2:
            raise PackError("memory", "no room")
        return run_pack(whole, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("reinflect.execution.packs.run_pack", small_packs_only)
    told = Told()
    results = train_in(tmp_path, pack(), told, lambda: False, device="cpu")
    assert isinstance(results, Results)
    assert results.ended
    assert ["training it in two halves" in text for text in results.retried] == [True]
    assert files(tmp_path) == ["logs/haem-naivea", "logs/haem-naiveb", "packs/haem-naivea", "packs/haem-naiveb"]
    assert {"halved": "haem-naive"} in told.words
    assert any("note" in word for word in told.words)


def test_what_nobody_can_train_is_given_back_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> Results:
        raise PackError("memory", "no room")

    monkeypatch.setattr("reinflect.execution.packs.run_pack", never)
    found = train_in(tmp_path, pack(seeds=[1]), Told(), lambda: False, device="cpu")
    assert found == Lost("haem-naive", "memory", "no room")
    assert files(tmp_path) == []


def test_a_process_that_lost_its_gpu_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Results:
        raise PackError("gpu", "it fell off")

    def end(status: int) -> None:
        raise SystemExit(status)

    monkeypatch.setattr("reinflect.execution.packs.run_pack", broken)
    monkeypatch.setattr("reinflect.execution.worker.SECONDS_TO_SAY", 0)
    monkeypatch.setattr("reinflect.execution.worker.os._exit", end)
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
