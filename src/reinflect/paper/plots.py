"""The paper's figure: every language's accuracy, ours beside what was published."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from reinflect.experiments.figures import Average
from reinflect.files import atomic_path
from reinflect.paper import published
from reinflect.paper.claims import SETTINGS, title

WIDE = 20
"""Languages that leave room for the key in one line."""
OURS, PAPERS, NEXT = "#1b3a6b", "#6ea6e0", "#e0a526"


def ordered(figures: Mapping[str, Mapping[str, Average]]) -> list[str]:
    """Languages by their mean accuracy over the settings, the best first."""
    found: dict[str, list[float]] = {}
    for by_system in figures.values():
        for name, score in by_system["run7"].languages.items() if "run7" in by_system else ():
            found.setdefault(name, []).append(score.accuracy)
    return sorted(found, key=lambda name: (-fmean(found[name]), name))


def draw(figures: Mapping[str, Mapping[str, Average]], split: str, path: Path) -> list[Path]:
    """Draw our Run 7 on a split, and the published one with the next best system; as SVG and PNG.

    Needs matplotlib, which comes with `reinflect[report]` only.
    """
    languages = ordered(figures)
    if not languages:
        return []
    settings = [setting for setting in SETTINGS if "run7" in figures.get(setting, {})]
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "reinflect", "svg.fonttype": "none"}):
        figure = Figure(
            figsize=(max(4.5, 0.24 * len(languages) + 1.5), 1.0 + 2.6 * len(settings)), layout="constrained"
        )
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
    known = {name: pair for name in languages if (pair := published.of_language(name, setting))}
    dots = {
        f"next best, {published.NEXT_BEST[setting]} (test, published)": (
            NEXT,
            "s",
            {n: p[1] for n, p in known.items()},
        ),
        "Run 7 of the paper (test, published)": (PAPERS, "D", {n: p[0] for n, p in known.items()}),
        f"Run 7, ours ({split})": (OURS, "o", {name: score.accuracy for name, score in ours.languages.items()}),
    }
    for label, (colour, mark, figures) in dots.items():
        panel.plot(
            [places[name] for name in figures],
            list(figures.values()),
            mark,
            color=colour,
            markersize=5 if mark == "o" else 4,
            label=f"{label}, mean {fmean(figures.values()):.1f}" if figures else label,
        )
    panel.set_ylabel(f"accuracy, {setting}")
    panel.set_xlim(-0.7, len(languages) - 0.3)
    lowest = min(figure for _, _, figures in dots.values() for figure in figures.values())
    panel.set_ylim(max(-2, lowest - 5), 102)
    panel.grid(axis="both", color="#dddddd", linewidth=0.5)
    panel.set_axisbelow(True)
    columns = 3 if len(languages) > WIDE else 1
    panel.legend(fontsize="x-small", loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False)
