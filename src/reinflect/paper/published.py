"""Published figures to compare ours with; the numbers are in `published.toml`."""

import tomllib
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
