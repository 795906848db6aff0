"""The figures of a benchmark as tables and pictures see them, be they just scored or read from `results.json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from reinflect.errors import InputError
from reinflect.files import read_bytes

FILE = "results.json"


class Figure(Protocol):
    """How good something is."""

    @property
    def accuracy(self) -> float: ...
    @property
    def levenshtein(self) -> float: ...


class Average(Figure, Protocol):
    """The macro average of languages, and each of them."""

    @property
    def languages(self) -> Mapping[str, Figure]: ...


class ReadFigure(msgspec.Struct, frozen=True):
    """One language."""

    accuracy: float
    levenshtein: float


class ReadAverage(msgspec.Struct, frozen=True):
    """One system in one setting."""

    accuracy: float
    levenshtein: float
    languages: dict[str, ReadFigure]
    signature: str


Read = dict[str, dict[str, dict[str, ReadAverage]]]
"""By split, setting and system."""


def read_figures(folder: Path) -> Read:
    """What a benchmark wrote into its folder."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"there is no {FILE} in it", "name a folder that reinflect benchmark wrote", path=folder)
    try:
        return msgspec.json.decode(read_bytes(path), type=Read)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"these are no results of a benchmark ({error})", "run the same reinflect benchmark again", path=path
        ) from None
