"""How fast the smart aligner is and what it finds: `python -m bench.aligner --data ../shared/data/conll2017`.

Every measurement of time and memory is a process of its own, on one core: CPU seconds (user + system, so that other
work on the machine matters little) of the best of several, and the most memory that process ever had.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from bench.measuring import figures, measured, most_memory
from reinflect.align.pairs import Alignment, Naive, StringPair, count_kinds
from reinflect.align.smart import GibbsSampler, Smart
from reinflect.data.items import read_items
from reinflect.errors import ReinflectError
from reinflect.systems.oracle import COPY, edits

SIZES = ("low", "medium", "high")
LANGUAGES = "arabic english finnish german hindi hungarian navajo russian spanish turkish".split()


class Figures(TypedDict):
    pairs: int
    cells: int
    layout: float
    sweeps: float
    best: float
    memory: int


def pairs_of(path: Path) -> list[StringPair]:
    return [(item.lemma, item.form) for item in read_items(path)]


def measure(path: Path, sweeps: int) -> Figures:
    """The three parts of aligning one file, in CPU seconds, compiled beforehand, and this process's memory."""
    pairs = pairs_of(path)
    Smart(sweeps=1).align(pairs[:2])
    start = time.process_time()
    sampler = GibbsSampler(pairs, seed=1, alpha=0.1)
    laid_out = time.process_time()
    for _ in range(sweeps):
        sampler.sweep()
    swept = time.process_time()
    sampler.best_alignments()
    done = time.process_time()
    return Figures(
        pairs=len(pairs),
        cells=sum(len(lemma) * len(form) for lemma, form in pairs),
        layout=laid_out - start,
        sweeps=swept - laid_out,
        best=done - swept,
        memory=most_memory(),
    )


def measured_apart(path: Path, sweeps: int, runs: int) -> Figures:
    """The best of several processes, by the sum of its parts."""
    command = [sys.executable, "-m", "bench.aligner", "--one", str(path), "--sweeps", str(sweeps)]
    every: list[Figures] = [json.loads(measured(command).output) for _ in range(runs)]
    return min(every, key=lambda run: run["layout"] + run["sweeps"] + run["best"])


def first_call_seconds() -> tuple[float, float]:
    """CPU seconds of a process's first alignment when nothing is compiled yet, and when it is on the disk."""
    program = (
        "import time; from reinflect.align.smart import Smart; start = time.process_time(); "
        "Smart(sweeps=1).align([('a', 'b')]); print(time.process_time() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        new, again = (float(measured([sys.executable, "-c", program], environment).output) for _ in range(2))
    return new, again


def speed_table(folder: Path, language: str, sweeps: int, runs: int) -> str:
    rows = []
    for size in SIZES:
        run = measured_apart(folder / f"{language}-train-{size}", sweeps, runs)
        rows.append(
            (
                size,
                f"{run['pairs']:,}",
                f"{run['cells']:,}",
                f"{run['layout'] + run['sweeps'] + run['best']:.3f}",
                f"{run['layout']:.3f}",
                f"{run['sweeps']:.3f}",
                f"{run['best']:.3f}",
                f"{run['cells'] * sweeps / run['sweeps'] / 1e6:.0f}",
                f"{run['memory'] / 1e6:.0f}",
            )
        )
    head = ("setting", "pairs", "cells", "CPU s", "layout", "sweeps", "best", "M cells/s", "peak MB")
    return figures(head, rows)


def copy_shares(alignments: Sequence[Alignment]) -> tuple[float, float]:
    """The share of COPY among HAEM's actions (STOP left out), and of copies among the aligned pairs."""
    actions = [action for alignment in alignments for action in edits(alignment)[:-1]]
    kinds = count_kinds(alignments)
    return actions.count(COPY) / len(actions), kinds["copy"] / kinds.total()


def share_table(folder: Path, sweeps: int) -> str:
    rows = []
    for language in LANGUAGES:
        pairs = pairs_of(folder / f"{language}-train-medium")
        naive_actions, naive_pairs = copy_shares(Naive().align(pairs))
        smart_actions, smart_pairs = copy_shares(Smart(sweeps=sweeps).align(pairs))
        rows.append((language, *(f"{s:.3f}" for s in (naive_actions, smart_actions, naive_pairs, smart_pairs))))
    return figures(("medium", "actions naive", "smart", "pairs naive", "smart"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.aligner", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the shared task's files")
    parser.add_argument("--language", default="german")
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", type=Path, help="measure this file in this process and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.sweeps)))
        return
    if not arguments.data:
        parser.error("give --data, the folder of the shared task's files")
    print(f"{arguments.language}, {arguments.sweeps} sweeps, one core, best of {arguments.runs} processes")
    print(speed_table(arguments.data, arguments.language, arguments.sweeps, arguments.runs))
    new, again = first_call_seconds()
    print(f"\nfirst alignment of a process: {new:.1f} CPU s when it must be compiled, {again:.2f} s from then on")
    print(f"\nshare of copies, {arguments.sweeps} sweeps")
    print(share_table(arguments.data, arguments.sweeps))


if __name__ == "__main__":
    try:
        main()
    except ReinflectError as error:
        sys.exit(str(error))
