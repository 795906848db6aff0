"""Pools: the forms that the models of a language give for each item, and every model's probability of each form.

A pool is made once all models of a language and setting are trained, while their parameters are there. Its file is
MessagePack, compressed as xz, beside the packs; its name has a digest of the models and of their forms.
"""

import hashlib
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.alignment.pairs import Alignment, align_more
from reinflect.data.items import Item
from reinflect.ensembles.candidates import Pool, Questions, log_probabilities
from reinflect.ensembles.member import UNALIGNED, TrainedModel, by_fleets
from reinflect.execution.folder import WorkFolder
from reinflect.execution.packs import PRESET, unpacked
from reinflect.execution.resources import Resources
from reinflect.execution.side import map_in_processes
from reinflect.experiments.combine import SPLITS, kept_forms
from reinflect.files import atomic_path
from reinflect.inflector.assemble import known_runs
from reinflect.training.lesson import Lesson, Preparation

ENDING = ".pool.xz"
FORMAT = 1
LEAST = -64.0
"""The least log-probability that is kept."""
AT_ONCE = {"cpu": 1, "cuda": 8}
"""Languages and settings whose models are scored together."""
_Asked = tuple[Questions, NDArray[np.bool_]]


@dataclass(frozen=True)
class Job:
    """The usable models of a language and setting, without parameters, and the file of their pool."""

    corpus: Lesson
    models: Sequence[TrainedModel]
    path: Path

    @classmethod
    def of(cls, corpus: Lesson, models: Sequence[TrainedModel], folder: Path) -> "Job":
        usable = sorted((model for model in models if model.usable), key=lambda model: model.key)
        plain = [[model.key, model.dev.forms, model.asked.forms] for model in usable]
        mark = hashlib.sha256(msgspec.json.encode([FORMAT, plain])).hexdigest()[:12]
        return cls(corpus, usable, folder / f"{corpus.label}.{mark}{ENDING}")


def read_pool(path: Path) -> Pool | None:
    """A pool; None if there is no such file, or it is damaged."""
    try:
        plain = msgspec.msgpack.decode(unpacked(path.read_bytes()))
        counts = [sum(map(len, plain[split])) for split in SPLITS]
        scores = np.frombuffer(plain["scores"], dtype="<f2").reshape(len(plain["models"]), sum(counts))
        parts = np.split(scores, counts[:1], axis=1)
        return Pool(plain["models"], {split: plain[split] for split in SPLITS}, dict(zip(SPLITS, parts, strict=True)))
    except (OSError, EOFError, lzma.LZMAError, ValueError, LookupError, TypeError):
        return None


def fill_pools(
    jobs: Sequence[Job], preparation: Preparation, folder: WorkFolder, resources: Resources, *, keep: bool
) -> None:
    """Make the pools that have no file yet; without `keep`, the parameters are removed then."""
    device = "cuda" if resources.device == "cuda" else "cpu"
    left = [job for job in jobs if job.models and read_pool(job.path) is None]
    lost = [job for job in left if not all(folder.parameters_file(model).exists() for model in job.models)]
    for job in lost:
        resources.watcher.note(
            f"note: {job.corpus.label} has no scored candidates: the parameters of some of its models were not kept; "
            "give --candidates when they are trained"
        )
    left = [job for job in left if job not in lost]
    groups = [left[start : start + AT_ONCE[device]] for start in range(0, len(left), AT_ONCE[device])]
    make = partial(_make, preparation=preparation, folder=folder, cache=resources.alignment_cache, device=device)
    workers = resources.workers if device == "cpu" else 1
    for done, _ in enumerate(map_in_processes(make, groups, workers=workers), start=1):
        resources.watcher.aligning("all candidates", done, len(groups))
    for model in () if keep else (model for job in jobs if job not in lost for model in job.models):
        folder.parameters_file(model).unlink(missing_ok=True)


def _make(
    jobs: Sequence[Job], *, preparation: Preparation, folder: WorkFolder, cache: Path | None, device: str
) -> None:
    """Write the pools of some jobs."""
    forms, asked = {}, dict[tuple[str, str], _Asked]()
    for job in jobs:
        first = kept_forms(job.corpus, job.models, known_runs(job.corpus.train))
        forms[job.corpus.label] = {
            split: [
                list(dict.fromkeys(own))
                for own in zip(*(first[model.name, split] for model in job.models), strict=True)
            ]
            for split in SPLITS
        }
        for alignment in {model.alignment for model in job.models}:
            asked[job.corpus.label, alignment] = _asked(
                job.corpus, alignment, forms[job.corpus.label], preparation, cache
            )
    models = [folder.with_parameters(model) for job in jobs for model in job.models]
    scores = iter(by_fleets(models, device, partial(_scored, asked=asked, device=device)))
    for job in jobs:
        rows = np.stack([next(scores) for _ in job.models]).astype("<f2")
        plain = {"models": [model.key for model in job.models], **forms[job.corpus.label], "scores": rows.tobytes()}
        with atomic_path(job.path) as part:
            part.write_bytes(lzma.compress(msgspec.msgpack.encode(plain), preset=PRESET))


def _asked(
    corpus: Lesson,
    alignment: str,
    forms: Mapping[str, Sequence[Sequence[str]]],
    preparation: Preparation,
    cache: Path | None,
) -> _Asked:
    """The candidates as questions to models that learnt from an alignment, and which of the candidates these are."""
    known = set(corpus.inventory.characters)
    pairs = [
        (Item(item.lemma, item.features, form), known >= set(item.lemma))
        for item, own in zip((*corpus.dev, *corpus.asked), (*forms["dev"], *forms["test"]), strict=True)
        for form in own
    ]
    items = [item for item, scored in pairs if scored]
    alignments: Sequence[Alignment] = [()] * len(items)
    if alignment != UNALIGNED:
        lesson = preparation.prepared(preparation.planned(corpus, alignment), cache=cache)
        learnt, more = ([(item.lemma, item.form) for item in own] for own in (corpus.train, items))
        alignments = align_more(preparation.aligners[alignment], learnt, lesson.alignments, more)
    return (items, alignments), np.array([scored for _, scored in pairs], dtype=bool)


def _scored(
    fleet: Sequence[TrainedModel], *, asked: Mapping[tuple[str, str], _Asked], device: str
) -> list[NDArray[np.float32]]:
    marks = [(f"{model.language}-{model.setting}", model.alignment) for model in fleet]
    files = list(dict.fromkeys(marks))
    questions = [asked[mark][0] for mark in files]
    found = log_probabilities(fleet, questions, [files.index(mark) for mark in marks], device)
    rows = [np.full(asked[mark][1].shape, np.nan, dtype=np.float32) for mark in marks]
    for row, mark, own in zip(rows, marks, found, strict=True):
        row[asked[mark][1]] = np.maximum(own, LEAST)
    return rows
