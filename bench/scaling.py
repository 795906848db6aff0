"""What a second worker brings: `python -m bench.scaling --data ../shared/data/conll2017`.

The same small benchmark with one worker and with two, by processes of one command and by a local Dask cluster; every
run is a command of its own that begins with nothing trained, but with the alignments made. Seconds of training are by
the clock; a second process of one command starts within them, Dask's workers before. CPU seconds are those of the
command and all its processes. The results have to be the same four times.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from reinflect.text import Side, table

ENGINES, WORKERS = ("processes", "dask"), (1, 2)
SIDES: tuple[Side, ...] = ("left", "right", "right", "right", "right", "right")


@dataclass(frozen=True)
class Ran:
    """What a run took, in seconds, and what it found."""

    whole: float
    training: float
    cpu: float
    results: bytes


def ran(arguments: Sequence[object], out: Path) -> Ran:
    call = [sys.executable, "-m", "reinflect", "benchmark", "--out", out, *arguments]
    environment = os.environ | {"REINFLECT_CACHE": str(out.parent / "cache")}
    started, before = time.monotonic(), _children()
    done = subprocess.run([str(word) for word in call], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    said = json.loads((out / "commands.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return Ran(
        whole=time.monotonic() - started,
        training=said["seconds"].get("training", 0.0),
        cpu=_children() - before,
        results=(out / "results.json").read_bytes(),
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run all four and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--languages", default="german,turkish,welsh")
    parser.add_argument("--epochs", type=int, default=4)
    given = parser.parse_args()
    fixed = ["--data", given.data, "--languages", given.languages, "--settings", "low", "--grid", "quick"]
    fixed += ["--device", "cpu", "--set", f"epochs={given.epochs}"]
    with TemporaryDirectory() as folder:
        ran([*fixed, "--set", "epochs=1", "--set", "hidden=4"], Path(folder, "first"))  # aligns, and compiles
        found = {
            (engine, workers): ran(
                [*fixed, "--engine", engine, "--workers", workers], Path(folder, f"{engine}-{workers}")
            )
            for engine, workers in product(ENGINES, WORKERS)
        }
    if len({one.results for one in found.values()}) > 1:
        sys.exit("the results differ")
    rows = []
    for (engine, workers), one in found.items():
        gained = found[engine, WORKERS[0]].training / one.training
        figures = [f"{one.training:.1f}", f"{gained:.2f}", f"{one.whole:.1f}", f"{one.cpu:.1f}"]
        rows.append([engine, str(workers), *figures])
    header = ["engine", "workers", "training, s", "times as fast", "whole command, s", "CPU s"]
    print(table(header, rows, sides=SIDES))
    print("the same results each time")


if __name__ == "__main__":
    main()
