"""Published figures to compare ours with; the numbers are in `published.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

NEXT_BEST = {"low": "LMU-2", "medium": "LMU-2", "high": "UE-LMU-1"}
"""The systems of the shared task that came next to the paper's Run 7, or before it."""


@cache
def numbers() -> dict[str, Any]:
    return tomllib.loads(files("reinflect").joinpath("paper", "published.toml").read_text(encoding="utf-8"))


def average(figure: str, split: str, setting: str, system: str) -> float | None:
    """The paper's macro average of `accuracy` or `levenshtein`."""
    averages = numbers() if figure == "accuracy" else numbers()[figure]
    number: float | None = averages.get(split, {}).get(setting, {}).get(system)
    return number


def of_language(language: str, setting: str) -> tuple[float, float] | None:
    """The test accuracy of the paper's Run 7, and of the next best system."""
    pair = numbers()["languages"].get(language, {}).get(setting)
    return None if pair is None else (pair[0], pair[1])


def beside(ours: Mapping[str, float], setting: str, split: str) -> dict[str, dict[str, float]]:
    """What a chart of our Run 7 shows: accuracies by language, by their words in the legend, ours last."""
    pairs = {name: pair for name in ours if (pair := of_language(name, setting))}
    return {
        f"next best, {NEXT_BEST[setting]} (test, published)": {name: pair[1] for name, pair in pairs.items()},
        "Run 7 of the paper (test, published)": {name: pair[0] for name, pair in pairs.items()},
        f"Run 7, ours ({split})": dict(ours),
    }
