"""A fleet: models of one system and one set of settings that train together, whatever their languages and seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from reinflect.decoding.greedy import accuracies
from reinflect.models.examples import TARGETS, Examples, Stack
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import Parameters, Sizes
from reinflect.models.randomness import keys
from reinflect.models.systems import System, allowed_outputs
from reinflect.settings import Settings
from reinflect.training.optimisers import Optimiser
from reinflect.training.schedule import epoch_batches

NEXT_SEED = 1000
"""A model that diverged starts again with its seed and so much more."""
KEYS_AN_UPDATE = 16


@dataclass(frozen=True, eq=False)
class Task:
    """What a model learns from and is scored on."""

    name: str
    """Such as `haem-naive`, or `german-low-haem-naive`."""
    system: System
    settings: Settings
    alignment: str
    inventory: Inventory
    train: Examples
    dev: Examples

    @cached_property
    def sizes(self) -> Sizes:
        return self.system.sizes(self.inventory, self.settings)


@dataclass
class Progress:
    """How far one model is."""

    task: Task
    seed: int
    epoch: int = 0
    """Epochs behind it."""
    best: float = -1.0
    best_epoch: int = 0
    restarts: int = 0
    finished: bool = False
    loss: float = float("nan")
    """The mean loss of the last epoch."""
    curve: list[tuple[int, float, float | None]] = field(default_factory=list)
    """Epoch, loss, dev accuracy where it was looked at."""

    @property
    def name(self) -> str:
        return f"{self.task.name}-{self.seed}"


@dataclass(frozen=True)
class Epoch:
    """One epoch of the running models, prepared."""

    items: Tensor
    """*Shape:* (updates, M, B), -1 for none"""
    updates: list[int]
    """How many each model has. *Shape:* (M)"""
    longest: list[dict[str, int]]
    """Of each update."""
    keys: Tensor
    """For dropout. *Shape:* (M)"""

    def __len__(self) -> int:
        return len(self.items)


class Fleet:
    """The parameters of the models that are still running, and the best parameters of all."""

    def __init__(
        self,
        models: Sequence[Progress],
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        tasks = list(dict.fromkeys(model.task for model in models))
        self.system, self.settings = tasks[0].system, tasks[0].settings
        if any(task.system is not self.system or task.settings != self.settings for task in tasks):
            raise ValueError("the models of a fleet have one system and one set of settings")
        self.models, self.device, self.dtype = list(models), torch.device(device), dtype
        self.shapes = self.system.shapes(self.settings)
        self.train = Stack([task.train for task in tasks], device, dtype)
        self.dev = Stack([task.dev for task in tasks], device, dtype)
        self._file = {id(task): number for number, task in enumerate(tasks)}
        self.running = list(range(len(models)))
        self.parameters = self._initial(models)
        self.optimiser = Optimiser(self.settings, self.parameters.flat)
        self.best = self.parameters.flat.clone()
        self._refresh()

    def _initial(self, models: Sequence[Progress]) -> Parameters:
        # The sizes of all tasks, so that a model that starts anew alone is as wide as the rest of its fleet.
        sizes = [model.task.sizes for model in self.models]
        padded = {name: max(own[name] for own in sizes) for name in sizes[0]}
        return Parameters.initial(
            self.shapes,
            [model.task.sizes for model in models],
            [model.seed for model in models],
            padded=padded,
            dtype=self.dtype,
            device=self.device,
        )

    def _refresh(self) -> None:
        """Everything that depends on which models are running."""
        self.parameters.watch()
        running = [self.models[number] for number in self.running]
        self.files = [self._file[id(model.task)] for model in running]
        self.file_numbers = torch.tensor(self.files, device=self.device)
        outputs = self.parameters.sizes[self.system.outputs]
        self.allowed = allowed_outputs(self.system, [model.task.sizes for model in running], outputs).to(self.device)

    def prepare(self) -> Epoch:
        """The next epoch of every running model."""
        batch, running = self.settings.batch, [self.models[number] for number in self.running]
        orders = [epoch_batches(model.task.train.lengths[TARGETS], batch, model.seed, model.epoch) for model in running]
        items = np.full((max(map(len, orders)), len(running), batch), -1, dtype=np.int64)
        for column, order in enumerate(orders):
            items[: len(order), column] = order
        dropout = torch.stack([keys([model.seed], "dropout", model.epoch) for model in running]).flatten()
        return Epoch(
            items=torch.from_numpy(items).to(self.device),
            updates=[len(order) for order in orders],
            longest=self.train.longest_each(self.files, items),
            keys=dropout.to(self.device),
        )

    def update(self, epoch: Epoch, number: int) -> Tensor:
        """One update of all running models that have items left in this epoch; their losses. *Shape:* (M)"""
        items = epoch.items[number]
        batch = self.train.to_learn(self.file_numbers, items, epoch.longest[number], mean=self.settings.loss == "mean")
        dropout = epoch.keys + number * KEYS_AN_UPDATE if self.settings.dropout else None
        losses = self.system.losses(self.parameters, batch, self.settings, self.allowed, dropout)
        own = (losses * batch.weights).sum(dim=(1, 2))
        gradient = self.parameters.gradient(own.sum())
        self.optimiser.update(self.parameters.flat, gradient, (items >= 0).any(dim=1).to(self.dtype))
        return own.detach()

    def no_losses(self) -> Tensor:
        return torch.zeros(len(self.running), dtype=self.dtype, device=self.device)

    def score(self) -> list[float]:
        """The dev accuracy of every running model."""
        return accuracies(self.system.decoder(self.parameters, self.settings, self.allowed), self.dev, self.files)

    def finite(self) -> list[bool]:
        """Whether every running model still has numbers for parameters."""
        return torch.isfinite(self.parameters.flat).all(dim=1).tolist()

    def snapshot(self, columns: Sequence[int]) -> None:
        """Remember the parameters of these running models as their best."""
        for column in columns:
            self.best[self.running[column]] = self.parameters.flat[column]

    def restart(self, column: int) -> None:
        """Start a running model anew with its next seed."""
        model = self.models[self.running[column]]
        model.seed += NEXT_SEED
        model.restarts += 1
        model.epoch, model.best, model.best_epoch, model.curve = 0, -1.0, 0, []
        with torch.no_grad():
            self.parameters.flat[column] = self._initial([model]).flat[0]
        self.optimiser.reset(column)

    def drop_finished(self) -> None:
        """Go on without the models that have finished, so that nobody pays for them."""
        columns = [column for column, number in enumerate(self.running) if not self.models[number].finished]
        if len(columns) == len(self.running) or not columns:
            if not columns:
                self.running = []
            return
        self.running = [self.running[column] for column in columns]
        flat = self.parameters.flat[torch.tensor(columns, device=self.device)]
        self.parameters = Parameters(self.shapes, self.parameters.sizes, flat)
        self.optimiser.keep(columns)
        self._refresh()

    def resume(self, running: Sequence[int], flat: Tensor, best: Tensor) -> None:
        """Take up where a checkpoint left."""
        self.running = list(running)
        self.parameters = Parameters(self.shapes, self.parameters.sizes, flat.to(self.device))
        self.best = best.to(self.device)
        if self.running:
            self._refresh()

    def trained(self, number: int) -> dict[str, Tensor]:
        """The best parameters of one model, without padding."""
        whole = Parameters(self.shapes, self.parameters.sizes, self.best[number : number + 1])
        return {name: tensor.cpu() for name, tensor in whole.one(0, self.models[number].task.sizes).items()}
