"""Scores of a file, of groups of its cells, and of many languages.

The rules are those of the shared task: a cell is a lemma with a bundle; if a file gives a cell several times, the last
line counts; a cell without a prediction has the empty string predicted; predictions for other cells are ignored.

Scores of files have signatures: a line that names everything that could change the score, so that scores are
comparable.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias

from rapidfuzz.distance.Levenshtein import distance

from reinflect import __version__
from reinflect.data.features import Bundle
from reinflect.data.items import Item, grouped, read_items
from reinflect.errors import InputError

DECIMALS = 2
Grouping = Literal["features", "pos"]
GROUPINGS: dict[Grouping, str] = {"features": "features", "pos": "part of speech"}
Cell = tuple[str, str]
"""A lemma and the spelling of a bundle."""
Variants = Literal["last", "any"]
"""Which of several gold forms of a cell is right."""


class Judged(NamedTuple):
    """A cell of the gold with its prediction. `gold` is the right form; of several, the nearest to the prediction."""

    lemma: str
    features: Bundle
    gold: str
    predicted: str
    distance: int
    missing: bool

    @property
    def correct(self) -> bool:
        return self.distance == 0


def right_forms(gold: Iterable[Item], variants: Variants) -> dict[Cell, tuple[str, ...]]:
    """The right forms of each cell, cells in the order of the file."""
    forms: dict[Cell, tuple[str, ...]] = {}
    for item in gold:
        cell = (item.lemma, item.features.spelling)
        earlier = forms.get(cell, ()) if variants == "any" else ()
        if item.form not in earlier:
            forms[cell] = (*earlier, item.form)
    return forms


def judge(right: Mapping[Cell, Sequence[str]], predicted: Mapping[Cell, str]) -> list[Judged]:
    """Every cell of the gold once, in the order of the file."""
    bundles = {features: Bundle(features) for features in {features for _, features in right}}
    judged = []
    for cell, forms in right.items():
        lemma, features = cell
        form = predicted.get(cell, "")
        nearest = forms[0] if len(forms) == 1 else min(forms, key=lambda candidate: distance(candidate, form))
        edits = 0 if nearest == form else distance(nearest, form)
        judged.append(Judged(lemma, bundles[features], nearest, form, edits, cell not in predicted))
    return judged


@dataclass(frozen=True)
class Score:
    """Counts over some cells, and the figures of the shared task."""

    items: int
    correct: int
    edits: int
    missing: int

    @classmethod
    def of(cls, cells: Sequence[Judged]) -> "Score":
        correct, edits = sum(cell.correct for cell in cells), sum(cell.distance for cell in cells)
        return cls(len(cells), correct, edits, missing=sum(cell.missing for cell in cells))

    @property
    def accuracy(self) -> float:
        """Per cent of predictions that equal the form to the character."""
        return round(100 * self.correct / self.items, DECIMALS)

    @property
    def levenshtein(self) -> float:
        """Mean number of characters to insert, delete or replace."""
        return round(self.edits / self.items, DECIMALS)


@dataclass(frozen=True)
class Evaluation(Score):
    """The score of predictions for a gold file."""

    name: str
    cells: list[Judged]
    """Empty if only the score is kept."""
    variants: Variants
    gold_digest: str
    seen: Score | None = None
    """Of the cells whose bundle the training items have, if these are known."""
    words: str = ""
    """The name and digest of the word list that the predictions were made with, if any."""

    @property
    def signature(self) -> str:
        more = {"words": self.words} if self.words else {}
        return signature(data=self.name, items=self.items, gold=self.gold_digest, variants=self.variants, **more)


@dataclass(frozen=True)
class MacroEvaluation:
    """Macro averages: the means of the languages' rounded figures, which a reader can recompute from the table."""

    name: str
    languages: Mapping[str, Evaluation]

    @property
    def accuracy(self) -> float:
        return round(fmean(language.accuracy for language in self.languages.values()), DECIMALS)

    @property
    def levenshtein(self) -> float:
        return round(fmean(language.levenshtein for language in self.languages.values()), DECIMALS)

    @property
    def items(self) -> int:
        return sum(language.items for language in self.languages.values())

    @property
    def missing(self) -> int:
        return sum(language.missing for language in self.languages.values())

    @property
    def cells(self) -> list[Judged]:
        """The cells of all languages in order."""
        return [cell for language in self.languages.values() for cell in language.cells]

    @property
    def signature(self) -> str:
        return signature(
            data=self.name,
            languages=len(self.languages),
            average="macro",
            items=self.items,
            gold=_digest(f"{name}\t{scores.gold_digest}" for name, scores in self.languages.items()),
            variants="+".join(sorted({scores.variants for scores in self.languages.values()})),
        )


Evaluated: TypeAlias = Evaluation | MacroEvaluation


def evaluate(
    gold: Iterable[Item] | Path | str,
    predicted: Iterable[Item] | Path | str,
    *,
    name: str = "gold",
    variants: Variants = "last",
) -> Evaluation:
    """Score predictions against gold, both given as items or as a file. `name` is the data's name in the signature."""
    if isinstance(gold, (Path, str)):
        gold = read_items(gold)
    if isinstance(predicted, (Path, str)):
        predicted = read_items(predicted, forms="optional")
    right = right_forms(gold, variants)
    if not right:
        raise InputError("found no gold items to score against", "give at least one")
    cells = judge(right, {(item.lemma, item.features.spelling): item.form for item in predicted})
    score = vars(Score.of(cells))
    gold_digest = _digest("\t".join((*cell, *sorted(forms))) for cell, forms in sorted(right.items()))
    return Evaluation(**score, name=name, cells=cells, variants=variants, gold_digest=gold_digest)


def breakdown(cells: Iterable[Judged], by: Grouping) -> dict[str, Score]:
    """The score of every bundle or part of speech, the most frequent first."""
    groups = grouped(cells, lambda cell: cell.features.spelling if by == "features" else cell.features.part_of_speech)
    return {name: Score.of(groups[name]) for name in sorted(groups, key=lambda name: (-len(groups[name]), name))}


def signature(**fields: object) -> str:
    """`data:german-dev|items:1000|…|version:reinflect-0.1.0`"""
    parts = []
    for name, value in fields.items():  # a file name may have the characters that separate the fields
        plain = (letter if letter.isprintable() and letter not in "|: " else "_" for letter in str(value))
        parts.append(f"{name}:{''.join(plain)}")
    return "|".join([*parts, f"version:reinflect-{__version__}"])


def _digest(lines: Iterable[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
