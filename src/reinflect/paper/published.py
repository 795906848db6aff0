"""Figures that others published, to stand beside ours; the numbers are in `published.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

NEXT_BEST = {"low": "LMU-2", "medium": "LMU-2", "high": "UE-LMU-1"}
"""The systems of the shared task that came next to the paper's Run 7, or before it."""


@cache
def _everything() -> dict[str, Any]:
    return tomllib.loads(files("reinflect").joinpath("paper", "published.toml").read_text(encoding="utf-8"))


def accuracy(split: str, setting: str, system: str) -> float | None:
    """The paper's macro average."""
    found: float | None = _everything().get(split, {}).get(setting, {}).get(system)
    return found


def levenshtein(split: str, setting: str, system: str) -> float | None:
    found: float | None = _everything()["levenshtein"].get(split, {}).get(setting, {}).get(system)
    return found


def repeats(system: str) -> int | None:
    """How many test items the paper's filter for repeats changed."""
    found: int | None = _everything()["repeats"].get(system)
    return found


def of_language(language: str, setting: str) -> tuple[float, float] | None:
    """The test accuracy of the paper's Run 7, and of the next best system."""
    languages: Mapping[str, Mapping[str, list[float]]] = _everything()["languages"]
    pair = languages.get(language, {}).get(setting)
    return None if pair is None else (pair[0], pair[1])
