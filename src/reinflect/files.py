"""Whole text files, UTF-8 and atomic, with errors that users can act on; and locks, which end with their process."""

import errno
import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from glob import escape
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Literal, NamedTuple

from reinflect.errors import InputError, OutputError, cannot_write, quoted, remedy_for, writing

STANDARD = "-"
LARGEST = 1 << 29
"""Bytes of a file that is read as a whole; the data made from it takes many times that memory."""
PIECE = 1 << 16
LONGEST_LINE = 10_000
"""Characters; some work grows with the square of the length."""
BYTE_ORDER_MARK = "\ufeff"
PART, LONGEST_STEM = ".{}.{}.part", 60
"""The name of an unfinished file, and the most characters of the file's name in it."""
UNREADABLE: dict[type[OSError], tuple[str, str]] = {
    FileNotFoundError: ("there is no such file", "check the name and the folder"),
    IsADirectoryError: ("this is a folder, not a file", "name a file in it"),
    PermissionError: ("no permission to read this file", "check the file's permissions"),
}
Kind = Literal["model", "page", "JSON", "table", "other"]
OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
LOCK = ".lock"
NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""Where folders cannot be synced."""


def read_text(path: Path | str) -> str:
    """The whole text of a file (`-`: standard input) without its byte-order mark; line ends are unchanged."""
    raw = read_bytes(path)
    try:
        return raw.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        finding = f"found the byte 0x{raw[error.start]:02X}, which is not UTF-8"
        remedy = "save the file as UTF-8 (in a spreadsheet or editor: encoding 'UTF-8')"
        raise InputError(finding, remedy, path=path, line=raw.count(b"\n", 0, error.start) + 1) from None


def lines_of(text: str, path: Path | str) -> Iterator[tuple[int, str]]:
    """The numbers and the text of all lines that are not empty; only LF and CRLF end a line."""
    for number, match in enumerate(re.finditer("(.*)\n?", text), start=1):
        length = match.end(1) - match.start(1)
        if length > LONGEST_LINE:
            remedy = f"write one item per line, in at most {LONGEST_LINE:,} characters"
            raise InputError(f"found a line of {length:,} characters", remedy, path=path, line=number)
        if line := match[1].removesuffix("\r"):
            yield number, line


def read_bytes(path: Path | str) -> bytes:
    if path == "":  # as from a shell variable that was never set
        raise InputError("found an empty file name", "name a file, or - for standard input")
    standard = str(path) == STANDARD
    if standard and sys.stdin is None:
        raise InputError("this is closed", "pipe the data in, or name a file", path=path)
    try:
        with nullcontext(sys.stdin.buffer) if standard else Path(path).open("rb") as file:
            size = 0 if standard else os.fstat(file.fileno()).st_size
            pieces = islice(iter(partial(file.read, PIECE), b""), LARGEST // PIECE + 1)  # a device may have no end
            content = b"" if size > LARGEST else b"".join(pieces)
    except OSError as error:
        otherwise = (f"could not be read ({error.strerror})", remedy_for(error, "check the file and its disk"))
        raise InputError(*UNREADABLE.get(type(error), otherwise), path=path) from None
    except ValueError:  # a character that no system allows in names
        raise InputError("not a valid file name", "check the name", path=path) from None
    if max(size, len(content)) > LARGEST:
        raise InputError(f"this is larger than {LARGEST:,} bytes", "split it into several files", path=path)
    return content


class Snapshot(NamedTuple):
    """A file as it was when it was read: device, inode, size and time of change; nothing if there was no file."""

    path: Path
    identity: tuple[int, ...]

    @classmethod
    def of(cls, path: Path | str) -> "Snapshot":
        with suppress(OSError):
            now = Path(path).stat()
            return cls(Path(path), (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns))
        return cls(Path(path), ())

    @property
    def changed(self) -> bool:
        return self != Snapshot.of(self.path)


def check_writable(path: Path | str) -> None:
    """Raise now what writing `path` would raise later, so that long work does not end in an error."""
    target = Path(path)
    if path == "":
        raise OutputError("''", "this is an empty file name", "name a file to write")
    if str(path) == STANDARD:
        return
    if target.is_dir():
        raise OutputError(path, "this is a folder, not a file", "name a file to write")
    if not target.parent.is_dir():
        raise OutputError(path, f"there is no folder {target.parent}", "make it first or choose another place")
    if not os.access(target if _is_special(target) else target.parent, os.W_OK):
        raise OutputError(path, "no permission to write here", "check the permissions or choose another place")


def has_content(path: Path | str) -> bool:
    """Whether there is a file that is not empty; devices and standard output are no files."""
    return str(path) != STANDARD and Path(path).is_file() and Path(path).stat().st_size > 0


def kind_of_file(path: Path | str) -> Kind:
    """What a file is, by its beginning: a table has a tab in every line."""
    start = b""
    with suppress(OSError), Path(path).open("rb") as file:
        start = file.read(PIECE)
    if b'"reinflect"' in start[:200] and start[8:9] == b"{":  # after the size of a safetensors header
        return "model"
    text = start.removeprefix(BYTE_ORDER_MARK.encode()).lstrip(b"\n")
    if text.startswith(b"{"):
        return "JSON"
    if text[:14].lower() == b"<!doctype html":
        return "page"
    lines = text.splitlines()[: -1 if len(start) == PIECE else None]
    return "table" if lines and b"\0" not in text and all(b"\t" in line for line in lines if line) else "other"


def kind_of_sheet(path: Path | str) -> str | None:
    """`.csv` or `.xlsx` by the ending of the file's name; None for a file that is not a spreadsheet."""
    ending = Path(path).suffix.lower()
    if ending in OTHER_SHEETS:
        problem = f"found the ending {ending}, a kind of spreadsheet that reinflect does not read or write"
        raise InputError(problem, "save it as .xlsx or as .csv (UTF-8)", path=path)
    return ending if ending in (".csv", ".xlsx") else None


def write_text(path: Path | str, text: str) -> None:
    """Write a whole file (`-`: standard output) at once: readers see the old file or the new one, never a part.

    Bytes of file names that are not UTF-8 are escaped.
    """
    raw = text.encode("utf-8", "backslashreplace")
    if str(path) != STANDARD:
        write_bytes(path, raw)
    elif sys.stdout is None:
        raise OutputError(path, "this is closed", "name a file to write")
    else:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()


def write_bytes(path: Path | str, content: bytes) -> None:
    """As `write_text`, for bytes."""
    with atomic_path(path) as part:
        part.write_bytes(content)


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """A path to write to: it becomes `path` if the block succeeds and is removed if the block fails.

    Unfinished files that killed processes left for the same `path` are removed first.
    """
    check_writable(path)
    with writing(path):
        if _is_special(Path(path)):  # a device or pipe (/dev/null, /dev/stdout) is written to, never replaced
            yield Path(path)
            return
        target = Path(path).resolve()  # a link keeps pointing where it points
        sweep(target.parent, target.name)
        handle, part = _new_part(target)
        try:
            yield part
            if target.exists():
                part.chmod(target.stat().st_mode & 0o777)
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            part.replace(target)
            _sync_folder(target.parent)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
        finally:
            if sys.platform != "win32":
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk: without it, a power failure can undo a rename."""
    with suppress(PermissionError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise
        finally:
            os.close(handle)


def make_folder(path: Path) -> Path:
    with writing(path):
        if not path.is_dir():
            path.mkdir(parents=True, exist_ok=True)
            _sync_folder(path.parent)
    return path


@contextmanager
def held(folder: Path, out: Path, *, lasting: bool = True) -> Iterator[None]:
    """Make a folder, lock it for this process, and sweep it; `out` is what the user named.

    At the end a folder that is empty is removed: a lasting one, and those above it, only if they were made for this.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    lock = None
    try:
        while lock is None:
            folder.mkdir(parents=lasting, exist_ok=True)
            with suppress(FileNotFoundError):  # another command that ends may just have removed the folder
                lock = take(folder / LOCK)
    except TakenError as taken:
        finding = f"another command ({taken}) is working on this"
        raise OutputError(out, finding, "wait for it, or choose another --out") from None
    except (FileExistsError, NotADirectoryError):
        finding = "needed as a folder, but not a folder"
        raise OutputError(folder, finding, "remove it, or choose another --out") from None
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        sweep(folder)
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
            for path in missing if lasting else [folder]:
                path.rmdir()
        os.close(lock)


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove the unfinished files that killed processes left in a folder, for the file of that name or for any."""
    for part in folder.glob(PART.format("*" if name is None else escape(name[:LONGEST_STEM]), "????????")):
        with suppress(OSError):
            with part.open("rb+") as file:
                if not try_lock(file.fileno()):
                    continue  # a process is writing it
                if sys.platform != "win32":
                    part.unlink()  # a process that locks it from now on sees that it is gone
            part.unlink(missing_ok=True)  # on Windows, where no open file can be removed


def _new_part(target: Path) -> tuple[int, Path]:
    """An unfinished file beside its target; its lock shows `sweep` that this process is still writing."""
    while True:
        part = target.with_name(PART.format(target.name[:LONGEST_STEM], token_hex(4)))
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if target.exists() else 0o666)
        if sys.platform == "win32":
            os.close(handle)  # Windows can neither rename nor remove an open file
            return handle, part
        if try_lock(handle) and os.fstat(handle).st_nlink:
            return handle, part
        os.close(handle)  # another process took it for one that was left behind, and removes it


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


class TakenError(Exception):
    """Another process holds the lock; the message names it."""


def take(path: Path) -> int:
    """Make a lock file, lock it and write the holder's name into it. Closing the returned handle releases the lock.

    Remove the file, if at all, before closing. A link is an error, as it would lock another file.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "this is a link; remove it", str(path))
    machine = f" on {platform.node()}"
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if not try_lock(handle):
            with os.fdopen(handle, "rb") as file:
                file.seek(1)  # on Windows no one can read a locked first byte
                holder = file.read(1000).decode("utf-8", "replace").removesuffix(machine)
            raise TakenError(holder or "another process")
        if os.fstat(handle).st_nlink:
            with suppress(OSError):  # on a full disk the lock holds without a name
                os.ftruncate(handle, 0)
                os.write(handle, f" process {os.getpid()}{machine}".encode())
            return handle
        os.close(handle)  # its last holder has removed the file meanwhile


def try_lock(handle: int) -> bool:
    """Lock an open file, unless another process has it; a file system without locks counts as locked."""
    from filelock import lock_descriptor

    try:
        return lock_descriptor(handle, blocking=False)
    except OSError:
        return True


CACHE_VARIABLE = "REINFLECT_CACHE"


def cache_folder() -> Path:
    """The system's cache folder, or the one that the user names."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    try:
        return Path(named).expanduser() if named else user_cache_path("reinflect")
    except RuntimeError:  # which pathlib raises for a ~ without a home
        problem = f"found no home folder for {CACHE_VARIABLE} = {quoted(named or '', 80)}"
        raise InputError(problem, "write the folder's name in full") from None
