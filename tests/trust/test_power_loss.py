"""A power failure at any moment leaves the old file or the new one, and the new one once its writer has returned.

The writes, syncs and renames of our writers are recorded. Every prefix of them is what had been done when the power
failed: what was synced is on the disk; names that were not are kept or dropped, and writes kept, dropped or cut short.
"""

import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from reinflect.data.items import read_items, write_items
from reinflect.files import read_text, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.loop import Checkpoint
from reinflect.run.pack_files import ENDING, read_result, write_result
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


@dataclass
class Recorder:
    """Records what is done to the files of one folder."""

    folder: Path
    steps: list[Step] = field(default_factory=list)

    def __call__(self, work: Callable[[], object]) -> list[Step]:
        plain_open, plain_sync, plain_replace, steps = io.open, os.fsync, os.replace, self.steps

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                written = super().write(data)
                steps.append(Step("write", os.fstat(self.fileno()).st_ino, data=bytes(data[:written])))
                return written

        def open_and_watch(path: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
            if mode != "wb" or Path(path).parent != self.folder:
                return plain_open(path, mode, *given, **options)
            file = File(path, mode)
            steps.append(Step("make", os.fstat(file.fileno()).st_ino, Path(path).name))
            return io.BufferedWriter(file)

        def sync(handle: int) -> None:
            number, folder = os.fstat(handle).st_ino, self.folder.stat().st_ino
            steps.append(Step("sync folder") if number == folder else Step("sync", number))
            plain_sync(handle)

        def rename(source: Path, target: Path) -> None:
            steps.append(Step("rename", source.stat().st_ino, target.name))
            plain_replace(source, target)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(io, "open", open_and_watch)
            patch.setattr(os, "fsync", sync)
            patch.setattr(os, "replace", rename)
            work()
        return steps


def after_power_loss(before: dict[str, bytes], done: list[Step], writes: Fate, names: Fate) -> dict[str, bytes]:
    """The files of a folder, by name."""
    last_sync = {step.file: number for number, step in enumerate(done) if step.what == "sync"}
    names_synced = max((number for number, step in enumerate(done) if step.what == "sync folder"), default=-1)
    contents: dict[int, bytes] = {}
    files: dict[str, int] = {}
    for number, step in enumerate(done):
        if step.what == "make":
            contents[step.file] = b""
        elif step.what == "write":
            kept = writes == "kept" or number < last_sync.get(step.file, -1)
            contents[step.file] += step.data if kept else step.data[: len(step.data) // 2 if writes == "cut" else 0]
        if step.what in ("make", "rename") and (names == "kept" or number < names_synced):
            files = {name: file for name, file in files.items() if file != step.file} | {step.name: step.file}
    return before | {name: contents[file] for name, file in files.items()}


class Kind(NamedTuple):
    """A kind of file, with how its writer and reader are called."""

    name: str
    write: Callable[[Path, int], object]
    read: Callable[[Path], object]
    """What the reader makes of a file; files of different numbers differ."""


def checkpoint(path: Path) -> Checkpoint:
    return Checkpoint(path, "mark")


def save_checkpoint(path: Path, number: int) -> None:
    fleet = fleet_of(pack())
    checkpoint(path).save(fleet, number, fleet.no_losses(), 0)


def resumed(path: Path) -> int:
    loaded = checkpoint(path).load(fleet_of(pack()))
    assert loaded
    return loaded.update


def seconds_of_pack(path: Path) -> float:
    result = read_result(path)
    assert result
    return result.seconds


def write_pack(path: Path, number: int) -> None:
    write_result(path, replace(made_up.pack(made_up.result(made_up.corpus())), seconds=float(number)))


def save_model(path: Path, number: int) -> None:
    replace(inflector(), known_runs={"ä": number}).save(path)


KINDS = [
    Kind("text", lambda path, number: write_text(path, f"{number}" * 100_000), read_text),
    Kind("items.tsv", lambda path, number: write_items(path, language("german")[number:]), read_items),
    Kind("items.xlsx", lambda path, number: write_items(path, language("german")[number:]), read_items),
    Kind("model.reinflect", save_model, lambda path: Inflector.load(path).known_runs),
    Kind(f"one{ENDING}", write_pack, seconds_of_pack),
    Kind("one.checkpoint", save_checkpoint, resumed),
]


def outcomes(kind: Kind, folder: Path, without: str = "") -> tuple[set[str], set[str]]:
    """Which of old, new and damaged a reader can find if the power fails while a file is written; and afterwards."""
    path, elsewhere = folder / kind.name, folder / "elsewhere"
    elsewhere.mkdir()
    kind.write(path, 1)
    before, old = {kind.name: path.read_bytes()}, kind.read(path)
    steps = [step for step in Recorder(folder)(lambda: kind.write(path, 2)) if step.what != without]
    new = kind.read(path)
    assert old != new
    assert {step.what for step in steps} == {"make", "write", "sync", "rename", "sync folder"} - {without}

    def found(done: list[Step], writes: Fate, names: Fate) -> str:
        place = elsewhere / kind.name
        place.write_bytes(after_power_loss(before, done, writes, names)[kind.name])
        try:
            content = kind.read(place)
        except Exception:
            return "damaged"
        return {repr(old): "old", repr(new): "new"}.get(repr(content), "damaged")

    fates: list[tuple[Fate, Fate]] = list(product(("kept", "dropped", "cut"), ("kept", "dropped")))
    meanwhile = {found(steps[:number], *fate) for number in range(len(steps)) for fate in fates}
    return meanwhile, {found(steps, *fate) for fate in fates}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_reader_finds_the_old_file_or_the_new_one(kind: Kind, tmp_path: Path) -> None:
    assert outcomes(kind, tmp_path) == ({"old", "new"}, {"new"})


def test_a_writer_that_forgets_to_sync_is_noticed(tmp_path: Path) -> None:
    expected = {"sync": ({"old", "new", "damaged"}, {"new", "damaged"}), "sync folder": ({"old"}, {"old", "new"})}
    for name, found in expected.items():
        (tmp_path / name).mkdir()
        assert outcomes(KINDS[0], tmp_path / name, without=name) == found
