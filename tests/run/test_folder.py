"""The folder of a training that is under way."""

import lzma
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from reinflect.align.naive import Naive
from reinflect.errors import OutputError
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.run import train_pack as running
from reinflect.run.execute import Execution, train_specs
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult, read_result
from reinflect.run.resources import Resources, Watcher
from reinflect.run.train_pack import run_pack
from reinflect.settings import Settings
from reinflect.systems.kind import Kind
from tests.learn.tiny import language, pack, small, small_inflector, spec_for


def begin(folder: WorkFolder, *packs: Pack) -> None:
    """What there is of packs that were begun."""
    for own in packs:
        folder.checkpoint(own).path.touch()
        folder.log(own).write_text(f"{own.name}\n")


def test_nothing_is_left_of_a_command_that_did_nothing(tmp_path: Path) -> None:
    with WorkFolder.beside(tmp_path / "model").held():
        assert (tmp_path / "model.state").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_there_is_nothing_to_resume_from(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack()
    with folder.held():
        folder.log(own).touch()  # stopped before its first checkpoint
        folder.halve(own)
        with folder.taken(own):
            pass
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_resumed_stays(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack()
    with folder.held():
        begin(folder, own)
    with folder.held():
        assert folder.checkpoint(own).path.exists()
        assert folder.log(own).exists()


def test_a_second_command_is_kept_out_and_the_first_does_not_notice(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack()
    with folder.held():
        begin(folder, own)
        with (
            pytest.raises(OutputError, match=r"model: another command \(process \d+\) is working on this; wait for it"),
            folder.held(),
        ):
            pytest.fail("two at once")
        assert folder.checkpoint(own).path.exists()
        with WorkFolder.beside(tmp_path / "other").held():
            pass
    with folder.held():
        pass


def test_the_lock_of_a_dead_process_keeps_no_one_out(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from reinflect.run.folder import WorkFolder\n"
        "with WorkFolder.beside(Path(sys.argv[1])).held():\n"
        "    Path(sys.argv[1] + '.state/a.checkpoint').touch(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "model"]).returncode == -9
    folder = WorkFolder.beside(tmp_path / "model")
    assert (folder.state / "lock").exists()
    with folder.held():
        assert (folder.state / "a.checkpoint").exists()


def test_what_a_killed_command_was_writing_is_swept_away(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "a[1]"), pack(name="one")
    folder.state.mkdir()
    begin(folder, own)
    left = [
        folder.state / f".{own.stem}.checkpoint.abcd_123.part",
        tmp_path / ".a[1].abcdefgh.part",
        tmp_path / ".a[1].log.jsonl.abcdefgh.part",
    ]
    others = [tmp_path / ".a[1].b.abcdefgh.part", tmp_path / ".a1.abcdefgh.part", folder.state / "mine.txt"]
    for path in (*left, *others):
        path.touch()
    with folder.held():
        assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_kill_may_leave_the_checkpoint_of_a_finished_pack(tmp_path: Path, where: str) -> None:
    folder = WorkFolder.beside(tmp_path / "out") if where == "beside" else WorkFolder.inside(tmp_path / "out")
    done, other = pack(seeds=[1]), pack(seeds=[2])
    with folder.held():
        run_pack(done, folder=folder)
        begin(folder, done, other)
    with folder.held():
        assert not folder.checkpoint(done).path.exists()
        assert not folder.log(done).exists()
        assert folder.checkpoint(other).path.exists()
        assert folder.log(other).exists()


def test_removal_spares_what_is_not_ours(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack()
    with folder.held():
        run_pack(own, folder=folder)
        begin(folder, own)
        with folder.taken(own):
            (folder.state / "mine.txt").touch()
        folder.remove()
    assert [path.name for path in folder.state.iterdir()] == ["mine.txt"]


def test_a_pack_in_halves_is_remembered_and_its_checkpoint_is_not(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack()
    half, _ = own.halves()
    with folder.held():
        assert folder.pieces(own) == [own]
        begin(folder, own, half)
        folder.halve(own)
        assert [one.name for one in folder.pieces(own)] == ["haem-naivea", "haem-naiveb"]
        assert not folder.checkpoint(own).path.exists()
        assert not folder.log(own).exists()
        assert folder.checkpoint(half).path.exists()
    with folder.held():
        assert [one.name for one in folder.pieces(own)] == ["haem-naivea", "haem-naiveb"]
        folder.remove()
    assert list(tmp_path.iterdir()) == []


def test_logs_come_together_in_the_order_of_models(tmp_path: Path) -> None:
    folder = WorkFolder.beside(tmp_path / "model")
    first, second, third = (
        pack(name=name, seeds=seeds) for name, seeds in (("b", [5, 6, 7, 8]), ("c", [3]), ("a", [1]))
    )
    keys = [spec.digest for own in (first, second, third) for spec in own.specs]
    log = tmp_path / "model.log.jsonl"
    with folder.held():
        begin(folder, first)
        result = run_pack(third, folder=folder)
        finished = (folder.state / f"{third.stem}.log.jsonl").read_text()
        folder.join_logs(keys, [result], [second, first])
        assert log.read_text() == f"b\n{finished}"
        folder.halve(first)
        one, two = first.halves()
        folder.halve(one)
        begin(folder, *reversed(one.halves()), two)
        folder.join_logs(keys, [result], [second, first])
    assert log.read_text() == f"baa\nbab\nbb\n{finished}"


def test_a_file_in_the_folders_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "model.state").touch()
    with pytest.raises(OutputError, match=r"model\.state: needed as a folder, but not a folder; remove it, or choose"):
        WorkFolder.beside(tmp_path / "model").held().__enter__()
    with pytest.raises(OutputError, match="No such file"):
        WorkFolder.beside(tmp_path / "nowhere" / "model").held().__enter__()


def test_a_pack_is_taken_only_when_no_other_process_writes_to_it(tmp_path: Path) -> None:
    folder, own, other = WorkFolder.beside(tmp_path / "model"), pack("haem"), pack("hacm")
    folder.state.mkdir()
    order = []

    def wait() -> None:
        with folder.taken(own):
            order.append("second")

    with folder.taken(own):
        with folder.taken(other):
            pass
        second = Thread(target=wait)
        second.start()
        with pytest.raises(OutputError, match="still training haem-naive"), folder.taken(own, patience=0.1):
            order.append("intruder")
        order.append("first")
    second.join()
    assert order == ["first", "second"]


def test_a_finished_pack_leaves_all_that_its_models_are_made_of(tmp_path: Path) -> None:
    folder, own = WorkFolder.beside(tmp_path / "model"), pack(seeds=[1, 2])
    with folder.held():
        begun = run_pack(own, lambda _: None, lambda: True, folder=folder)
        assert not begun.finished
        assert all(model.parameters for model in begun.models)
        result = run_pack(own, folder=folder)
        assert result.finished
        assert not any(model.parameters for model in result.models)
        assert sorted(path.name for path in folder.state.iterdir() if path.suffix not in (".busy", "")) == sorted(
            [
                f"{own.stem}.log.jsonl",
                f"{own.stem}.pack.xz",
                *(f"haem-naive-{spec.seed}.{spec.digest}.safetensors" for spec in own.specs),
            ]
        )
        kept = read_result(folder.state / f"{own.stem}.pack.xz")
        assert kept is not None
        assert kept.stem == result.stem == own.stem
        for spec, model, same in zip(own.specs, result.models, kept.models, strict=True):
            assert model.key == spec.digest
            assert (same.dev, same.asked, same.dev_accuracy) == (model.dev, model.asked, model.dev_accuracy)
            assert folder.with_parameters(same).parameters.keys() == begun.models[0].parameters.keys()


# What an earlier command left


class Listener(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class Trained:
    """Remembers which packs were trained."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        plain = running.run_pack

        def run(own: Pack, *arguments: object, **options: object) -> PackResult:
            self.names.append(own.name)
            return plain(own, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr("reinflect.run.engines.run_pack", run)


def specs(**changes: object) -> list[ModelSpec]:
    """Two kinds of models; on a CPU, the first in two packs."""
    items = language("german")
    plain = Lesson(tuple(items[4:]), tuple(items[:4])).for_kind(Kind("", "naive"), {"naive": Naive()}, 1)
    hacm, haem = (small(system, **changes) for system in ("hacm", "haem"))
    wanted: list[tuple[str, Settings, int]] = [*(("hacm", hacm, seed) for seed in range(1, 5)), ("haem", haem, 1)]
    return [spec_for(plain, system, own, seed) for system, own, seed in wanted]


def train(folder: WorkFolder, wanted: list[ModelSpec], stop_in: str = "") -> tuple[Execution, list[str]]:
    """Train what is left; stopped when a pack of that name has begun."""
    listener = Listener()
    busy = f"{stop_in}.*.jsonl"
    resources = Resources(
        watcher=listener, enough=lambda: bool(stop_in) and any(p.stat().st_size for p in folder.state.glob(busy))
    )
    return train_specs(wanted, None, folder, resources), listener.notes


def content(folder: WorkFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.state.iterdir() if path.suffix not in (".busy", "")}


def test_only_packs_that_are_not_finished_are_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, trained = WorkFolder.beside(tmp_path / "model"), Trained(monkeypatch)
    with folder.held():
        whole, notes = train(WorkFolder.beside(tmp_path / "model"), specs())
        expected = content(folder)
        folder.remove()
    assert trained.names == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
    assert notes == []
    trained.names.clear()
    with folder.held():
        first, _ = train(folder, specs(), stop_in="haem-naive")
        assert not first.finished
    assert trained.names == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
    trained.names.clear()
    with folder.held():
        second, notes = train(folder, specs())
        assert second.finished
        assert trained.names == ["haem-naive"]
        assert notes == [
            "note: resuming an earlier training (2 of 3 packs of models are trained, 1 begun); to start anew, remove "
            f"{folder.state} first"
        ]
        third, notes = train(folder, specs())
        assert trained.names == ["haem-naive"]
        assert notes == [
            "note: resuming an earlier training (3 of 3 packs of models are trained, 0 begun); to start anew, remove "
            f"{folder.state} first"
        ]
        for execution in (whole, second, third):
            assert list(execution.models) == [spec.digest for spec in specs()]
        found = content(folder)
        assert found.keys() == expected.keys()
        assert all(found[name] == expected[name] for name in found if not name.endswith(".xz")), "but for seconds"


def test_a_killed_process_leaves_its_finished_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import os, sys; from pathlib import Path; from reinflect.run import engines\n"
        "from tests.run.test_folder import *\n"
        "plain = engines.run_pack\n"
        "def run(own, *arguments, **options):\n"
        "    if own.name == 'haem-naive': os.kill(os.getpid(), 9)\n"
        "    return plain(own, *arguments, **options)\n"
        "engines.run_pack = run\n"
        "folder = WorkFolder.beside(Path(sys.argv[1]))\n"
        "with folder.held(): train(folder, specs())\n"
    )
    folder, trained = WorkFolder.beside(tmp_path / "model"), Trained(monkeypatch)
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "model"], cwd=Path(__file__).parents[2])
    assert ran.returncode == -signal.SIGKILL
    before = content(folder)
    with folder.held():
        execution, notes = train(folder, specs())
        assert execution.finished
        assert trained.names == ["haem-naive"]
        assert len(notes) == 1
        assert "(2 of 3 packs of models are trained, 0 begun)" in notes[0]
        assert before.items() <= content(folder).items()


def test_other_work_in_the_folder_is_reported_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, trained = WorkFolder.beside(tmp_path / "model"), Trained(monkeypatch)
    also = f"note: {folder.state} also has work with other data or settings, which this command does not use"
    with folder.held():
        train(folder, specs(), stop_in="hacm-naive-2")
        before = content(folder)
    assert any(name.endswith(".checkpoint") for name in before)
    assert any(name.endswith(".pack.xz") for name in before)
    trained.names.clear()
    with folder.held():
        other, notes = train(folder, specs(hidden=7), stop_in="haem-naive")
        assert notes == [also]
        assert trained.names == ["hacm-naive-1", "hacm-naive-2", "haem-naive"]
        assert before.items() <= content(folder).items()
        assert {model.settings.hidden for model in other.models.values()} == {7}
    trained.names.clear()
    with folder.held():
        own, notes = train(folder, specs())
        assert "(1 of 3 packs of models are trained, 1 begun)" in notes[0]
        assert notes[1:] == [also]
        assert trained.names == ["hacm-naive-2", "haem-naive"]
        assert own.finished
        assert {model.settings.hidden for model in own.models.values()} == {6}


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_damaged_checkpoint_is_said_and_not_used(tmp_path: Path, where: str) -> None:
    folder = getattr(WorkFolder, where)(tmp_path / "model")
    with folder.held():
        train(folder, specs(), "hacm-naive-1")
        (path,) = folder.state.glob("*.checkpoint")
        path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
        made, notes = train(folder, specs())
    assert notes == [
        f"note: ignored {path} (damaged, or of another version); its models are trained from the beginning"
    ]
    assert made.finished
    assert not path.exists()


def test_packs_of_another_format_are_skipped_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, trained = WorkFolder.beside(tmp_path / "model"), Trained(monkeypatch)
    with folder.held():
        expected, _ = train(folder, specs())
        (path,) = folder.state.glob("haem-naive.*.pack.xz")
        plain = msgspec.json.decode(lzma.decompress(path.read_bytes()))
        assert plain["format"] == 2
        path.write_bytes(lzma.compress(msgspec.json.encode(plain | {"format": 1})))
        trained.names.clear()
        again, notes = train(folder, specs())
    assert (
        notes[0] == f"note: ignored {path} (damaged, or of another version or system); its models count as not trained"
    )
    assert "(2 of 3 packs of models are trained, 0 begun)" in notes[1]
    assert len(notes) == 2
    assert trained.names == ["haem-naive"]
    assert again.models.keys() == expected.models.keys()


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_nothing_is_left_of_halves(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = WorkFolder.beside(tmp_path / "out") if where == "beside" else WorkFolder.inside(tmp_path / "out")
    trained = Trained(monkeypatch)
    with folder.held():
        folder.halve(Pack("hacm-naive-1", tuple(specs()[:2])))
        execution, _ = train(folder, specs())
        assert trained.names == ["hacm-naive-1a", "hacm-naive-1b", "hacm-naive-2", "haem-naive"]
        assert execution.finished
        if where == "beside":
            folder.join_logs([spec.digest for spec in specs()], execution.results, execution.packs)
            folder.remove()
    assert not folder.state.exists()
    logs = [folder.whole_log] if where == "beside" else sorted(folder.logs.iterdir())
    lines = b"".join(path.read_bytes() for path in logs).splitlines()
    assert len(lines) == sum(spec.settings.epochs for spec in specs())


def test_a_folder_that_goes_is_an_error_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(folder: WorkFolder, _: Pack) -> None:
        for path in folder.state.glob("*.pack.xz"):
            path.unlink()

    monkeypatch.setattr(WorkFolder, "forget", gone)
    with pytest.raises(OutputError, match=r"model\.state: the files of trained models are gone; run the same command"):
        small_inflector("hacm-naive", changes=["epochs=1"], out=tmp_path / "model")
    assert not (tmp_path / "model").exists()
