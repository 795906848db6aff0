"""Cells of the gold, each with its prediction and how far off that is.

The rules are the shared task's: a cell is a lemma and the spelling of its features; where a file gives a cell several
times the last line counts; a cell without a prediction has the empty string predicted; other predictions are ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.features import Bundle
from reinflect.data.items import Item

Cell = tuple[str, str]
"""A lemma and the spelling of its features."""

Variants = Literal["last", "any"]
"""Which of several gold forms of one cell is right."""


class Judged(NamedTuple):
    """One cell of the gold. `gold` is the right form, with several of them the one nearest to the prediction."""

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
    """The forms that count as right for each cell, cells in the order of the file."""
    forms: dict[Cell, tuple[str, ...]] = {}
    for item in gold:
        cell = (item.lemma, item.features.spelling)
        known = forms.get(cell, ()) if variants == "any" else ()
        if item.form not in known:
            forms[cell] = (*known, item.form)
    return forms


def judge(gold: Iterable[Item], predicted: Iterable[Item], *, variants: Variants = "last") -> list[Judged]:
    """Every cell of the gold, once, in the order of the file."""
    return judge_forms(right_forms(gold, variants), predicted)


def judge_forms(right: Mapping[Cell, Sequence[str]], predicted: Iterable[Item]) -> list[Judged]:
    predictions = {(item.lemma, item.features.spelling): item.form for item in predicted}
    bundles: dict[str, Bundle] = {}  # thousands of cells share a few hundred
    judged = []
    for cell, forms in right.items():
        lemma, features = cell
        bundle = bundles.get(features) or bundles.setdefault(features, Bundle(features))
        prediction = predictions.get(cell)
        form = prediction or ""
        nearest = forms[0] if len(forms) == 1 else _nearest(forms, form)
        off = 0 if nearest == form else distance(nearest, form)
        judged.append(Judged(lemma, bundle, nearest, form, off, prediction is None))
    return judged


def _nearest(forms: Sequence[str], form: str) -> str:
    return min(forms, key=lambda candidate: distance(candidate, form))
