"""Learning curves: training logs, read and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from reinflect.align import ALIGNERS
from reinflect.files import read_bytes
from reinflect.report.drawing import Curve, Point, key, line_chart
from reinflect.report.html import Html, element, joined
from reinflect.systems import SYSTEMS

SINGLE_CURVES = 24
"""Models with a curve of their own in one chart, at most: more cannot be distinguished."""
PALETTE = ("#8250c4", "#9a6b00", "#b8327a", "#0b7d80", "#5d6673")
"""Colours for systems that are not installed."""
MOST = 10**9
"""Of a loss, or epochs: larger numbers are damage, and cannot be drawn."""
Accuracy = Annotated[float, Meta(ge=0, le=100)]
Quantity = Literal["loss", "dev_accuracy", "best"]


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
        return [(one.epoch, value) for one in self.epochs if (value := getattr(one, quantity)) is not None]


def read_log(path: Path) -> list[ModelLog]:
    """The models of a log. Damaged lines are ignored; of a model that was restarted, the last start counts."""
    found: dict[str, list[Epoch]] = {}
    for line in read_bytes(path).splitlines():
        try:
            one = msgspec.json.decode(line, type=Epoch)
        except (ValueError, RecursionError):
            continue
        own = found.setdefault(one.model, [])
        if own and one.epoch <= own[-1].epoch:
            own.clear()
        own.append(one)
    return [ModelLog(name, epochs) for name, epochs in found.items()]


def mean_curve(models: Sequence[ModelLog], quantity: Quantity) -> list[Point]:
    """The mean over models, from the first epoch at which all have a value; a finished model keeps its last value."""
    known = [dict(points) for model in models if (points := model.points(quantity))]
    latest: dict[int, float] = {}
    curve = []
    for epoch in sorted({epoch for one in known for epoch in one}):
        latest |= {number: one[epoch] for number, one in enumerate(known) if epoch in one}
        if len(latest) == len(known):
            curve.append((epoch, fmean(latest.values())))
    return curve


def learning_curves(models: Sequence[ModelLog], *, single: bool = True) -> Html:
    """Charts of dev accuracy and loss by epoch: the mean of each kind and, if `single`, the curves of few models."""
    kinds: dict[str, list[ModelLog]] = {}
    for model in sorted(models, key=lambda model: model.kind):
        kinds.setdefault(model.kind, []).append(model)
    accuracies: list[Curve] = []
    losses: list[Curve] = []
    entries = []
    for number, (kind, own) in enumerate(kinds.items()):
        title, style, colour = title_of(kind), kind.partition("-")[2], colour_of(kind, number)
        for model in own if single and len(models) <= SINGLE_CURVES else ():
            accuracies.append(Curve(model.name, model.points("dev_accuracy"), f"{style} faint", colour))
            losses.append(Curve(model.name, model.points("loss"), f"{style} faint", colour))
        accuracies.append(Curve(f"{title}, mean of the best so far", mean_curve(own, "best"), style, colour))
        losses.append(Curve(f"{title}, mean", mean_curve(own, "loss"), style, colour))
        entries.append((f"{title} ({len(own)})", style, colour))
    for curves in (accuracies, losses):  # means last, so that they are drawn over the curves of single models
        curves.sort(key=lambda curve: "faint" not in curve.style)
    highest = max((y for curve in accuracies for _, y in curve.points), default=100.0)
    top = min(100.0, 10.0 * (highest // 10 + 1))
    charts = [
        line_chart("accuracy on dev items", accuracies, "epoch", "accuracy, %", top=top),
        line_chart("loss on training items", losses, "epoch", "loss", logarithmic=True),
    ]
    return joined([key(entries), element("div", *charts, class_="pair")])


def title_of(kind: str) -> str:
    plain, _, variant = kind.partition("+")
    system, _, alignment = plain.partition("-")
    title = SYSTEMS[system].title if system in SYSTEMS else system
    return ", ".join(filter(None, (title, alignment, variant)))


def colour_of(kind: str, number: int) -> str:
    """The colour of the kind's system, or that of its number in a chart."""
    system = kind.partition("+")[0].partition("-")[0]
    return SYSTEMS[system].colour if system in SYSTEMS else PALETTE[number % len(PALETTE)]
