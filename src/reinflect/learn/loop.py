"""The epochs of a fleet: updates, scoring, early stopping, restarts, checkpoints."""

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reinflect.ensemble.strategies import Numbers, Trained
from reinflect.errors import raise_if_too_many_files, writing
from reinflect.files import write_bytes
from reinflect.learn.fleet import Epoch, Fleet, Run
from reinflect.learn.lesson import ModelSpec
from reinflect.tensors import DIGEST, MISFITS, decode, digest, signed

FORMAT = 6
STATE = "state"
SECONDS_BETWEEN = 60.0


@dataclass
class Checkpoint:
    """One file, always complete; `fingerprint` identifies the pack."""

    path: Path
    fingerprint: str
    seconds_between: float = SECONDS_BETWEEN

    def __post_init__(self) -> None:
        self._last = self._begun = time.monotonic()

    @property
    def seconds(self) -> float:
        """Training time so far, including commands that were interrupted."""
        return time.monotonic() - self._begun

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds_between

    def save(self, fleet: Fleet, update: int, losses: Tensor, log_size: int) -> None:
        state, tensors = fleet.state()
        state |= {"format": FORMAT, "fingerprint": self.fingerprint, "seconds": self.seconds}
        state |= {"update": update, "log_size": log_size}
        arrays = {name: tensor.contiguous().cpu().numpy() for name, tensor in {**tensors, "losses": losses}.items()}
        write_bytes(self.path, signed(arrays, STATE, json.dumps(state)))
        self._last = time.monotonic()

    def load(self, fleet: Fleet) -> tuple[int, Tensor, int] | None:
        """Restore a new fleet; the update of its epoch, the losses so far, and the size of the log.

        None if there is no checkpoint of this pack, or all its models have finished.
        """
        state, tensors = _read(self.path)
        if state.get("fingerprint") != self.fingerprint or not state["running"]:
            return None
        fleet.restore(state, tensors)
        self._begun -= state["seconds"]
        return state["update"], tensors["losses"].to(fleet.device), state["log_size"]


def fingerprint_of(path: Path) -> str | None:
    """The pack of a checkpoint; None if the file is damaged or of another version, or there is none."""
    return _read(path)[0].get("fingerprint")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A state and its tensors; empty if the file is not all as it was written: wrong numbers would make a bad model."""
    try:
        arrays, texts = decode(path.read_bytes())
        state = json.loads(texts[STATE])
        if texts[DIGEST] == digest(texts[STATE], arrays) and state["format"] == FORMAT:
            # Copies, because sums may differ in unaligned memory, such as a file's.
            return state, {name: torch.from_numpy(array).clone() for name, array in arrays.items()}
    except (OSError, *MISFITS) as error:
        raise_if_too_many_files(error)
    return {}, {}


MOST_RESTARTS = 3


def train(
    specs: Sequence[ModelSpec],
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    checkpoint: Checkpoint | None = None,
    log: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Trained], dict[str, Numbers], bool]:
    """Train a model for every spec; the models, without predictions, their numbers, and whether training is finished.

    `stop` is called before every update. If it returns True, the models are the best versions so far, and a checkpoint
    is saved, from which the same call resumes.
    """
    fleet = Fleet(specs, device=device, dtype=dtype)
    training = _Training(fleet, checkpoint, log, stop)
    finished = training.go()
    if not finished:
        training.save()
        training.use_unscored()
    numbers: dict[str, Numbers] = {
        spec.digest: {name: tensor.float().numpy() for name, tensor in fleet.trained(number).items()}
        for number, spec in enumerate(specs)
    }
    trained = [
        Trained(
            system=spec.system,
            alignment=spec.lesson.alignment,
            seed=spec.seed,
            dev_accuracy=model.best,
            key=spec.digest,
            language=spec.lesson.language,
            setting=spec.lesson.setting,
            variant=spec.kind.label,
            fold=spec.lesson.fold,
            restarts=model.restarts,
            best_epoch=model.best_epoch,
            usable=model.best >= 0 or number in training.unscored,
        )
        for number, (spec, model) in enumerate(zip(specs, fleet.runs, strict=True))
    ]
    return trained, numbers, finished


@dataclass
class _Training:
    fleet: Fleet
    checkpoint: Checkpoint | None
    log: Path | None
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        fleet, checkpoint, log = self.fleet, self.checkpoint, self.log
        self.update, self.losses, self.log_size = 0, fleet.no_losses(), 0
        if checkpoint and (resumed := checkpoint.load(fleet)):
            self.update, self.losses, self.log_size = resumed
        if log is not None:
            # Remove lines written after the checkpoint: they will be written again.
            with writing(log), log.open("ab") as file:
                file.truncate(min(self.log_size, file.tell()))
                self.log_size = file.tell()
        self.unscored: set[int] = set()

    def go(self) -> bool:
        """Train until all models are finished, or `stop` returns True; whether they are finished."""
        fleet = self.fleet
        while fleet.running:
            epoch = fleet.prepare()
            while self.update < len(epoch):
                if self.stop():
                    return False
                self.losses += fleet.update(epoch, self.update)
                self.update += 1
                if self.update < len(epoch):
                    self.save(if_due=True)
            if fleet.device.type == "cuda":
                fleet.plan_ahead()
            self._close_epoch(epoch)
            fleet.drop_finished()
            self.update, self.losses = 0, fleet.no_losses()
            self.save(if_due=True)
        self._keep_log()
        return True

    def save(self, *, if_due: bool = False) -> None:
        if self.checkpoint is not None and (self.checkpoint.due or not if_due):
            self._keep_log()
            self.checkpoint.save(self.fleet, self.update, self.losses, self.log_size)

    def _close_epoch(self, epoch: Epoch) -> None:
        fleet, going = self.fleet, self.fleet.going
        losses, finite = self.losses.tolist(), fleet.finite()
        sound, over, measured = set[int](), set[int](), set[int]()
        for column, model in going:
            model.epoch += 1
            model.loss = losses[column] / epoch.updates[column]
            done, settings = model.epoch - model.stage_start, model.settings
            if done >= settings.epochs:
                over.add(column)
            if finite[column] and math.isfinite(model.loss):
                sound.add(column)
                since = done - settings.score_from
                if column in over or (since > 0 and since % settings.score_every == 0):
                    measured.add(column)
        scores = fleet.score() if measured else []
        better = []
        for column, model in going:
            score = scores[column] if column in measured else None
            model.curve.append((model.epoch, model.loss, score))
            if score is not None and score > model.best:
                model.best, model.best_epoch = score, model.epoch
                better.append(column)
        fleet.snapshot(better)
        self._write_log([model for _, model in going])
        changes = False
        for column, model in going:
            waited = model.epoch - max(model.best_epoch, model.stage_start) if model.best >= 0 else 0
            ends = column not in sound or column in over or waited >= model.settings.patience
            if column not in sound and model.restarts < MOST_RESTARTS:
                changes = changes or model.stage > 0
                fleet.restart(column)
            elif column in sound and ends and model.stage < len(model.stages) - 1:
                model.stage, model.stage_start = model.stage + 1, model.epoch
                changes = True
            else:
                model.finished = ends
        if changes:
            fleet.refresh()

    def _write_log(self, running: Sequence[Run]) -> None:
        if self.log is None:
            return
        text = b""
        for model in running:
            epoch, loss, accuracy = model.curve[-1]
            line = {
                "model": model.name,
                "epoch": epoch,
                "loss": loss if math.isfinite(loss) else None,
                "dev_accuracy": accuracy,
                "best": model.best if model.best >= 0 else None,
            }
            text += json.dumps(line).encode() + b"\n"
        with writing(self.log), self.log.open("ab") as file:
            file.write(text)
        self.log_size += len(text)

    def _keep_log(self) -> None:
        """Flush the log to disk: before a checkpoint, and at the end. At every epoch it would be slow."""
        if self.log is not None:
            with writing(self.log), self.log.open("rb+") as file:
                os.fsync(file.fileno())

    def use_unscored(self) -> None:
        """Keep the latest version of models that were never scored, if they were updated and did not diverge."""
        finite = self.fleet.finite() if self.fleet.running else []
        for column, number in enumerate(self.fleet.running):
            model = self.fleet.runs[number]
            if model.best < 0 and finite[column] and (model.epoch or self.update):
                self.fleet.snapshot([column])
                self.unscored.add(number)
