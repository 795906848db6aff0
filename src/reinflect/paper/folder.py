"""The output folder of a benchmark, which one process has to itself while it works there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reinflect.errors import OutputError
from reinflect.files import check_writable, sweep
from reinflect.run.folder import take_folder

LOCK = ".lock"
FOLDERS = ("packs", "logs", "predictions", "parameters", "models", "training.state")
FILES = ("results.json", "results.md", "details.json", "commands.jsonl")


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Make the folder, lock it, and remove the unfinished files of killed processes.

    What would prevent the results from being written is an error now. A folder that stays empty is removed.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    lock = take_folder(out, LOCK, out, parents=True)
    try:
        for path in (out / name for name in FOLDERS):
            if path.exists() and not path.is_dir():
                raise OutputError(path, "this is a file, not a folder", "remove it, or choose another --out")
        for name in FILES:
            check_writable(out / name)
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
