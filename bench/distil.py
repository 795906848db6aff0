"""Make pocket models: `python -m bench.distil --data DATA --out OUT --into FOLDER`, or `runs/pocket.sh`.

For every language a few models of deep soft attention, the teacher, learn from its largest training file, and inflect
further cells of its lemmas. One small model, the student, learns from the gold items and from the cells on which all or
all but one of the teacher's models agree. Its file, with 8-bit numbers, its card and its accuracy on dev items go into
FOLDER. OUT keeps what is trained: the same command resumes.
"""

import argparse
import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from bench.cells import agreed, cells_of, forms_of
from bench.common import run, training_parser
from reinflect.align.pairs import default_folder
from reinflect.assemble import Keep, assemble
from reinflect.cli.benchmark import SECONDS_ON_A_GPU
from reinflect.cli.train import SECONDS_BETWEEN, checkpoint_seconds, cores, device_for
from reinflect.data.items import Item
from reinflect.decode.search import greedy, shared_out
from reinflect.ensemble.strategies import Member
from reinflect.errors import InputError, ReinflectError, StoppedError
from reinflect.inflector.file import Numbers, rounded
from reinflect.inflector.pocket import ENDING, PocketModel, add_model
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.run.driver import Execution, train_specs
from reinflect.run.packs import by_key
from reinflect.run.store import Store
from reinflect.run.watch import Resources, display
from reinflect.run.work import map_in_processes
from reinflect.systems.kind import DEEP, Wish, grid_plan, make_plan

TEACHERS = {DEEP: {"medium": 3, "high": 5}}
"""The kind of models that is best where items are many, by setting."""
SYSTEM, ALIGNMENT = "haem", "smart"
NUMBERS: Numbers = "eighth"
SMALL = ("embedding=100", "hidden=100", "history_hidden=100")
"""What differs from the preset of a setting."""
SIZES, MANY, UPDATES, MOST_EPOCHS = (8_000, 12_000, 20_000, 36_000, 60_000), 40_000, 55_000, 60
"""With `high`, students have one of these numbers of items, so that they train together on a GPU with little padding:
there are fewer agreed cells, or gold items come twice. Batches have 16 items, or 32 with more than `MANY` items, and
all students have about as many updates. A language without `high` keeps the preset's batches and epochs."""
LARGEST = 700_000
"""Bytes that a pocket model may have."""


@dataclass(frozen=True, eq=False)
class Student:
    """A language with what its student learns from."""

    corpus: Lesson
    """The gold items."""
    agreed: tuple[Item, ...]
    """The cells that at least `least` models of the teacher inflect alike, with these forms."""
    least: int
    kinds: Counter[str]
    """The models of the teacher."""

    @classmethod
    def of(cls, corpus: Lesson, items: tuple[Item, ...], least: int, kinds: Counter[str]) -> "Student":
        """With `high`, fewer cells, spread evenly, if they make it more than one of the sizes."""
        most = max(0, _size(len(corpus.train) + len(items)) - len(corpus.train))
        if corpus.setting == "high" and len(items) > most:
            items = tuple(items[number * len(items) // most] for number in range(most))
        return cls(corpus, items, least, kinds)

    @property
    def source(self) -> str:
        """What a model card says about it."""
        gold = f"{self.corpus.language}-train-{self.corpus.setting}"
        models = ", ".join(f"{kind} ×{count}" for kind, count in sorted(self.kinds.items()))
        agree = f"at least {self.least} of {self.kinds.total()} models agree ({models})"
        return f"{gold} and {len(self.agreed):,} further cells, on which {agree}" if self.agreed else gold

    def spec(self, system: str, changes: Sequence[str] = ()) -> ModelSpec:
        corpus, setting = self.corpus, self.corpus.setting
        items, length = (*corpus.train, *self.agreed), tuple[str, ...]()
        if setting == "high":
            items += tuple(islice(cycle(corpus.train), max(0, _size(len(items)) - len(items))))
            length = _length(len(items))
        lesson = replace(corpus, train=items, asked=())
        changes = (*SMALL, *length, *changes)
        wish = Wish(systems=[system], alignments=[ALIGNMENT], preset=setting, changes=changes, seeds=1)
        [spec] = specs(make_plan(wish, len(items)), [lesson])
        return spec


def _size(items: int) -> int:
    """The nearest of the sizes, by ratio; with far fewer items, their number."""
    nearest = min(SIZES, key=lambda size: max(size / items, items / size))
    return nearest if 2 * items > nearest else items


def _length(items: int) -> tuple[str, ...]:
    """The settings that say how long a student learns from so many items."""
    batch = 16 if items <= MANY else 32
    epochs = min(MOST_EPOCHS, round(UPDATES * batch / items))
    return f"batch={batch}", f"epochs={epochs}", f"patience={max(1, epochs // 3)}"


def largest_corpora(data: Path, languages: Sequence[str] | None) -> list[Lesson]:
    """Of each language the larger of the settings that have a teacher."""
    corpora, _ = read_corpora(data, languages_in(data, languages), ["medium", "high"])
    largest = {corpus.language: corpus for corpus in corpora}
    if not corpora or (missing := [name for name in languages or () if name not in largest]):
        whose = f" of {', '.join(missing)}" if corpora else ""
        raise InputError(f"found no training items for medium or high{whose}", "name other --languages", path=data)
    return [largest[language] for language in sorted(largest)]


def teach(
    corpora: Sequence[Lesson],
    out: Path,
    resources: Resources,
    cells: int,
    least: int | None = None,
    changes: Sequence[str] = (),
) -> list[Student]:
    """Train the teacher of each language, and have it inflect as many cells of its lemmas.

    A cell counts if `least` models agree on its form; by default all but one of the language's usable models.
    """
    plans = {setting: grid_plan(TEACHERS, setting, changes) for setting in ("medium", "high")}
    wanted = [spec for corpus in corpora for spec in specs(plans[corpus.setting], [corpus])]
    folder = Store.inside(out, numbers=True)
    with folder.held():
        execution = train_specs(wanted, folder, resources)
        if execution.failed:
            raise ReinflectError(execution.failed)
        if not execution.finished:
            raise StoppedError("stopped before the teacher was trained; the same command resumes the training")
        models, usable = folder.get(wanted), dict[str, list[Member]]()
        for spec in wanted:
            if models[spec.digest].usable:
                usable.setdefault(spec.lesson.language, []).append(folder.member(spec, models[spec.digest]))
        student = partial(_student, kept=out / "cells", cells=cells, least=least)
        members = [usable[corpus.language] for corpus in corpora]
        return list(map_in_processes(student, corpora, members, workers=resources.workers))


def _student(corpus: Lesson, models: Sequence[Member], *, kept: Path, cells: int, least: int | None) -> Student:
    further, least = cells_of(corpus, cells), least or max(1, len(models) - 1)
    forms = forms_of(further, models, kept, corpus.label)
    return Student.of(corpus, agreed(further, forms, least), least, Counter(model.kind for model in models))


def train_students(
    students: Sequence[Student],
    out: Path,
    into: Path,
    resources: Resources,
    *,
    command: str,
    system: str = SYSTEM,
    changes: Sequence[str] = (),
    added: Callable[[str, PocketModel], object] = lambda *_: None,
) -> Execution:
    """Train students, and put the finished ones into a folder of pocket models; `added` is told of each.

    `out` keeps what is trained: the same call resumes it.
    """
    wanted = {student: student.spec(system, changes) for student in students}
    folder = Store.inside(out, numbers=True)
    with folder.held():
        execution = train_specs(list(wanted.values()), folder, resources)
        trained = by_key(folder.finished)
        ready = [one for one in students if wanted[one].digest in trained and trained[wanted[one].digest].usable]
        work = (
            [student.corpus for student in ready],
            [folder.member(wanted[student], trained[wanted[student].digest]) for student in ready],
            [student.source for student in ready],
        )
        with TemporaryDirectory() as temporary:
            write = partial(_write, into=Path(temporary))
            for corpus, path in zip(work[0], map_in_processes(write, *work, workers=resources.workers), strict=True):
                added(corpus.language, add_model(into, path, corpus.language, corpus.dev, command=command))
    return execution


def _write(corpus: Lesson, model: Member, source: str, *, into: Path) -> Path:
    """Write a model file. Its confidence is fitted with the numbers that the file has."""
    small = rounded(model, NUMBERS)
    [dev] = shared_out(lambda member: greedy(member.words, corpus.dev), [small], len(corpus.dev))
    path = into / f"{corpus.language}{ENDING}"
    inflector = assemble(
        [(small.with_predictions(dev), small)],
        corpus.train,
        corpus.dev,
        Keep(attested=False),
        strategy="vote",
        source=source,
    )
    inflector.save(path, numbers=NUMBERS)
    return path


def distil(arguments: argparse.Namespace) -> None:
    end = None if arguments.time_limit is None else time.monotonic() + arguments.time_limit
    device, models = device_for(arguments.device), dict[str, PocketModel]()
    least = [] if arguments.least is None else ["--least", str(arguments.least)]
    changes = [word for change in arguments.set for word in ("--set", change)]

    def added(language: str, model: PocketModel) -> None:
        models[language] = model
        large = f" (more than {LARGEST:,})" if model.size > LARGEST else ""
        print(f"{language}: {model.accuracy:.2f} % of dev items right, {model.size:,} bytes{large}", flush=True)

    corpora = largest_corpora(arguments.data, arguments.languages)
    with display() as watcher:
        resources = Resources(
            device=device,
            workers=cores() if device == "cuda" else arguments.workers or cores(),
            trainers=arguments.workers,
            checkpoint_seconds=checkpoint_seconds(SECONDS_ON_A_GPU if device == "cuda" else SECONDS_BETWEEN),
            alignment_cache=default_folder(),
            watcher=watcher,
            enough=lambda: end is not None and time.monotonic() >= end,
        )
        out = arguments.out
        students = teach(corpora, out / "teacher", resources, arguments.cells, arguments.least, arguments.teacher_set)
        for student in students:
            watcher.note(f"{student.corpus.language} learns from {student.source}")
        execution = train_students(
            students,
            out / "students",
            arguments.into,
            resources,
            command=shlex.join(["runs/pocket.sh", "DATA", "OUT", "--system", arguments.system, *least, *changes]),
            system=arguments.system,
            changes=arguments.set,
            added=added,
        )
    for setting in SETTINGS:
        accuracies = [
            models[one.corpus.language].accuracy
            for one in students
            if one.corpus.language in models and one.corpus.setting == setting
        ]
        if accuracies:
            print(
                f"{setting}: {fmean(accuracies):.2f} % of dev items right on average, pocket models: {len(accuracies)}"
            )
    print(f"{sum(model.size for model in models.values()) / 1e6:.1f} MB in {arguments.into}")
    if execution.failed:
        raise ReinflectError(execution.failed)
    if len(models) < len(students):
        left = f"{len(students) - len(models)} of {len(students)} students are not trained yet, or diverged"
        raise StoppedError(f"{left}; the same command resumes the training")


def main() -> None:
    parser = training_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is trained")
    parser.add_argument("--into", type=Path, required=True, help="a folder of pocket models")
    parser.add_argument("--cells", type=int, default=60_000, help="cells that the teacher inflects, at most")
    parser.add_argument("--teacher-set", nargs="+", default=[], metavar="KEY=VALUE", help="changes for the teacher")
    parser.add_argument("--system", choices=("imitation", "haem"), default=SYSTEM)
    parser.add_argument(
        "--least",
        type=int,
        choices=range(1, 101),
        metavar="N",
        help="models that must agree on a cell (default: all but one)",
    )
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop training after this time")
    parser.set_defaults(device="auto", workers=None)
    run(parser, distil)


if __name__ == "__main__":
    main()
