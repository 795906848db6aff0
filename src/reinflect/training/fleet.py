"""A fleet: models of one system and of like settings that train together, whatever their languages and seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.decoding.greedy import accuracies
from reinflect.settings import Settings, alike
from reinflect.systems.layers.examples import TARGETS, Examples, Stack
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.operations import Dropout
from reinflect.systems.layers.parameters import Parameters, Sizes
from reinflect.systems.layers.precision import products
from reinflect.systems.layers.randomness import keys
from reinflect.systems.system import System, allowed_outputs
from reinflect.training.graphs import Graphs, Lengths
from reinflect.training.optimisers import Optimiser
from reinflect.training.schedule import epoch_batches

NEXT_SEED = 1000
"""A model that diverged starts again with its seed and so much more."""
KEYS_AN_UPDATE = 16
SLACK = 1 / 5
"""On a GPU, so large a share of the models may have finished before the others go on without them: every graph must
then be captured anew. They are given no items meanwhile."""


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
    def settings(self) -> Settings:
        return self.task.settings

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
        tasks = {(id(model.task.train), id(model.task.dev)): model.task for model in models}.values()
        # The first's settings stand for what is the same in all.
        self.system, self.settings = models[0].task.system, models[0].settings
        if any(model.task.system is not self.system for model in models):
            raise ValueError("the models of a fleet have one system")
        if len({alike(model.settings) for model in models}) > 1:
            raise ValueError("the settings of a fleet's models are not alike")
        self.models, self.device, self.dtype = list(models), torch.device(device), dtype
        self.shapes = self.system.shapes(self.settings)
        self.train = Stack([task.train for task in tasks], device, dtype)
        self.dev = Stack([task.dev for task in tasks], device, dtype)
        self._file = {id(task.train): number for number, task in enumerate(tasks)}
        self.running = list(range(len(models)))
        widths = {name: array.shape[2] for name, array in self.train.arrays.items()}
        self._lengths = Lengths(widths) if self.device.type == "cuda" else None
        self._orders: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        self.parameters = self._initial(models)
        self.optimiser = Optimiser([model.settings for model in models], self.parameters.flat)
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
        self.files = [self._file[id(model.task.train)] for model in running]
        self.file_numbers = torch.tensor(self.files, device=self.device)
        self.means = torch.tensor([model.settings.loss == "mean" for model in running], device=self.device)
        rates = [model.settings.dropout for model in running]
        no_keys = torch.zeros(len(running), dtype=torch.int64, device=self.device)
        self.dropout = Dropout.of(no_keys, rates, self.dtype) if any(rates) else None
        outputs = self.parameters.sizes[self.system.outputs]
        self.allowed = allowed_outputs(self.system, [model.task.sizes for model in running], outputs).to(self.device)
        self._graphs = Graphs() if self.device.type == "cuda" else None

    @property
    def going(self) -> list[tuple[int, Progress]]:
        """The models that have not finished, each with its column among those that are running."""
        running = [self.models[number] for number in self.running]
        return [(column, model) for column, model in enumerate(running) if not model.finished]

    def prepare(self) -> Epoch:
        """The next epoch of every running model."""
        orders = {column: self._order(model, model.epoch) for column, model in self.going}
        self._orders.clear()
        items = np.full((max(map(len, orders.values())), len(self.running), self.settings.batch), -1, dtype=np.int64)
        for column, order in orders.items():
            items[: len(order), column] = order
        running = [self.models[number] for number in self.running]
        dropout = torch.zeros(len(running), dtype=torch.int64)
        for epoch in {model.epoch for model in running}:
            columns = [column for column, model in enumerate(running) if model.epoch == epoch]
            dropout[columns] = keys([running[column].seed for column in columns], "dropout", epoch)
        longest = self.train.longest_each(self.files, items)
        return Epoch(
            items=torch.from_numpy(items).to(self.device),
            updates=[len(orders.get(column, ())) for column in range(len(running))],
            longest=self._lengths.rounded(longest) if self._lengths else longest,
            keys=dropout.to(self.device),
        )

    def plan_ahead(self) -> None:
        """Shuffle for the epoch after the one that the device is busy with."""
        if self.device.type == "cuda":
            for _, model in self.going:
                following = (id(model.task.train), model.seed, model.epoch + 1)
                self._orders[following] = self._order(model, model.epoch + 1)

    def _order(self, model: Progress, epoch: int) -> NDArray[np.int64]:
        known = self._orders.get((id(model.task.train), model.seed, epoch))
        return (
            epoch_batches(model.task.train.lengths[TARGETS], self.settings.batch, model.seed, epoch)
            if known is None
            else known
        )

    def update(self, epoch: Epoch, number: int) -> Tensor:
        """One update of all running models that have items left in this epoch; their losses. *Shape:* (M)"""
        now = (epoch.items[number], epoch.keys + number * KEYS_AN_UPDATE, epoch.longest[number])
        return self._graphs.update(self._update, *now) if self._graphs else self._update(*now)

    def _update(self, items: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        with products(self.settings.precision):
            batch = self.train.to_learn(self.file_numbers, items, longest, self.means)
            dropout = self.dropout and replace(self.dropout, keys=keys)
            losses = self.system.losses(self.parameters, batch, self.settings, self.allowed, dropout)
            own = (losses * batch.weights).sum(dim=(1, 2))
            gradient = self.parameters.gradient(own.sum())
            self.optimiser.update(self.parameters.flat, gradient, (items >= 0).any(dim=1).to(self.dtype))
            return own.detach()

    def no_losses(self) -> Tensor:
        return torch.zeros(len(self.running), dtype=self.dtype, device=self.device)

    def score(self) -> list[float]:
        """The dev accuracy of every running model."""
        with products(self.settings.precision):
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
        columns = [column for column, _ in self.going]
        if not columns:
            self.running = []
        most = len(self.running) * (1 - SLACK if self._graphs else 1)
        if len(columns) > most or len(columns) == len(self.running):
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
            self.optimiser.keep(self.running)
            self._refresh()

    def trained(self, number: int) -> dict[str, Tensor]:
        """The best parameters of one model, without padding."""
        whole = Parameters(self.shapes, self.parameters.sizes, self.best[number : number + 1].cpu())
        return whole.one(0, self.models[number].task.sizes)
