"""Make pocket models of a teacher: `python -m bench.distil --data DATA --teacher TEACHER --out OUT --into FOLDER`.

TEACHER is a folder that `reinflect benchmark --grid teacher --cells 60000` wrote, with the files in DATA. For every
language one small model learns from the gold items and from the cells on which all or all but one of the teacher's
models agree. Its file, with 8-bit numbers, its card and its accuracy on dev items go into FOLDER. OUT keeps what is
trained: the same command goes on where it was stopped. `runs/pocket.sh` makes the teacher, too.
"""

import argparse
import shlex
import sys
import time
from pathlib import Path
from statistics import fmean

from reinflect.alignment.cache import default_folder
from reinflect.cli.benchmark import SECONDS_BETWEEN, SECONDS_ON_A_GPU
from reinflect.cli.progress import display
from reinflect.cli.training import cores, device_for
from reinflect.errors import INTERRUPTED, ReinflectError
from reinflect.execution.resources import Resources
from reinflect.experiments.distil import SYSTEM, students_of, train_students
from reinflect.inflector.pocket import PocketModel

LARGEST = 700_000
"""Bytes that a pocket model may have."""


def make(given: argparse.Namespace) -> int:
    end = None if given.time_limit is None else time.monotonic() + given.time_limit
    device, made = device_for(given.device), dict[str, PocketModel]()

    def added(language: str, model: PocketModel) -> None:
        made[language] = model
        large = f" (more than {LARGEST:,})" if model.size > LARGEST else ""
        print(f"{language}: {model.accuracy:.2f} % of dev items right, {model.size:,} bytes{large}", flush=True)

    with display() as shown:
        students = students_of(given.teacher, given.data, given.languages, given.least, shown.note)
        for one in students:
            shown.note(f"{one.corpus.language}: {len(one.corpus.train):,} items of {one.source}")
        resources = Resources(
            device=device,
            workers=cores() if device == "cuda" else given.workers or cores(),
            trainers=given.workers,
            checkpoint_seconds=SECONDS_ON_A_GPU if device == "cuda" else SECONDS_BETWEEN,
            alignment_cache=default_folder(),
            watcher=shown,
            enough=lambda: end is not None and time.monotonic() >= end,
        )
        execution = train_students(
            students,
            given.out,
            given.into,
            resources,
            command=shlex.join(["python", "-m", "bench.distil", *sys.argv[1:]]),
            system=given.system,
            changes=given.changes,
            added=added,
        )
    if made:
        accuracy, size = fmean(own.accuracy for own in made.values()), sum(own.size for own in made.values())
        print(f"{len(made)} pocket models: {accuracy:.2f} % on average, {size / 1e6:.1f} MB in {given.into}")
    if execution.failed:
        raise ReinflectError(execution.failed)
    if len(made) < len(students):
        print(f"{len(students) - len(made)} of {len(students)} students are not trained; run the same command again")
    return 0 if len(made) == len(students) else INTERRUPTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that the teacher learnt from")
    parser.add_argument("--teacher", type=Path, required=True, help="the folder of its benchmark")
    parser.add_argument("--out", type=Path, required=True, help="a folder for trainings")
    parser.add_argument("--into", type=Path, required=True, help="a folder of pocket models")
    parser.add_argument("--languages", type=lambda text: text.split(","), help="default: all that the teacher knows")
    parser.add_argument("--system", choices=("imitation", "haem"), default=SYSTEM)
    parser.add_argument("--least", type=int, help="models that must agree on a cell (default: all but one)")
    parser.add_argument("--set", action="append", dest="changes", default=[], metavar="KEY=VALUE")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--workers", type=int, help="processes (default: one for each core; one trains on a GPU)")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop training after this time")
    try:
        sys.exit(make(parser.parse_args()))
    except ReinflectError as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main()
