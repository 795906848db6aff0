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
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from reinflect.align.cache import default_folder
from reinflect.assemble import Keep, assemble
from reinflect.cli.benchmark import SECONDS_BETWEEN, SECONDS_ON_A_GPU
from reinflect.cli.progress import display
from reinflect.cli.wishes import checkpoint_seconds, cores, device_for
from reinflect.data.items import Item
from reinflect.ensemble.cell_forms import digest_of_cells
from reinflect.ensemble.fleets import by_fleets, decode
from reinflect.ensemble.member import TrainedModel
from reinflect.errors import INTERRUPTED, InputError, ReinflectError
from reinflect.inflector.file import Numbers, rounded
from reinflect.inflector.pocket import ENDING, PocketModel, add_model
from reinflect.learn.cells import cells_of
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation
from reinflect.paper.corpora import SETTINGS, read_corpora
from reinflect.run.execute import Execution, train_specs
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import by_key, read_results
from reinflect.run.resources import Resources
from reinflect.run.side import map_in_processes
from reinflect.settings import changed
from reinflect.systems.kind import Kind, alignments_of
from reinflect.systems.symbols import load_preset

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

    @property
    def source(self) -> str:
        """What a model card says about it."""
        gold = f"{self.corpus.language}-train-{self.corpus.setting}"
        models = ", ".join(f"{kind} ×{count}" for kind, count in sorted(self.kinds.items()))
        agree = f"at least {self.least} of {self.kinds.total()} models agree ({models})"
        return f"{gold} and {len(self.agreed):,} further cells, on which {agree}" if self.agreed else gold

    def spec(self, system: str, preparation: Preparation, changes: Sequence[str] = ()) -> ModelSpec:
        corpus, setting = self.corpus, self.corpus.setting
        items, own = (*corpus.train, *self.agreed), tuple[str, ...]()
        if setting == "high":
            items += tuple(islice(cycle(corpus.train), max(0, _size(len(items)) - len(items))))
            own = _length(len(items))
        lesson = replace(corpus, train=items, asked=())
        settings = changed(load_preset(setting, [system]), (*SMALL, *own, *changes))[system]
        [alignment] = alignments_of(system, [ALIGNMENT])
        return ModelSpec(preparation.planned(lesson, alignment), Kind(system, alignment), settings, seed=1)


def _size(items: int) -> int:
    """The nearest of the sizes, by ratio; with far fewer items, their number."""
    nearest = min(SIZES, key=lambda size: max(size / items, items / size))
    return nearest if 2 * items > nearest else items


def _length(items: int) -> tuple[str, ...]:
    """The settings that say how long a student learns from so many items."""
    batch = 16 if items <= MANY else 32
    epochs = min(MOST_EPOCHS, round(UPDATES * batch / items))
    return f"batch={batch}", f"epochs={epochs}", f"patience={max(1, epochs // 3)}"


def students_of(
    teacher: Path,
    data: Path,
    languages: Sequence[str] | None = None,
    least: int | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> list[Student]:
    """Every language of a teacher's folder, or these, in the largest setting that the teacher was trained in.

    A cell counts if `least` models agree on its form; by default all but one of the language's usable models.
    """
    found: dict[str, dict[str, list[TrainedModel]]] = {}
    for model in by_key(read_results(teacher / "packs", note)).values():
        if model.usable and model.cells.cells:
            found.setdefault(model.language, {}).setdefault(model.setting, []).append(model)
    missing = [name for name in languages or () if name not in found]
    if missing or not found:
        whose = f" of {', '.join(missing)}" if missing else ""
        remedy = "train them: reinflect benchmark --grid teacher --cells 60000 --out FOLDER"
        raise InputError(f"found no models{whose} that inflected further cells", remedy, path=teacher)
    students = []
    for language in sorted(languages or found):
        setting = max(found[language], key=SETTINGS.index)
        corpora, _ = read_corpora(data, [language], [setting])
        models = found[language][setting]
        if not corpora:
            raise InputError(f"found no files of {language}-{setting}", "name the teacher's --data", path=data)
        students.append(_student(corpora[0], models, least or max(1, len(models) - 1), data))
    return students


def _student(corpus: Lesson, models: Sequence[TrainedModel], least: int, data: Path) -> Student:
    said, others = [model.cells for model in models], (*corpus.dev, *corpus.asked)
    cells, kinds = cells_of(corpus.train, others, len(said[0].which)), Counter(model.kind for model in models)
    if {own.cells for own in said} != {digest_of_cells(cells)}:
        remedy = "train the teacher with these files, and with one number of --cells"
        raise InputError(f"the models of {corpus.label} inflected other cells", remedy, path=data)
    same = agreed(cells, [own.forms(cells) for own in said], least)
    most = max(0, _size(len(corpus.train) + len(same)) - len(corpus.train))
    if corpus.setting == "high" and len(same) > most:
        same = tuple(same[number * len(same) // most] for number in range(most))
    return Student(corpus, same, least, kinds)


def agreed(cells: Sequence[Item], forms: Sequence[Sequence[str | None]], least: int) -> tuple[Item, ...]:
    """The cells for which at least so many models have the same form, with this form. *Shape:* a list per model"""
    made = []
    for cell, own in zip(cells, zip(*forms, strict=True), strict=True):
        [(form, count)] = Counter(own).most_common(1)
        if form and count >= least:
            made.append(Item(cell.lemma, cell.features, form))
    return tuple(made)


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
    preparation = Preparation.of({}, [ALIGNMENT])
    specs = {student: student.spec(system, preparation, changes) for student in students}
    folder = WorkFolder.inside(out, save_models=True)
    with folder.held():
        execution = train_specs(list(specs.values()), preparation, folder, resources)
        whole = by_key(execution.results)
        ready = [own for own in students if specs[own].digest in whole and whole[specs[own].digest].usable]
        work = (
            [student.corpus for student in ready],
            [execution.models[specs[student].digest] for student in ready],
            [student.source for student in ready],
        )
        with TemporaryDirectory() as place:
            write = partial(_write, folder=folder, place=Path(place))
            for corpus, path in zip(work[0], map_in_processes(write, *work, workers=resources.workers), strict=True):
                added(corpus.language, add_model(into, path, corpus.language, corpus.dev, command=command))
    return execution


def _write(corpus: Lesson, model: TrainedModel, source: str, *, folder: WorkFolder, place: Path) -> Path:
    """Write a model file. Its confidence is fitted with the numbers that the file has."""
    small = rounded(folder.with_parameters(model), NUMBERS)
    [dev] = by_fleets([small], len(corpus.dev), "cpu", lambda fleet: decode(fleet, corpus.dev))
    path = place / f"{corpus.language}{ENDING}"
    inflector = assemble(
        [replace(small, dev=dev)], corpus.train, corpus.dev, Keep(attested=False), strategy="vote", source=source
    )
    inflector.save(path, numbers=NUMBERS)
    return path


def make(given: argparse.Namespace) -> int:
    end = None if given.time_limit is None else time.monotonic() + given.time_limit
    device, made = device_for(given.device), dict[str, PocketModel]()
    least = [] if given.least is None else ["--least", str(given.least)]
    changes = [word for change in given.changes for word in ("--set", change)]

    def added(language: str, model: PocketModel) -> None:
        made[language] = model
        large = f" (more than {LARGEST:,})" if model.size > LARGEST else ""
        print(f"{language}: {model.accuracy:.2f} % of dev items right, {model.size:,} bytes{large}", flush=True)

    with display() as shown:
        students = students_of(given.teacher, given.data, given.languages, given.least, shown.note)
        for one in students:
            shown.note(f"{one.corpus.language} learns from {one.source}")
        resources = Resources(
            device=device,
            workers=cores() if device == "cuda" else given.workers or cores(),
            trainers=given.workers,
            checkpoint_seconds=checkpoint_seconds(SECONDS_ON_A_GPU if device == "cuda" else SECONDS_BETWEEN),
            alignment_cache=default_folder(),
            watcher=shown,
            enough=lambda: end is not None and time.monotonic() >= end,
        )
        execution = train_students(
            students,
            given.out,
            given.into,
            resources,
            command=shlex.join(["runs/pocket.sh", "DATA", "OUT", "--system", given.system, *least, *changes]),
            system=given.system,
            changes=given.changes,
            added=added,
        )
    for setting in SETTINGS:
        names = [one.corpus.language for one in students if one.corpus.setting == setting]
        if own := [made[name].accuracy for name in names if name in made]:
            print(f"{setting}: {fmean(own):.2f} % of dev items right on average, pocket models: {len(own)}")
    print(f"{sum(model.size for model in made.values()) / 1e6:.1f} MB in {given.into}")
    if execution.failed:
        raise ReinflectError(execution.failed)
    if len(made) < len(students):
        left = f"{len(students) - len(made)} of {len(students)} students are not trained yet, or diverged"
        print(f"{left}; the same command goes on")
    return 0 if len(made) == len(students) else INTERRUPTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that the teacher learnt from")
    parser.add_argument("--teacher", type=Path, required=True, help="the folder of its benchmark")
    parser.add_argument("--out", type=Path, required=True, help="a folder for trainings")
    parser.add_argument("--into", type=Path, required=True, help="a folder of pocket models")
    parser.add_argument("--languages", type=lambda text: text.split(","), help="default: all that the teacher knows")
    parser.add_argument("--system", choices=("imitation", "haem"), default=SYSTEM)
    parser.add_argument(
        "--least",
        type=int,
        choices=range(1, 101),
        metavar="N",
        help="models that must agree on a cell (default: all but one)",
    )
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
