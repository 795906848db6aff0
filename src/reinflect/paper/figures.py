"""The figures of a benchmark, computed or read from its folder."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import msgspec

from reinflect.errors import InputError
from reinflect.files import read_bytes
from reinflect.paper.corpora import SETTINGS
from reinflect.score.scores import DECIMALS, Evaluation, MacroEvaluation, Score

RESULTS = "results.json"
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

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Figure":
        seen = evaluation.seen or Score(0, 0, 0, 0)
        unseen = Score(evaluation.items - seen.items, evaluation.correct - seen.correct, 0, 0)
        parts = [Part(s.accuracy, s.items) if s.items and evaluation.seen else None for s in (seen, unseen)]
        return Figure(evaluation.accuracy, evaluation.levenshtein, *parts)


class Average(Figure, frozen=True, kw_only=True):
    """The macro average of a system in a setting, and the figures of each language."""

    languages: dict[str, Figure]
    signature: str

    @classmethod
    def over(cls, macro: MacroEvaluation) -> "Average":
        languages = {name: Figure.of(evaluation) for name, evaluation in macro.languages.items()}
        averages = []
        for name in ("seen", "unseen"):  # over the languages that have such items
            parts = [part for figure in languages.values() if (part := getattr(figure, name))]
            accuracy = round(fmean(part.accuracy for part in parts), DECIMALS) if parts else 0.0
            averages.append(Part(accuracy, sum(part.items for part in parts)) if parts else None)
        return cls(macro.accuracy, macro.levenshtein, *averages, languages=languages, signature=macro.signature)


Figures = Mapping[str, Mapping[str, Average]]
"""By setting and system."""
Scores = dict[str, dict[str, dict[str, Average]]]
"""By split, setting and system."""


def settings_in(figures: Figures) -> list[str]:
    return [setting for setting in SETTINGS if setting in figures]


def read_scores(folder: Path) -> Scores:
    """The figures in the output folder of a benchmark."""
    path = folder / RESULTS
    if not path.exists():
        raise InputError(f"there is no {RESULTS} in it", "name a folder that reinflect benchmark wrote", path=folder)
    return read_json(path, Scores, "results")


def read_json(path: Path, content: type[Content], name: str) -> Content:
    """A JSON file of a benchmark; `name` is what it holds."""
    try:
        return msgspec.json.decode(read_bytes(path), type=content)
    except (ValueError, RecursionError) as error:
        what = f"not the {name} of a benchmark ({error})"
        raise InputError(what, "run the same reinflect benchmark again", path=path) from None
