"""Pictures as SVG within the page, which takes their colours from the page's style, by day and by night."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reinflect.ensembles.confidence import Bin
from reinflect.report.html import Html, element, joined

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 10, 40
"""Margins, where the axes have their figures."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """A line of a chart. `style` is a class of the page's style."""

    name: str
    style: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high`, which take the place from `start` to `end` of the picture."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, own = (math.log10(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return self.start + (own - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Round numbers, about five of them."""
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            factors = (1, 2, 5) if len(powers) <= 3 else (1,)
            every = [factor * 10.0**power for power in powers for factor in factors]
            return [tick for tick in every if self.low <= tick <= self.high]
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.99), default=rough)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def line_chart(
    what: str, curves: Sequence[Curve], *, x_label: str, y_label: str, top: float | None = None, decades: bool = False
) -> Html:
    """Curves over a common axis. `top` fixes the upper end; `decades` gives each power of ten the same room."""
    points = [point for curve in curves for point in curve.points]
    x = Axis(0, max((x for x, _ in points), default=1) or 1, LEFT, WIDTH - RIGHT)
    heights = [y for _, y in points if y > 0 or not decades] or [1.0]
    if decades:
        low, high = min(heights), max(heights)
        y = Axis(low, high if high > low else low * 10, HEIGHT - BOTTOM, TOP, logarithmic=True)
    else:
        y = Axis(0, top or max(heights) or 1, HEIGHT - BOTTOM, TOP)
    lines = [
        element(
            "polyline",
            element("title", curve.name),
            class_=f"curve {curve.style}",
            points=" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve.points if b > 0 or not decades),
        )
        for curve in curves
    ]
    return _picture(what, HEIGHT, _frame(x, y, x_label, y_label), *lines)


def reliability(what: str, bins: Sequence[Bin]) -> Html:
    """What was right over how sure the model was: on the diagonal it knows what it knows."""
    size, histogram = 320, 60
    x = Axis(0, 100, LEFT, LEFT + size - RIGHT)
    y = Axis(0, 100, size - BOTTOM - histogram, TOP)
    most = max((one.items for one in bins), default=1)
    parts = [
        _frame(x, y, "", "right, per cent"),
        element("line", class_="diagonal", x1=x(0), y1=y(0), x2=x(100), y2=y(100)),
        element(
            "polyline",
            class_="curve c1",
            points=" ".join(f"{x(100 * b.confidence):.1f},{y(100 * b.accuracy):.1f}" for b in bins),
        ),
    ]
    floor = size - BOTTOM
    for one in bins:
        told = f"{one.items} forms: {100 * one.confidence:.0f} % sure, {100 * one.accuracy:.0f} % right"
        height = (histogram - 14) * one.items / most
        place = x(100 * one.confidence)
        parts += [
            element("circle", element("title", told), class_="dot c1", cx=place, cy=y(100 * one.accuracy), r=4),
            element(
                "rect", element("title", told), class_="bar", x=place - 5, y=floor - height, width=10, height=height
            ),
        ]
    parts.append(element("text", "confidence, per cent (bars: how many forms)", class_="label", x=x(50), y=size - 8))
    return _picture(what, size, *parts, width=LEFT + size)


def bar(share: float) -> Html:
    """A bar for a table, of so many per cent."""
    return element("span", class_="meter", style=f"--share:{share:.0f}%")


def dot_chart(
    what: str, rows: Sequence[str], dots: Mapping[str, tuple[str, Mapping[str, float]]], *, x_label: str
) -> Html:
    """A row for each name, with a dot for each of its figures, which are per cents.

    `dots` has, by what a reader is told, the style and the figures by row.
    """
    margin, step = 150, 17
    height = TOP + step * len(rows) + BOTTOM
    lowest = min((figure for _, own in dots.values() for figure in own.values()), default=0.0)
    x = Axis(10 * math.floor(lowest / 10) if lowest < 100 else 90, 100, margin, WIDTH - RIGHT)
    bottom = height - BOTTOM
    parts = [_vertical(x, tick, TOP, bottom) for tick in x.ticks]
    for number, name in enumerate(rows):
        level = TOP + step * (number + 0.5)
        parts.append(element("line", class_="grid", x1=margin, x2=WIDTH - RIGHT, y1=level, y2=level))
        parts.append(element("text", name, class_="name", x=margin - 8, y=level + 4))
        for told, (style, own) in dots.items():
            if name in own:
                title = element("title", f"{name}, {told}: {own[name]:.1f}")
                parts.append(element("circle", title, class_=f"dot {style}", cx=x(own[name]), cy=level, r=4.5))
    parts.append(element("text", x_label, class_="label", x=(margin + WIDTH - RIGHT) / 2, y=height - 6))
    return _picture(what, height, *parts)


def key(entries: Iterable[tuple[str, str]], *, dots: bool = False) -> Html:
    """What the lines or dots of a picture are: pairs of style and words."""

    def mark(style: str) -> Html:
        if dots:
            return element("circle", class_=f"dot {style}", cx=11, cy=6, r=4.5)
        return element("line", class_=f"curve {style}", x1=0, x2=22, y1=6, y2=6)

    shown = (
        element("li", element("svg", mark(style), viewBox="0 0 22 12", class_="mark", aria_hidden="true"), words)
        for style, words in entries
    )
    return element("ul", *shown, class_="key")


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> Html:
    parts = [_vertical(x, tick, y.end, y.start) for tick in x.ticks]
    for tick in y.ticks:
        parts.append(element("line", class_="grid", x1=x.start, x2=x.end, y1=y(tick), y2=y(tick)))
        parts.append(element("text", _figure(tick), class_="name", x=x.start - 6, y=y(tick) + 4))
    parts.append(element("text", x_label, class_="label", x=(x.start + x.end) / 2, y=y.start + 34))
    middle = (y.start + y.end) / 2
    parts.append(element("text", y_label, class_="label", transform=f"translate(12 {middle:.0f}) rotate(-90)"))
    return joined(parts)


def _vertical(x: Axis, tick: float, top: float, bottom: float) -> Html:
    line = element("line", class_="grid", x1=x(tick), x2=x(tick), y1=top, y2=bottom)
    return joined([line, element("text", _figure(tick), class_="tick", x=x(tick), y=bottom + 16)])


def _figure(tick: float) -> str:
    return f"{tick:g}"


def _picture(what: str, height: float, *parts: str, width: float = WIDTH) -> Html:
    return element(
        "svg",
        element("title", what),
        *parts,
        role="img",
        viewBox=f"0 0 {width:g} {height:g}",
        style=f"max-width:{width:g}px",
    )
