"""Every language in every setting by itself: combined, scored, its predictions written; in processes where it pays.

What a process is sent is small: what the models said, and where the items are to be read.
"""

import glob
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reinflect.data.items import Item, write_items
from reinflect.errors import ReinflectError
from reinflect.execution.corpora import Corpus, read_corpus
from reinflect.execution.grid import Grid
from reinflect.execution.results import ModelResult
from reinflect.experiments.combine import COMPARED, Changes, Combined, Evaluations, combine, evaluations
from reinflect.files import BYTE_ORDER_MARK, write_text, writing

PREDICTIONS = "predictions"
WORTH_PROCESSES = 1_000_000
"""Answers of models to combine, which take some seconds: as long as processes take to start."""


@dataclass(frozen=True)
class Finished:
    """What there is to know of one language in one setting; its predictions are in their files."""

    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    accuracies: Mapping[str, float]
    """The dev accuracy of every usable model, filtered."""
    changed: Mapping[str, Changes]
    """What the filter for repeats did, by system."""
    evaluations: Evaluations


@dataclass(frozen=True)
class Work:
    """One language in one setting."""

    corpus: Corpus
    models: Sequence[ModelResult]
    gold: Sequence[Item]
    """The right forms of its test items, if they are known."""


def finish(work: Work, grid: Grid, folder: Path) -> Finished:
    """Combine, score, and write the predictions into a folder."""
    combined = combine(work.corpus, grid, work.models)
    write_predictions(combined, folder)
    return Finished(combined.chosen, combined.accuracies, combined.changed, evaluations(combined, work.gold))


def finish_all(
    work: Sequence[Work], grid: Grid, data: Path, folder: Path, processes: Executor | None = None
) -> dict[Corpus, Finished]:
    """The same of many; `data` is where they were read."""
    answers = sum(len(model.dev.forms) + len(model.test.forms) for one in work for model in one.models)
    if processes is not None and answers >= WORTH_PROCESSES:
        sent = [_Sent(one.corpus.language, one.corpus.setting, one.corpus.digest, one.models, one.gold) for one in work]
        try:
            told = list(processes.map(partial(_elsewhere, grid=grid, data=data, folder=folder), sent))
        except BrokenProcessPool:  # as when there is too little memory for all of them
            pass
        else:
            for one in told:
                if isinstance(one, str):
                    raise ReinflectError(one)
            return {one.corpus: own for one, own in zip(work, told, strict=True) if isinstance(own, Finished)}
    return {one.corpus: finish(one, grid, folder) for one in work}


@dataclass(frozen=True)
class _Sent:
    """Work for another process, which reads the items itself."""

    language: str
    setting: str
    digest: str
    models: Sequence[ModelResult]
    gold: Sequence[Item]


def _elsewhere(sent: _Sent, grid: Grid, data: Path, folder: Path) -> Finished | str:
    """What became of it, or what the user is to be told: not every exception survives the way between processes."""
    try:
        corpus = read_corpus(data, sent.language, sent.setting)
        if corpus is None or corpus.digest != sent.digest:
            return f"{data}: the files of {sent.language} changed in the meantime; run the same again"
        return finish(Work(corpus, sent.models, sent.gold), grid, folder)
    except ReinflectError as error:
        return str(error)


def write_predictions(combined: Combined, folder: Path) -> None:
    """`FOLDER/SETTING/SYSTEM/LANGUAGE-{dev,test}`, in the order and format of the data.

    What an earlier command wrote of systems that there are no predictions of now is removed: they are of other
    settings.
    """
    corpus, written = combined.corpus, set[Path]()
    for split, items in (("dev", corpus.split.dev), ("test", corpus.split.asked)):
        before = [f"{item.lemma}\t" for item in items]
        behind = [f"\t{item.features.spelling}\n" for item in items]
        for system, forms in combined.forms.items():
            if items and system not in COMPARED:
                place = folder / corpus.setting / system
                with writing(place):
                    place.mkdir(parents=True, exist_ok=True)
                path, text = place / f"{corpus.language}-{split}", "".join(_woven(before, forms[split], behind))
                written.add(path)
                if _plain(text, len(items)):
                    write_text(path, text)
                else:
                    pairs = zip(items, forms[split], strict=True)
                    write_items(path, [Item(item.lemma, item.features, form) for item, form in pairs])
    for split in ("dev", "test"):
        for path in (folder / corpus.setting).glob(f"*/{glob.escape(corpus.language)}-{split}"):
            if path not in written:
                path.unlink(missing_ok=True)


def _woven(before: Sequence[str], forms: Sequence[str], behind: Sequence[str]) -> Iterator[str]:
    for line in zip(before, forms, behind, strict=True):
        yield from line


def _plain(text: str, lines: int) -> bool:
    """Whether nothing in it would be read as something else; see `data.items.format_items`."""
    marks = (text.count("\t"), text.count("\n"), text.count("\r"))
    return marks == (2 * lines, lines, 0) and not text.startswith(BYTE_ORDER_MARK)
