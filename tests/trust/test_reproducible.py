"""The same items and seeds make the same files, byte for byte, whoever trains them where.

On one kind of processor, that is; others round otherwise. The day is part of a model file, unless SOURCE_DATE_EPOCH
names one, as it does in the tests.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from reinflect.cli import demo
from reinflect.data import german
from reinflect.data.german import SPLITS
from tests.cli import as_options

PROGRAM = str(Path(sys.executable).with_name("reinflect"))
MODEL = "verbs.reinflect"
SMALL = "--seeds 2 --alignments smart --set epochs=2 --set hidden=12 --set score_from=0"


@dataclass(frozen=True)
class Place:
    """A folder in which someone trains, and all about them that should not matter."""

    folder: Path
    workers: int
    environment: dict[str, str]

    def run(self, *words: str) -> bytes:
        environment = os.environ | self.environment
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def trained(self, train: str, *options: str) -> tuple[bytes, bytes, bytes]:
        """Model, log, and what was printed."""
        printed = self.run("train", "--train", train, "--out", MODEL, "--workers", str(self.workers), *options)
        return (self.folder / MODEL).read_bytes(), (self.folder / f"{MODEL}.log.jsonl").read_bytes(), printed


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    """Two of them, with the bundled verbs in each, that have as little in common as may be."""
    plain, odd = tmp_path / "one", tmp_path / "a folder" / "with ünusual names"
    for folder in (plain, odd):
        folder.mkdir(parents=True)
        for split in SPLITS:
            shutil.copy(Path(german.__file__).with_name(f"{split}.tsv"), folder)
    usual = {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC", "REINFLECT_CACHE": str(plain / "cache")}
    other = {"PYTHONHASHSEED": "123456", "LC_ALL": "C.UTF-8", "TZ": "Pacific/Auckland", "OMP_NUM_THREADS": "2"}
    other |= {"REINFLECT_CACHE": str(odd / "cache"), "REINFLECT_CHECKPOINT_SECONDS": "0.2"}
    return Place(plain, 1, usual), Place(odd, 2, other)


def test_a_small_model_is_the_same_file_anywhere(places: tuple[Place, Place]) -> None:
    plain, odd = places
    here = plain.trained("train-low.tsv", *SMALL.split())
    assert here == odd.trained(str(odd.folder / "train-low.tsv"), *SMALL.split())
    assert here[1].count(b"\n") == 8  # two epochs of four models


@pytest.mark.long
def test_the_demo_is_the_same_anywhere(places: tuple[Place, Place]) -> None:
    """Takes some minutes: the demo's own models are trained twice, and the demo is run twice."""
    options = "--dev dev.tsv --preset low --seeds 2 --systems hacm,haem --strategy vote".split()
    options += as_options(" ".join(demo.CHANGES))
    for results in (
        [place.trained("train-low.tsv", *options) for place in places],
        [place.run("demo") for place in places],
        [place.run("inflect", MODEL, "--input", "test.tsv", "--json", "--n-best", "3") for place in places],
    ):
        assert results[0] == results[1]
