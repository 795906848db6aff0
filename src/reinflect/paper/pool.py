"""Pools: the forms that the models of a language give for each item, and every model's probability of each form.

A pool is made once all models of a language and setting are trained, while their parameters are there. Its file is
MessagePack, compressed as xz, beside the packs; its name has a digest of the models and of their forms.
"""

import hashlib
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.align.pairs import Alignment
from reinflect.assemble import known_runs
from reinflect.data.items import Item
from reinflect.ensemble.candidates import Pool, log_probabilities
from reinflect.ensemble.fleets import by_fleets
from reinflect.ensemble.member import UNALIGNED, TrainedModel
from reinflect.errors import shortened
from reinflect.files import write_bytes
from reinflect.learn.lesson import Lesson, Preparation
from reinflect.paper.combine import SPLITS, forms_by_rules, kept_forms
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import PRESET, unpacked
from reinflect.run.resources import Resources
from reinflect.run.side import map_in_processes

ENDING = ".pool.xz"
FORMAT = 2
LEAST = -64.0
"""The least log-probability that is kept."""
PROCESSES_ON_A_GPU = 8
"""One aligns while another scores."""


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


def fill_pools(jobs: Sequence[Job], preparation: Preparation, folder: WorkFolder, resources: Resources) -> None:
    """Make the pools that have no file yet."""
    wanted = [job for job in jobs if job.models and read_pool(job.path) is None]
    left = [job for job in wanted if all(folder.parameters_file(model).exists() for model in job.models)]
    if lost := [job.corpus.label for job in wanted if job not in left]:
        which = shortened(", ".join(lost), 100)
        found = f"candidates of {which} are not scored: the parameters of some of their models were not kept"
        resources.watcher.note(f"note: {found}; give --candidates when they are trained")
    on_gpu = resources.device == "cuda" and torch.cuda.is_available()  # not if only a cluster's workers have one
    device, workers = ("cuda", min(PROCESSES_ON_A_GPU, resources.workers)) if on_gpu else ("cpu", resources.workers)
    make = partial(_make, preparation=preparation, folder=folder, cache=resources.alignment_cache, device=device)
    for done, _ in enumerate(map_in_processes(make, left, workers=workers), start=1):
        resources.watcher.working("scoring candidates", done, len(left))


def _make(job: Job, *, preparation: Preparation, folder: WorkFolder, cache: Path | None, device: str) -> None:
    """Write a pool."""
    corpus, models = job.corpus, [folder.with_parameters(model) for model in job.models]
    first, by_rules = kept_forms(corpus, models, known_runs(corpus.train)), forms_by_rules(corpus)
    forms = {
        split: [
            list(dict.fromkeys(own))
            for own in zip(*(first[model.name, split] for model in models), by_rules[split], strict=True)
        ]
        for split in SPLITS
    }
    known = set(corpus.inventory.characters)
    pairs = [
        (Item(item.lemma, item.features, form), known >= set(item.lemma))
        for item, own in zip((*corpus.dev, *corpus.asked), (*forms["dev"], *forms["test"]), strict=True)
        for form in own
    ]
    items, scored = [item for item, asked in pairs if asked], np.array([asked for _, asked in pairs], dtype=bool)
    learnt, more = ([(item.lemma, item.form) for item in own] for own in (corpus.train, items))
    alignments: dict[str, Sequence[Alignment]] = {UNALIGNED: [()] * len(items)}
    for name in {model.alignment for model in models} - {UNALIGNED}:
        aligner, plan = preparation.aligners[name], preparation.planned(corpus, name, augmentations=())
        lesson = preparation.prepared(plan, cache=cache)
        alignments[name] = aligner.align_more(learnt, lesson.alignments, more)

    def score(fleet: Sequence[TrainedModel]) -> list[NDArray[np.float32]]:
        names = list(dict.fromkeys(model.alignment for model in fleet))
        which = [names.index(model.alignment) for model in fleet]
        return log_probabilities(fleet, [(items, alignments[name]) for name in names], which, device)

    rows = np.full((len(models), len(pairs)), np.nan, dtype="<f2")
    if items:
        found = by_fleets(models, 0, device, score)  # as if for no items: here processes share the work, not threads
        rows[:, scored] = np.maximum(np.stack(found), LEAST)
    plain = {"models": [model.key for model in models], **forms, "scores": rows.tobytes()}
    write_bytes(job.path, lzma.compress(msgspec.msgpack.encode(plain), preset=PRESET))
