"""A fleet: models of one system that train together, with any languages and seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.layers.examples import Examples, Stack
from reinflect.layers.operations import Dropout, keys, products
from reinflect.layers.parameters import Parameters, copy_rows
from reinflect.learn.graphs import Graphs, Lengths
from reinflect.learn.lesson import ModelSpec, Phase
from reinflect.learn.optimiser import Optimiser, epoch_batches
from reinflect.learn.scoring import accuracies
from reinflect.settings import Settings, alike
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Sizes
from reinflect.systems.system import ACTIONS

NEXT_SEED = 1000
"""Added to the seed of a model that diverged and starts again."""
KEYS_AN_UPDATE = 16
SLACK = 1 / 5
"""On a GPU, the share of models that may have finished before they are removed from the fleet: every graph must then be
captured again. Until then they are given no items."""
OF_OPTIMISER = ("first", "second", "updates")


@dataclass(eq=False)
class Run:
    """The training of one model: what it learns from, and its progress."""

    spec: ModelSpec
    stages: tuple[tuple[Examples, Settings], ...]
    """What it learns from in turn, and the settings then; last come the real items."""
    dev: Examples
    sizes: Sizes
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

    @property
    def train(self) -> Examples:
        return self.stages[self.stage][0]

    @property
    def settings(self) -> Settings:
        return self.stages[self.stage][1]

    @property
    def name(self) -> str:
        return f"{self.spec.name.removesuffix(str(self.spec.seed))}{self.seed}"

    def state(self) -> dict[str, Any]:
        """The progress, as JSON has it."""
        return {name: getattr(self, name) for name in PROGRESS}

    def restore(self, state: Mapping[str, Any]) -> None:
        vars(self).update({name: state[name] for name in PROGRESS}, curve=[*map(tuple, state["curve"])])

    def restart(self) -> None:
        self.seed += NEXT_SEED
        self.restarts += 1
        self.epoch = self.stage = self.stage_start = self.best_epoch = 0
        self.best, self.curve = -1.0, []


PROGRESS = "seed epoch stage stage_start best best_epoch restarts finished loss curve".split()
"""The fields of a run that change."""


def runs_of(specs: Sequence[ModelSpec]) -> list[Run]:
    """The specs of a pack with their items as arrays, shared by specs of the same lesson and settings of features."""
    examples: dict[tuple[int, int, str, float], Examples] = {}
    runs = []
    for spec in specs:
        lesson, system, stages = spec.lesson, SYSTEMS[spec.system], []
        real = Phase(lesson.train, lesson.alignments, spec.settings.epochs)
        for number, phase in enumerate((*lesson.phases, real)):
            settings = msgspec.structs.replace(spec.settings, epochs=phase.epochs, **phase.changes)
            key = id(lesson), number, settings.features, settings.feature_scale
            if key not in examples:
                examples[key] = Examples.to_learn(system, phase.items, phase.alignments, lesson.inventory, settings)
            stages.append((examples[key], settings))
        key = id(lesson), -1, spec.settings.features, spec.settings.feature_scale
        if key not in examples:
            examples[key] = Examples.to_inflect(system, lesson.dev, lesson.inventory, spec.settings)
        sizes = system.sizes(lesson.inventory, spec.settings)
        runs.append(Run(spec, tuple(stages), examples[key], sizes, spec.seed))
    return runs


def take_start(spec: ModelSpec, numbers: dict[str, Tensor]) -> int:
    """Overwrite the first parameters of a model with those of its start; returns the count of copied numbers."""
    assert spec.start is not None
    system, start = SYSTEMS[spec.system], spec.start
    source = {name: torch.from_numpy(array) for name, array in start.parameters.items()}
    names = system.names(spec.lesson.inventory, spec.settings)
    source_names = SYSTEMS[start.system].names(start.inventory, start.settings)
    return copy_rows(system.shapes(spec.settings), numbers, names, source, source_names)


@dataclass(frozen=True)
class Epoch:
    """One epoch of the running models, prepared. *Shapes:* items (updates, M, B), -1 for none; else (M)"""

    items: Tensor
    updates: list[int]
    """The number of updates of each model."""
    longest: list[dict[str, int]]
    """The length of the arrays of each update."""
    epochs: Tensor
    """The finished epochs of each model."""
    keys: Tensor
    """Of each model's random numbers."""

    def __len__(self) -> int:
        return len(self.items)


class Fleet:
    """The parameters of the models that are still running, and the best parameters of all."""

    def __init__(
        self, specs: Sequence[ModelSpec], *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.runs = runs = runs_of(specs)
        # Other models' settings differ only in `settings.OF_EACH_MODEL`.
        self.system, self.settings = SYSTEMS[specs[0].system], runs[0].settings
        if len({alike(settings) for run in runs for _, settings in run.stages}) > 1:
            raise ValueError("the settings of a fleet's models are not alike")
        self.equations = self.system.equations
        self.device, self.dtype = torch.device(device), dtype
        self.shapes = self.system.shapes(self.settings)
        # The sizes of all models, so that one that is restarted alone is as wide as its fleet.
        self.sizes = {name: max(run.sizes[name] for run in runs) for name in runs[0].sizes}
        train = list({id(examples): examples for run in runs for examples, _ in run.stages}.values())
        dev = list({id(run.dev): run.dev for run in runs}.values())
        self.train, self.dev = Stack(train, device, dtype), Stack(dev, device, dtype)
        self._file = {id(examples): number for files in (train, dev) for number, examples in enumerate(files)}
        self.running = list(range(len(runs)))
        widths = {name: array.shape[2] for name, array in self.train.arrays.items()}
        self._lengths = Lengths(widths) if self.device.type == "cuda" else None
        self._orders: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        self.parameters = self._initial(runs)
        self.optimiser = Optimiser([run.settings for run in runs], self.parameters.flat)
        self.best = self.parameters.flat.clone()
        self.refresh()

    def _initial(self, runs: Sequence[Run]) -> Parameters:
        """First parameters; those of a model with a start are the start's in all rows of the same names."""
        sizes, seeds = [run.sizes for run in runs], [run.seed for run in runs]
        device, dtype = self.device, self.dtype
        parameters = Parameters.initial(self.shapes, sizes, seeds, padded=self.sizes, dtype=dtype, device=device)
        for number, run in enumerate(runs):
            if run.spec.start is not None:
                numbers = {name: tensor.cpu() for name, tensor in parameters.one(number, run.sizes).items()}
                take_start(run.spec, numbers)
                parameters.put(number, numbers)
        return parameters

    @property
    def columns(self) -> list[Run]:
        """The models in the arrays, some of which may have finished."""
        return [self.runs[number] for number in self.running]

    @property
    def going(self) -> list[tuple[int, Run]]:
        """The models that have not finished, each with its column."""
        return [(column, run) for column, run in enumerate(self.columns) if not run.finished]

    def refresh(self) -> None:
        """Recompute everything that depends on which models are running, and in which stage."""
        self.parameters.watch()
        runs = self.columns
        self.files = [self._file[id(run.train)] for run in runs]
        self.dev_files = [self._file[id(run.dev)] for run in runs]
        self.file_numbers = torch.tensor(self.files, device=self.device)
        self.means = torch.tensor([run.settings.loss == "mean" for run in runs], device=self.device)
        rates = [run.settings.dropout for run in runs]
        self.dropout = Dropout.of(torch.zeros_like(self.file_numbers), rates, self.dtype) if any(rates) else None
        outputs = self.sizes[self.system.outputs]
        self.allowed = torch.stack([self.equations.allowed(run.sizes, outputs) for run in runs]).to(self.device)
        """The valid outputs of every model, padded to one number. *Shape:* (M, …, A)"""
        self.optimiser.configure([run.settings for run in runs])
        self._graphs = Graphs() if self.device.type == "cuda" else None

    def prepare(self) -> Epoch:
        """The next epoch of every running model."""
        orders = {column: self._order(run, run.epoch) for column, run in self.going}
        self._orders.clear()
        items = np.full((max(map(len, orders.values())), len(self.running), self.settings.batch), -1, dtype=np.int64)
        for column, order in orders.items():
            items[: len(order), column] = order
        runs, longest = self.columns, self.train.longest_each(self.files, items)
        return Epoch(
            items=torch.from_numpy(items).to(self.device),
            updates=[len(orders.get(column, ())) for column in range(len(runs))],
            longest=self._lengths.rounded(longest) if self._lengths else longest,
            epochs=torch.tensor([run.epoch for run in runs], device=self.device),
            keys=torch.cat([keys([run.seed], "dropout", run.epoch) for run in runs]).to(self.device),
        )

    def plan_ahead(self) -> None:
        """Shuffle for the next epoch while the device is busy."""
        for _, run in self.going:
            self._orders[id(run.train), run.seed, run.epoch + 1] = self._order(run, run.epoch + 1)

    def _order(self, run: Run, epoch: int) -> NDArray[np.int64]:
        order = self._orders.get((id(run.train), run.seed, epoch))
        return (
            epoch_batches(run.train.lengths[ACTIONS], self.settings.batch, run.seed, epoch) if order is None else order
        )

    def update(self, epoch: Epoch, number: int) -> Tensor:
        """One update of all running models that have items left in this epoch; their losses. *Shape:* (M)"""
        inputs = (epoch.items[number], epoch.epochs, epoch.keys + number * KEYS_AN_UPDATE, epoch.longest[number])
        return self._graphs.update(self._update, *inputs) if self._graphs else self._update(*inputs)

    def _update(self, items: Tensor, epochs: Tensor, keys: Tensor, longest: Mapping[str, int]) -> Tensor:
        with products(self.settings.precision):
            drawn = self.train.to_learn(self.file_numbers, items, longest, self.means)
            batch = self.equations.trajectories(drawn, self.parameters, self.settings, self.allowed, epochs, keys)
            dropout = self.dropout and replace(self.dropout, keys=keys)
            losses = self.equations.losses(self.parameters, batch, self.settings, self.allowed, dropout)
            of_models = (losses * batch.weights).sum(dim=(1, 2))
            self.parameters.derive(of_models.sum())
            self.optimiser.step(self.parameters, (items >= 0).any(dim=1).to(self.dtype))
            return of_models.detach()

    def no_losses(self) -> Tensor:
        return torch.zeros(len(self.running), dtype=self.dtype, device=self.device)

    def score(self) -> list[float]:
        """The dev accuracy of every running model."""
        with products(self.settings.precision):
            decoder = self.equations.decoder(self.parameters, self.settings, self.allowed)
            return accuracies(decoder, self.dev, self.dev_files)

    def finite(self) -> list[bool]:
        """Whether the parameters of each running model are finite."""
        return torch.isfinite(self.parameters.flat).all(dim=1).tolist()

    def snapshot(self, columns: Sequence[int]) -> None:
        """Keep the parameters of these running models as their best."""
        for column in columns:
            self.best[self.running[column]] = self.parameters.flat[column]

    def restart(self, column: int) -> None:
        """Start a running model again with its next seed."""
        run = self.columns[column]
        run.restart()
        with torch.no_grad():
            self.parameters.flat[column] = self._initial([run]).flat[0]
        self.optimiser.reset(column)

    def drop_finished(self) -> None:
        """Remove finished models from the arrays."""
        columns = [column for column, _ in self.going]
        if not columns:
            self.running = []
        most = len(self.running) * (1 - SLACK if self._graphs else 1)
        if len(columns) <= most and len(columns) < len(self.running):
            self.running = [self.running[column] for column in columns]
            self._replace(self.parameters.flat[torch.tensor(columns, device=self.device)], columns)

    def _replace(self, flat: Tensor, columns: Sequence[int]) -> None:
        """Go on with these parameters, and with these columns of the optimiser."""
        self.parameters = Parameters(self.shapes, self.sizes, flat)
        self.optimiser.keep(columns)
        self.refresh()

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All that a checkpoint keeps, as JSON and as tensors."""
        tensors = {"flat": self.parameters.flat.detach(), "best": self.best}
        tensors |= {name: getattr(self.optimiser, name) for name in OF_OPTIMISER}
        return {"running": self.running, "models": [run.state() for run in self.runs]}, tensors

    def restore(self, state: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Restore a new fleet from a checkpoint."""
        for run, saved in zip(self.runs, state["models"], strict=True):
            run.restore(saved)
        self.running, self.best = list(state["running"]), tensors["best"].to(self.device)
        self._replace(tensors["flat"].to(self.device), self.running)
        for name in OF_OPTIMISER:
            setattr(self.optimiser, name, tensors[name].to(self.device))

    def trained(self, number: int) -> dict[str, Tensor]:
        """The best parameters of one model, without padding."""
        whole = Parameters(self.shapes, self.sizes, self.best[number : number + 1].cpu())
        return whole.one(0, self.runs[number].sizes)
