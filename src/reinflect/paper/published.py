"""Published figures to compare ours with, from `published.toml`, and the claims of the paper's §6."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
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
    def of(cls, text: str, gaps: Mapping[str, float], held: bool | None, about: str = "") -> "Claim":
        """With the differences in accuracy as evidence; not checked if there are none."""
        evidence = about + ", ".join(f"{name} {gap:+.2f}" for name, gap in gaps.items())
        return cls(text, held, evidence) if gaps else cls(text, None, "")


def claims(figures: Figures) -> list[Claim]:
    """All claims; those that cannot be checked are included."""

    def naive(setting: str, language: str | None = None) -> list[float]:
        """The difference between naive and smart in each system."""
        return [_gap(figures, setting, f"{system}-naive", f"{system}-smart", language) for system in SYSTEMS]

    gaps = _known({system.upper(): gap for system, gap in zip(SYSTEMS, naive("low"), strict=True)})
    held = all(gap > 0 for gap in gaps.values()) if len(gaps) == len(SYSTEMS) else None
    checked = [Claim.of("naive is slightly better than smart at low, on average", gaps, held)]
    for name in NAIVE_WINS:
        gaps = _known({setting: fmean(naive(setting, name)) for setting in SETTINGS})
        held = all(gap > 0 for gap in gaps.values())
        checked.append(Claim.of(f"naive is consistently better than smart for {title(name)}", gaps, held))
    for name in NAIVE_FAILS:
        gaps = _known({"low": fmean(naive("low", name))})
        held = all(gap <= -FAR for gap in gaps.values())
        checked.append(Claim.of(f"naive fails at low for {title(name)}", gaps, held))
    for text, setting, first, second, least, below in COMPARISONS:
        gaps = _known({f"{first} − {second}:": _gap(figures, setting, first, second)})
        checked.append(Claim.of(text, gaps, all(least <= gap < below for gap in gaps.values())))
    runs = {s: [_gap(figures, s, "run7", run) for run in ("run1", "run3")] for s in SETTINGS}
    gaps = _known({setting: float(np.min(above)) for setting, above in runs.items()})
    others = [gap for setting, gap in gaps.items() if setting != "low"]
    held = gaps["low"] > max(others) if others and "low" in gaps else None
    return [*checked, Claim.of(GAIN, gaps, held, "Run 7 above the better of Runs 1 and 3: ")]


def _known(gaps: Mapping[str, float]) -> dict[str, float]:
    """Those for which there are enough models."""
    return {name: gap for name, gap in gaps.items() if not isnan(gap)}


def _gap(figures: Figures, setting: str, first: str, second: str, language: str | None = None) -> float:
    """The mean difference of two systems, over the languages that both have, or in one language; nan without any."""
    left, right = (accuracies(figures, setting, system) for system in (first, second))
    gaps = [left[name] - right[name] for name in left if name in right and language in (None, name)]
    return fmean(gaps) if gaps else nan
