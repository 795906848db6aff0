"""Trains one pack, in any process."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.layers.examples import Examples, Stack
from reinflect.layers.precision import one_thread
from reinflect.learn import loop
from reinflect.learn.checkpoint import SECONDS_BETWEEN
from reinflect.learn.scoring import joined, predict_all
from reinflect.run.failures import classify_failures
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult
from reinflect.systems import SYSTEMS

SECONDS_A_REPORT = 0.2


@dataclass(frozen=True)
class Standing:
    """The progress of a pack, as plain data, which any process can send."""

    pack: str
    models: int
    running: int
    epoch: int
    """Of the running model that is furthest."""
    epochs: int
    """The largest number of epochs of any model."""
    mean_best: float
    """The mean of the models' best dev accuracies so far; nan before the first."""
    seconds: float
    seconds_left: float
    """At most: models may stop before their last epoch."""

    @property
    def share(self) -> float:
        """The share of the work that is done, at least, from 0 to 1."""
        whole = self.seconds + self.seconds_left
        return self.seconds / whole if self.running and whole else float(not self.running)


def run_pack(
    pack: Pack,
    report: Callable[[Standing], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    *,
    folder: WorkFolder,
    device: str = "cpu",
    seconds_between: float = SECONDS_BETWEEN,
    seconds_a_report: float = SECONDS_A_REPORT,
) -> PackResult:
    """Train or resume a pack, and have its models predict; a finished pack leaves its files in the folder.

    Models of a stopped pack keep their parameters. Raises a `PackError` if another way may work: `execution.retries`.
    """
    last = -math.inf

    def seldom(now: loop.Report) -> None:
        nonlocal last
        if now.running and time.monotonic() - last >= seconds_a_report:
            last = time.monotonic()
            epoch = max(model.epoch for model in now.models if not model.finished)
            times = now.seconds, now.seconds_left
            report(Standing(pack.name, len(now.models), now.running, epoch, pack.epochs, now.mean_best, *times))

    checkpoint = folder.checkpoint(pack, seconds_between)
    with classify_failures(), one_thread(device), folder.taken(pack):
        trained, finished = loop.train(
            pack.specs, device=device, checkpoint=checkpoint, log=folder.log(pack), report=seldom, stop=stop
        )
        named = torch.cuda.get_device_name() if device == "cuda" else device
        models = _predicted(pack, trained, device)
        result = PackResult(pack.name, models, finished, named, checkpoint.seconds)
        if finished:
            result = folder.keep(pack, result)
    if finished:
        scored = [model.dev_accuracy for model in result.models if model.dev_accuracy >= 0]
        mean = sum(scored) / len(scored) if scored else math.nan
        report(Standing(pack.name, len(pack.specs), 0, pack.epochs, pack.epochs, mean, result.seconds, 0.0))
    return result


def _predicted(pack: Pack, trained: Sequence[TrainedModel], device: str) -> list[TrainedModel]:
    """The models with their predictions for the dev items and the further items of their lessons."""
    usable = [(spec, model) for spec, model in zip(pack.specs, trained, strict=True) if model.usable]
    if not usable:
        return list(trained)
    system, own = SYSTEMS[pack.system], [(spec.lesson, model.settings) for spec, model in usable]
    lessons = list(dict.fromkeys(own))
    files = [Examples.to_inflect(system, (*lesson.dev, *lesson.asked), lesson.inventory, by) for lesson, by in lessons]
    settings = pack.specs[0].settings
    parameters, allowed = joined(system, settings, [model for _, model in usable], device)
    decoder = system.equations.decoder(parameters, settings, allowed)
    predictions = predict_all(decoder, Stack(files, device), [lessons.index(one) for one in own])
    found = {}
    for (spec, model), (forms, scores) in zip(usable, predictions, strict=True):
        dev = len(spec.lesson.dev)
        split = Predictions(forms[:dev], scores[:dev]), Predictions(forms[dev:], scores[dev:])
        found[model.key] = replace(model, dev=split[0], asked=split[1])
    return [found.get(model.key, model) for model in trained]
