"""Greedy decoding and beam search of many items and models, and the filter for repeated letters (§5).

NumPy's products are small here. With several threads for one product, the threads wait for each other, and a word takes
up to a hundred times as long; so each product gets one thread, and threads share the models.
"""

import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from heapq import nlargest
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.systems.system import Hypotheses, Words

LEAST_ACTIONS = 150
ENDLESS_RUN = 30
"""Decoding stops after a run of one character that is this much longer than the source: the filter for repeats would
replace the form anyway. (The source's length is added because the lemma may itself be one long run.)"""
WIDTH = 5
NEVER = float("-inf")
SUSPICIOUS = 4
_RUN = re.compile(rf"(.)\1{{{SUSPICIOUS - 1},}}", re.DOTALL)


class Predictions(NamedTuple):
    """The predictions of a model for the items of a file."""

    forms: list[str | None]
    """None where decoding did not end."""
    log_probabilities: list[float]
    """Of all actions taken."""


class Scored(NamedTuple):
    """A form and its log-probability: the sum over all hypotheses that write it."""

    form: str
    log_probability: float


def most_actions(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The caps on actions for sources of these lengths: HACM needs one for each symbol of source and form."""
    return np.maximum(LEAST_ACTIONS, 4 * lengths + 50)


def is_endless(form: str, length: int) -> bool:
    """Whether a form ends in a run that is too long for a source of this length."""
    return bool(form) and form.endswith(form[-1] * (ENDLESS_RUN + length))


def merged(hypotheses: Iterable[Scored], n: int) -> list[Scored]:
    """The n most probable forms; the probabilities of hypotheses with the same form are added up."""
    ways: defaultdict[str, list[float]] = defaultdict(list)
    for form, score in hypotheses:
        if score > NEVER:
            ways[form].append(score)
    sums = ((form, max(scores), scores) for form, scores in ways.items())
    added = [Scored(f, min(0.0, most + math.log(sum(math.exp(s - most) for s in scores)))) for f, most, scores in sums]
    return sorted(added, key=lambda scored: -scored.log_probability)[:n]


def longest_runs(words: Iterable[str]) -> dict[str, int]:
    """The longest run of each character that occurs at least `SUSPICIOUS` times in a row."""
    longest: dict[str, int] = {}
    for word in words:
        for run in _RUN.finditer(word):
            longest[run[1]] = max(len(run[0]), longest.get(run[1], 0))
    return longest


def filtered(forms: Sequence[str | None], lemmas: Sequence[str], known_runs: Mapping[str, int]) -> list[str]:
    """Each form, or its lemma if decoding did not end (None) or if the form repeats a character too often.

    `known_runs` are the longest runs of the training words.
    """

    def repeats(form: str, lemma: str) -> bool:
        runs = longest_runs([lemma])
        return any(run > max(known_runs.get(c, 0), runs.get(c, 0)) for c, run in longest_runs([form]).items())

    ended = [lemma if form is None else form for form, lemma in zip(forms, lemmas, strict=True)]
    if not _RUN.search("\n".join(ended)):  # one search for all, because few forms have a run
        return ended
    return [lemma if repeats(form, lemma) else form for form, lemma in zip(ended, lemmas, strict=True)]


BATCH = 128
"""Hypotheses decoded together: with fewer, each product is too small; with more, their numbers leave the cache."""
WORTH_THREADS = 1500
"""Items times models: with fewer, threads wait for each other more than they gain."""
UNFLAGGED = np.errstate(invalid="ignore")
"""Models are finite, but a product of some BLAS was seen to flag invalid numbers, once in many runs."""
Model = TypeVar("Model")
Decoded = TypeVar("Decoded")
_alone = RLock()


@UNFLAGGED
def greedy(words: Words, items: Sequence[Item]) -> Predictions:
    """The forms that the most probable actions write."""
    forms: list[str | None] = [None] * len(items)
    totals = np.zeros(len(items))
    for numbers, hypotheses in _batches(words, items, BATCH):
        running, texts, steps = np.arange(len(numbers)), [""] * len(numbers), 0
        while len(running):
            scores, steps = hypotheses.log_probabilities(), steps + 1
            actions = scores.argmax(axis=1)
            totals[numbers[running]] += scores[np.arange(len(running)), actions]
            ends = actions == words.end
            if ends.any():
                for item in running[ends]:
                    forms[numbers[item]] = texts[item]
                hypotheses.keep(np.flatnonzero(~ends))
                running, actions = running[~ends], actions[~ends]
            for item, written in zip(running.tolist(), hypotheses.advance(actions), strict=True):
                texts[item] += written
            lasting = _lasting(hypotheses, running, [texts[item] for item in running.tolist()], steps)
            if not lasting.all():
                hypotheses.keep(np.flatnonzero(lasting))
                running = running[lasting]
    return Predictions(forms, totals.tolist())


@UNFLAGGED
def beam(words: Words, items: Sequence[Item], width: int, n: int) -> list[list[Scored]]:
    """At most n forms for each item, the most probable first; none if no hypothesis ended.

    At every step each hypothesis of an item is extended by every action, and the best `width` continue. One that ends
    among the best is finished; the search for an item ends when it has `width` finished hypotheses that are at least as
    probable as every unfinished one. Different actions can write the same form: their probabilities are added up.
    """
    answers: list[list[Scored]] = [[] for _ in items]
    for numbers, hypotheses in _batches(words, items, max(1, BATCH // width)):
        finished: list[list[Scored]] = [[] for _ in numbers]
        running, texts, totals, steps = np.arange(len(numbers)), [""] * len(numbers), np.zeros(len(numbers)), 0
        while len(running):
            extended, steps = totals[:, np.newaxis] + hypotheses.log_probabilities(), steps + 1
            unfinished: list[tuple[int, int, float]] = []
            for item, ways in _best(extended, running, 2 * width):
                # A hypothesis can end only once, so at most half of the ways end.
                ended = [Scored(texts[row], total) for row, action, total in ways[:width] if action == words.end]
                finished[item] = nlargest(width, finished[item] + ended, key=lambda scored: scored.log_probability)
                unfinished += [way for way in ways if way[1] != words.end][:width]
            if not unfinished:
                break
            parents, actions, totals = (np.array(column) for column in zip(*unfinished, strict=True))
            hypotheses.keep(parents)
            running = running[parents]
            texts = [texts[row] + written for row, written in zip(parents, hypotheses.advance(actions), strict=True)]
            lasting = _lasting(hypotheses, running, texts, steps)
            best = np.full(len(numbers), NEVER)
            np.maximum.at(best, running[lasting], totals[lasting])
            least = [forms[-1].log_probability if len(forms) == width else NEVER for forms in finished]
            rows = np.flatnonzero(lasting & (best > least)[running])
            if len(rows) < len(running):
                hypotheses.keep(rows)
                running, texts, totals = running[rows], [texts[row] for row in rows], totals[rows]
        for number, forms in zip(numbers, finished, strict=True):
            answers[number] = merged(forms, n)
    return answers


def _batches(words: Words, items: Sequence[Item], size: int) -> Iterator[tuple[NDArray[np.int64], Hypotheses]]:
    """The numbers of some items and their hypotheses; items of a batch have similar lengths, the longest come first."""
    order = np.argsort([-len(item.lemma) for item in items], kind="stable")
    for start in range(0, len(order), size):
        numbers = order[start : start + size]
        yield numbers, words.start([items[number] for number in numbers])


def _lasting(hypotheses: Hypotheses, running: NDArray[np.int64], texts: Sequence[str], steps: int) -> NDArray[np.bool_]:
    """Which hypotheses have not yet reached their cap, or an endless run."""
    lengths = hypotheses.lengths[running]
    lasting: NDArray[np.bool_] = steps < most_actions(lengths)
    if steps >= ENDLESS_RUN:
        pairs = zip(texts, lengths.tolist(), strict=True)
        lasting &= np.array([not is_endless(text, length) for text, length in pairs], dtype=bool)
    return lasting


def _best(
    extended: NDArray[np.float64], running: NDArray[np.int64], most: int
) -> Iterator[tuple[int, list[tuple[int, int, float]]]]:
    """The best ways to go on with each item: hypothesis, action and log-probability, the most probable first.

    *Shapes:* extended (K, A), running (K)
    """
    items, first, owner = np.unique(running, return_index=True, return_inverse=True)
    table = np.full((len(items), np.bincount(owner).max(), extended.shape[1]), NEVER)
    table[owner, np.arange(len(running)) - first[owner]] = extended
    flat = table.reshape(len(items), -1)
    near = np.sort(np.argpartition(-flat, min(most, flat.shape[1]) - 1, axis=1)[:, :most], axis=1)
    order = np.argsort(-np.take_along_axis(flat, near, axis=1), axis=1, kind="stable")  # the first of equals
    near = np.take_along_axis(near, order, axis=1)
    rows, actions = near // extended.shape[1] + first[:, np.newaxis], near % extended.shape[1]
    columns = rows.tolist(), actions.tolist(), np.take_along_axis(flat, near, axis=1).tolist()
    for item, *ways in zip(items.tolist(), *columns, strict=True):
        yield item, [way for way in zip(*ways, strict=True) if way[2] > NEVER]


def shared_out(decode: Callable[[Model], Decoded], models: Sequence[Model], items: int) -> list[Decoded]:
    """The result of `decode` for each model; the number of threads, chosen for this many items, changes no result."""
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = min(len(models), int(chosen) if chosen.isdecimal() and int(chosen) else cores)
    with one_blas_thread(), ThreadPoolExecutor(max(1, threads)) as pool:
        return list((pool.map if threads > 1 and items * len(models) >= WORTH_THREADS else map)(decode, models))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Make NumPy's products by one thread in the block, which other threads must wait for: the limit is the process's.

    There is nothing to wait for where the environment set the limit before NumPy was imported, as it does for commands.
    """
    blas: str = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    if "openblas" in blas and (os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")) == "1":
        yield
    else:
        with _alone, _controller().limit(limits=1, user_api="blas"):
            yield


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # importing it takes as long as inflecting many words

    return ThreadpoolController()
