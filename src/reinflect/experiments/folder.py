"""The folder of a benchmark, which one process has to itself while it works there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reinflect.errors import OutputError
from reinflect.files import cannot_write, check_writable, sweep
from reinflect.locks import TakenError, take_in

LOCK = ".lock"
FOLDERS = ("packs", "logs", "predictions", "parameters", "models", "training.state")
FILES = ("results.json", "results.md", "details.json", "commands.jsonl")


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Make the folder, keep it to this process, and remove what one that was killed was writing there.

    Whatever would hinder the writing later is an error now. A folder in which nothing came to be goes again.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    lock = _taken(out)
    try:
        _check(out)
        for folder in (out, *(path for path in out.rglob("*") if path.is_dir())):
            sweep(folder)
        yield
    finally:
        with suppress(OSError):
            (out / LOCK).unlink(missing_ok=True)
        os.close(lock)
        with suppress(OSError):
            for folder in made:
                folder.rmdir()


def _taken(out: Path) -> int:
    try:
        return take_in(out, LOCK, parents=True)
    except TakenError as taken:
        raise OutputError(
            out, f"another benchmark ({taken}) works in this folder", "wait for it, or choose another --out"
        ) from None
    except (FileExistsError, NotADirectoryError):
        raise OutputError(out, "this is needed for the results, and is no folder", "choose another --out") from None
    except OSError as error:
        raise cannot_write(out, error) from None


def _check(out: Path) -> None:
    """Whether nothing stands in the place of what is to be written."""
    for name in FOLDERS:
        if (out / name).exists() and not (out / name).is_dir():
            raise OutputError(out / name, "this is a file, not a folder", "remove it, or choose another --out")
    for name in FILES:
        check_writable(out / name)
