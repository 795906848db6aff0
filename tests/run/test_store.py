"""The store of a training: what is kept, what is resumed, what is swept away, and who has it."""

import lzma
import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from reinflect.decode.search import Predictions
from reinflect.errors import OutputError
from reinflect.files import atomic_path
from reinflect.learn.lesson import ModelSpec
from reinflect.learn.loop import Checkpoint, fingerprint_of
from reinflect.paper.benchmark import store_in
from reinflect.run import driver
from reinflect.run.driver import Execution, train_specs
from reinflect.run.packs import ENDING, Pack, PackResult, by_key, read_result, read_results, write_result
from reinflect.run.store import Store
from reinflect.run.watch import Resources
from reinflect.run.work import train_pack
from tests.learn.tiny import fleet_of, lesson, pack, small, spec_for
from tests.paper import made_up
from tests.paper.made_up import corpus, result, spec
from tests.run.test_driver import Listener


def begin(store: Store, *packs: Pack) -> None:
    """What there is of packs that were begun."""
    for own in packs:
        store.checkpoint(own, 1.0).path.touch()
        store.log(own).write_text(f"{own.name}\n")


def both(tmp_path: Path) -> list[Store]:
    return [Store.beside(tmp_path / "beside"), Store.inside(tmp_path / "inside", numbers=True)]


# The folder and its lock


def test_nothing_is_left_where_there_is_nothing_to_resume_from(tmp_path: Path) -> None:
    for store in both(tmp_path):
        with store.held():
            pass
        with store.held():
            with store.taken(pack()):
                store.log(pack()).touch()  # stopped before its first checkpoint
            store.halve(pack())
    assert list(tmp_path.iterdir()) == []


def test_a_second_command_is_kept_out_and_the_first_does_not_notice(tmp_path: Path) -> None:
    for store in both(tmp_path):
        refused = rf"{store.out.name}: another command \(process {os.getpid()}\) is working on this; wait for it"
        with store.held():
            begin(store, pack())
            for _ in range(2):
                with pytest.raises(OutputError, match=refused), store.held():
                    pytest.fail("two at once")
            assert store.checkpoint(pack(), 1.0).path.exists()
            with Store.beside(tmp_path / "other").held():
                pass
        with store.held():
            assert store.checkpoint(pack(), 1.0).path.exists(), "what can be resumed stays"
            assert store.log(pack()).exists()


def test_what_a_killed_command_was_writing_is_swept_away(tmp_path: Path) -> None:
    store, own = Store.beside(tmp_path / "a[1]"), pack(name="one")
    begin(store, own)
    left = [tmp_path / ".a[1].abcdefgh.part", tmp_path / ".a[1].log.jsonl.abcdefgh.part"]
    left.append(store.state / f".{own.stem}.checkpoint.abcd_123.part")
    others = [tmp_path / ".a[1].b.abcdefgh.part", tmp_path / ".a1.abcdefgh.part", store.state / "mine.txt"]
    for path in (*left, *others):
        path.touch()
    with store.held():
        assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


def test_of_a_benchmark_everything_unfinished_is_swept_away(tmp_path: Path) -> None:
    left = [tmp_path / ".results.md.abcdefgh.part", tmp_path / "predictions" / "low" / ".x.abcd_123.part"]
    others = [tmp_path / "mine.part", tmp_path / "packs" / "a.pack.xz", tmp_path / ".results.md.part"]
    for path in (*left, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with atomic_path(tmp_path / "packs" / "b.pack.xz") as being_written, store_in(tmp_path):
        assert not any(path.exists() for path in left)
        assert all(path.exists() for path in (*others, being_written))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file"):
        Store.beside(tmp_path / "nowhere" / "model").held().__enter__()


def test_a_kill_may_leave_the_checkpoint_of_a_finished_pack(tmp_path: Path) -> None:
    for store in both(tmp_path):
        done, other = pack(seeds=[1]), pack(seeds=[2])
        with store.held():
            store.put(done, train_pack(done, store))
            begin(store, done, other)
        with store.held():
            assert not store.checkpoint(done, 1.0).path.exists()
            assert not store.log(done).exists()
            assert store.checkpoint(other, 1.0).path.exists()
            assert store.log(other).exists()


def test_removal_spares_what_is_not_ours(tmp_path: Path) -> None:
    store, own = Store.beside(tmp_path / "model"), pack()
    with store.held():
        store.put(own, train_pack(own, store))
        begin(store, own)
        with store.taken(own):
            (store.state / "mine.txt").touch()
        store.remove()
    assert [path.name for path in store.state.iterdir()] == ["mine.txt"]


def test_a_pack_is_taken_only_when_no_other_process_writes_to_it(tmp_path: Path) -> None:
    store, own, other = Store.beside(tmp_path / "model"), pack("haem"), pack("hacm")
    order = []

    def wait() -> None:
        with store.taken(own):
            order.append("second")

    with store.taken(own):
        with store.taken(other):
            pass
        second = Thread(target=wait)
        second.start()
        with pytest.raises(OutputError, match="still training haem-naive"), store.taken(own, patience=0.1):
            order.append("intruder")
        order.append("first")
    second.join()
    assert order == ["first", "second"]


def test_logs_come_together_in_the_order_of_models(tmp_path: Path) -> None:
    store = Store.beside(tmp_path / "model")
    first, second, third = pack(name="b", seeds=[5, 6, 7, 8]), pack(name="c", seeds=[3]), pack(name="a", seeds=[1])
    specs = [spec for own in (first, second, third) for spec in own.specs]
    log = tmp_path / "model.log.jsonl"
    with store.held():
        begin(store, first)
        store.put(third, train_pack(third, store))
        finished = (store.state / f"{third.stem}.log.jsonl").read_text()
        store.join_logs(specs, [second, first])
        assert log.read_text() == f"b\n{finished}"
        one, two = store.halve(first)
        pieces = *store.halve(one), two
        begin(store, *reversed(pieces))
        assert [piece.name for piece in store.pieces(first)] == [piece.name for piece in pieces]
        store.join_logs(specs, [second, *pieces])
        assert not store.checkpoint(first, 1.0).path.exists()
    assert log.read_text() == f"baa\nbab\nbb\n{finished}"


def test_a_finished_pack_leaves_all_that_its_models_are_made_of(tmp_path: Path) -> None:
    store, own = Store.beside(tmp_path / "model"), pack(seeds=[1, 2])
    with store.held():
        begun = train_pack(own, store, lambda: True)
        assert not begun.finished
        trained = train_pack(own, store)
        assert trained.finished
        store.put(own, trained)
        numbers = {f"haem-naive-{spec.seed}.{spec.digest}.safetensors" for spec in own.specs}
        names = {path.name for path in store.state.iterdir()}
        assert names == {".lock", f"{own.stem}.log.jsonl", f"{own.stem}.pack.xz", *numbers}
        again = Store.beside(tmp_path / "model")
        again.read()
        assert again.get(own.specs) == store.get(own.specs) == by_key([trained])
        for spec in own.specs:
            member, same = (each.member(spec, each.get([spec])[spec.digest]) for each in (store, again))
            assert member.fingerprint == same.fingerprint
            assert member.parameters.keys() == begun.numbers[spec.digest].keys()


# What an earlier command left


@pytest.fixture
def packs_trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of packs as they are trained."""
    names: list[str] = []

    def train(own: Pack, *arguments: object) -> PackResult:
        names.append(own.name)
        return train_pack(own, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(driver, "train_pack", train)
    return names


def specs(**changes: object) -> list[ModelSpec]:
    """Two kinds of models; on a CPU, the first in two packs."""
    wanted = [*(("hacm", seed) for seed in range(1, 5)), ("haem", 1)]
    return [spec_for(lesson("german"), system, small(system, **changes), seed) for system, seed in wanted]


def train(store: Store, wanted: list[ModelSpec], stop_in: str = "") -> tuple[Execution, list[str]]:
    """Train what is left; stopped when a pack of that name has begun."""
    listener, logs = Listener(), f"{stop_in}.*.jsonl"

    def enough() -> bool:
        return bool(stop_in) and any(path.stat().st_size for path in store.state.glob(logs))

    return train_specs(wanted, store, Resources(watcher=listener, enough=enough)), listener.notes


def content(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.state.iterdir() if path.suffix not in (".busy", "")}


def resuming(store: Store, finished: int, begun: int) -> str:
    return (
        f"note: resuming an earlier training ({finished} of 3 packs of models are trained, {begun} begun); to start "
        f"anew, remove {store.state} first"
    )


def test_only_packs_that_are_not_finished_are_trained_again(tmp_path: Path, packs_trained: list[str]) -> None:
    store = Store.beside(tmp_path / "model")
    with store.held():
        whole, notes = train(store, specs())
        assert whole.finished
        expected, models = content(store), store.get(specs())
        store.remove()
    assert packs_trained == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
    assert notes == []
    packs_trained.clear()
    with store.held():
        first, _ = train(store, specs(), stop_in="haem-naive")
        assert not first.finished
        assert list(store.get(specs())) == list(models), "the stopped pack has models, too"
    assert packs_trained == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
    packs_trained.clear()
    with store.held():
        for finished, begun in ((2, 1), (3, 0)):
            execution, notes = train(store, specs())
            assert execution.finished
            assert packs_trained == ["haem-naive"]
            assert notes == [resuming(store, finished, begun)]
            assert store.get(specs()) == models
        files = content(store)
    assert files.keys() == expected.keys()
    assert all(files[name] == expected[name] for name in files if not name.endswith(".xz")), "but for seconds"


def test_other_work_in_the_folder_is_reported_and_left_alone(tmp_path: Path, packs_trained: list[str]) -> None:
    store = Store.beside(tmp_path / "model")
    also = f"note: {store.state} also has work with other data or settings, which this command does not use"
    with store.held():
        train(store, specs(), stop_in="hacm-naive-2")
        before = content(store)
    assert {"checkpoint", "xz"} <= {name.rpartition(".")[2] for name in before}
    packs_trained.clear()
    with store.held():
        _, notes = train(store, specs(hidden=7), stop_in="haem-naive")
        assert notes == [also]
        assert packs_trained == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
        assert before.items() <= content(store).items()
    packs_trained.clear()
    with store.held():
        execution, notes = train(store, specs())
        assert notes == [resuming(store, 1, 1), also]
        assert packs_trained == ["hacm-naive-2", "haem-naive"]
        assert execution.finished


def test_what_is_damaged_or_of_another_format_is_said_and_not_used(tmp_path: Path) -> None:
    store = Store.beside(tmp_path / "model")
    with store.held():
        train(store, specs(), "hacm-naive-2")
        (checkpoint,), (finished,) = store.state.glob("*.checkpoint"), store.state.glob("*.pack.xz")
        models = store.get(specs()[:2])
        checkpoint.write_bytes(checkpoint.read_bytes()[:-1] + b"\x7f")
        plain = msgspec.json.decode(lzma.decompress(finished.read_bytes()))
        finished.write_bytes(lzma.compress(msgspec.json.encode(plain | {"format": 1})))
        execution, notes = train(store, specs())
    assert notes == [
        f"note: ignored {finished} (damaged, or of another version); its models count as not trained",
        f"note: ignored {checkpoint} (damaged, or of another version); its models are trained from the beginning",
    ]
    assert execution.finished
    assert not checkpoint.exists()
    assert store.get(specs()[:2]) == models


def test_nothing_is_left_of_halves(tmp_path: Path, packs_trained: list[str]) -> None:
    for store in both(tmp_path):
        packs_trained.clear()
        with store.held():
            store.halve(Pack("hacm-naive-1", tuple(specs()[:2])))
            execution, _ = train(store, specs())
            assert packs_trained == ["hacm-naive-1a", "hacm-naive-1b", "hacm-naive-2", "haem-naive"]
            assert execution.finished
            if store.beside_out:
                store.join_logs(specs(), execution.packs)
                store.remove()
        assert not store.state.exists()
        logs = [store.whole_log] if store.beside_out else sorted(store.logs.iterdir())
        lines = b"".join(path.read_bytes() for path in logs).splitlines()
        assert len(lines) == sum(spec.settings.epochs for spec in specs())


# Pack files


def written(folder: Path, content: PackResult) -> Path:
    path = folder / f"{content.stem}{ENDING}"
    write_result(path, content)
    return path


def test_a_pack_is_read_as_it_was_written(tmp_path: Path) -> None:
    own = corpus()
    models = (
        result(own, seed=1, dev=["ä\u0301", None, "", "\t漢 '\""], scores=[-0.25] * 4, test=[None] * 4),
        result(own, seed=2, usable=False),
    )
    content = made_up.pack(*models)
    path = written(tmp_path, content)
    assert read_result(path) == content
    assert content.stem == Pack(content.pack, tuple(spec(own, seed=seed) for seed in (1, 2))).stem
    assert [file.name for file in tmp_path.iterdir()] == [path.name]

    # Format 2 also has the settings of each model.
    plain = msgspec.json.decode(lzma.decompress(path.read_bytes()))
    older = {"format": 2, "models": [model | {"settings": {"hidden": 7}} for model in plain["models"]]}
    path.write_bytes(lzma.compress(msgspec.json.encode(plain | older)))
    assert read_result(path) == content


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty", "newer", "lengths", "more"])
def test_what_is_not_whole_is_passed_over_and_named(tmp_path: Path, damage: str) -> None:
    good = written(tmp_path, made_up.pack(result(corpus()), name="good"))
    bad = tmp_path / f"bad{ENDING}"
    raw = good.read_bytes()
    flipped = bytes(byte ^ (place == len(raw) // 2) for place, byte in enumerate(raw))
    if damage == "newer":
        bad.write_bytes(lzma.compress(msgspec.json.encode(msgspec.json.decode(lzma.decompress(raw)) | {"format": 99})))
    elif damage == "lengths":
        written(tmp_path, made_up.pack(result(corpus(), scores=[0.0]), name="bad")).rename(bad)
    else:
        damaged = {"cut": raw[:-9], "changed": flipped, "other": b"hello", "empty": b"", "more": raw + b"more"}
        bad.write_bytes(damaged[damage])
    notes: list[str] = []
    assert [pack.pack for pack in read_results(tmp_path, notes.append)] == ["good"]
    (note,) = notes
    assert str(bad) in note


def test_a_benchmark_keeps_few_decimals_and_the_seed_that_was_asked_for(tmp_path: Path) -> None:
    own = corpus("scottish-gaelic", "medium", items=1, asked=1)
    trained = replace(result(own, "haem-naive", 2, test=[None]), restarts=1, dev=Predictions(["a"], [-0.123456]))
    store, planned = Store.inside(tmp_path), spec(own, "haem-naive", 2)
    with store.held():
        store.put(Pack("p", (planned,)), replace(made_up.pack(trained, name="p"), seconds=1.23456))
    (content,) = read_results(store.packs)
    (model,) = content.models
    assert store.results == [content], "in this command and in the next"
    assert (model.language, model.setting, model.seed, model.restarts) == ("scottish-gaelic", "medium", 2, 1)
    assert model.key == planned.digest
    assert (model.dev.forms, model.dev.log_probabilities, model.asked.forms) == (["a"], [-0.1235], [None])
    assert content.seconds == 1.235


def test_a_model_that_two_packs_have_counts_once() -> None:
    one, two = (result(corpus(), right=right) for right in (1, 2))
    assert by_key([made_up.pack(one, name="a"), made_up.pack(two, name="b")]) == {one.key: one}


# Checkpoints


def test_the_specs_of_a_pack_in_their_order_are_its_fingerprint() -> None:
    """Whatever decides the outcome is in the digests of specs (tests/learn)."""
    own = pack()
    first, second, third = own.specs
    changed = replace(second, settings=small("haem", clip=4.0))
    others = [replace(own, specs=specs) for specs in ((first, second), (third, second, first), (first, changed, third))]
    assert len({each.fingerprint for each in (own, *others)}) == 4
    assert replace(own, specs=own.specs, name="other").fingerprint == own.fingerprint


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path / "state", "fingerprint")
    fleet = fleet_of(pack())
    checkpoint.save(fleet, 3, fleet.no_losses(), 7)
    return checkpoint


def test_a_checkpoint_is_resumed_by_its_pack_only(saved: Checkpoint, tmp_path: Path) -> None:
    assert fingerprint_of(saved.path) == saved.fingerprint
    assert fingerprint_of(tmp_path / "none") is None
    assert Checkpoint(saved.path, "another").load(fleet_of(pack())) is None
    resumed = saved.load(fleet_of(pack()))
    assert resumed
    assert (resumed[0], resumed[2]) == (3, 7)
    finished = fleet_of(pack())
    for run in finished.runs:
        run.finished = True
    finished.drop_finished()
    saved.save(finished, 0, finished.no_losses(), 0)
    assert saved.load(fleet_of(pack())) is None, "there is nothing left to do"


def test_any_damage_to_a_checkpoint_is_noticed(saved: Checkpoint) -> None:
    """A wrong bit in a number would leave the file as valid as before."""
    whole = saved.path.read_bytes()
    places = len(whole) - 1, len(whole) // 2, whole.index(b'\\"update\\": 3') + 12
    flipped = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in places]
    for content in (b"", b"\0" * 100, b"no tensors", whole[:-10], *flipped):
        saved.path.write_bytes(content)
        assert fingerprint_of(saved.path) is None
        assert saved.load(fleet_of(pack())) is None
    saved.path.write_bytes(whole)
    assert fingerprint_of(saved.path) == saved.fingerprint


def test_a_checkpoint_knows_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[-1])
    fleet = fleet_of(pack())
    first = Checkpoint(tmp_path / "state", "fingerprint", 30.0)
    due = []
    for seconds in (129.0, 130.0):
        clock.append(seconds)
        due.append(first.due)
    first.save(fleet, 0, fleet.no_losses(), 0)
    assert [*due, first.due] == [False, True, False]
    second = Checkpoint(tmp_path / "state", "fingerprint")
    assert second.seconds == 0
    clock.append(135.0)
    second.load(fleet)
    assert second.seconds == 30 + 5, "earlier commands count"
