"""The figures of a benchmark, computed or read from `results.json`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import msgspec

from reinflect.errors import InputError
from reinflect.files import read_bytes
from reinflect.score.scores import DECIMALS, Evaluation, MacroEvaluation, Score

FILE = "results.json"
Content = TypeVar("Content")


class Part(msgspec.Struct, frozen=True):
    """The accuracy on a part of the items, and their number."""

    accuracy: float
    items: int


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures of a language."""

    accuracy: float
    levenshtein: float
    seen: Part | None = None
    """Of items whose bundle the training items have."""
    unseen: Part | None = None
    """Of the others."""


def _figure(one: Evaluation) -> Figure:
    seen = one.seen or Score(0, 0, 0, 0)
    unseen = Score(one.items - seen.items, one.correct - seen.correct, 0, 0)
    parts = [Part(own.accuracy, own.items) if own.items and one.seen else None for own in (seen, unseen)]
    return Figure(one.accuracy, one.levenshtein, *parts)


def _mean(parts: Iterable[Part | None]) -> Part | None:
    """Over the languages that have such items."""
    some = [part for part in parts if part]
    return Part(round(fmean(p.accuracy for p in some), DECIMALS), sum(p.items for p in some)) if some else None


class Average(Figure, frozen=True, kw_only=True):
    """The macro average of a system in a setting, and the figures of each language."""

    languages: dict[str, Figure]
    signature: str

    @classmethod
    def of(cls, macro: MacroEvaluation) -> "Average":
        languages = {name: _figure(one) for name, one in macro.languages.items()}
        parts = [_mean(getattr(one, part) for one in languages.values()) for part in ("seen", "unseen")]
        return cls(macro.accuracy, macro.levenshtein, *parts, languages=languages, signature=macro.signature)


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
