"""How models learnt: the logs of training, read again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from reinflect.files import read_text

FEW = 24
"""Models whose lines can still be told apart in one picture."""


class Epoch(msgspec.Struct, frozen=True):
    """A line of a log."""

    model: str
    epoch: int
    loss: float | None
    dev_accuracy: float | None
    best: float | None


@dataclass(frozen=True)
class Learning:
    """One model, epoch by epoch."""

    name: str
    epochs: Sequence[Epoch]

    @property
    def kind(self) -> str:
        """Such as `hacm-naive`: the name less its seed, and less the language and setting before it."""
        return kind_in(self.name)

    @property
    def before_kind(self) -> str:
        """What a benchmark puts before the kind: `scottish-gaelic-low`, or nothing."""
        return self.name.rpartition("-")[0].removesuffix(self.kind).rstrip("-")

    @property
    def accuracies(self) -> list[tuple[float, float]]:
        return [(one.epoch, one.dev_accuracy) for one in self.epochs if one.dev_accuracy is not None]

    @property
    def losses(self) -> list[tuple[float, float]]:
        return [(one.epoch, one.loss) for one in self.epochs if one.loss is not None]


def kind_in(name: str) -> str:
    """The kind of a model by its name, whatever stands before it: `welsh-low-haem-smart-3` is a `haem-smart`."""
    parts = name.split("-")[:-1]
    return parts[-1] if parts[-1:] == ["soft"] else "-".join(parts[-2:])


def read_log(path: Path) -> list[Learning]:
    """The models of a log. A line that was cut short is passed over; a model that started again begins anew."""
    found: dict[str, list[Epoch]] = {}
    for line in read_text(path).splitlines():
        try:
            one = msgspec.json.decode(line, type=Epoch)
        except (ValueError, RecursionError):
            continue
        own = found.setdefault(one.model, [])
        if own and one.epoch <= own[-1].epoch:
            own.clear()
        own.append(one)
    return [Learning(name, epochs) for name, epochs in found.items()]


def by_kind(models: Iterable[Learning]) -> dict[str, list[Learning]]:
    """In the order of the alphabet, which is that of the paper's table."""
    found: dict[str, list[Learning]] = {}
    for model in models:
        found.setdefault(model.kind, []).append(model)
    return {kind: found[kind] for kind in sorted(found)}


def mean_best(models: Sequence[Learning]) -> list[tuple[float, float]]:
    """The mean, over models, of the best dev accuracy so far; one that has ended keeps its own.

    Begins with the first epoch after which all have been scored.
    """
    return _mean([{one.epoch: one.best for one in model.epochs if one.best is not None} for model in models])


def mean_loss(models: Sequence[Learning]) -> list[tuple[float, float]]:
    return _mean([{one.epoch: one.loss for one in model.epochs if one.loss is not None} for model in models])


def _mean(models: Sequence[Mapping[int, float]]) -> list[tuple[float, float]]:
    known = [one for one in models if one]
    if not known:
        return []
    now: dict[int, float] = {}
    points = []
    for epoch in sorted({epoch for one in known for epoch in one}):
        now |= {number: one[epoch] for number, one in enumerate(known) if epoch in one}
        if len(now) == len(known):
            points.append((float(epoch), fmean(now.values())))
    return points
