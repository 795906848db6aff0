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

    @classmethod
    def of(
        cls, text: str, gaps: Mapping[str, float | None], holds: Callable[[Gaps], bool | None], about: str = ""
    ) -> "Claim":
        """A claim that holds or not by those differences that can be computed."""
        numbers = {name: gap for name, gap in gaps.items() if gap is not None}
        evidence = about + ", ".join(f"{name} {gap:+.2f}" for name, gap in numbers.items())
        return cls(text, holds(numbers), evidence) if numbers else cls(text, None, "")


def claims(figures: Figures) -> list[Claim]:
    """All claims; those that cannot be checked are included."""

    def naive(setting: str, language: str | None = None) -> list[float | None]:
        """The difference between naive and smart in each system."""
        return [_gap(figures, setting, f"{system}-naive", f"{system}-smart", language) for system in SYSTEMS]

    on_average = dict(zip(map(str.upper, SYSTEMS), naive("low"), strict=True))
    checked = [Claim.of("naive is slightly better than smart at low, on average", on_average, _above_in_both)]
    for name in NAIVE_WINS:
        gaps = {setting: _over_all(fmean, naive(setting, name)) for setting in SETTINGS}
        checked.append(Claim.of(f"naive is consistently better than smart for {title(name)}", gaps, _above))
    for name in NAIVE_FAILS:
        gaps = {"low": _over_all(fmean, naive("low", name))}
        checked.append(Claim.of(f"naive fails at low for {title(name)}", gaps, lambda gaps: gaps["low"] <= -FAR))
    for text, setting, first, second, least, below in COMPARISONS:
        gaps = {f"{first} − {second}:": _gap(figures, setting, first, second)}
        checked.append(Claim.of(text, gaps, partial(_within, least, below)))
    gaps = {s: _over_all(min, [_gap(figures, s, "run7", run) for run in ("run1", "run3")]) for s in SETTINGS}
    about = "Run 7 above the better of Runs 1 and 3: "
    return [*checked, Claim.of("the gain from ensembling is largest at low", gaps, _largest_at_low, about)]


def _above(gaps: Gaps) -> bool:
    return all(gap > 0 for gap in gaps.values())


def _above_in_both(gaps: Gaps) -> bool | None:
    return _above(gaps) if len(gaps) == len(SYSTEMS) else None


def _within(least: float, below: float, gaps: Gaps) -> bool:
    return all(least <= gap < below for gap in gaps.values())


def _largest_at_low(gains: Gaps) -> bool | None:
    others = [gain for setting, gain in gains.items() if setting != "low"]
    return gains["low"] > max(others) if others and "low" in gains else None


def title(language: str) -> str:
    return " ".join(part.capitalize() for part in language.split("-"))


def _over_all(combine: Callable[[Sequence[float]], float], gaps: Sequence[float | None]) -> float | None:
    """The mean or least of some differences; None if one of them is missing."""
    numbers = [gap for gap in gaps if gap is not None]
    return combine(numbers) if len(numbers) == len(gaps) else None


def _gap(figures: Figures, setting: str, first: str, second: str, language: str | None = None) -> float | None:
    """The mean difference of two systems, over the languages that both have, or in one language."""
    left, right = (getattr(figures.get(setting, {}).get(system), "languages", {}) for system in (first, second))
    gaps = [left[name].accuracy - right[name].accuracy for name in left if name in right and language in (None, name)]
    return fmean(gaps) if gaps else None
