"""What a pocket model does not give, or not surely: the exceptions of its dictionary, and its confidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from models.choose import Word
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.decode.search import filtered, greedy, one_blas_thread
from reinflect.ensemble.confidence import Confidence, Evidence, fit
from reinflect.inflector.inflector import Inflector
from reinflect.systems.system import Hypotheses, Words

LEAST_MARGIN = 0.001
"""Of probability: with a smaller one, other processors might prefer the second action."""
ENOUGH_RARE = 200
"""With fewer rare words, a confidence is fitted on cells of unseen lemmas, too."""


class Watched:
    """The words of a model, and by how much its best action led the second one, at least, in each item."""

    def __init__(self, words: Words) -> None:
        self.words, self.end = words, words.end
        self.margins = dict[int, float]()
        """By the `id` of the item."""

    def start(self, items: Sequence[Item]) -> Any:
        return _Watched(self.words.start(items), list(map(id, items)), self.margins)


class _Watched:
    def __init__(self, hypotheses: Hypotheses, items: list[int], margins: dict[int, float]) -> None:
        self.hypotheses, self.lengths = hypotheses, hypotheses.lengths
        self.items, self.margins = np.array(items), margins
        margins.update(dict.fromkeys(items, 1.0))

    def log_probabilities(self) -> NDArray[Any]:
        scores = self.hypotheses.log_probabilities()
        second, best = np.exp(np.partition(scores, -2, axis=1)[:, -2:]).T
        for item, margin in zip(self.items.tolist(), (best - second).tolist(), strict=True):
            self.margins[item] = min(margin, self.margins[item])
        return scores

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.items = self.items[rows]
        self.hypotheses.keep(rows)

    def advance(self, actions: NDArray[np.int64]) -> list[str]:
        return self.hypotheses.advance(actions)


def exceptions(model: Inflector, table: Sequence[Word]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The forms of each cell, by lemma and bundle; none where the model gives the only form, and does so surely."""
    [member] = model.voters
    items, watched = [word.items[0] for word in table], Watched(member.words)
    with one_blas_thread():
        given, _ = greedy(watched, items)
    forms = filtered(given, [item.lemma for item in items], model.known_runs)
    cells = dict[str, dict[str, tuple[str, ...]]]()
    for word, item, form in zip(table, items, forms, strict=True):
        sure = (form,) == word.forms and watched.margins[id(item)] >= LEAST_MARGIN
        cells.setdefault(word.lemma, {})[word.bundle] = () if sure else word.forms
    return cells


def confidence(model: Inflector, rare: Sequence[Item], dev: Sequence[Item]) -> Confidence | None:
    """Fitted on rare words of running text; with cells of unseen lemmas, too, where they are few."""
    items = rare if len(rare) >= ENOUGH_RARE else [*rare, *dev]
    votes = [vote for vote, _ in model.candidates(items, 0)]
    evidence = [Evidence.of(vote.form, vote.forms, vote.log_probabilities, seen=True) for vote in votes]
    return fit(evidence, [vote.form == item.form for vote, item in zip(votes, items, strict=True)])
