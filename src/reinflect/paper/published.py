"""Published figures to compare ours with, from `published.toml`, and the claims of the paper's §6."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from math import inf, isnan, nan
from statistics import fmean
from typing import Any

import numpy as np

from reinflect.paper.combine import Figures, accuracies
from reinflect.paper.corpora import SETTINGS, title

NEXT_BEST = {"low": "LMU-2", "medium": "LMU-2", "high": "UE-LMU-1"}
"""The systems of the shared task that came next to the paper's Run 7, or before it."""
SYSTEMS = ("hacm", "haem")
NAIVE_WINS = ("turkish", "haida", "norwegian-nynorsk")
NAIVE_FAILS = ("khaling", "navajo", "sorani")
FAR = 5.0
"""Points of accuracy that count as a failure, or as far above."""
TWO = 1.5
"""The least difference that rounds to the paper's two points."""
COMPARISONS = (
    ("HAEM is above HACM at low, by some 2 points or more", "low", "run3", "run1", TWO, inf),
    ("HAEM is below HACM at high", "high", "run3", "run1", -inf, 0.0),
    ("smart is far above naive for HAEM at medium", "medium", "haem-smart", "haem-naive", FAR, inf),
    ("smart is far above naive for HAEM at high", "high", "haem-smart", "haem-naive", FAR, inf),
)
"""Claim, setting, two systems, and the least difference between them, and the difference it must be below."""
GAIN = "the gain from ensembling is largest at low"

Gaps = Mapping[str, float]
"""Differences in accuracy, by what they are of; nan where there are too few models for one."""


@cache
def numbers() -> dict[str, Any]:
    return tomllib.loads(files("reinflect").joinpath("paper", "published.toml").read_text(encoding="utf-8"))


def average(figure: str, split: str, setting: str, system: str) -> float | None:
    """The paper's macro average of `accuracy` or `levenshtein`."""
    number: float | None = numbers()[figure].get(split, {}).get(setting, {}).get(system)
    return number


def of_language(language: str, setting: str) -> tuple[float, float] | None:
    """The test accuracy of the paper's Run 7, and of the next best system."""
    pair = numbers()["languages"].get(language, {}).get(setting)
    return pair and (pair[0], pair[1])


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it is true of our models."""

    text: str
    held: bool | None
    """None if the models trained are too few to check it."""
    evidence: str

    @classmethod
    def of(cls, text: str, gaps: Gaps, holds: Callable[[Gaps], bool | None], about: str = "") -> "Claim":
        """A claim that holds or not by those differences that can be computed."""
        numbers = {name: gap for name, gap in gaps.items() if not isnan(gap)}
        evidence = about + ", ".join(f"{name} {gap:+.2f}" for name, gap in numbers.items())
        return cls(text, holds(numbers), evidence) if numbers else cls(text, None, "")


def claims(figures: Figures) -> list[Claim]:
    """All claims; those that cannot be checked are included."""

    def naive(setting: str, language: str | None = None) -> list[float]:
        """The difference between naive and smart in each system."""
        return [_gap(figures, setting, f"{system}-naive", f"{system}-smart", language) for system in SYSTEMS]

    on_average = dict(zip(map(str.upper, SYSTEMS), naive("low"), strict=True))
    checked = [Claim.of("naive is slightly better than smart at low, on average", on_average, _above_in_both)]
    for name in NAIVE_WINS:
        gaps = {setting: fmean(naive(setting, name)) for setting in SETTINGS}
        checked.append(Claim.of(f"naive is consistently better than smart for {title(name)}", gaps, _above))
    for name in NAIVE_FAILS:
        gaps = {"low": fmean(naive("low", name))}
        checked.append(Claim.of(f"naive fails at low for {title(name)}", gaps, lambda gaps: gaps["low"] <= -FAR))
    for text, setting, first, second, least, below in COMPARISONS:
        gaps = {f"{first} − {second}:": _gap(figures, setting, first, second)}
        checked.append(Claim.of(text, gaps, partial(_within, least, below)))
    gaps = {s: float(np.min([_gap(figures, s, "run7", run) for run in ("run1", "run3")])) for s in SETTINGS}
    return [*checked, Claim.of(GAIN, gaps, _largest_at_low, "Run 7 above the better of Runs 1 and 3: ")]


def _above(gaps: Gaps) -> bool:
    return all(gap > 0 for gap in gaps.values())


def _above_in_both(gaps: Gaps) -> bool | None:
    return _above(gaps) if len(gaps) == len(SYSTEMS) else None


def _within(least: float, below: float, gaps: Gaps) -> bool:
    return all(least <= gap < below for gap in gaps.values())


def _largest_at_low(gains: Gaps) -> bool | None:
    others = [gain for setting, gain in gains.items() if setting != "low"]
    return gains["low"] > max(others) if others and "low" in gains else None


def _gap(figures: Figures, setting: str, first: str, second: str, language: str | None = None) -> float:
    """The mean difference of two systems, over the languages that both have, or in one language."""
    left, right = (accuracies(figures, setting, system) for system in (first, second))
    gaps = [left[name] - right[name] for name in left if name in right and language in (None, name)]
    return fmean(gaps) if gaps else nan
