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
    items: tuple[int, ...]
    """The numbers of the dev items that it was asked for."""
    runs: list[Run] = field(default_factory=list)

    def each(self, what: str) -> list[float]:
        """One figure of every run."""
        return [float(getattr(run, what)) for run in self.runs]

    def median(self, what: str) -> float:
        return median(self.each(what))

    def ratio(self, what: str, ours: "Measured") -> float:
        """Theirs divided by ours of the same round; the median over the rounds."""
        return median(theirs / same for theirs, same in zip(self.each(what), ours.each(what), strict=True))

    def ours_on_the_same(self, ours: "Measured") -> float:
        """Our accuracy on the words that this program was asked for."""
        return median(100 * sum(run.right[number] for number in self.items) / len(self.items) for run in ours.runs)


def installed_version(name: str, python: str) -> str | None:
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
        (files := Path(folder) / "files").mkdir()
        file, errors = Path(folder) / "request.json", Path(folder) / "errors"
        file.write_text(json.dumps({**request, "folder": str(files)}), encoding="utf-8")
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
        right=tuple(answer == form for answer, form in zip(report["forms"], forms, strict=True)),
    )


def items_for(name: str, dev: Sequence[Item]) -> tuple[int, ...]:
    """The numbers of the items that a program can be asked for."""
    tags = ADAPTERS[name].tags
    return tuple(number for number, item in enumerate(dev) if tags is None or item.features.spelling in tags)


def measure_task(
    task: Task, programs: Sequence[Program], rounds: int, epochs: int | None, changes: Sequence[str]
) -> list[Measured]:
    """Ours first, as in each round; a program that fails is left out from then on."""
    dev = read_items(task.dev)
    system, alignment, recipe = RUNS[task.size]
    measured = [Measured(program, items_for(program.name, dev)) for program in programs]
    for number in range(1, rounds + 1):
        for each in tuple(measured):
            request: Request = {
                "train": str(task.train.resolve()),
                "dev": str(task.dev.resolve()),
                "folder": "",
                "words": [(dev[number].lemma, dev[number].features.spelling) for number in each.items],
                "seed": number,
                "epochs": epochs or EPOCHS[task.size],
                "preset": task.size,
                "system": system,
                "alignment": alignment,
                "changes": [*recipe, *changes],
            }
            try:
                run = measure(each.program, request, [dev[number].form or "" for number in each.items])
            except InputError as error:
                if each.program.name == OURS:
                    raise
                print(f"{task.name}: {error}", file=sys.stderr)
                measured.remove(each)
                continue
            each.runs.append(run)
            speed = f"ready after {run.ready:.1f} CPU s, {run.words_per_second:,.0f} words/s, {run.accuracy:.1f} %"
            print(f"{task.name}, round {number}, {each.program.name}: {speed}", file=sys.stderr, flush=True)
    return measured


def rows_of(measured: Sequence[Measured]) -> list[list[str]]:
    ours, rows = measured[0], []
    for each in measured:
        ready, speed = f"{each.median('ready'):.1f}", f"{each.median('words_per_second'):,.0f}"
        ratios = [f"{each.ratio(what, ours):.3g}" for what in ("ready", "words_per_second")]
        same = f"{each.ours_on_the_same(ours):.1f}"
        if each is ours:
            ratios, same = ["", ""], ""
        costs = f"{each.median('wall'):.1f}", f"{each.median('memory') / 1e6:,.0f}", f"{each.median('accuracy'):.1f}"
        rows.append([each.program.title, f"{len(each.items):,}", ready, ratios[0], speed, ratios[1], *costs, same])
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


def interpreters(options: Sequence[str], for_all: str | None) -> dict[str, str]:
    """Which interpreter runs each program."""
    ours = {name for name, adapter in ADAPTERS.items() if adapter.package == OURS}
    chosen = {name: sys.executable if name in ours else for_all or sys.executable for name in ADAPTERS}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or name not in ADAPTERS:
            raise InputError(f"--python: found {option}", f"give NAME=PATH, where NAME is one of {', '.join(ADAPTERS)}")
        chosen[name] = path
    return chosen


def chosen_names(text: str, known: Sequence[str], option: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(known)):
        raise InputError(f"{option}: found {unknown[0]}", f"choose from {','.join(known)}")
    return [name for name in known if name in names]


def installed(names: Sequence[str], pythons: Mapping[str, str]) -> list[Program]:
    """Ours and those of the peers that are there."""
    programs = []
    for name in (OURS, *names):
        version, adapter = installed_version(name, pythons[name]), ADAPTERS[name]
        if version is not None:
            programs.append(Program(name, pythons[name], version))
        elif name == OURS:
            raise InputError(f"reinflect is not installed in {pythons[name]}", "give the interpreter that has it")
        else:
            then = f"; {adapter.more}" if adapter.more else ""
            print(f"{name}: not installed: pip install -c constraints.txt {adapter.package}{then}", file=sys.stderr)
    return programs


def run(arguments: argparse.Namespace) -> bool:
    """True unless a peer failed."""
    peers = chosen_names(arguments.peers, [name for name in ADAPTERS if name != OURS], "--peers")
    programs = installed(peers, interpreters(arguments.python, arguments.peers_python))
    complete = True
    print(
        f"{date.today().isoformat()}; {cpu_model()}, one thread; Python {platform.python_version()}; "
        f"rounds: {arguments.rounds}; reinflect {programs[0].version}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks_of(chosen_names(arguments.what, TASKS, "--what"), arguments.data, Path(folder)):
            # A program that has tags is of one language; others learn any.
            tags = {name: adapter.tags is not None and adapter.language for name, adapter in ADAPTERS.items()}
            fit = [program for program in programs if tags[program.name] in (False, task.language)]
            measured = measure_task(task, fit, arguments.rounds, arguments.epochs, arguments.set)
            print(f"\n{task.name}\n" + figures(HEADER, rows_of(measured)), end="")
            for name in (each.program.name for each in measured):
                print(f"{name}: {settings_of(name, task, arguments.epochs, arguments.set)}", flush=True)
            complete = complete and len(measured) == len(fit)
    return complete


def main(words: Sequence[str] | None = None) -> None:
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
    arguments = parser.parse_args(words)
    if arguments.rounds < 1 or (arguments.epochs is not None and arguments.epochs < 1):
        parser.error("--rounds and --epochs: give at least 1")
    try:
        complete = run(arguments)
    except ReinflectError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    if not complete:
        parser.exit(1)


if __name__ == "__main__":
    main()
