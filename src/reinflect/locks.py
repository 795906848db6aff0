"""Locks on files: they go with the process that holds them, however it ends, so nothing stale can be left."""

import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

ATTEMPTS = 50


class TakenError(Exception):
    """Another process has the lock; the message names it."""


def take_in(folder: Path, name: str, *, parents: bool = False) -> int:
    """`take` in a folder that is made if need be, with its parents or without."""
    for left in reversed(range(ATTEMPTS)):
        try:
            folder.mkdir(parents=parents, exist_ok=True)
            return take(folder / name)
        except FileNotFoundError:  # a process that ends may have taken the folder away just now
            if not left:
                raise
    raise AssertionError


def take(path: Path) -> int:
    """Make a lock file, lock it and write down who has it; the lock is given back by closing what comes back.

    Whoever wants to remove the file does so before that. Raises `TakenError` where another process has it, and OSError
    where there can be no such file.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if not try_lock(handle):
            owner = _owner(handle)
            os.close(handle)
            raise TakenError(owner)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                break
        os.close(handle)  # the lock of a process that has removed it since
    with suppress(OSError):  # on a full disk there is a lock, if without a name
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {platform.node()}".encode())
    return handle


def _owner(handle: int) -> str:
    """Such as `process 1234`."""
    try:
        pid, _, machine = os.read(handle, 1000).decode("utf-8", "replace").partition(" ")
    except OSError:
        pid = machine = ""
    if not pid.isdigit():
        return "another process"
    return f"process {pid}" if machine == platform.node() else f"process {pid} on {machine}"


if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30
    """Where we lock: there a byte that is locked cannot be read."""

    def try_lock(handle: int) -> bool:
        os.lseek(handle, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Whether the file is ours now; also where the file system knows no locks."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True


def is_free(path: Path) -> bool:
    """Whether nobody has this file locked."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return try_lock(handle)
    finally:
        os.close(handle)
