import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import atomic_path, check_writable, read_text, sweep, write_text, writing

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


def test_links_and_permissions_stay_as_they_are(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_never_replaced() -> None:
    write_text("/dev/null", "gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116


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


def test_names_that_cannot_be_used_are_reported_early(tmp_path: Path) -> None:
    read: dict[Path | str, str] = {
        "": "an empty file name",
        tmp_path: "this is a folder, not a file",
        tmp_path / "none.tsv": "no such file",
    }
    invalid = dict.fromkeys(("a\0b", "\ud800"), "^[^\0\ud800]*: not a valid file name; check the name$")
    for name, finding in (read | invalid).items():
        with pytest.raises(InputError, match=finding):
            read_text(name)
    written: dict[Path | str, str] = {
        "": "an empty file name",
        tmp_path: "a folder, not a file",
        tmp_path / "none" / "a": "there is no folder",
    }
    for name, finding in written.items():
        with pytest.raises(OutputError, match=finding):
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
