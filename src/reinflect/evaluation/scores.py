"""Scores: of one file, of groups of its cells, of many languages; each whole score with its signature."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.items import Item, read_items
from reinflect.errors import InputError
from reinflect.evaluation.cells import Cell, Judged, Variants, judge_forms, right_forms
from reinflect.evaluation.signature import digest_of, digest_of_forms, signature

DECIMALS = 2
Grouping = Literal["features", "pos"]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over some cells, and what the shared task makes of them."""

    items: int
    correct: int
    edits: int
    missing: int

    @classmethod
    def of(cls, cells: Sequence[Judged]) -> "Score":
        return cls(
            items=len(cells),
            correct=sum(cell.distance == 0 for cell in cells),
            edits=sum(cell.distance for cell in cells),
            missing=sum(cell.missing for cell in cells),
        )

    @classmethod
    def counted(cls, right: Mapping[Cell, Sequence[str]], predicted: Mapping[Cell, str]) -> "Score":
        """The same as of judged cells, for where there are very many."""
        wrong = [
            (forms, predicted.get(cell, "")) for cell, forms in right.items() if predicted.get(cell, "") not in forms
        ]
        return cls(
            items=len(right),
            correct=len(right) - len(wrong),
            edits=sum(min(distance(one, form) for one in forms) for forms, form in wrong),
            missing=sum(cell not in predicted for cell in right),
        )

    @property
    def accuracy(self) -> float:
        """Per cent of the cells whose prediction is right to the code point."""
        return round(100 * self.correct / self.items, DECIMALS)

    @property
    def levenshtein(self) -> float:
        """Mean number of letters to insert, delete or replace."""
        return round(self.edits / self.items, DECIMALS)


@dataclass(frozen=True)
class Evaluation:
    """Predictions for one gold file, judged cell by cell."""

    name: str
    cells: list[Judged]
    """Empty where only the figures are kept."""
    variants: Variants
    gold_digest: str
    score: Score

    @property
    def accuracy(self) -> float:
        return self.score.accuracy

    @property
    def levenshtein(self) -> float:
        return self.score.levenshtein

    @property
    def items(self) -> int:
        return self.score.items

    @property
    def missing(self) -> int:
        return self.score.missing

    @property
    def signature(self) -> str:
        return signature(data=self.name, items=self.items, gold=self.gold_digest, variants=self.variants)


@dataclass(frozen=True)
class MacroEvaluation:
    """Many languages, each counting the same whatever its size.

    The averages are taken over the rounded figures of the languages, so that they follow from the table a reader sees.
    """

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
        """The cells of all languages, one after the other."""
        return [cell for language in self.languages.values() for cell in language.cells]

    @property
    def signature(self) -> str:
        return signature(
            data=self.name,
            languages=len(self.languages),
            average="macro",
            items=self.items,
            gold=digest_of(f"{name}\t{one.gold_digest}" for name, one in self.languages.items()),
            variants="+".join(sorted({one.variants for one in self.languages.values()})),
        )


def evaluate(
    gold: Iterable[Item] | Path | str,
    predicted: Iterable[Item] | Path | str,
    *,
    name: str = "gold",
    variants: Variants = "last",
) -> Evaluation:
    """Score predictions against the right forms, both given as items or as the file that they are in.

    `name` says in the signature what data this is.
    """
    if isinstance(gold, (Path, str)):
        gold = read_items(gold)
    if isinstance(predicted, (Path, str)):
        predicted = read_items(predicted, forms="optional")
    right = right_forms(gold, variants)
    if not right:
        raise InputError("found no gold items to score against", "give at least one")
    cells = judge_forms(right, predicted)
    return Evaluation(name, cells, variants, digest_of_forms(right), Score.of(cells))


def evaluate_languages(
    languages: Mapping[str, tuple[Iterable[Item], Iterable[Item]]], *, name: str = "gold", variants: Variants = "last"
) -> MacroEvaluation:
    """Score several languages, each given as its gold and its predictions."""
    if not languages:
        raise InputError("found no languages to score", "give at least one")
    scored = {
        language: evaluate(gold, predicted, name=language, variants=variants)
        for language, (gold, predicted) in languages.items()
    }
    return MacroEvaluation(name, scored)


def breakdown(cells: Iterable[Judged], by: Grouping) -> dict[str, Score]:
    """The score of every feature bundle or part of speech, the commonest first."""
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for cell in cells:
        groups[cell.features.spelling if by == "features" else cell.features.part_of_speech].append(cell)
    return {name: Score.of(groups[name]) for name in sorted(groups, key=lambda name: (-len(groups[name]), name))}
