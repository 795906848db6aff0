"""Training with a view of the fleet: curves, epochs and parameters in full precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from reinflect.ensemble.strategies import Member
from reinflect.ensemble.strategies import Trained as Record
from reinflect.learn import loop
from reinflect.learn.fleet import Epoch, Fleet, Run
from reinflect.learn.lesson import ModelSpec
from reinflect.learn.loop import Checkpoint


@dataclass(frozen=True)
class Trained:
    """A trained model, how it got there, its best parameters and, if it ran to the end of its fleet, its last ones."""

    model: Record
    member: Member
    progress: Run
    parameters: dict[str, Tensor]
    last: Tensor | None
    dev_accuracy: float
    best_epoch: int
    epochs: int
    curve: list[tuple[int, float, float | None]]


def trained(
    specs: Sequence[ModelSpec],
    *,
    dtype: torch.dtype = torch.float32,
    checkpoint: Checkpoint | None = None,
    log: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Trained], bool]:
    made: list[Fleet] = []

    class Kept(Fleet):
        def __init__(self, specs: Sequence[ModelSpec], *, device: torch.device | str, dtype: torch.dtype) -> None:
            super().__init__(specs, device=device, dtype=dtype)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "Fleet", Kept)
        models, numbers, finished = loop.train(specs, dtype=dtype, checkpoint=checkpoint, log=log, stop=stop)
    (fleet,) = made
    last = fleet.parameters.flat.detach().clone() if len(fleet.parameters) == len(models) else None
    return [
        Trained(
            model,
            Member(
                settings=spec.settings,
                inventory=spec.lesson.inventory,
                parameters=numbers[spec.digest],
                **model.facts,
            ),
            run,
            fleet.trained(number),
            None if last is None else last[number],
            model.dev_accuracy,
            model.best_epoch,
            run.epoch,
            run.curve,
        )
        for number, (spec, model, run) in enumerate(zip(specs, models, fleet.runs, strict=True))
    ], finished


def best_of(curve: Sequence[tuple[int, float, float | None]]) -> tuple[float, int]:
    """The highest accuracy, and the first epoch that had it."""
    accuracy, epoch = max((accuracy, -epoch) for epoch, _, accuracy in curve if accuracy is not None)
    return accuracy, -epoch


def same(one: Trained, other: Trained) -> bool:
    """To the bit, curve and all."""
    left, right = ((own.progress.seed, own.model, own.epochs, own.curve) for own in (one, other))
    return left == right and all(torch.equal(one.parameters[name], other.parameters[name]) for name in one.parameters)


def difference(one: Trained, other: Trained) -> float:
    return max(float((tensor - other.parameters[name]).abs().max()) for name, tensor in one.parameters.items())


def stop_after(updates: int) -> Callable[[], bool]:
    left = iter([False] * updates)
    return lambda: next(left, True)


def spoil(monkeypatch: pytest.MonkeyPatch, seeds: set[int], epoch_number: int = 2) -> None:
    """Let the models of these seeds diverge in an epoch, once each."""
    whole, left = Fleet.update, set(seeds)

    def update(self: Fleet, epoch: Epoch, number: int) -> Tensor:
        losses = whole(self, epoch, number)
        for column, running in enumerate(self.running):
            model = self.runs[running]
            if model.seed in left and model.epoch == epoch_number:
                left.remove(model.seed)
                with torch.no_grad():
                    self.parameters.flat[column, 3] = float("nan")
        return losses

    monkeypatch.setattr(Fleet, "update", update)
