"""The claims of the paper's §6, checked against our figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from statistics import fmean

from reinflect.paper.corpora import SETTINGS
from reinflect.paper.figures import Figures

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

Gaps = Mapping[str, float]
"""Differences in accuracy, by what they are of."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it is true of our models."""

    text: str
    held: bool | None
    """None if the models trained are too few to check it."""
    evidence: str


def claims(figures: Figures) -> list[Claim]:
    """All claims; those that cannot be checked are included."""
    checked: list[Claim] = []

    def check(
        text: str, gaps: Mapping[str, float | None], holds: Callable[[Gaps], bool | None], about: str = ""
    ) -> None:
        known = {name: gap for name, gap in gaps.items() if gap is not None}
        evidence = about + ", ".join(f"{name} {gap:+.2f}" for name, gap in known.items())
        checked.append(Claim(text, holds(known), evidence) if known else Claim(text, None, ""))

    def naive(setting: str, language: str | None = None) -> list[float | None]:
        """The difference between naive and smart in each system."""
        return [_gap(figures, setting, f"{system}-naive", f"{system}-smart", language) for system in SYSTEMS]

    gaps = dict(zip(map(str.upper, SYSTEMS), naive("low"), strict=True))
    text = "naive is slightly better than smart at low, on average"
    check(text, gaps, lambda gaps: _above(gaps) if len(gaps) == len(SYSTEMS) else None)
    for language in NAIVE_WINS:
        gaps = {setting: _over_all(fmean, naive(setting, language)) for setting in SETTINGS}
        check(f"naive is consistently better than smart for {title(language)}", gaps, _above)
    for language in NAIVE_FAILS:
        gaps = {"low": _over_all(fmean, naive("low", language))}
        check(f"naive fails at low for {title(language)}", gaps, lambda gaps: gaps["low"] <= -FAR)
    for text, setting, first, second, least, below in COMPARISONS:
        gaps = {f"{first} − {second}:": _gap(figures, setting, first, second)}
        check(text, gaps, partial(_within, least, below))
    gaps = {
        setting: _over_all(min, [_gap(figures, setting, "run7", run) for run in ("run1", "run3")])
        for setting in SETTINGS
    }
    text = "the gain from ensembling is largest at low"
    check(text, gaps, _largest_at_low, "Run 7 above the better of Runs 1 and 3: ")
    return checked


def _above(gaps: Gaps) -> bool:
    return all(gap > 0 for gap in gaps.values())


def _within(least: float, below: float, gaps: Gaps) -> bool:
    return all(least <= gap < below for gap in gaps.values())


def _largest_at_low(gains: Gaps) -> bool | None:
    others = [gain for setting, gain in gains.items() if setting != "low"]
    return gains["low"] > max(others) if others and "low" in gains else None


def title(language: str) -> str:
    return " ".join(part.capitalize() for part in language.split("-"))


def _over_all(combine: Callable[[Sequence[float]], float], gaps: Sequence[float | None]) -> float | None:
    """The mean or least of some differences; None if one is not known."""
    known = [gap for gap in gaps if gap is not None]
    return combine(known) if len(known) == len(gaps) else None


def _gap(figures: Figures, setting: str, first: str, second: str, language: str | None = None) -> float | None:
    """The mean difference of two systems, over the languages that both have, or in one language."""
    left, right = (getattr(figures.get(setting, {}).get(system), "languages", {}) for system in (first, second))
    gaps = [left[name].accuracy - right[name].accuracy for name in left if name in right and language in (None, name)]
    return fmean(gaps) if gaps else None
