"""The figures of a benchmark, computed or read from `results.json`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import msgspec

from reinflect.errors import InputError
from reinflect.evaluation.scores import DECIMALS, Evaluation, MacroEvaluation
from reinflect.files import read_bytes

FILE = "results.json"
Content = TypeVar("Content")


class Part(msgspec.Struct, frozen=True):
    """The accuracy on a part of the items, and their number."""

    accuracy: float
    items: int

    @classmethod
    def of(cls, correct: int, items: int) -> "Part | None":
        return cls(round(100 * correct / items, DECIMALS), items) if items else None

    @classmethod
    def mean(cls, parts: "Iterable[Part | None]") -> "Part | None":
        """Of the languages that have such items."""
        some = [part for part in parts if part]
        mean = round(fmean(part.accuracy for part in some), DECIMALS) if some else 0.0
        return cls(mean, sum(part.items for part in some)) if some else None


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures of a language."""

    accuracy: float
    levenshtein: float
    seen: Part | None = None
    """Of items whose bundle the training items have."""
    unseen: Part | None = None
    """Of the others."""

    @classmethod
    def of_one(cls, one: Evaluation) -> "Figure":
        if one.seen is None:
            return Figure(one.accuracy, one.levenshtein)
        unseen = Part.of(one.correct - one.seen.correct, one.items - one.seen.items)
        return Figure(one.accuracy, one.levenshtein, Part.of(one.seen.correct, one.seen.items), unseen)


class Average(Figure, frozen=True, kw_only=True):
    """The macro average of a system in a setting, and the figures of each language."""

    languages: dict[str, Figure]
    signature: str

    @classmethod
    def of(cls, macro: MacroEvaluation) -> "Average":
        languages = {name: Figure.of_one(one) for name, one in macro.languages.items()}
        seen, unseen = (Part.mean(getattr(one, part) for one in languages.values()) for part in ("seen", "unseen"))
        return cls(macro.accuracy, macro.levenshtein, seen, unseen, languages=languages, signature=macro.signature)


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
