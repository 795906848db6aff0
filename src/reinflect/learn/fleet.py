"""A fleet: models of one system that train together, with any languages and seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.decode.greedy import accuracies
from reinflect.layers.examples import Examples, Stack
from reinflect.layers.operations import Dropout, keys
from reinflect.layers.parameters import Parameters, take_over
from reinflect.layers.precision import products
from reinflect.learn.graphs import Graphs, Lengths
from reinflect.learn.lesson import ModelSpec, Phase
from reinflect.learn.optimisers import Optimiser
from reinflect.learn.schedule import epoch_batches
from reinflect.settings import Settings, alike
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Sizes
from reinflect.systems.system import System

NEXT_SEED = 1000
"""Added to the seed of a model that diverged and starts again."""
KEYS_AN_UPDATE = 16
SLACK = 1 / 5
"""On a GPU, the share of models that may have finished before they are removed from the fleet: every graph must then be
captured again. Until then they are given no items."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A phase of a model's training, as arrays; the last has the real items."""

    train: Examples
    settings: Settings


@dataclass(frozen=True, eq=False)
class Task:
    """A spec as arrays: the stages of its training, and the dev items."""

    spec: ModelSpec
    stages: tuple[Stage, ...]
    dev: Examples

    @property
    def system(self) -> System:
        return SYSTEMS[self.spec.system]

    @cached_property
    def sizes(self) -> Sizes:
        return self.system.sizes(self.spec.lesson.inventory, self.spec.settings)


def tasks_of(specs: Sequence[ModelSpec]) -> list[Task]:
    """The specs of a pack as arrays, shared by specs of the same lesson and settings of features."""
    made: dict[tuple[int, int, str, float], Examples] = {}
    tasks = []
    for spec in specs:
        lesson, system, stages = spec.lesson, SYSTEMS[spec.system], []
        real = Phase(lesson.train, lesson.alignments, spec.settings.epochs)
        for number, phase in enumerate((*lesson.phases, real)):
            own = msgspec.structs.replace(spec.settings, epochs=phase.epochs, **phase.changes)
            mark = id(lesson), number, own.features, own.feature_scale
            if mark not in made:
                made[mark] = Examples.to_learn(system, phase.items, phase.alignments, lesson.inventory, own)
            stages.append(Stage(made[mark], own))
        mark = id(lesson), -1, spec.settings.features, spec.settings.feature_scale
        if mark not in made:
            made[mark] = Examples.to_inflect(system, lesson.dev, lesson.inventory, spec.settings)
        tasks.append(Task(spec, tuple(stages), made[mark]))
    return tasks


def take_start(spec: ModelSpec, own: dict[str, Tensor]) -> int:
    """Overwrite the first parameters of a model with those of its start, by the names of rows; the count of numbers."""
    assert spec.start is not None
    system, start = SYSTEMS[spec.system], spec.start
    other = {name: torch.from_numpy(array) for name, array in start.parameters.items()}
    names = system.names(spec.lesson.inventory, spec.settings)
    others = SYSTEMS[start.system].names(start.inventory, start.settings)
    return take_over(system.shapes(spec.settings), own, names, other, others)


@dataclass
class Progress:
    """The progress of one model."""

    task: Task
    seed: int
    epoch: int = 0
    """Epochs done, of all stages."""
    stage: int = 0
    stage_start: int = 0
    """Epochs done before this stage."""
    best: float = -1.0
    best_epoch: int = 0
    restarts: int = 0
    finished: bool = False
    loss: float = float("nan")
    """The mean loss of the last epoch."""
    curve: list[tuple[int, float, float | None]] = field(default_factory=list)
    """Epoch, loss, dev accuracy where it was measured."""

    @classmethod
    def start(cls, task: Task) -> "Progress":
        return cls(task, task.spec.seed)

    @property
    def settings(self) -> Settings:
        """Of the current stage."""
        return self.task.stages[self.stage].settings

    @property
    def train(self) -> Examples:
        return self.task.stages[self.stage].train

    @property
    def most_epochs(self) -> int:
        """The largest number of epochs it can still reach."""
        return self.stage_start + sum(stage.settings.epochs for stage in self.task.stages[self.stage :])

    @property
    def name(self) -> str:
        return f"{self.task.spec.name.removesuffix(str(self.task.spec.seed))}{self.seed}"


@dataclass(frozen=True)
class Epoch:
    """One epoch of the running models, prepared."""

    items: Tensor
    """*Shape:* (updates, M, B), -1 for none"""
    updates: list[int]
    """The number of updates of each model. *Shape:* (M)"""
    longest: list[dict[str, int]]
    """The length of the arrays of each update."""
    epochs: Tensor
    """The finished epochs of each model. *Shape:* (M)"""
    keys: Tensor
    """Of each model's random numbers. *Shape:* (M)"""

    def __len__(self) -> int:
        return len(self.items)


class Fleet:
    """The parameters of the models that are still running, and the best parameters of all."""

    def __init__(
        self, models: Sequence[Progress], *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        # Other models' settings differ only in `settings.OF_EACH_MODEL`.
        self.system, self.settings = models[0].task.system, models[0].settings
        self.equations = self.system.equations
        if any(model.task.system is not self.system for model in models):
            raise ValueError("the models of a fleet have one system")
        if len({alike(stage.settings) for model in models for stage in model.task.stages}) > 1:
            raise ValueError("the settings of a fleet's models are not alike")
        self.models, self.device, self.dtype = list(models), torch.device(device), dtype
        self.shapes = self.system.shapes(self.settings)
        train = {id(stage.train): stage.train for model in models for stage in model.task.stages}
        dev = {id(model.task.dev): model.task.dev for model in models}
        self.train, self.dev = (Stack(list(own.values()), device, dtype) for own in (train, dev))
        self._train_file, self._dev_file = ({mark: file for file, mark in enumerate(own)} for own in (train, dev))
        self.running = list(range(len(models)))
        widths = {name: array.shape[2] for name, array in self.train.arrays.items()}
        self._lengths = Lengths(widths) if self.device.type == "cuda" else None
        self._orders: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        self.parameters = self._initial(models)
        self.optimiser = Optimiser([model.settings for model in models], self.parameters.flat)
        self.best = self.parameters.flat.clone()
        self.refresh()

    def _initial(self, models: Sequence[Progress]) -> Parameters:
        # The sizes of all tasks, so that a model that is restarted alone is as wide as its fleet.
        sizes = [model.task.sizes for model in self.models]
        padded = {name: max(own[name] for own in sizes) for name in sizes[0]}
        made = Parameters.initial(
            self.shapes,
            [model.task.sizes for model in models],
            [model.seed for model in models],
            padded=padded,
            dtype=self.dtype,
            device=self.device,
        )
        for number, model in enumerate(models):
            if model.task.spec.start is not None:
                own = {name: tensor.cpu() for name, tensor in made.one(number, model.task.sizes).items()}
                take_start(model.task.spec, own)
                made.put(number, own)
        return made

    def refresh(self) -> None:
        """Recompute everything that depends on which models are running, and in which stage."""
        self.parameters.watch()
        running = [self.models[number] for number in self.running]
        self.files = [self._train_file[id(model.train)] for model in running]
        self.dev_files = [self._dev_file[id(model.task.dev)] for model in running]
        self.file_numbers = torch.tensor(self.files, device=self.device)
        self.means = torch.tensor([model.settings.loss == "mean" for model in running], device=self.device)
        rates = [model.settings.dropout for model in running]
        no_keys = torch.zeros(len(running), dtype=torch.int64, device=self.device)
        self.dropout = Dropout.of(no_keys, rates, self.dtype) if any(rates) else None
        outputs = self.parameters.sizes[self.system.outputs]
        self.allowed = self.equations.allowed_outputs([model.task.sizes for model in running], outputs).to(self.device)
        self.optimiser.configure([model.settings for model in running])
        self._graphs = Graphs() if self.device.type == "cuda" else None

    @property
    def going(self) -> list[tuple[int, Progress]]:
        """The models that have not finished, each with its column among the running ones."""
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
            epochs=torch.tensor([model.epoch for model in running], device=self.device),
            keys=dropout.to(self.device),
        )

    def plan_ahead(self) -> None:
        """Shuffle for the next epoch while the device is busy."""
        if self.device.type == "cuda":
            for _, model in self.going:
                following = (id(model.train), model.seed, model.epoch + 1)
                self._orders[following] = self._order(model, model.epoch + 1)

    def _order(self, model: Progress, epoch: int) -> NDArray[np.int64]:
        known = self._orders.get((id(model.train), model.seed, epoch))
        return epoch_batches(model.train.bounds, self.settings.batch, model.seed, epoch) if known is None else known

    def update(self, epoch: Epoch, number: int) -> Tensor:
        """One update of all running models that have items left in this epoch; their losses. *Shape:* (M)"""
        now = (epoch.items[number], epoch.epochs, epoch.keys + number * KEYS_AN_UPDATE, epoch.longest[number])
        return self._graphs.update(self._update, *now) if self._graphs else self._update(*now)

    def _update(self, items: Tensor, epochs: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        with products(self.settings.precision):
            drawn = self.train.to_learn(self.file_numbers, items, longest, self.means)
            batch = self.equations.trajectories(drawn, self.parameters, self.settings, self.allowed, epochs, keys)
            dropout = self.dropout and replace(self.dropout, keys=keys)
            losses = self.equations.losses(self.parameters, batch, self.settings, self.allowed, dropout)
            own = (losses * batch.weights).sum(dim=(1, 2))
            self.parameters.derive(own.sum())
            self.optimiser.step(self.parameters, (items >= 0).any(dim=1).to(self.dtype))
            return own.detach()

    def no_losses(self) -> Tensor:
        return torch.zeros(len(self.running), dtype=self.dtype, device=self.device)

    def score(self) -> list[float]:
        """The dev accuracy of every running model."""
        with products(self.settings.precision):
            decoder = self.equations.decoder(self.parameters, self.settings, self.allowed)
            return accuracies(decoder, self.dev, self.dev_files)

    def finite(self) -> list[bool]:
        """Whether all parameters of each running model are finite."""
        return torch.isfinite(self.parameters.flat).all(dim=1).tolist()

    def snapshot(self, columns: Sequence[int]) -> None:
        """Keep the parameters of these running models as their best."""
        for column in columns:
            self.best[self.running[column]] = self.parameters.flat[column]

    def restart(self, column: int) -> None:
        """Start a running model again with its next seed."""
        model = self.models[self.running[column]]
        model.seed += NEXT_SEED
        model.restarts += 1
        model.epoch = model.stage = model.stage_start = model.best_epoch = 0
        model.best, model.curve = -1.0, []
        with torch.no_grad():
            self.parameters.flat[column] = self._initial([model]).flat[0]
        self.optimiser.reset(column)

    def drop_finished(self) -> None:
        """Remove finished models from the arrays."""
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
        self.refresh()

    def resume(self, running: Sequence[int], flat: Tensor, best: Tensor) -> None:
        """Restore the parameters of a checkpoint."""
        self.running = list(running)
        self.parameters = Parameters(self.shapes, self.parameters.sizes, flat.to(self.device))
        self.best = best.to(self.device)
        self.optimiser.keep(self.running)
        self.refresh()

    def trained(self, number: int) -> dict[str, Tensor]:
        """The best parameters of one model, without padding."""
        whole = Parameters(self.shapes, self.parameters.sizes, self.best[number : number + 1].cpu())
        return whole.one(0, self.models[number].task.sizes)
