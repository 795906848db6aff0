"""What models bring that learn from other models' forms: `python -m bench.taught --data DATA --out OUT --setting low`.

For each language, models that teach learn from its training file, and inflect further cells of its lemmas; models that
are taught learn from the same items and from the cells on which all teaching models, or all but one, agree. Compared
are `best` of the teaching models alone and of all together, on dev items (`bench.weights`: every form by weights
from other lemmas), by a paired bootstrap. `--items` is the number of items that taught models learn from, at least a
quarter of them real ones, which come again as often as needed. OUT keeps what is trained: the same command resumes.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean

from bench.best import Work, weigh
from bench.cells import agreed, cells_of, forms_of
from bench.common import run, trained, training_parser
from bench.weights import BEST
from reinflect.data.items import Item, grouped
from reinflect.ensemble.member import UNALIGNED, TrainedModel
from reinflect.files import make_folder
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.paper.grid import MADE_UP, Entry, Grid, kinds, specs_of
from reinflect.run.folder import WorkFolder
from reinflect.score.scores import Evaluation, MacroEvaluation, evaluate
from reinflect.score.significance import compare
from reinflect.settings import changed
from reinflect.systems import DEEPER
from reinflect.systems.symbols import load_preset
from reinflect.text import Side, table

SYSTEMS = ("hacm", "haem", "soft", "imitation")
TAUGHT = "taught"
AGAIN = ("batch=16", "epochs=12", "patience=5", "score_from=3", "score_every=1")
"""What differs from a preset where items are many."""
LIGHT = ("hidden=100", "batch=8", "epochs=24", "score_from=16", "schedule=linear", "decay=3000")
"""At medium, of hard attention: as accurate as the preset, in a fifth of its time."""
TEACH: Grid = (
    Entry("soft", UNALIGNED, {"medium": 2, "high": 3}, variant="deep", changes=DEEPER),
    Entry("soft", UNALIGNED, {"medium": 2}, variant=MADE_UP, changes=(*DEEPER, "epochs=36"), augmentations=(MADE_UP,)),
    Entry("hacm", "smart", {"medium": 3}, variant="light", changes=LIGHT),
    Entry("haem", "smart", {"medium": 2}, variant="light", changes=(*LIGHT, "dropout=0.3")),
    *(
        Entry(system, alignment, {"low": seeds}, variant=MADE_UP, augmentations=(MADE_UP,))
        for system, alignment, seeds in (("imitation", UNALIGNED, 3), ("hacm", "smart", 2), ("haem", "smart", 2))
    ),
)
LEARN: Grid = (
    Entry("soft", UNALIGNED, {"low": 2, "medium": 2}, variant=TAUGHT, changes=(*DEEPER, *AGAIN)),
    Entry("soft", UNALIGNED, {"high": 3}, variant=TAUGHT, changes=DEEPER),
    Entry("hacm", "smart", {"medium": 2}, variant=TAUGHT, changes=(*LIGHT, *AGAIN)),
    Entry("haem", "smart", {"low": 2}, variant=TAUGHT, changes=(*AGAIN, "dropout=0.3", "rho=0.98")),
    Entry("haem", "smart", {"high": 2}, variant=TAUGHT),
)
ITEMS: Mapping[str, int] = {"low": 4_000, "medium": 8_000, "high": 40_000}
CELLS_AN_ITEM = 3
"""Cells that teaching models inflect for each item: they agree on some."""

Models = Mapping[str, list[TrainedModel]]
"""By language."""


def taught_lesson(lesson: Lesson, same: Sequence[Item], items: int) -> Lesson:
    """A language with what its taught models learn from: cells on which teaching models agree, and real items."""
    most = min(len(same), 3 * items // 4, max(0, items - len(lesson.train)))
    thinned = tuple(same[number * len(same) // most] for number in range(most))
    return replace(lesson, train=(*thinned, *islice(cycle(lesson.train), items - most)))


def train(specs: Sequence[ModelSpec], preparation: Preparation, work: WorkFolder, given: argparse.Namespace) -> Models:
    return grouped(trained(specs, preparation, work, given).values(), lambda model: model.language)


def taught_by(lesson: Lesson, models: Sequence[TrainedModel], work: WorkFolder, items: int) -> Lesson:
    usable = [work.with_parameters(model) for model in models if model.usable]
    cells = cells_of(lesson, CELLS_AN_ITEM * items)
    forms = forms_of(cells, usable, work.packs.parent / "cells", lesson.label)
    return taught_lesson(lesson, agreed(cells, forms, max(1, len(usable) - 1)), items)


def best(lesson: Lesson, models: Sequence[TrainedModel]) -> Evaluation:
    forms = weigh(Work(lesson, models, (), Path())).forms[BEST]["dev"]
    predicted = [Item(item.lemma, item.features, form) for item, form in zip(lesson.dev, forms, strict=True)]
    return evaluate(lesson.dev, predicted, name=lesson.language)


def compare_taught(given: argparse.Namespace) -> None:
    setting, items = given.setting, given.items or ITEMS[given.setting]
    preparation, plain = Preparation.of({}, ["smart"], [MADE_UP]), Preparation.of({}, ["smart"])
    presets = {setting: changed(load_preset(setting, SYSTEMS), given.set)}
    corpora, _ = read_corpora(given.data, languages_in(given.data, given.languages), [setting])
    # No test item is asked for: the figures are those of dev items.
    lessons = [replace(lesson, asked=()) for lesson in corpora]
    teachers = WorkFolder.inside(make_folder(given.out / "teach"), save_models=True)
    first = train(specs_of(lessons, TEACH, presets, preparation), preparation, teachers, given)
    learners = [taught_by(lesson, first[lesson.language], teachers, items) for lesson in lessons]
    students = WorkFolder.inside(make_folder(given.out / "learn"))
    second = train(specs_of(learners, LEARN, presets, plain), plain, students, given)
    names = [lesson.language for lesson in lessons]
    alone = {lesson.language: best(lesson, first[lesson.language]) for lesson in lessons}
    both = {lesson.language: best(lesson, first[lesson.language] + second[lesson.language]) for lesson in lessons}
    columns, rows = list(kinds(TEACH + LEARN, setting)), []
    for name in names:
        models = first[name] + second[name]
        single = [fmean(model.dev_accuracy for model in models if model.kind == kind) for kind in columns]
        rows.append([name, *(f"{figure:.2f}" for figure in (alone[name].accuracy, both[name].accuracy, *single))])
    sides: list[Side] = ["left", *["right"] * (len(columns) + 2)]  # type: ignore[list-item]
    print(table(["language", "best", "with taught", *(f"one {kind}" for kind in columns)], rows, sides=sides))
    print(compare(MacroEvaluation("dev", both), MacroEvaluation("dev", alone)).text("with taught", "without"))


def main() -> None:
    parser = training_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is trained")
    parser.add_argument("--setting", choices=SETTINGS, required=True)
    parser.add_argument("--items", type=int, help=f"that a taught model learns from (default: {ITEMS})")
    run(parser, compare_taught)


if __name__ == "__main__":
    main()
