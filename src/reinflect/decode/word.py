"""Decoding of one word without torch: what `greedy.py` and `beam.py` do, for one model and one item."""

from collections.abc import Sequence

import numpy as np

from reinflect.decode.forms import ENDLESS_RUN, LEAST_ACTIONS, NEVER, Predictions, Scored, merged
from reinflect.systems.system import Word


def greedy_words(words: Sequence[Word]) -> Predictions:
    """The predictions of a model for some words."""
    found = [_greedy(word) for word in words]
    return Predictions([form for form, _ in found], [score for _, score in found])


def _greedy(word: Word) -> tuple[str | None, float]:
    """The form of the most probable actions, None if they do not end, and their log-probability."""
    form, total = "", 0.0
    for _ in range(_most_actions(word)):
        scores = word.log_probabilities()[0]
        action = int(scores.argmax())
        total += float(scores[action])
        if action == word.end:
            return form, total
        form += word.advance([0], [action])[0]
        if _is_endless(form, word):
            break
    return None, total


def beam_word(word: Word, width: int, n: int) -> list[Scored]:
    """At most n forms of a beam search, the most probable first."""
    texts, totals = [""], np.zeros(1)
    finished: list[Scored] = []
    for _ in range(_most_actions(word)):
        scores = totals[:, np.newaxis] + word.log_probabilities().astype(np.float64)
        order = np.argsort(-scores, axis=None, kind="stable")[: 2 * width]
        best = [(int(place), float(scores.flat[place])) for place in order if scores.flat[place] > NEVER]
        ways = [(*divmod(place, scores.shape[1]), score) for place, score in best]
        ended = [Scored(texts[parent], score) for parent, action, score in ways[:width] if action == word.end]
        finished = sorted([*finished, *ended], key=lambda own: -own.log_probability)[:width]
        going_on = [way for way in ways if way[1] != word.end][:width]
        if not going_on:
            break
        parents, actions, left = zip(*going_on, strict=True)
        written = word.advance(parents, actions)
        texts = [texts[parent] + new for parent, new in zip(parents, written, strict=True)]
        totals = np.where([_is_endless(text, word) for text in texts], NEVER, left)
        if totals.max() <= (finished[-1].log_probability if len(finished) == width else NEVER):
            break
    return merged(finished, n)


def _most_actions(word: Word) -> int:
    return max(LEAST_ACTIONS, 4 * len(word.lemma) + 50)


def _is_endless(form: str, word: Word) -> bool:
    return bool(form) and form.endswith(form[-1] * (ENDLESS_RUN + len(word.lemma)))
