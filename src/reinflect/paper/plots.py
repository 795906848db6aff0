"""The paper's figure: the accuracy of every language, ours and published."""

from pathlib import Path
from statistics import fmean
from typing import Any

from reinflect.files import atomic_path
from reinflect.paper import published
from reinflect.paper.claims import title
from reinflect.paper.corpora import SETTINGS
from reinflect.paper.figures import Average, Figures

WIDE = 20
"""Languages above which the legend fits on one line."""
MARKS = (("#e0a526", "s", 4), ("#6ea6e0", "D", 4), ("#1b3a6b", "o", 5))
"""Colour, form and size of the dots of the next best system, of the paper and of ours."""


def ordered(figures: Figures) -> list[str]:
    """Languages by their mean accuracy over the settings, best first."""
    found: dict[str, list[float]] = {}
    for by_system in figures.values():
        for name, score in by_system["run7"].languages.items() if "run7" in by_system else ():
            found.setdefault(name, []).append(score.accuracy)
    return sorted(found, key=lambda name: (-fmean(found[name]), name))


def draw(figures: Figures, split: str, path: Path) -> list[Path]:
    """Draw our Run 7 on a split, and the published one with the next best system; as SVG and PNG.

    Needs matplotlib, which only `reinflect[report]` installs.
    """
    languages = ordered(figures)
    if not languages:
        return []
    settings = [setting for setting in SETTINGS if "run7" in figures.get(setting, {})]
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "reinflect", "svg.fonttype": "none"}):
        size = max(4.5, 0.24 * len(languages) + 1.5), 1.0 + 2.6 * len(settings)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(settings), 1, sharex=True, squeeze=False)[:, 0]
        for panel, setting in zip(panels, settings, strict=True):
            _panel(panel, figures[setting]["run7"], languages, setting, split)
        panels[-1].set_xticks(range(len(languages)), [title(name) for name in languages], rotation=90)
        written = []
        for ending, extra in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 150})):
            target = path.with_name(f"{path.name}.{ending}")
            with atomic_path(target) as part:
                figure.savefig(part, format=ending, **extra)
            written.append(target)
    return written


def _panel(panel: Any, ours: Average, languages: list[str], setting: str, split: str) -> None:
    places = {name: place for place, name in enumerate(languages)}
    accuracies = {name: score.accuracy for name, score in ours.languages.items()}
    shown = published.beside(accuracies, setting, split)
    for (label, figures), (colour, mark, size) in zip(shown.items(), MARKS, strict=True):
        across = [places[name] for name in figures]
        named = f"{label}, mean {fmean(figures.values()):.1f}" if figures else label
        panel.plot(across, list(figures.values()), mark, color=colour, markersize=size, label=named)
    panel.set_ylabel(f"accuracy, {setting}")
    panel.set_xlim(-0.7, len(languages) - 0.3)
    panel.set_ylim(max(-2, min(min(figures.values(), default=100) for figures in shown.values()) - 5), 102)
    panel.grid(axis="both", color="#dddddd", linewidth=0.5)
    panel.set_axisbelow(True)
    columns = 3 if len(languages) > WIDE else 1
    panel.legend(fontsize="x-small", loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False)
