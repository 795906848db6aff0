"""What the paper's §6 claims, looked for in our figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from reinflect.experiments.figures import Average

Setting = str
Figures = Mapping[Setting, Mapping[str, Average]]
"""The scores of one split, by setting and system."""

SYSTEMS = ("hacm", "haem")
SETTINGS = ("low", "medium", "high")
NAIVE_WINS = ("turkish", "haida", "norwegian-nynorsk")
NAIVE_FAILS = ("khaling", "navajo", "sorani")
FAR = 5.0
"""Points of accuracy that we take for a failure, or for far above."""
TWO = 1.5
"""What rounds to the paper's two points, or is more."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it is true of our models."""

    text: str
    held: bool | None
    """None if what was trained cannot tell."""
    evidence: str


def claims(figures: Figures) -> list[Claim]:
    """All of them, whatever was trained."""
    return [
        _naive_on_average(figures),
        *(_naive_wins(figures, language) for language in NAIVE_WINS),
        *(_naive_fails(figures, language) for language in NAIVE_FAILS),
        _between(
            figures,
            "low",
            "run3",
            "run1",
            "HAEM is above HACM at low, by some 2 points or more",
            lambda gap: gap >= TWO,
        ),
        _between(figures, "high", "run3", "run1", "HAEM is below HACM at high", lambda gap: gap < 0),
        *(
            _between(
                figures,
                setting,
                "haem-smart",
                "haem-naive",
                f"smart is far above naive for HAEM at {setting}",
                lambda gap: gap >= FAR,
            )
            for setting in ("medium", "high")
        ),
        _ensembling(figures),
    ]


def title(language: str) -> str:
    return " ".join(part.capitalize() for part in language.split("-"))


def _naive_on_average(figures: Figures) -> Claim:
    gaps = {system: _gap(figures, "low", f"{system}-naive", f"{system}-smart") for system in SYSTEMS}
    known = {system: gap for system, gap in gaps.items() if gap is not None}
    return Claim(
        "naive is slightly better than smart at low, on average",
        all(gap > 0 for gap in known.values()) if len(known) == len(SYSTEMS) else None,
        ", ".join(f"{system.upper()} {gap:+.2f}" for system, gap in known.items()),
    )


def _naive_wins(figures: Figures, language: str) -> Claim:
    gaps = {setting: gap for setting in SETTINGS if (gap := _naive_above(figures, setting, language)) is not None}
    return Claim(
        f"naive is consistently better than smart for {title(language)}",
        all(gap > 0 for gap in gaps.values()) if gaps else None,
        _listed(gaps),
    )


def _naive_fails(figures: Figures, language: str) -> Claim:
    gap = _naive_above(figures, "low", language)
    return Claim(
        f"naive fails at low for {title(language)}",
        None if gap is None else gap <= -FAR,
        "" if gap is None else _listed({"low": gap}),
    )


def _naive_above(figures: Figures, setting: str, language: str) -> float | None:
    """By how much, in the mean of the two systems."""
    gaps = [_gap(figures, setting, f"{system}-naive", f"{system}-smart", language) for system in SYSTEMS]
    known = [gap for gap in gaps if gap is not None]
    return fmean(known) if len(known) == len(SYSTEMS) else None


def _between(
    figures: Figures, setting: str, first: str, second: str, text: str, holds: Callable[[float], bool]
) -> Claim:
    gap = _gap(figures, setting, first, second)
    return Claim(text, None if gap is None else holds(gap), "" if gap is None else f"{first} − {second}: {gap:+.2f}")


def _ensembling(figures: Figures) -> Claim:
    gains: dict[str, float] = {}
    for setting in SETTINGS:
        gaps = [_gap(figures, setting, "run7", run) for run in ("run1", "run3")]
        known = [gap for gap in gaps if gap is not None]
        if len(known) == len(gaps):
            gains[setting] = min(known)
    others = [gain for setting, gain in gains.items() if setting != "low"]
    held = all(gains["low"] > gain for gain in others) if "low" in gains and others else None
    evidence = f"Run 7 above the better of Runs 1 and 3: {_listed(gains)}" if gains else ""
    return Claim("the gain from ensembling is largest at low", held, evidence)


def _listed(gaps: Mapping[str, float]) -> str:
    return ", ".join(f"{setting} {gap:+.2f}" for setting, gap in gaps.items())


def _gap(figures: Figures, setting: str, first: str, second: str, language: str | None = None) -> float | None:
    """Between two systems, over the languages both have, or in one."""
    scores = [figures.get(setting, {}).get(system) for system in (first, second)]
    if scores[0] is None or scores[1] is None:
        return None
    shared: Sequence[str] = [name for name in scores[0].languages if name in scores[1].languages]
    wanted = [name for name in shared if language in (None, name)]
    if not wanted:
        return None
    return fmean(scores[0].languages[name].accuracy - scores[1].languages[name].accuracy for name in wanted)
