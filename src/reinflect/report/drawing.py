"""Charts as inline SVG, in colours of the page's style sheet, and the learning curves of training logs."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from reinflect.align import ALIGNERS
from reinflect.data.items import grouped
from reinflect.ensemble.confidence import Bin
from reinflect.files import read_bytes
from reinflect.report.html import STYLES, Html, element, joined, resource
from reinflect.systems import SYSTEMS

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 10, 40
"""Margins, with the numbers of the axes."""
Point = tuple[float, float]
Dots = Mapping[str, tuple[str, Mapping[str, float]]]
"""A class of the style sheet, and the accuracies by name, by their words in the legend."""


@dataclass(frozen=True)
class Curve:
    """A line of a chart. `style` is a class of the style sheet."""

    name: str
    points: Sequence[Point]
    style: str = ""
    colour: str | None = None


@dataclass(frozen=True)
class Axis:
    """Maps numbers from `low` to `high` to places from `start` to `end` of the picture."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, x = map(math.log10 if self.logarithmic else float, (self.low, self.high, value))
        return self.start + (x - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """About five round numbers."""
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            factors = (1, 2, 5) if len(powers) <= 3 else (1,)
            ticks = (factor * 10.0**power for power in powers for factor in factors)
            return [tick for tick in ticks if self.low <= tick <= self.high]
        rough = max((self.high - self.low) / 5, sys.float_info.min)
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.99), default=rough)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def line_chart(
    title: str, curves: Sequence[Curve], labels: tuple[str, str], *, top: float | None = None, logarithmic: bool = False
) -> Html:
    """A figure of curves; `top` fixes the upper end of the vertical axis, `logarithmic` scales it."""
    drawn = [[(x, y) for x, y in curve.points if y > 0 or not logarithmic] for curve in curves]
    x = Axis(0, max((x for curve in curves for x, _ in curve.points), default=1) or 1, LEFT, WIDTH - RIGHT)
    heights = [y for points in drawn for _, y in points] or [1.0]
    low, high = (min(heights), max(heights)) if logarithmic else (0.0, top or max(heights) or 1)
    y = Axis(low, high if high > low else low * 10, HEIGHT - BOTTOM, TOP, logarithmic)
    lines = [_polyline(x, y, points, curve) for points, curve in zip(drawn, curves, strict=True)]
    return element("figure", element("figcaption", title), _picture(title, HEIGHT, _frame(x, y, *labels), *lines))


def reliability(title: str, bins: Sequence[Bin]) -> Html:
    """Accuracy over confidence, with a histogram of the forms below; calibrated confidence is on the diagonal."""
    size, histogram = 320, 60
    x = Axis(0, 100, LEFT, LEFT + size - RIGHT)
    y = Axis(0, 100, size - BOTTOM - histogram, TOP)
    most, floor = max((bin.items for bin in bins), default=1), size - BOTTOM
    points = [(100 * bin.confidence, 100 * bin.accuracy) for bin in bins]
    parts = [
        _frame(x, y, "", "accuracy, %"),
        element("line", class_="diagonal", x1=x(0), y1=y(0), x2=x(100), y2=y(100)),
        _polyline(x, y, points, Curve(title, points, "reliability")),
    ]
    for bin, (confidence, accuracy) in zip(bins, points, strict=True):
        words = element("title", f"{bin.items} forms: confidence {confidence:.0f} %, accuracy {accuracy:.0f} %")
        height = (histogram - 14) * bin.items / most
        parts += [
            element("circle", words, class_="dot", cx=x(confidence), cy=y(accuracy), r=4),
            element("rect", words, class_="bar", x=x(confidence) - 5, y=floor - height, width=10, height=height),
        ]
    parts.append(element("text", "confidence, % (bars: number of forms)", class_="label", x=x(50), y=size - 8))
    return _picture(title, size, *parts, width=LEFT + size)


def bar(share: float) -> Html:
    """A bar for a table; `share` is in per cent."""
    return element("span", class_="meter", style=f"--share:{share:.0f}%")


def dot_chart(title: str, panels: Sequence[tuple[str, Sequence[str], Dots]], x_label: str) -> Html:
    """Panels below each other: heading and legend, then a line for each name with a dot for each of its accuracies."""
    margin, step, top = 150, 17, TOP
    parts: list[Html] = []
    for heading, names, dots in panels:
        top += step
        parts.append(element("text", heading, x=margin, y=top))
        for words, (style, accuracies) in dots.items():
            if accuracies:
                top += step
                parts.append(element("circle", class_=f"dot {style}", cx=margin + 5, cy=top - 4, r=4.5))
                parts.append(element("text", f"{words}, mean {fmean(accuracies.values()):.1f}", x=margin + 16, y=top))
        top += step // 2
        lowest = min((accuracy for _, accuracies in dots.values() for accuracy in accuracies.values()), default=0.0)
        x = Axis(10 * math.floor(lowest / 10) if lowest < 100 else 90, 100, margin, WIDTH - RIGHT)
        bottom = top + step * len(names)
        parts += [_vertical(x, tick, top, bottom) for tick in x.ticks]
        levels = {name: top + step * (number + 0.5) for number, name in enumerate(names)}
        parts += [_horizontal(x, name, level) for name, level in levels.items()]
        for words, (style, accuracies) in dots.items():
            for name in filter(accuracies.__contains__, names):
                label = element("title", f"{name}, {words}: {accuracies[name]:.1f}")
                centre = {"cx": x(accuracies[name]), "cy": levels[name]}
                parts.append(element("circle", label, class_=f"dot {style}", **centre, r=4.5))
        top = bottom + BOTTOM
        parts.append(element("text", x_label, class_="label", x=(margin + WIDTH - RIGHT) / 2, y=top - 6))
    return _picture(title, top, *parts)


def svg_file(picture: Html) -> str:
    """A picture as a file of its own, with the rules of the style sheets that it needs."""
    palette, style = map(resource, STYLES)
    rules = [line for line in style.splitlines() if line.startswith(("svg", ".grid", ".dot"))]
    start, _, content = picture.partition(">")
    styles = element("style", Html("\n".join([palette, *rules])))
    return f'{start} xmlns="http://www.w3.org/2000/svg">{styles}{content}\n'


def key(curves: Sequence[Curve]) -> Html:
    """The legend of a chart."""
    lines = [element("line", **_look(curve), x1=0, x2=22, y1=6, y2=6) for curve in curves]
    pictures = [element("svg", line, viewBox="0 0 22 12", class_="mark", aria_hidden="true") for line in lines]
    items = (element("li", picture, curve.name) for picture, curve in zip(pictures, curves, strict=True))
    return element("ul", *items, class_="key")


def _polyline(x: Axis, y: Axis, points: Iterable[Point], curve: Curve) -> Html:
    line = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
    return element("polyline", element("title", curve.name), **_look(curve), points=line)


def _look(curve: Curve) -> dict[str, str | None]:
    names = filter(None, ("curve", curve.colour and "kind", curve.style))
    return {"class_": " ".join(names), "style": curve.colour and f"--colour:{curve.colour}"}


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> Html:
    middle = (y.start + y.end) / 2
    lines = [*(_vertical(x, t, y.end, y.start) for t in x.ticks), *(_horizontal(x, f"{t:g}", y(t)) for t in y.ticks)]
    below = element("text", x_label, class_="label", x=(x.start + x.end) / 2, y=y.start + 34)
    beside = element("text", y_label, class_="label", transform=f"translate(12 {middle:.0f}) rotate(-90)")
    return joined([*lines, below, beside])


def _vertical(x: Axis, tick: float, top: float, bottom: float) -> Html:
    line = element("line", class_="grid", x1=x(tick), x2=x(tick), y1=top, y2=bottom)
    return joined([line, element("text", f"{tick:g}", class_="tick", x=x(tick), y=bottom + 16)])


def _horizontal(x: Axis, name: str, level: float) -> Html:
    line = element("line", class_="grid", x1=x.start, x2=x.end, y1=level, y2=level)
    return joined([line, element("text", name, class_="name", x=x.start - 7, y=level + 4)])


def _picture(title: str, height: float, *parts: str, width: float = WIDTH) -> Html:
    box, style = f"0 0 {width:g} {height:g}", f"max-width:{width:g}px"
    return element("svg", element("title", title), *parts, role="img", viewBox=box, style=style)


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
