"""The folder beside a model that is being trained."""

import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from reinflect.errors import OutputError
from reinflect.execution.state import State


def test_nothing_is_left_of_a_run_that_did_nothing(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        assert (tmp_path / "model.state").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_taken_up_stays(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        state.checkpoint("one").touch()
    with state.held():
        assert state.checkpoint("one").exists()


def test_a_second_run_is_kept_out_and_the_first_does_not_notice(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        state.checkpoint("one").touch()
        with (
            pytest.raises(OutputError, match=r"model: another run \(process \d+\) is at work on this"),
            state.held(),
        ):
            pytest.fail("two at once")
        assert state.checkpoint("one").exists()
        with State(tmp_path / "other").held():
            pass
    with state.held():
        pass


def test_the_lock_of_a_dead_process_holds_nobody(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from reinflect.execution.state import State\n"
        "with State(Path(sys.argv[1])).held():\n"
        "    Path(sys.argv[1] + '.state/a.checkpoint').touch(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "model"]).returncode == -9
    state = State(tmp_path / "model")
    assert (state.folder / "lock").exists()
    with state.held():
        assert state.checkpoint("a").exists()


def test_what_a_killed_run_was_writing_is_swept_away(tmp_path: Path) -> None:
    state = State(tmp_path / "a[1]")
    state.folder.mkdir()
    state.checkpoint("one").touch()
    left = [
        state.folder / ".one.checkpoint.abcd_123.part",
        tmp_path / ".a[1].abcdefgh.part",
        tmp_path / ".a[1].log.jsonl.abcdefgh.part",
    ]
    others = [tmp_path / ".a[1].b.abcdefgh.part", tmp_path / ".a1.abcdefgh.part", state.folder / "mine.txt"]
    for path in (*left, *others):
        path.touch()
    with state.held():
        assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


def test_removal_spares_what_is_not_ours(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        state.checkpoint("one").touch()
        state.log("one").touch()
        (state.folder / "mine.txt").touch()
        state.remove()
    assert [path.name for path in state.folder.iterdir()] == ["mine.txt"]


def test_a_pack_in_halves_is_remembered_and_what_it_was_is_not(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        assert state.halves_of("one") is None
        for name in ("one", "onea"):
            state.checkpoint(name).touch()
            state.log(name).touch()
        state.halve("one", "abc")
        assert state.halves_of("one") == "abc"
        assert not state.checkpoint("one").exists()
        assert not state.log("one").exists()
        assert state.checkpoint("onea").exists()
    assert state.halves_of("one") == "abc"
    state.remove()
    assert list(tmp_path.iterdir()) == []


def test_logs_come_together_in_the_order_of_packs(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    with state.held():
        state.log("b").write_text("2\n")
        state.log("a").write_text("1\n")
        state.join_logs(["b", "missing", "a"])
        assert (tmp_path / "model.log.jsonl").read_text() == "2\n1\n"
        for name in ("b", "ba"):
            state.halve(name, "abc")
        for number, name in enumerate(("bb", "bab", "baa")):
            state.log(name).write_text(f"{number}\n")
        state.join_logs(["b", "a"])
    assert (tmp_path / "model.log.jsonl").read_text() == "2\n1\n0\n1\n"


def test_a_file_in_the_folders_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "model.state").touch()
    with pytest.raises(OutputError, match=r"model\.state: this is needed for the state of the run, and is no folder"):
        State(tmp_path / "model").held().__enter__()
    with pytest.raises(OutputError, match="No such file"):
        State(tmp_path / "nowhere" / "model").held().__enter__()


def test_a_pack_is_taken_only_when_nobody_else_writes_to_it(tmp_path: Path) -> None:
    state = State(tmp_path / "model")
    state.folder.mkdir()
    order = []

    def wait() -> None:
        with state.taken("haem"):
            order.append("second")

    with state.taken("haem"):
        with state.taken("hacm"):  # another pack is another's business
            pass
        second = Thread(target=wait)
        second.start()
        with pytest.raises(OutputError, match="still training haem"), state.taken("haem", patience=0.1):
            order.append("intruder")
        order.append("first")
    second.join()
    assert order == ["first", "second"]
