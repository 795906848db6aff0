"""Reading and writing whole text files: UTF-8, atomic, with errors a user can act on."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reinflect.errors import InputError, OutputError

STANDARD = "-"
BYTE_ORDER_MARK = "\ufeff"


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
        return sys.stdin.buffer.read() if str(path) == STANDARD else Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("there is no such file", "check the name and the folder", path=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", "name a file in it", path=path) from None
    except PermissionError:
        raise InputError("this may not be read", "check the file's permissions", path=path) from None
    except OSError as error:
        raise InputError(f"could not be read ({error.strerror})", "check the file and its disk", path=path) from None


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
    """A path to write to, which becomes `path` when the block ends well and vanishes when it does not."""
    check_writable(path)
    target = Path(path)
    if _is_special(target):  # a device or pipe (/dev/null, /dev/stdout) is written to, never replaced
        try:
            yield target
        except BrokenPipeError:  # whoever was reading has read enough
            raise
        except OSError as error:
            raise _cannot_write(path, error) from None
        return
    target = target.resolve()  # a link keeps pointing where it points
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise _cannot_write(path, error) from None
    part = Path(name)
    try:
        yield part
        part.chmod(_mode_for(target))
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _cannot_write(path, error) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode_for(target: Path) -> int:
    """The permissions of the file that is replaced, or what a plain `open` would have given a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _cannot_write(path: Path | str, error: OSError) -> OutputError:
    return OutputError(path, f"could not be written ({error.strerror})", "check the disk or choose another place")
