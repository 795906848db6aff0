"""One pack from beginning to end, in whatever process; what comes back is plain data."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reinflect.decoding.greedy import Answers, answer_all
from reinflect.execution.failures import told_apart
from reinflect.execution.state import State
from reinflect.systems.layers.examples import Examples, Stack
from reinflect.systems.layers.threads import one_thread
from reinflect.systems.system import joined_decoder
from reinflect.training import loop
from reinflect.training.checkpoint import SECONDS_BETWEEN, Checkpoint, fingerprint
from reinflect.training.lesson import Pack

SECONDS_A_REPORT = 0.2


@dataclass(frozen=True)
class Standing:
    """How far a pack is: what a progress display needs, plain, so that it can come from another process."""

    pack: str
    models: int
    running: int
    epoch: int
    """Of the running model that is furthest."""
    epochs: int
    """The most there can be."""
    mean_best: float
    """The mean of the models' best dev accuracies so far; nan before the first is known."""
    seconds: float
    seconds_left: float
    """At most: models may stop before their last epoch."""

    @property
    def share(self) -> float:
        """How much of the work is done, at least, from 0 to 1."""
        whole = self.seconds + self.seconds_left
        return self.seconds / whole if self.running and whole else float(not self.running)


@dataclass(frozen=True)
class Learnt:
    """A trained model as plain data, on its way from wherever its pack ran."""

    number: int
    """Which of the pack's models this is."""
    seed: int
    dev_accuracy: float
    restarts: int
    usable: bool
    parameters: Mapping[str, NDArray[np.float32]]
    forms: Sequence[str | None]
    """What it says of its dev items; None where it did not come to an end."""
    log_probabilities: Sequence[float] = ()
    """Of these forms."""
    asked_forms: Sequence[str | None] = ()
    """What it says of the other items of its lesson's split."""
    asked_log_probabilities: Sequence[float] = ()
    best_epoch: int = 0


@dataclass(frozen=True)
class Results:
    """What became of a pack."""

    models: Sequence[Learnt]
    ended: bool
    retried: tuple[str, ...] = ()
    """What went wrong on the way, and what was done about it."""
    seconds: float = 0.0
    """That it took, with all runs that were interrupted."""


def run_pack(
    pack: Pack,
    report: Callable[[Standing], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    *,
    state: State | None = None,
    device: str = "cpu",
    seconds_between: float = SECONDS_BETWEEN,
    keep_finished: bool = True,
    finish: Callable[[Results], None] = lambda _: None,
) -> Results:
    """Train a pack, or take it up where an earlier run left it, and let its models inflect their dev items.

    `finish` is given the results while the pack's state is still kept to this process. Raises a `PackError` where it
    might work in another way; see `training.retries`.
    """
    started, last = time.monotonic(), -math.inf

    def seldom(now: loop.Report) -> None:
        nonlocal last
        if now.running and time.monotonic() - last >= SECONDS_A_REPORT:
            last = time.monotonic()
            report(_standing(pack, now))

    checkpoint = checkpoint_of(pack, state, seconds_between, keep_finished)
    with told_apart(), one_thread(device), nullcontext() if state is None else state.taken(pack.stem):
        trained, ended = loop.train(
            pack.tasks(),
            device=device,
            checkpoint=checkpoint,
            log=None if state is None else state.log(pack.stem),
            report=seldom,
            stop=stop,
        )
        learnt = _learnt(pack, trained, device)
        seconds = time.monotonic() - started if checkpoint is None else checkpoint.seconds
        results = Results(learnt, ended, seconds=seconds)
        finish(results)
    if ended:
        scored = [model.dev_accuracy for model in trained if model.dev_accuracy >= 0]
        mean = sum(scored) / len(scored) if scored else math.nan
        most = max(model.epochs for model in trained)
        report(Standing(pack.name, len(trained), 0, most, pack.epochs, mean, time.monotonic() - started, 0.0))
    return results


def checkpoint_of(
    pack: Pack, state: State | None, seconds_between: float = SECONDS_BETWEEN, keep_finished: bool = True
) -> Checkpoint | None:
    if state is None:
        return None
    return Checkpoint(state.checkpoint(pack.stem), partial(fingerprint, pack), seconds_between, keep_finished)


def _standing(pack: Pack, now: loop.Report) -> Standing:
    going = [model.epoch for model in now.models if not model.finished]
    return Standing(
        pack=pack.name,
        models=len(now.models),
        running=now.running,
        epoch=max(going),
        epochs=pack.epochs,
        mean_best=now.mean_best,
        seconds=now.seconds,
        seconds_left=now.seconds_left,
    )


def _learnt(pack: Pack, trained: Sequence[loop.Trained], device: str) -> list[Learnt]:
    usable = [number for number, one in enumerate(trained) if one.usable]
    answers = dict(zip(usable, _answers(pack, [trained[number] for number in usable], usable, device), strict=True))
    learnt = []
    for number, one in enumerate(trained):
        said, asked = answers.get(number, (Answers([], []), Answers([], [])))
        learnt.append(
            Learnt(
                number=number,
                seed=one.seed,
                dev_accuracy=one.dev_accuracy,
                restarts=one.restarts,
                usable=one.usable,
                parameters={name: tensor.float().numpy() for name, tensor in one.parameters.items()},
                forms=said.forms,
                log_probabilities=said.log_probabilities,
                asked_forms=asked.forms,
                asked_log_probabilities=asked.log_probabilities,
                best_epoch=one.best_epoch,
            )
        )
    return learnt


def _answers(
    pack: Pack, trained: Sequence[loop.Trained], numbers: Sequence[int], device: str
) -> list[tuple[Answers, Answers]]:
    """What each model, at its best, says of its dev items and of the others it is asked."""
    if not trained:
        return []
    splits = {trained[place].task: pack.models[number].lesson.split for place, number in enumerate(numbers)}
    tasks = list(splits)
    system, settings = tasks[0].system, tasks[0].settings
    sizes, models = [one.task.sizes for one in trained], [one.parameters for one in trained]
    decoder = joined_decoder(system, settings, sizes, models, device)
    files = [
        Examples.to_inflect(system, (*split.dev, *split.asked), task.inventory, task.settings)
        for task, split in splits.items()
    ]
    answers = []
    found = answer_all(decoder, Stack(files, device), [tasks.index(one.task) for one in trained])
    for one, (forms, scores) in zip(trained, found, strict=True):
        dev = len(splits[one.task].dev)
        answers.append((Answers(forms[:dev], scores[:dev]), Answers(forms[dev:], scores[dev:])))
    return answers
