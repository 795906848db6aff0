"""One pack from beginning to end, in whatever process; what comes back is plain data."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.decoding.greedy import inflect_all
from reinflect.models.examples import Stack
from reinflect.models.systems import joined_decoder
from reinflect.models.threads import one_thread
from reinflect.training import loop
from reinflect.training.checkpoint import SECONDS_BETWEEN, Checkpoint, fingerprint
from reinflect.training.jobs import Pack
from reinflect.training.state import State

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


@dataclass(frozen=True)
class Results:
    """What became of a pack."""

    models: Sequence[Learnt]
    ended: bool


def run_pack(
    pack: Pack,
    report: Callable[[Standing], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    *,
    state: State | None = None,
    device: str = "cpu",
    seconds_between: float = SECONDS_BETWEEN,
) -> Results:
    """Train a pack, or take it up where an earlier run left it, and let its models inflect their dev items."""
    started, last = time.monotonic(), -math.inf

    def seldom(now: loop.Report) -> None:
        nonlocal last
        if now.running and time.monotonic() - last >= SECONDS_A_REPORT:
            last = time.monotonic()
            report(_standing(pack, now))

    with one_thread(device), nullcontext() if state is None else state.taken(pack.name):
        trained, ended = loop.train(
            pack.tasks(),
            device=device,
            checkpoint=checkpoint_of(pack, state, seconds_between),
            log=None if state is None else state.log(pack.name),
            report=seldom,
            stop=stop,
        )
        results = Results(_learnt(trained, device), ended)
    if ended:
        scored = [model.dev_accuracy for model in trained if model.dev_accuracy >= 0]
        mean = sum(scored) / len(scored) if scored else math.nan
        most = max(model.epochs for model in trained)
        report(Standing(pack.name, len(trained), 0, most, pack.settings.epochs, mean, time.monotonic() - started, 0.0))
    return results


def checkpoint_of(pack: Pack, state: State | None, seconds_between: float = SECONDS_BETWEEN) -> Checkpoint | None:
    return None if state is None else Checkpoint(state.checkpoint(pack.name), fingerprint(pack), seconds_between)


def _standing(pack: Pack, now: loop.Report) -> Standing:
    going = [model.epoch for model in now.models if not model.finished]
    return Standing(
        pack=pack.name,
        models=len(now.models),
        running=now.running,
        epoch=max(going),
        epochs=pack.settings.epochs,
        mean_best=now.mean_best,
        seconds=now.seconds,
        seconds_left=now.seconds_left,
    )


def _learnt(trained: Sequence[loop.Trained], device: str) -> list[Learnt]:
    forms = iter(_dev_forms([one for one in trained if one.usable], device))
    return [
        Learnt(
            number=number,
            seed=one.seed,
            dev_accuracy=one.dev_accuracy,
            restarts=one.restarts,
            usable=one.usable,
            parameters={name: tensor.float().numpy() for name, tensor in one.parameters.items()},
            forms=next(forms) if one.usable else (),
        )
        for number, one in enumerate(trained)
    ]


def _dev_forms(trained: Sequence[loop.Trained], device: str) -> list[list[str | None]]:
    """What each model, at its best, says of its dev items."""
    if not trained:
        return []
    tasks = list(dict.fromkeys(one.task for one in trained))
    system, settings = tasks[0].system, tasks[0].settings
    sizes, models = [one.task.sizes for one in trained], [one.parameters for one in trained]
    decoder = joined_decoder(system, settings, sizes, models, device)
    return inflect_all(decoder, Stack([task.dev for task in tasks], device), [tasks.index(one.task) for one in trained])
