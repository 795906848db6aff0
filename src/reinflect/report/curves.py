"""Learning curves: training logs, read and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from reinflect.align import ALIGNERS
from reinflect.data.items import grouped
from reinflect.files import read_bytes
from reinflect.report.drawing import Curve, Point, key, line_chart
from reinflect.report.html import Html, element, joined
from reinflect.systems import SYSTEMS

SINGLE_CURVES = 24
"""Models with a curve of their own in one chart, at most: more cannot be distinguished."""
NOT_INSTALLED = "#5d6673"
"""The colour of systems that are not installed."""
MOST = 10**9
"""Of a loss, or epochs: larger numbers are damage, and cannot be drawn."""
Accuracy = Annotated[float, Meta(ge=0, le=100)]
Quantity = Literal["loss", "dev_accuracy", "best"]
CHARTS: tuple[tuple[Quantity, Quantity, str, str, str], ...] = (
    ("dev_accuracy", "best", "mean of the best so far", "accuracy on dev items", "accuracy, %"),
    ("loss", "loss", "mean", "loss on training items", "loss"),
)
"""The quantities of single models and of means, the name of the mean, and the titles of chart and axis."""


class Epoch(msgspec.Struct, frozen=True):
    """A line of a training log."""

    model: str
    epoch: Annotated[int, Meta(ge=0, le=MOST)]
    loss: Annotated[float, Meta(ge=0, le=MOST)] | None
    dev_accuracy: Accuracy | None
    best: Accuracy | None


@dataclass(frozen=True)
class ModelLog:
    """The logged epochs of one model."""

    name: str
    epochs: Sequence[Epoch]

    @property
    def kind(self) -> str:
        """The name without language, setting and seed: `haem-smart` for `welsh-low-haem-smart-3`."""
        plain, plus, variant = self.name.rpartition("-")[0].partition("+")
        parts = plain.split("-")
        return "-".join(parts[-2:] if parts[-1] in ALIGNERS else parts[-1:]) + plus + variant

    @property
    def dataset(self) -> str:
        """Language and setting, which a benchmark puts before the kind: `scottish-gaelic-low`; else empty."""
        return self.name.rpartition("-")[0].removesuffix(self.kind).rstrip("-")

    def points(self, quantity: Quantity) -> list[Point]:
        return [(epoch.epoch, y) for epoch in self.epochs if (y := getattr(epoch, quantity)) is not None]


def read_log(path: Path) -> list[ModelLog]:
    """The models of a log. Damaged lines are ignored; of a model that was restarted, the last start counts."""
    epochs: dict[str, list[Epoch]] = {}
    for line in read_bytes(path).splitlines():
        try:
            epoch = msgspec.json.decode(line, type=Epoch)
        except (ValueError, RecursionError):
            continue
        earlier = epochs.setdefault(epoch.model, [])
        if earlier and epoch.epoch <= earlier[-1].epoch:
            earlier.clear()
        earlier.append(epoch)
    return [ModelLog(name, logged) for name, logged in epochs.items()]


def mean_curve(models: Sequence[ModelLog], quantity: Quantity) -> list[Point]:
    """The mean over models, from the first epoch at which all have a value; a finished model keeps its last value."""
    curves = [dict(points) for model in models if (points := model.points(quantity))]
    latest: dict[int, float] = {}
    means = []
    for epoch in sorted({epoch for curve in curves for epoch in curve}):
        latest |= {number: curve[epoch] for number, curve in enumerate(curves) if epoch in curve}
        if len(latest) == len(curves):
            means.append((epoch, fmean(latest.values())))
    return means


def learning_curves(models: Sequence[ModelLog], *, single: bool = True) -> Html:
    """Charts of dev accuracy and loss by epoch: the mean of each kind and, if `single`, the curves of few models."""
    models = sorted(models, key=lambda model: model.kind)
    kinds = grouped(models, lambda model: model.kind)
    looks = {kind: (kind.partition("-")[2], colour_of(kind)) for kind in kinds}
    charts: list[Html] = []
    for quantity, mean, words, title, y_label in CHARTS:
        curves = [Curve(f"{title_of(kind)}, {words}", mean_curve(kinds[kind], mean), *looks[kind]) for kind in kinds]
        if single and len(models) <= SINGLE_CURVES:  # means are drawn over the curves of single models
            looked = ((model, *looks[model.kind]) for model in models)
            curves[:0] = [Curve(m.name, m.points(quantity), f"{style} faint", colour) for m, style, colour in looked]
        highest = max((y for curve in curves for _, y in curve.points), default=100.0)
        top = None if quantity == "loss" else min(100.0, 10.0 * (highest // 10 + 1))
        charts.append(line_chart(title, curves, ("epoch", y_label), top=top, logarithmic=quantity == "loss"))
    names = [Curve(f"{title_of(kind)} ({len(members)})", (), *looks[kind]) for kind, members in kinds.items()]
    return joined([key(names), element("div", *charts, class_="pair")])


def title_of(kind: str) -> str:
    plain, _, variant = kind.partition("+")
    system, _, alignment = plain.partition("-")
    return ", ".join(filter(None, (SYSTEMS[system].title if system in SYSTEMS else system, alignment, variant)))


def colour_of(kind: str) -> str:
    system = kind.partition("+")[0].partition("-")[0]
    return SYSTEMS[system].colour if system in SYSTEMS else NOT_INSTALLED
