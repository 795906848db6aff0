"""What a second worker brings: `python -m bench.scaling --data ../shared/data/conll2017`.

The same small benchmark with one worker and with two; each is a command of its own that begins with nothing trained,
but with the alignments made. Seconds of training are by the clock; a second process starts within them. CPU seconds are
those of the command and all its processes. The results have to be the same.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.common import run
from bench.measuring import figures, measured
from reinflect.errors import ReinflectError

HEADER = ("workers", "training, s", "times as fast", "whole command, s", "CPU s")


def scale(arguments: argparse.Namespace) -> None:
    fixed = [
        "--data",
        arguments.data,
        "--languages",
        ",".join(arguments.languages),
        "--settings",
        "low",
        "--grid",
        "quick",
    ]
    fixed += ["--device", "cpu", "--set", f"epochs={arguments.epochs}"]
    rows, training, results = [], list[float](), set[bytes]()
    with TemporaryDirectory() as folder:

        def benchmark(name: str, *more: object) -> tuple[Path, float, float]:
            call = [sys.executable, "-m", "reinflect", "benchmark", "--out", Path(folder, name), *fixed, *more]
            done = measured(call, os.environ | {"REINFLECT_CACHE": f"{folder}/cache"})
            return Path(folder, name), done.wall, done.cpu

        benchmark("first", "--set", "epochs=1", "--set", "hidden=4")  # aligns, and compiles
        for workers in (1, 2):
            out, wall, cpu = benchmark(str(workers), "--workers", workers)
            account = json.loads((out / "commands.jsonl").read_text(encoding="utf-8").splitlines()[-1])
            training.append(account["seconds"].get("training", 0.0))
            results.add((out / "results.json").read_bytes())
            gained = f"{training[0] / training[-1]:.2f}"
            rows.append([str(workers), f"{training[-1]:.1f}", gained, f"{wall:.1f}", f"{cpu:.1f}"])
    if len(results) > 1:
        raise ReinflectError("the results differ")
    print(figures(HEADER, rows))
    print("the same results each time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--languages", nargs="+", default=["german", "turkish", "welsh"])
    parser.add_argument("--epochs", type=int, default=4)
    run(parser, scale)


if __name__ == "__main__":
    main()
