"""Charts as inline SVG; the page's style sheet gives most colours, for light and dark screens."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from reinflect.ensemble.confidence import Bin
from reinflect.report.html import STYLES, Html, element, joined, resource

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
