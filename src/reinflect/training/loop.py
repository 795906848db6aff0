"""The epochs of a fleet: updates, scoring, early stopping, restarts, checkpoints."""

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from reinflect.files import writing
from reinflect.training.checkpoint import Checkpoint
from reinflect.training.fleet import Epoch, Fleet, Progress, Task

MOST_RESTARTS = 3


@dataclass(frozen=True)
class Report:
    """What a progress display needs to know after each epoch."""

    models: Sequence[Progress]
    running: int
    seconds: float
    seconds_left: float
    """At most: models may stop before their last epoch."""
    restarted: Sequence[str]

    @property
    def mean_best(self) -> float:
        scored = [model.best for model in self.models if model.best >= 0]
        return sum(scored) / len(scored) if scored else math.nan


@dataclass(frozen=True)
class Trained:
    """A model as training left it."""

    task: Task
    seed: int
    """The one it ended with; see `restarts`."""
    dev_accuracy: float
    """Of the best epoch, as counted in training; -1 if it never was scored."""
    best_epoch: int
    epochs: int
    restarts: int
    curve: list[tuple[int, float, float | None]]
    parameters: dict[str, Tensor]
    usable: bool
    """Not so if it diverged each time, or was stopped before it had learnt anything."""


def train(
    work: Sequence[tuple[Task, int]],
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    checkpoint: Checkpoint | None = None,
    log: Path | None = None,
    report: Callable[[Report], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Trained], bool]:
    """Train a model for every task and seed; the models in the same order, and whether they came to their end.

    `stop` is asked before every update. When it says so, each model is given as it was at its best so far, and the
    checkpoint is where it stands: the same call goes on from there.
    """
    fleet = Fleet([Progress(task, seed) for task, seed in work], device=device, dtype=dtype)
    run = _Run(fleet, checkpoint, log, report, stop)
    ended = run.go()
    if not ended or (checkpoint and checkpoint.keep_finished):
        run.save()  # of a finished run too: the same command, killed later, need not train it again
    if not ended:
        run.take_what_there_is()
    trained = [
        Trained(
            task=model.task,
            seed=model.seed,
            dev_accuracy=model.best,
            best_epoch=model.best_epoch,
            epochs=model.epoch,
            restarts=model.restarts,
            curve=model.curve,
            parameters=fleet.trained(number),
            usable=model.best >= 0 or number in run.unscored,
        )
        for number, model in enumerate(fleet.models)
    ]
    return trained, ended


class _Run:
    def __init__(
        self,
        fleet: Fleet,
        checkpoint: Checkpoint | None,
        log: Path | None,
        report: Callable[[Report], None] | None,
        stop: Callable[[], bool],
    ) -> None:
        self.fleet, self.checkpoint, self.log, self.report, self.stop = fleet, checkpoint, log, report, stop
        self.update, self.losses, self.log_size = 0, fleet.no_losses(), 0
        resumed = checkpoint.load(fleet) if checkpoint else None
        if resumed:
            self.update, self.losses, self.log_size = resumed.update, resumed.losses, resumed.log_size
        if log is not None:
            # Lines written after the checkpoint will be written again.
            with writing(log), log.open("ab") as file:
                file.truncate(min(self.log_size, file.tell()))
                self.log_size = file.tell()
        self.started = time.monotonic()
        self.epochs_behind = sum(model.epoch for model in fleet.models)
        self.restarted: list[str] = []
        self.unscored: set[int] = set()

    def go(self) -> bool:
        """Train until no model is left, or until told to stop: whether it was the first."""
        fleet = self.fleet
        while fleet.running:
            epoch = fleet.prepare()
            if not self._updates(epoch):
                return False
            self._close_epoch(epoch)
            fleet.drop_finished()
            self.update, self.losses = 0, fleet.no_losses()
            self._save_if_due()
            if self.report:
                self.report(self._progress())
        self._keep_log()
        return True

    def _updates(self, epoch: Epoch) -> bool:
        while self.update < len(epoch):
            if self.stop():
                return False
            self.losses += self.fleet.update(epoch, self.update)
            self.update += 1
            if self.update < len(epoch):
                self._save_if_due()
        self.fleet.plan_ahead()
        return True

    def _save_if_due(self) -> None:
        if self.checkpoint is not None and self.checkpoint.due:
            self.save()

    def save(self) -> None:
        if self.checkpoint is not None:
            self._keep_log()
            self.checkpoint.save(self.fleet, self.update, self.losses, self.log_size)

    def _close_epoch(self, epoch: Epoch) -> None:
        fleet, going = self.fleet, self.fleet.going
        losses, finite = self.losses.tolist(), fleet.finite()
        for column, model in going:
            model.epoch += 1
            model.loss = losses[column] / epoch.updates[column]
        sound = {column for column, model in going if finite[column] and math.isfinite(model.loss)}
        looks = {
            column
            for column, model in going
            if column in sound and (model.epoch >= model.settings.epochs or _looked_at(model))
        }
        scores = fleet.score() if looks else []
        better = []
        for column, model in going:
            score = scores[column] if column in looks else None
            model.curve.append((model.epoch, model.loss, score))
            if score is not None and score > model.best:
                model.best, model.best_epoch = score, model.epoch
                better.append(column)
        fleet.snapshot(better)
        self._write_log([model for _, model in going])
        for column, model in going:
            if column not in sound and model.restarts < MOST_RESTARTS:
                self.restarted.append(model.name)
                fleet.restart(column)
            else:
                model.finished = column not in sound or model.epoch >= model.settings.epochs or _out_of_patience(model)

    def _write_log(self, running: Sequence[Progress]) -> None:
        if self.log is None:
            return
        lines = []
        for model in running:
            epoch, loss, accuracy = model.curve[-1]
            line = {
                "model": model.name,
                "epoch": epoch,
                "loss": loss if math.isfinite(loss) else None,
                "dev_accuracy": accuracy,
                "best": model.best if model.best >= 0 else None,
            }
            lines.append(json.dumps(line) + "\n")
        text = "".join(lines).encode()
        with writing(self.log), self.log.open("ab") as file:
            file.write(text)
        self.log_size += len(text)

    def _keep_log(self) -> None:
        """Before a checkpoint that counts on it, and at the end: to wait for the disk every epoch would take long."""
        if self.log is not None:
            with writing(self.log), self.log.open("rb+") as file:
                os.fsync(file.fileno())

    def take_what_there_is(self) -> None:
        """Models that were never scored are given as they stand, if they have learnt something and not diverged."""
        finite = self.fleet.finite() if self.fleet.running else []
        for column, number in enumerate(self.fleet.running):
            model = self.fleet.models[number]
            if model.best < 0 and finite[column] and (model.epoch or self.update):
                self.fleet.snapshot([column])
                self.unscored.add(number)

    def _progress(self) -> Report:
        fleet = self.fleet
        done = sum(model.epoch for model in fleet.models) - self.epochs_behind
        left = sum(model.settings.epochs - model.epoch for _, model in fleet.going)
        seconds = time.monotonic() - self.started
        restarted, self.restarted = self.restarted, []
        return Report(fleet.models, len(fleet.going), seconds, seconds / max(done, 1) * left, restarted)


def _looked_at(model: Progress) -> bool:
    since = model.epoch - model.settings.score_from
    return since > 0 and since % model.settings.score_every == 0


def _out_of_patience(model: Progress) -> bool:
    return model.best >= 0 and model.epoch - model.best_epoch >= model.settings.patience
