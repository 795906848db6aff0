"""Trains specs: prepares, packs and trains those that are not finished, with any engine."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reinflect.data.sheet_file import Note
from reinflect.ensemble.member import UNALIGNED, TrainedModel
from reinflect.errors import ReinflectError
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation
from reinflect.run.engines import engine
from reinflect.run.folder import WorkFolder
from reinflect.run.packing import pack_specs, weight, with_work
from reinflect.run.packs import Pack, PackResult, by_key, matched, read_results
from reinflect.run.resources import Resources
from reinflect.run.side import map_in_processes

WORTH_PROCESSES = 20_000
"""Items that take as long to align as processes take to start."""


@dataclass(frozen=True)
class Execution:
    """The outcome of a training."""

    models: Mapping[str, TrainedModel]
    """By the digests of their specs, including earlier commands. Where training was stopped, the best so far."""
    results: Sequence[PackResult]
    """All finished packs of the folder, including those of other specs."""
    packs: Sequence[Pack]
    """The packs that this command trained, or began."""
    finished: bool
    retried: tuple[str, ...] = ()
    failed: str | None = None
    """Packs that could not be trained, as an error message; all others were."""
    preparing: float = 0.0
    training: float = 0.0
    """Seconds."""


def train_specs(
    specs: Sequence[ModelSpec], preparation: Preparation, folder: WorkFolder, resources: Resources, about: str = ""
) -> Execution:
    """Train the specs that the folder, which the caller holds, does not have yet.

    `about` is a note about the data, for a user whose engine is there: what is wrong with it is said in one line.
    """
    started, watcher = time.monotonic(), resources.watcher
    results = read_results(folder.packs, watcher.note)
    done = by_key(results)
    left = sum(spec.digest not in done for spec in specs)
    if not left or resources.enough():
        if specs and not left:
            _note_found(specs, results, [], folder, watcher.note)
        seconds = time.monotonic() - started
        return Execution(matched(specs, done), results, [], finished=not left, preparing=seconds)
    ran: list[PackResult | None] = []
    failed = None
    with engine(resources) as trains:
        if about:
            watcher.note(about)
        chosen = prepared(with_work(specs, done, trains.device), preparation, resources)
        whole = pack_specs(chosen, trains.device, trains.budget)
        packs = [
            replace(piece, specs=own)
            for pack in whole
            for piece in folder.pieces(pack)
            if (own := tuple(spec for spec in piece.specs if spec.digest not in done))
        ]
        _note_found(specs, results, packs, folder, watcher.note)
        preparing = time.monotonic() - started
        watcher.expect(len(specs) - left, len(specs), {pack.name: weight(pack, trains.device) for pack in packs})
        try:
            ran = trains.train(packs, folder)
        except ReinflectError as error:  # what is finished is kept
            failed = str(error)
    finished = failed is None and all(one and one.finished for one in ran)
    if finished:
        for pack in (*whole, *packs):
            folder.forget(pack)
    results = read_results(folder.packs)
    stopped = by_key(one for one in ran if one and not one.finished)
    return Execution(
        models=matched(specs, {**stopped, **by_key(results)}),
        results=results,
        packs=packs,
        finished=finished,
        retried=tuple(text for one in ran if one for text in one.retried),
        failed=failed,
        preparing=preparing,
        training=time.monotonic() - started - preparing,
    )


def _note_found(
    specs: Sequence[ModelSpec], results: Sequence[PackResult], packs: Sequence[Pack], folder: WorkFolder, note: Note
) -> None:
    """Note what an earlier command left in the folder, if these packs remain to be trained."""
    begun, other = folder.found(packs, note)
    if folder.state != folder.packs:  # a benchmark's folder, whose packs stay there
        return
    keys = {spec.digest for spec in specs}
    finished = sum(not keys.isdisjoint(model.key for model in result.models) for result in results)
    if begun or finished:
        note(
            f"note: resuming an earlier training ({finished} of {finished + len(packs)} packs of models are trained, "
            f"{begun} begun); to start anew, remove {folder.state} first"
        )
    if other or finished < len(results):
        note(f"note: {folder.state} also has work with other data or settings, which this command does not use")


def prepared(specs: Sequence[ModelSpec], preparation: Preparation, resources: Resources) -> list[ModelSpec]:
    """The specs with their lessons aligned and augmented, each lesson once, the largest first."""
    seeds = {spec.lesson: spec.seed for spec in specs}
    lessons = sorted(seeds, key=lambda lesson: -len(lesson.train))
    several, watcher = any(lesson.label for lesson in lessons), resources.watcher
    alone = not several or sum(len(one.train) for one in lessons if one.alignment != UNALIGNED) < WORTH_PROCESSES
    show = None if several else watcher.working
    prepare = partial(_added, preparation, cache=resources.alignment_cache, show=show)
    work = lessons, [seeds[lesson] for lesson in lessons]
    made: dict[Lesson, Lesson] = {}
    for added in map_in_processes(prepare, *work, workers=1 if alone else resources.workers):
        lesson = lessons[len(made)]
        made[lesson] = replace(lesson, **added)
        if several:
            watcher.working("aligning all files", len(made), len(lessons))
    return [replace(spec, lesson=made[spec.lesson]) for spec in specs]


def _added(preparation: Preparation, lesson: Lesson, seed: int, **more: Any) -> dict[str, Any]:
    """What preparing adds to a lesson. Its items stay where they are: lessons of one language share them in a pack."""
    done = preparation.prepared(lesson, seed, **more)
    return {"alignments": done.alignments, "phases": done.phases}
