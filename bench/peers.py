"""How other programs compare with ours, measured on the same files in one run: `python -m bench.peers`.

Each task is a training file and the dev file of its language. A measurement is a process of its own with one thread:
it learns from the training file (or loads its dictionary), inflects the dev words and ends. In each round ours runs
first and then every peer, so that other work on the machine slows all of them alike; round N uses seed N. Printed are
medians over the rounds, and medians of the ratios, theirs divided by ours of the same round. *Ready* is the time from
the start of the process until the program was trained and had inflected 50 training words; words per second are dev
words per CPU second after that. Without `--data` the tasks are those of the German verbs that come with the package.

Peers that are not installed are skipped. They need not share our environment, and better do not:

    python -m venv ../peers
    ../peers/bin/pip install -c constraints.txt torch yoyodyne lemminflect pyinflect inflect
    ../peers/bin/pip uninstall torchvision torchaudio
    python -m bench.peers --data ../shared/data/conll2017 --peers-python ../peers/bin/python

The third line is for yoyodyne where `import torchvision` fails: it does not need them. An interpreter must be of
Python 3.11 or newer. `--python NAME=PATH` gives one peer an interpreter of its own.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median

from bench import adapters
from bench.adapters import ADAPTERS, NOT_INSTALLED, OURS, Report, Request
from bench.measuring import BYTES_PER_UNIT, figures
from bench.scoring import cpu_model
from bench.training import RUNS
from reinflect.data.german import read_split
from reinflect.data.items import Item, read_items, write_items
from reinflect.errors import InputError, ReinflectError

TASKS = ("german-low", "german-medium", "english-medium")
EPOCHS = {"low": 60, "medium": 20}
"""Of peers that train, by the size of the data."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
HEADER = ("", "words", "ready, CPU s", "÷ ours", "words/s", "÷ ours", "wall s", "MB", "right, %", "ours, %")


@dataclass(frozen=True)
class Task:
    name: str
    train: Path
    dev: Path

    @property
    def language(self) -> str:
        return self.name.rpartition("-")[0]

    @property
    def size(self) -> str:
        return self.name.rpartition("-")[2]


@dataclass(frozen=True)
class Program:
    """An adapter, and the interpreter that has what it needs."""

    name: str
    python: str
    version: str

    @property
    def title(self) -> str:
        return self.name if ADAPTERS[self.name].package == OURS else f"{self.name} {self.version}"


@dataclass(frozen=True)
class Run:
    """One process."""

    ready: float
    """CPU seconds until it was trained and had inflected a few words."""
    words_per_second: float
    cpu: float
    """Of the whole process."""
    wall: float
    memory: float
    """At its largest, in bytes."""
    right: tuple[bool, ...]
    """For each word it was asked for."""

    @property
    def accuracy(self) -> float:
        return 100 * sum(self.right) / len(self.right)


@dataclass
class Measured:
    program: Program
    places: tuple[int, ...]
    """Which of the dev words it was asked for."""
    runs: list[Run] = field(default_factory=list)

    def each(self, what: str) -> list[float]:
        """One figure of every run."""
        return [float(getattr(run, what)) for run in self.runs]

    def median(self, what: str) -> float:
        return median(self.each(what))

    def ratio(self, what: str, ours: "Measured") -> float:
        """Theirs divided by ours of the same round; the median over the rounds."""
        return median(own / other for own, other in zip(self.each(what), ours.each(what), strict=True))

    def ours_on_the_same(self, ours: "Measured") -> float:
        """Our accuracy on the words that this program was asked for."""
        return median(100 * sum(run.right[place] for place in self.places) / len(self.places) for run in ours.runs)


def found_version(name: str, python: str) -> str | None:
    """The version of a program in an interpreter; None if it is not there."""
    if shutil.which(python) is None:
        raise InputError(f"found no interpreter {python}", f"give the path of the Python that has {name}")
    call = [python, "-P", adapters.__file__, name, "version"]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode == NOT_INSTALLED:
        return None
    if done.returncode or not done.stdout.strip():
        raise InputError(f"{python} did not run: {_last_line(done.stderr)}", "give a Python of version 3.11 or newer")
    return done.stdout.strip()


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "no message")


def measure(program: Program, request: Request, forms: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        (own := Path(folder) / "own").mkdir()
        file, errors = Path(folder) / "request.json", Path(folder) / "errors"
        file.write_text(json.dumps({**request, "folder": str(own)}), encoding="utf-8")
        call = [program.python, "-P", adapters.__file__, program.name, str(file)]
        # A cache of its own, so that alignments are made, not found.
        environment = os.environ | ONE_THREAD | {"REINFLECT_CACHE": folder}
        start = time.perf_counter()
        with errors.open("w", encoding="utf-8") as sink:
            process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=sink, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise InputError(f"{program.name} failed: {_last_line(errors.read_text())}", "run it by itself to see why")
        report: Report = json.loads(file.read_text(encoding="utf-8"))
    if len(report["forms"]) != len(forms):
        raise InputError(f"{program.name} gave {len(report['forms'])} forms for {len(forms)} words", "mend its adapter")
    return Run(
        ready=report["ready"],
        words_per_second=len(forms) / report["inflecting"],
        cpu=usage.ru_utime + usage.ru_stime,
        wall=wall,
        memory=usage.ru_maxrss * BYTES_PER_UNIT,
        right=tuple(given == form for given, form in zip(report["forms"], forms, strict=True)),
    )


def fitting(name: str, task: Task) -> bool:
    """Whether a program has the task's language."""
    return ADAPTERS[name].tags is None or ADAPTERS[name].language == task.language


def places_of(name: str, dev: Sequence[Item]) -> tuple[int, ...]:
    """Which items a program can be asked for."""
    tags = ADAPTERS[name].tags
    return tuple(place for place, item in enumerate(dev) if tags is None or item.features.spelling in tags)


def measure_task(
    task: Task, programs: Sequence[Program], rounds: int, epochs: int | None, changes: Sequence[str]
) -> list[Measured]:
    """Ours first, as in each round; a program that fails is left out from then on."""
    dev = read_items(task.dev)
    system, alignment, recipe = RUNS[task.size]
    measured = [Measured(program, places_of(program.name, dev)) for program in programs]
    for number in range(1, rounds + 1):
        for one in tuple(measured):
            request: Request = {
                "train": str(task.train.resolve()),
                "dev": str(task.dev.resolve()),
                "folder": "",
                "words": [(dev[place].lemma, dev[place].features.spelling) for place in one.places],
                "seed": number,
                "epochs": epochs or EPOCHS[task.size],
                "preset": task.size,
                "system": system,
                "alignment": alignment,
                "changes": [*recipe, *changes],
            }
            try:
                run = measure(one.program, request, [dev[place].form or "" for place in one.places])
            except InputError as error:
                if one.program.name == OURS:
                    raise
                print(f"{task.name}: {error}", file=sys.stderr)
                measured.remove(one)
                continue
            one.runs.append(run)
            print(
                f"{task.name}, round {number}, {one.program.name}: ready after {run.ready:.1f} CPU s, "
                f"{run.words_per_second:,.0f} words/s, {run.accuracy:.1f} %",
                file=sys.stderr,
                flush=True,
            )
    return measured


def rows_of(measured: Sequence[Measured]) -> list[list[str]]:
    ours, rows = measured[0], []
    for one in measured:
        peer = one is not ours
        rows.append(
            [
                one.program.title,
                f"{len(one.places):,}",
                f"{one.median('ready'):.1f}",
                f"{one.ratio('ready', ours):.3g}" if peer else "",
                f"{one.median('words_per_second'):,.0f}",
                f"{one.ratio('words_per_second', ours):.3g}" if peer else "",
                f"{one.median('wall'):.1f}",
                f"{one.median('memory') / 1e6:,.0f}",
                f"{one.median('accuracy'):.1f}",
                f"{one.ours_on_the_same(ours):.1f}" if peer else "",
            ]
        )
    return rows


def settings_of(name: str, task: Task, epochs: int | None, changes: Sequence[str]) -> str:
    if name == OURS:
        system, alignment, recipe = RUNS[task.size]
        return f"one {system.upper()}, {alignment}, " + " ".join((f"preset {task.size}", *recipe, *changes))
    trained = f", {epochs or EPOCHS[task.size]} epochs" if ADAPTERS[name].package == "yoyodyne" else ""
    return ADAPTERS[name].settings + trained


def tasks_of(names: Sequence[str], data: Path | None, folder: Path) -> list[Task]:
    """The files of each task; the German verbs are written into the folder."""
    tasks = []
    for name in names:
        language, _, size = name.rpartition("-")
        if data is None and language != "german":
            print(f"{name}: needs --data, skipped", file=sys.stderr)
            continue
        if data is None:
            train, dev = folder / f"train-{size}.tsv", folder / "dev.tsv"
            write_items(train, read_split(train.stem))
            write_items(dev, read_split("dev"))
        else:
            train, dev = data / f"{language}-train-{size}", data / f"{language}-dev"
            for path in (train, dev):
                if not path.is_file():
                    raise InputError("there is no such file", "name a folder of the shared task's data", path=path)
        tasks.append(Task(name, train, dev))
    return tasks


def interpreters(asked: Sequence[str], for_all: str | None) -> dict[str, str]:
    """Which interpreter runs each program."""
    ours = {name for name, adapter in ADAPTERS.items() if adapter.package == OURS}
    chosen = {name: sys.executable if name in ours else for_all or sys.executable for name in ADAPTERS}
    for one in asked:
        name, equals, path = one.partition("=")
        if not equals or name not in ADAPTERS:
            raise InputError(f"--python: found {one}", f"give NAME=PATH, where NAME is one of {', '.join(ADAPTERS)}")
        chosen[name] = path
    return chosen


def chosen_names(asked: str, known: Sequence[str], option: str) -> list[str]:
    names = asked.split(",")
    if unknown := sorted(set(names) - set(known)):
        raise InputError(f"{option}: found {unknown[0]}", f"choose from {','.join(known)}")
    return [name for name in known if name in names]


def installed(names: Sequence[str], pythons: Mapping[str, str]) -> list[Program]:
    """Ours and those of the peers that are there."""
    found = []
    for name in (OURS, *names):
        version = found_version(name, pythons[name])
        if version is not None:
            found.append(Program(name, pythons[name], version))
            continue
        if name == OURS:
            raise InputError(f"reinflect is not installed in {pythons[name]}", "give the interpreter that has it")
        adapter = ADAPTERS[name]
        then = f"; {adapter.more}" if adapter.more else ""
        print(f"{name}: not installed: pip install -c constraints.txt {adapter.package}{then}", file=sys.stderr)
    return found


def run(asked: argparse.Namespace) -> bool:
    """True unless a peer failed."""
    peers = [name for name in ADAPTERS if name != OURS]
    programs = installed(chosen_names(asked.peers, peers, "--peers"), interpreters(asked.python, asked.peers_python))
    complete = True
    print(
        f"{date.today().isoformat()}; {cpu_model()}, one thread; Python {platform.python_version()}; "
        f"rounds: {asked.rounds}; reinflect {programs[0].version}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks_of(chosen_names(asked.what, TASKS, "--what"), asked.data, Path(folder)):
            fit = [program for program in programs if fitting(program.name, task)]
            measured = measure_task(task, fit, asked.rounds, asked.epochs, asked.set)
            settings = {
                one.program.name: settings_of(one.program.name, task, asked.epochs, asked.set) for one in measured
            }
            print(f"\n{task.name}\n" + figures(HEADER, rows_of(measured)), end="")
            print("".join(f"{name}: {setting}\n" for name, setting in settings.items()), end="", flush=True)
            complete = complete and len(measured) == len(fit)
    return complete


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    peers = ",".join(name for name in ADAPTERS if name != OURS)
    parser.add_argument("--data", type=Path, help="folder with LANGUAGE-train-SIZE and LANGUAGE-dev")
    parser.add_argument("--what", default=",".join(TASKS), help="tasks, joined by commas (%(default)s)")
    parser.add_argument("--peers", default=peers, help="programs, joined by commas (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each program (%(default)s)")
    epochs = ", ".join(f"{count} at {size}" for size, count in EPOCHS.items())
    parser.add_argument("--epochs", type=int, help=f"of yoyodyne ({epochs})")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting of ours")
    parser.add_argument("--peers-python", metavar="PATH", help="interpreter that has the peers (this one)")
    parser.add_argument(
        "--python", action="append", default=[], metavar="NAME=PATH", help="interpreter for one program"
    )
    asked = parser.parse_args(arguments)
    if asked.rounds < 1 or (asked.epochs is not None and asked.epochs < 1):
        parser.error("--rounds and --epochs: give at least 1")
    try:
        complete = run(asked)
    except ReinflectError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    if not complete:
        parser.exit(1)


if __name__ == "__main__":
    main()
