"""Cells of the gold, each with its prediction and the distance between the two.

The rules are those of the shared task: a cell is a lemma with a bundle; if a file gives a cell several times, the last
line counts; a cell without a prediction has the empty string predicted; predictions for other cells are ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from reinflect.data.features import Bundle
from reinflect.data.items import Item

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
        known = forms.get(cell, ()) if variants == "any" else ()
        if item.form not in known:
            forms[cell] = (*known, item.form)
    return forms


def judge(right: Mapping[Cell, Sequence[str]], predicted: Iterable[Item]) -> list[Judged]:
    """Every cell of the gold once, in the order of the file."""
    from rapidfuzz.distance.Levenshtein import distance  # a word is inflected without it

    predictions = {(item.lemma, item.features.spelling): item.form for item in predicted}
    bundles = {features: Bundle(features) for features in {features for _, features in right}}
    judged = []
    for cell, forms in right.items():
        lemma, features = cell
        form = predictions.get(cell, "")
        nearest = forms[0] if len(forms) == 1 else min(forms, key=lambda candidate: distance(candidate, form))
        away = 0 if nearest == form else distance(nearest, form)
        judged.append(Judged(lemma, bundles[features], nearest, form, away, cell not in predictions))
    return judged
