"""Combine, score and write the predictions of every language in every setting, in processes if there are many."""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reinflect.data.items import Item, write_items
from reinflect.ensemble.member import TrainedModel
from reinflect.files import BYTE_ORDER_MARK, make_folder, write_text
from reinflect.learn.lesson import Lesson
from reinflect.paper.combine import Changes, Combined, Evaluations, combine, evaluations, has_files
from reinflect.paper.grid import Grid
from reinflect.paper.pool import read_pool
from reinflect.run.side import map_in_processes

PREDICTIONS = "predictions"
WORTH_PROCESSES = 1_000_000
"""Predictions to combine that take some seconds: as long as processes take to start."""


@dataclass(frozen=True)
class Finished:
    """One language in one setting; its predictions are in files."""

    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    changed: Mapping[str, Changes]
    """By system."""
    evaluations: Evaluations


@dataclass(frozen=True)
class Work:
    """One language in one setting."""

    corpus: Lesson
    models: Sequence[TrainedModel]
    gold: Sequence[Item]
    """The right forms of its test items, if they are known."""
    pool: Path | None = None
    """The file with every model's probability of every candidate, if there is one."""


def finish(work: Work, grid: Grid, folder: Path, *, leave_out: bool = False) -> Finished:
    """Combine, score, and write the predictions into a folder."""
    pool = read_pool(work.pool) if work.pool else None
    combined = combine(work.corpus, grid, work.models, pool, leave_out=leave_out)
    write_predictions(combined, folder)
    return Finished(combined.chosen, combined.changed, evaluations(combined, work.gold))


def finish_all(
    work: Sequence[Work], grid: Grid, folder: Path, workers: int = 1, *, leave_out: bool = False
) -> dict[Lesson, Finished]:
    """Finish every language in every setting, in several processes if there is much to do."""
    predictions = sum(len(model.dev.forms) + len(model.asked.forms) for one in work for model in one.models)
    do = partial(finish, grid=grid, folder=folder, leave_out=leave_out)
    found = map_in_processes(do, work, workers=workers if leave_out or predictions >= WORTH_PROCESSES else 1)
    return {one.corpus: own for one, own in zip(work, found, strict=True)}


def write_predictions(combined: Combined, folder: Path) -> None:
    """`FOLDER/SETTING/SYSTEM/LANGUAGE-{dev,test}`, in the order and format of the data.

    Files of systems without predictions are removed: an earlier command wrote them with other settings.
    """
    corpus, written = combined.corpus, set[Path]()
    for split, items in (("dev", corpus.dev), ("test", corpus.asked)):
        cells = [(item.lemma, item.features.spelling) for item in items]
        for system, forms in combined.forms.items() if items else ():
            if has_files(system):
                path = make_folder(folder / corpus.setting / system) / f"{corpus.language}-{split}"
                pairs = list(zip(cells, forms[split], strict=True))
                text = "".join(f"{lemma}\t{form}\t{features}\n" for (lemma, features), form in pairs)
                marks = tuple(map(text.count, "\t\n\r"))
                if marks == (2 * len(pairs), len(pairs), 0) and not text.startswith(BYTE_ORDER_MARK):
                    write_text(path, text)
                else:  # `write_items` is much slower, but refuses or escapes what would be read as something else
                    answers = zip(items, forms[split], strict=True)
                    write_items(path, [Item(item.lemma, item.features, form) for item, form in answers])
                written.add(path)
        for path in (folder / corpus.setting).glob(f"*/{glob.escape(corpus.language)}-{split}"):
            if path not in written:
                path.unlink(missing_ok=True)
