"""A power failure at any moment leaves the old file or the new one, and the new one once its writer has returned.

The writes, syncs and renames of our writers are recorded. Every prefix of them is what had been done when the power
failed: what was synced is on the disk; names that were not are kept or dropped, and writes kept, dropped or cut short.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from reinflect.data.items import read_items, write_items
from reinflect.files import read_text, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.loop import Checkpoint
from reinflect.run.packs import ENDING, read_result, write_result
from tests.fuzz.tiny_models import inflector
from tests.learn.tiny import fleet_of, language, pack
from tests.paper import made_up

Fate = Literal["kept", "dropped", "cut"]


class Step(NamedTuple):
    """Something done to a file, known by its inode, or to the folder."""

    what: Literal["make", "write", "sync", "rename", "sync folder"]
    file: int = 0
    name: str = ""
    data: bytes = b""


@contextmanager
def recorded(folder: Path) -> Iterator[list[Step]]:
    """What is done to the files of one folder."""
    plain_open, plain_sync, plain_replace, steps = io.open, os.fsync, os.replace, list[Step]()

    class File(io.FileIO):
        def write(self, data: Any) -> int:
            written = super().write(data)
            steps.append(Step("write", os.fstat(self.fileno()).st_ino, data=bytes(data[:written])))
            return written

    def open_and_watch(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode != "wb" or Path(path).parent != folder:
            return plain_open(path, mode, *arguments, **options)
        file = File(path, mode)
        steps.append(Step("make", os.fstat(file.fileno()).st_ino, Path(path).name))
        return io.BufferedWriter(file)

    def sync(handle: int) -> None:
        number = os.fstat(handle).st_ino
        steps.append(Step("sync folder") if number == folder.stat().st_ino else Step("sync", number))
        plain_sync(handle)

    def rename(source: Path, target: Path) -> None:
        steps.append(Step("rename", source.stat().st_ino, target.name))
        plain_replace(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", open_and_watch)
        patch.setattr(os, "fsync", sync)
        patch.setattr(os, "replace", rename)
        yield steps


def after_power_loss(old: bytes, name: str, done: list[Step], writes: Fate, names: Fate) -> bytes:
    """The content of a file of that name."""
    last_sync = {step.file: number for number, step in enumerate(done) if step.what == "sync"}
    names_synced = max((number for number, step in enumerate(done) if step.what == "sync folder"), default=-1)
    contents, named = {0: old}, 0
    for number, step in enumerate(done):
        if step.what == "make":
            contents[step.file] = b""
        elif step.what == "write":
            kept = writes == "kept" or number < last_sync.get(step.file, -1)
            contents[step.file] += step.data if kept else step.data[: len(step.data) // 2 if writes == "cut" else 0]
        if step.what in ("make", "rename") and step.name == name and (names == "kept" or number < names_synced):
            named = step.file
    return contents[named]


def save_checkpoint(path: Path, number: int) -> None:
    fleet = fleet_of(pack())
    Checkpoint(path, "mark").save(fleet, number, fleet.no_losses(), 0)


def update_of_checkpoint(path: Path) -> int:
    loaded = Checkpoint(path, "mark").load(fleet_of(pack()))
    assert loaded
    return loaded[0]


RESULT = made_up.pack(made_up.result(made_up.corpus()))
KINDS: dict[str, tuple[Callable[[Path, int], object], Callable[[Path], object]]] = {
    "text": (lambda path, number: write_text(path, f"{number}" * 100_000), read_text),
    "items.tsv": (lambda path, number: write_items(path, language("german")[number:]), read_items),
    "items.xlsx": (lambda path, number: write_items(path, language("german")[number:]), read_items),
    "model.reinflect": (
        lambda path, number: replace(inflector(), known_runs={"ä": number}).save(path),
        lambda path: Inflector.load(path).known_runs,
    ),
    f"one{ENDING}": (lambda path, number: write_result(path, replace(RESULT, seconds=number)), read_result),
    "one.checkpoint": (save_checkpoint, update_of_checkpoint),
}
"""How kinds of files are written and read; the files of different numbers differ."""


def outcomes(name: str, folder: Path, without: str = "") -> tuple[set[str], set[str]]:
    """Which of old, new and damaged a reader can find if the power fails while a file is written; and afterwards."""
    path, copy, (write, read) = folder / name, folder / "elsewhere" / name, KINDS[name]
    copy.parent.mkdir()
    write(path, 1)
    content, old = path.read_bytes(), read(path)
    with recorded(folder) as steps:
        write(path, 2)
    new = read(path)
    assert old != new
    assert {step.what for step in steps} == {"make", "write", "sync", "rename", "sync folder"}
    steps = [step for step in steps if step.what != without]

    def outcome(done: list[Step], writes: Fate, names: Fate) -> str:
        copy.write_bytes(after_power_loss(content, name, done, writes, names))
        try:
            return {repr(old): "old", repr(new): "new"}.get(repr(read(copy)), "damaged")
        except Exception:
            return "damaged"

    fates: list[tuple[Fate, Fate]] = list(product(("kept", "dropped", "cut"), ("kept", "dropped")))
    meanwhile = {outcome(steps[:number], *fate) for number in range(len(steps)) for fate in fates}
    return meanwhile, {outcome(steps, *fate) for fate in fates}


@pytest.mark.parametrize("name", KINDS)
def test_a_reader_finds_the_old_file_or_the_new_one(name: str, tmp_path: Path) -> None:
    assert outcomes(name, tmp_path) == ({"old", "new"}, {"new"})


@pytest.mark.parametrize(
    ("forgotten", "expected"),
    [("sync", ({"old", "new", "damaged"}, {"new", "damaged"})), ("sync folder", ({"old"}, {"old", "new"}))],
)
def test_forgotten_syncs_are_noticed(forgotten: str, expected: tuple[set[str], set[str]], tmp_path: Path) -> None:
    assert outcomes("text", tmp_path, without=forgotten) == expected
