"""Two commands that leave much behind, small enough to be run many times, and what is to be the same each time."""

import json
import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.items import Item, write_items
from reinflect.inflector.inflector import Inflector
from reinflect.run.packs import read_result
from tests.cli import as_options
from tests.learn.tiny import language

SMALL = "embedding=5 hidden=6 history_hidden=4 patience=4096 score_from=0"
LONE = {"commands.jsonl"}
"""Has a line for every command that came to its end, and so differs."""


def write_data(folder: Path) -> Path:
    """Files for both commands."""
    items = language("german")
    write_items(folder / "german-train-low", items[4:])
    write_items(folder / "german-dev", items[:4])
    write_items(folder / "german-covered-test", [Item(item.lemma, item.features) for item in items[4:9]])
    return folder


@dataclass(frozen=True)
class Job:
    """A command whose output goes into a folder `out` of a folder, which may also have a `cache`."""

    name: str
    fixed: tuple[str, ...]
    options: tuple[str, ...]
    models: str
    """Which of the files in `out` are models, as a pattern."""

    def command(self, data: Path, folder: Path, *more: object, changes: str = "") -> list[str]:
        files = [text.format(data=data, out=folder / "out") for text in self.fixed]
        settings = as_options(f"{SMALL} {changes}")
        return [self.name, *files, *self.options, "--device", "cpu", *settings, *map(str, more)]

    def again(self, folder: Path) -> list[str]:
        """What must be added where the job may be finished: a model is then replaced only if asked for."""
        model = folder / "out" / "model"
        return ["--force"] if model.is_file() and not model.with_name("model.state").exists() else []

    def prepare(self, folder: Path) -> Path:
        (folder / "out").mkdir(parents=True)
        return folder

    def check_visible(self, folder: Path) -> None:
        """A model is whole or not there, and so is everything else that has a name to be read by."""
        for path in (folder / "out").glob(self.models):
            Inflector.load(path)
        for path in (*folder.glob("out/packs/*.pack.xz"), *folder.glob("out/*.state/*.pack.xz")):
            assert read_result(path) is not None, f"{path} is damaged"
        for path in folder.glob("out/*.json"):
            json.loads(path.read_bytes())

    def made(self, folder: Path) -> dict[str, Any]:
        """Every file that is there, with all of it that does not depend on how long things took."""
        files = [path for path in folder.rglob("*") if not path.is_dir() or not any(path.iterdir())]
        return {str(path.relative_to(folder)): _timeless(path) for path in files if path.name not in LONE}


TRAIN = Job(
    "train",
    ("--train", "{data}/german-train-low", "--dev", "{data}/german-dev", "--out", "{out}/model"),
    ("--seeds", "2", "--alignments", "smart"),
    models="model",
)
BENCHMARK = Job(
    "benchmark",
    ("--data", "{data}", "--out", "{out}"),
    ("--settings", "low", "--grid", "quick", "--save-models"),
    models="models/*/*.reinflect",
)

JOBS = pytest.mark.parametrize("job", [TRAIN, BENCHMARK], ids=lambda job: job.name)
SHORT = {TRAIN.name: "epochs=40 batch=2 score_every=20", BENCHMARK.name: "epochs=15 batch=2 score_every=5"}
LONG = {TRAIN.name: "epochs=500 batch=2 score_every=250", BENCHMARK.name: "epochs=300 batch=2 score_every=100"}
"""Settings that make a job of a few seconds, and of 20 or more on two cores."""


def _timeless(path: Path) -> Any:
    if path.is_dir():
        return None
    content = path.read_bytes()
    if path.name.endswith(".pack.xz"):
        content = lzma.decompress(content)
    if path.suffix in (".xz", ".json"):
        return re.sub(rb'"seconds": ?[\d.]+', b'"seconds":0', content)
    if path.name == "results.md":
        return re.sub(rb"(?m)^.* commands? in this folder.*$|^\| (low|all) +\| (ha[ce]m-\w+)? .*$", b"", content)
    return content
