"""Reading and writing whole text files: UTF-8, atomic, with errors a user can act on."""

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO

from reinflect.errors import InputError, OutputError
from reinflect.locks import is_free, try_lock

STANDARD = "-"
LARGEST = 1 << 29
"""Bytes of a file that is read as a whole. What comes of them in memory takes many times as much."""
PIECE = 1 << 16
BYTE_ORDER_MARK = "\ufeff"
PART = ".????????.part"
"""How the names of files end that are being written; see `atomic_path`."""
LONGEST_STEM = 60
"""So many characters of a file's name are in the name of its part, which in any script is short enough then."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def read_text(path: Path | str) -> str:
    """The whole text of a file (`-`: standard input), its byte-order mark taken off, its line ends as they are."""
    raw = read_bytes(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"found the byte 0x{raw[error.start]:02X}, which is not UTF-8",
            "save the file as UTF-8 (in a spreadsheet or editor: encoding 'UTF-8')",
            path=path,
            line=line,
        ) from None
    return text.removeprefix(BYTE_ORDER_MARK)


def read_bytes(path: Path | str) -> bytes:
    if path == "":  # as from a shell variable that was never set
        raise InputError("found an empty file name", "name a file, or - for standard input")
    if str(path) == STANDARD and sys.stdin is None:
        raise InputError("this is closed", "pipe the data in, or name a file", path=path)
    try:
        if str(path) == STANDARD:
            return _whole(sys.stdin.buffer, path)
        with Path(path).open("rb") as file:
            return _whole(file, path, os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        raise InputError("there is no such file", "check the name and the folder", path=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", "name a file in it", path=path) from None
    except PermissionError:
        raise InputError("this may not be read", "check the file's permissions", path=path) from None
    except OSError as error:
        raise InputError(f"could not be read ({error.strerror})", "check the file and its disk", path=path) from None
    except ValueError:  # a character that no system has in them
        raise InputError("this is no name of a file", "check the name", path=path) from None


def _whole(file: BinaryIO, path: Path | str, claimed: int = 0) -> bytes:
    """All that is in a file, unless that is, or claims to be, more than anyone means to read at once."""
    pieces, size = [], 0
    while max(size, claimed) <= LARGEST and (piece := file.read(PIECE)):
        pieces.append(piece)
        size += len(piece)
    if max(size, claimed) > LARGEST:
        raise InputError(f"this is larger than {LARGEST:,} bytes", "make several files of it", path=path)
    return b"".join(pieces)


def check_writable(path: Path | str) -> None:
    """Raise now what writing `path` would raise later, so that long work does not end in an error."""
    if str(path) == STANDARD:
        return
    if path == "":
        raise OutputError("''", "this is an empty file name", "name a file to write")
    target = Path(path)
    if target.is_dir():
        raise OutputError(path, "this is a folder, not a file", "name a file to write")
    folder = target.parent
    if not folder.is_dir():
        raise OutputError(path, f"there is no folder {folder}", "make it first or choose another place")
    place = target if _is_special(target) else folder
    if not os.access(place, os.W_OK):
        raise OutputError(path, "this may not be written", "check the permissions or choose another place")


def write_text(path: Path | str, text: str) -> None:
    """Write a whole file (`-`: standard output) at once: readers see the old file or the new one, never a part."""
    if str(path) == STANDARD:
        if sys.stdout is None:
            raise OutputError(path, "this is closed", "name a file to write")
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
        return
    with atomic_path(path) as part:
        part.write_bytes(text.encode("utf-8"))


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends well and vanishes when it does not.

    What a process that was killed was writing to the same `path` goes, too.
    """
    check_writable(path)
    target = Path(path)
    if _is_special(target):  # a device or pipe (/dev/null, /dev/stdout) is written to, never replaced
        with writing(path):
            yield target
        return
    target = target.resolve()  # a link keeps pointing where it points
    with writing(path):
        sweep(target.parent, target.name)
        handle, name = tempfile.mkstemp(prefix=_prefix(target.name), suffix=PART[-5:], dir=target.parent)
        part = Path(name)
        try:
            if sys.platform == "win32":
                os.close(handle)  # there nobody can rename a file that is open, nor remove it
            else:
                try_lock(handle)  # which tells others that somebody is still writing
            yield part
            part.chmod(_mode_for(target))
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
        finally:
            if sys.platform != "win32":
                os.close(handle)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Let whatever hinders the writing of a file come out as an error that names it."""
    try:
        yield
    except BrokenPipeError:  # whoever was reading has read enough
        raise
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path | str, error: OSError) -> OutputError:
    if error.errno in NO_ROOM:
        remedy = "make room there, then run the same again, or choose another place"
    else:
        remedy = "check the disk or choose another place"
    return OutputError(path, f"could not be written ({error.strerror or error})", remedy)


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what processes that were killed were writing in a folder: to the file of that name, or to any."""
    for part in folder.glob(f".*{PART}" if name is None else f"{escape(_prefix(name))}{PART[1:]}"):
        if is_free(part):
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _prefix(name: str) -> str:
    return f".{name[:LONGEST_STEM]}."


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode_for(target: Path) -> int:
    """The permissions of the file that is replaced, or what a plain `open` would have given a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
