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


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


def test_work_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

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


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(InputError, match="an empty file name"):
        read_text("")
    with pytest.raises(OutputError, match="an empty file name"):
        check_writable("")


def test_closed_streams_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(InputError, match="this is closed"):
        read_text("-")
    with pytest.raises(OutputError, match="this is closed"):
        write_text("-", "lost")


@pytest.mark.parametrize(("name", "says"), [("", "a folder, not a file"), ("none/a.txt", "there is no folder")])
def test_places_that_cannot_be_written_are_reported_early(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(OutputError, match=says):
        check_writable(tmp_path / name)


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_a_folder_without_write_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="no permission to write here"):
        check_writable(tmp_path / "a.txt")


def test_a_missing_file_and_a_folder_have_different_messages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_text(tmp_path / "none.tsv")
    with pytest.raises(InputError, match="this is a folder, not a file"):
        read_text(tmp_path)


def test_only_the_first_byte_order_mark_is_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff\ufeffa\r\n".encode())
    assert read_text(path) == "\ufeffa\r\n"


def test_quoted_shows_invisible_characters_and_cuts_long_ones() -> None:
    assert quoted("a\tb\u200e") == r"'a\tb\u200e'"
    assert quoted("x" * 50) == "'" + "x" * 40 + "…'"


def test_invalid_file_names() -> None:
    for name in ("a\0b", "\ud800"):
        with pytest.raises(InputError, match="not a valid file name; check the name") as raised:
            read_text(name)
        assert str(raised.value).isprintable()


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
