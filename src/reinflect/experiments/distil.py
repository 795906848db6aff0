"""Pocket models, learnt from a teacher: a benchmark whose models inflected further cells of every language.

A student is one small model. It learns from the gold items and from the cells on which the teacher's models agree.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from reinflect.data.items import Item
from reinflect.ensembles.cell_forms import digest_of_cells
from reinflect.ensembles.fleets import by_fleets, decode
from reinflect.ensembles.member import TrainedModel
from reinflect.errors import InputError
from reinflect.execution.execute import Execution, train_specs
from reinflect.execution.folder import WorkFolder
from reinflect.execution.packs import by_key, read_results
from reinflect.execution.resources import Resources
from reinflect.execution.side import map_in_processes
from reinflect.experiments.corpora import SETTINGS, read_corpora
from reinflect.inflector.assemble import assemble
from reinflect.inflector.model_file import Numbers, rounded
from reinflect.inflector.pocket import ENDING, PocketModel, add_model
from reinflect.settings import changed
from reinflect.systems.presets import load_preset
from reinflect.training.cells import cells_of
from reinflect.training.lesson import Lesson, ModelSpec, Preparation, alignments_of

SYSTEM, ALIGNMENT = "imitation", "smart"
NUMBERS: Numbers = "eighth"
SMALL = ("embedding=100", "hidden=100", "history_hidden=100")
CHANGES: Mapping[str, Sequence[str]] = {
    "low": SMALL,
    "medium": SMALL,
    "high": (*SMALL, "batch=16", "dropout=0.2", "epochs=26", "patience=8"),
}
"""Of the preset of each setting, whose other values hold for the few items of a language without `high`, too."""


@dataclass(frozen=True, eq=False)
class Student:
    """A language with what its student learns from."""

    corpus: Lesson
    """The gold items."""
    agreed: tuple[Item, ...]
    """The cells that at least `least` of the teacher's `models` inflect alike, with these forms."""
    least: int
    models: int

    @property
    def source(self) -> str:
        """What a model card says about it."""
        gold = f"{self.corpus.language}-train-{self.corpus.setting}"
        agree = f"at least {self.least} of {self.models} models agree"
        return f"{gold} and {len(self.agreed):,} further cells, on which {agree}" if self.agreed else gold

    def spec(self, system: str, preparation: Preparation, changes: Sequence[str] = ()) -> ModelSpec:
        corpus, setting = self.corpus, self.corpus.setting
        lesson = replace(corpus, train=(*corpus.train, *self.agreed), asked=())
        settings = changed(load_preset(setting, [system]), (*CHANGES[setting], *changes))[system]
        [alignment] = alignments_of(system, [ALIGNMENT])
        return ModelSpec(preparation.planned(lesson, alignment), system, settings, seed=1)


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
    cells = cells_of(corpus.train, others, len(said[0].which))
    if {own.cells for own in said} != {digest_of_cells(cells)}:
        remedy = "train the teacher with these files, and with one number of --cells"
        raise InputError(f"the models of {corpus.label} inflected other cells", remedy, path=data)
    return Student(corpus, agreed(cells, [own.forms(cells) for own in said], least), least, len(models))


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
    [dev] = by_fleets([small], "cpu", lambda fleet: decode(fleet, corpus.dev))
    path = place / f"{corpus.language}{ENDING}"
    inflector = assemble([replace(small, dev=dev)], corpus.train, corpus.dev, strategy="vote", source=source)
    inflector.save(path, numbers=NUMBERS)
    return path
