"""The figures of a benchmark, computed or read from `results.json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from reinflect.errors import InputError
from reinflect.evaluation.scores import MacroEvaluation
from reinflect.files import read_bytes

FILE = "results.json"
Content = TypeVar("Content")


class Figure(msgspec.Struct, frozen=True):
    """The figures of a language."""

    accuracy: float
    levenshtein: float


class Average(Figure, frozen=True):
    """The macro average of a system in a setting, and the figures of each language."""

    languages: dict[str, Figure]
    signature: str

    @classmethod
    def of(cls, macro: MacroEvaluation) -> "Average":
        languages = {name: Figure(one.accuracy, one.levenshtein) for name, one in macro.languages.items()}
        return cls(macro.accuracy, macro.levenshtein, languages, macro.signature)


Figures = Mapping[str, Mapping[str, Average]]
"""By setting and system."""
Scores = dict[str, dict[str, dict[str, Average]]]
"""By split, setting and system."""


def read_figures(folder: Path) -> Scores:
    """The figures in the output folder of a benchmark."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"there is no {FILE} in it", "name a folder that reinflect benchmark wrote", path=folder)
    return read_json(path, Scores, "results")


def read_json(path: Path, content: type[Content], name: str) -> Content:
    """A JSON file of a benchmark; `name` is what it holds."""
    try:
        return msgspec.json.decode(read_bytes(path), type=content)
    except (ValueError, RecursionError) as error:
        found = f"not the {name} of a benchmark ({error})"
        raise InputError(found, "run the same reinflect benchmark again", path=path) from None
