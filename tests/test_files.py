"""Files that are written whole or not at all, errors of files, and locks that name their holder."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reinflect.errors import InputError, OutputError, quoted, writing
from reinflect.files import TakenError, atomic_path, check_writable, read_text, sweep, take, write_text

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def test_work_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "older")
    write_text(path, "old")

    def fail_halfway() -> None:
        with atomic_path(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_permissions_and_devices_stay_as_they_are(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert (real.read_text(), stat.S_IMODE(real.stat().st_mode)) == ("new", 0o640)
    write_text("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_device_is_an_error() -> None:
    with pytest.raises(OutputError, match=r"/dev/full: could not be written \(No space left"):
        write_text("/dev/full", "too much")


def test_closed_streams_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(InputError, match="this is closed"):
        read_text("-")
    with pytest.raises(OutputError, match="this is closed"):
        write_text("-", "lost")


UNUSABLE = {
    "": ("an empty file name", "an empty file name"),
    ".": ("this is a folder, not a file", "a folder, not a file"),
    "none/a": ("no such file", "there is no folder"),
    "a\0b": ("^[^\0]*: not a valid file name; check the name$", None),
    "\ud800": ("^[^\ud800]*: not a valid file name; check the name$", None),
}
"""What reading and writing such names finds."""


@pytest.mark.parametrize("name", UNUSABLE, ids=ascii)
def test_names_that_cannot_be_used_are_reported_early(name: str) -> None:
    reading, to_write = UNUSABLE[name]
    with pytest.raises(InputError, match=reading):
        read_text(name)
    if to_write:
        with pytest.raises(OutputError, match=to_write):
            check_writable(name)


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_a_folder_without_write_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="no permission to write here"):
        check_writable(tmp_path / "a.txt")


def test_only_the_first_byte_order_mark_is_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff\ufeffa\r\n".encode())
    assert read_text(path) == "\ufeffa\r\n"


def test_quoted_shows_invisible_characters_and_cuts_long_ones() -> None:
    assert quoted("a\tb\u200e") == r"'a\tb\u200e'"
    assert quoted("x" * 50) == "'" + "x" * 40 + "…'"


def test_messages_are_one_line_and_can_be_printed() -> None:
    message = str(InputError("found\nthis\r\x1b[31m", "do\nthat", path="a\u2028b"))
    assert message == r"a\u2028b: found this\r\x1b[31m; do that"


def test_what_a_killed_process_was_writing_to_the_same_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120)
    code = (
        "import os, sys; from reinflect.files import atomic_path\n"
        "with atomic_path(sys.argv[1]) as part:\n"
        "    part.write_text('half'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == -9
    assert [left.read_text() for left in tmp_path.iterdir()] == ["half"]
    other = tmp_path / ".another.abcdefgh.part"
    other.touch()
    write_text(path, "whole")
    assert {left: left.read_text() for left in tmp_path.iterdir()} == {path: "whole", other: ""}


def test_what_a_live_process_is_writing_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_path(path) as first:
        first.write_text("first")
        write_text(path, "second")
        sweep(tmp_path)
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "make room there"), (errno.EDQUOT, "make room"), (errno.EROFS, "check the")]
)
def test_the_remedy_fits_what_happened(tmp_path: Path, number: int, remedy: str) -> None:
    message = rf"log: could not be written \({os.strerror(number)}\); {remedy}"
    with pytest.raises(OutputError, match=message), writing(tmp_path / "log"):
        raise OSError(number, os.strerror(number))


# Locks

HOLD = (
    "import sys, time; from pathlib import Path; from reinflect.files import take\n"
    "take(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
)


def test_another_process_is_named_and_its_lock_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / ".a.abcdefgh.part"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(TakenError, match=f"^process {other.pid}$"):
            take(path)
        sweep(tmp_path)
        assert path.exists()
        other.kill()
    handle = take(path)
    with pytest.raises(TakenError, match=f"^process {os.getpid()}$"):
        take(path)
    os.close(handle)
    sweep(tmp_path)
    assert not path.exists()


def test_work_continues_on_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_handle_and_flags: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", unsupported)
    for _ in range(2):
        os.close(take(tmp_path / ".a.abcdefgh.part"))
    sweep(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "holder"),
    [("", "another process"), (" process 12 on somewhere.example", "process 12 on somewhere.example")],
)
def test_the_holder_is_named_with_its_machine_if_the_lock_says_so(tmp_path: Path, content: str, holder: str) -> None:
    handle = take(tmp_path / "lock")
    (tmp_path / "lock").write_text(content)
    with pytest.raises(TakenError, match=f"^{holder}$"):
        take(tmp_path / "lock")
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
