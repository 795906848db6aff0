"""Locks on files. A lock ends with the process that holds it, so none goes stale; the file names the holder."""

import errno
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path


class TakenError(Exception):
    """Another process holds the lock; the message names it."""


def take_in(folder: Path, name: str, *, parents: bool = False) -> int:
    """`take` in a folder, made if need be, with or without its parents."""
    while True:
        folder.mkdir(parents=parents, exist_ok=True)
        with suppress(FileNotFoundError):  # a process that ends may just have removed the folder
            return take(folder / name)


def take(path: Path) -> int:
    """Make a lock file, lock it and write the holder's name into it. Closing the returned handle releases the lock.

    Remove the file, if at all, before closing. A link is an error, as it would lock another file.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "this is a link; remove it", str(path))
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if not try_lock(handle):
            holder = _holder(handle)
            os.close(handle)
            raise TakenError(holder)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                break
        os.close(handle)  # its last holder has removed the file meanwhile
    with suppress(OSError):  # on a full disk the lock holds without a name
        os.ftruncate(handle, 0)
        os.write(handle, f" {os.getpid()} {platform.node()}".encode())  # on Windows no one can read a locked first byte
    return handle


def _holder(handle: int) -> str:
    """Such as `process 1234`."""
    pid = machine = ""
    with suppress(OSError):
        os.lseek(handle, 1, os.SEEK_SET)
        pid, _, machine = os.read(handle, 1000).decode("utf-8", "replace").partition(" ")
    if not pid.isdigit():
        return "another process"
    return f"process {pid}" if machine == platform.node() else f"process {pid} on {machine}"


def try_lock(handle: int) -> bool:
    """Lock an open file, unless another process has it; a file system without locks counts as locked."""
    from filelock import lock_descriptor

    try:
        return lock_descriptor(handle, blocking=False)
    except OSError:
        return True


def remove_if_free(path: Path) -> None:
    """Remove a file, unless a process holds a lock on it; a process that locks it later can see that it is gone."""
    with suppress(OSError):
        with path.open("rb+") as file:
            if not try_lock(file.fileno()):
                return
            if sys.platform != "win32":
                path.unlink()
        path.unlink(missing_ok=True)  # on Windows, where no open file can be removed
