"""Locks that name their holder."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reinflect.files import TakenError, remove_if_free, take, take_in

HOLD = (
    "import sys, time; from pathlib import Path; from reinflect.files import take\n"
    "take(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
)


def test_another_process_is_named_and_its_lock_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(TakenError, match=f"^process {other.pid}$"):
            take(path)
        remove_if_free(path)
        assert path.exists()
        other.kill()
    handle = take(path)
    with pytest.raises(TakenError, match=f"^process {os.getpid()}$"):
        take(path)
    os.close(handle)
    remove_if_free(path)
    assert not path.exists()


def test_work_continues_on_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_handle_and_flags: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", unsupported)
    handles = [take(tmp_path / "lock") for _ in range(2)]
    for handle in handles:
        os.close(handle)
    remove_if_free(tmp_path / "lock")
    assert not (tmp_path / "lock").exists()


def test_a_link_is_no_lock_file(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "another")
    with pytest.raises(OSError, match="this is a link; remove it"):
        take(tmp_path / "lock")
    assert not (tmp_path / "another").exists()


def test_the_holder_is_named_with_its_machine_if_the_lock_says_so(tmp_path: Path) -> None:
    handle = take(tmp_path / "lock")
    holders = dict.fromkeys(("", " unnamed", " 12x host"), "another process")
    for content, holder in (holders | {" 12 somewhere.example": "process 12 on somewhere.example"}).items():
        (tmp_path / "lock").write_text(content)
        with pytest.raises(TakenError) as taken:
            take(tmp_path / "lock")
        assert str(taken.value) == holder
    os.close(handle)


def test_a_lock_file_that_its_holder_removed_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    plain, opened = os.open, list[int]()

    def open_just_before_it_goes(*arguments: object) -> int:
        opened.append(plain(*arguments))  # type: ignore[arg-type]
        if len(opened) == 1:
            path.unlink()
        return opened[-1]

    monkeypatch.setattr(os, "open", open_just_before_it_goes)
    handle = take(path)
    assert len(opened) == 2
    assert os.path.samestat(os.fstat(handle), path.stat())
    os.close(handle)


def test_the_folder_is_made_with_or_without_parents(tmp_path: Path) -> None:
    os.close(take_in(tmp_path / "a" / "b", "lock", parents=True))
    assert (tmp_path / "a" / "b" / "lock").exists()
    with pytest.raises(FileNotFoundError):
        take_in(tmp_path / "c" / "d", "lock")
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        take_in(tmp_path / "file", "lock")
