"""Actions as index arrays, which training gathers by: both oracles computed on the characters of a whole file.

The oracle is static: the pointer at each action, the valid actions, and how far each LSTM has read are known before
training. A tape holds them as numbers, so that a training step is a few LSTM passes over whole sequences and some
gathers.

Letters in shapes: I items, T actions, Y written characters, K deleted characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reinflect.align.pairs import EPSILON, Alignment
from reinflect.systems.oracle import COPY, DELETE, END, STEP, STOP
from reinflect.systems.symbols import Vocabulary

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

NONE = -1
"""Marks a place without an action."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """The numbers of many items, end to end."""

    values: NDArray[Any]
    lengths: Indices
    """How many numbers each item has. *Shape:* (I)"""

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "Ragged":
        """The symbols of each row as numbers."""
        symbols = list(chain.from_iterable(rows))
        distinct = set(symbols)
        table = dict(zip(distinct, vocabulary.numbers(distinct), strict=True))
        numbers = np.fromiter(map(table.__getitem__, symbols), np.int64, len(symbols))
        return cls(numbers, np.fromiter(map(len, rows), np.int64, len(rows)))

    def reversed(self) -> "Ragged":
        """Each item's numbers in reverse order."""
        both_ends = np.repeat(2 * np.cumsum(self.lengths) - self.lengths - 1, self.lengths)
        return Ragged(self.values[both_ends - np.arange(len(self.values))], self.lengths)

    def with_last(self, value: int) -> "Ragged":
        """Each item with one more number at its end."""
        return Ragged(np.insert(self.values, np.cumsum(self.lengths), value), self.lengths + 1)

    def padded(self) -> NDArray[np.int32]:
        """A row per item, filled up with zeros; at least one place, so that an LSTM that reads nothing has a shape."""
        width = max(1, int(self.lengths.max()))
        rows = np.zeros((len(self.lengths), width), dtype=np.int32)
        rows[np.arange(width) < self.lengths[:, np.newaxis]] = self.values
        return rows


class _Pairs:
    """The characters of many alignments, numbered (0 for ε); each alignment is followed by one pair for its end."""

    def __init__(self, alignments: Sequence[Alignment]) -> None:
        ended = [(*alignment, (EPSILON, EPSILON)) for alignment in alignments]
        sides = list(chain.from_iterable(chain.from_iterable(ended)))
        self.letters = list(dict.fromkeys((EPSILON, *sides)))
        number = {letter: number for number, letter in enumerate(self.letters)}
        counts = np.fromiter(map(len, ended), np.int64, len(ended))
        self.ends = np.cumsum(counts) - 1
        self.rows = np.repeat(np.arange(len(ended)), counts)
        """The alignment of each pair."""
        self.lemma, self.form = np.fromiter(map(number.__getitem__, sides), np.int64, len(sides)).reshape(-1, 2).T

    def numbered(self, letters: Indices, vocabulary: Vocabulary) -> Indices:
        """Numbers of these letters in a vocabulary, which need not know the other letters."""
        table = np.zeros(len(self.letters), dtype=np.int64)
        used = np.flatnonzero(np.bincount(letters, minlength=1))
        table[used] = vocabulary.numbers(self.letters[letter] for letter in used)
        return table[letters]

    def lengths(self, rows: Indices) -> Indices:
        """How often each alignment occurs in `rows`."""
        return np.bincount(rows, minlength=len(self.ends))


def hacm_tapes(alignments: Sequence[Alignment], symbols: Vocabulary) -> dict[str, Ragged]:
    """The tapes of `oracle.write_step`: its actions, and the pointer in `<s> x_1 … x_n </s>` at each. *Shapes:* (T)"""
    step, end = symbols.numbers((STEP, END))
    pairs = _Pairs(alignments)
    actions = np.full((len(pairs.rows), 2), NONE, dtype=np.int64)
    actions[pairs.lemma > 0, 0] = step
    writes = pairs.form > 0
    actions[writes, 1] = pairs.numbered(pairs.form[writes], symbols)
    actions[pairs.ends] = step, end
    taken = actions != NONE
    actions = actions[taken]
    lengths = pairs.lengths(np.repeat(pairs.rows, 2)[taken.ravel()])
    return {"attended": Ragged(_before(actions == step, lengths), lengths), "actions": Ragged(actions, lengths)}


def haem_tapes(alignments: Sequence[Alignment], characters: Vocabulary, inventory: Vocabulary) -> dict[str, Ragged]:
    """The tapes of `oracle.edits`: for each pair a COPY, a DELETE, a WRITE, or a DELETE and a WRITE.

    State 0 of an LSTM is its initial state, state k the one after k symbols.

    - attended: the pointer at each action, from 1; 0 past the end of the lemma. *Shape:* (T) per item
    - actions: numbers in `inventory`. LSTM^a reads them too: its state before action t is t. *Shape:* (T)
    - lemma_left: whether COPY and DELETE are valid (else STOP is); WRITE always is. *Shape:* (T)
    - written: what LSTM^y reads, the characters written or copied. *Shape:* (Y)
    - written_state. *Shape:* (T)
    - deleted: what LSTM^d reads, the deleted characters. *Shape:* (K)
    - keep: false if LSTM^d is reset before it reads this character, because of a WRITE since the last. *Shape:* (K)
    - deleted_state: the number of the deleted character LSTM^d read last, from 1; 0 after a reset. *Shape:* (T)
    """
    copy, delete, stop = inventory.numbers((COPY, DELETE, STOP))
    pairs = _Pairs(alignments)
    actions = np.full((len(pairs.rows), 2), NONE, dtype=np.int64)
    has_lemma, writes = pairs.lemma > 0, (pairs.form > 0) & (pairs.form != pairs.lemma)
    actions[has_lemma, 0] = np.where(pairs.lemma == pairs.form, copy, delete)[has_lemma]
    actions[writes, 1] = pairs.numbered(pairs.form[writes], inventory)
    actions[pairs.ends, 0] = stop
    taken = (actions != NONE).ravel()
    actions = actions.ravel()[taken]
    letters = np.stack([pairs.lemma, pairs.form], axis=1).ravel()[taken]
    rows = np.repeat(pairs.rows, 2)[taken]

    # Within every stretch without COPY, all DELETEs come first.
    closes = (actions == copy) | (actions == stop)
    stretch = np.cumsum(closes) - closes
    order = np.argsort(3 * stretch + np.where(closes, 2, actions != delete), kind="stable")
    actions, letters = actions[order], letters[order]

    lengths = pairs.lengths(rows)
    deletes, copies = actions == delete, actions == copy
    wrote = ~deletes & (actions != stop)
    position = _before(deletes | copies, lengths)
    lemma_left = position < np.repeat(np.bincount(pairs.rows, weights=has_lemma).astype(np.int64), lengths)
    deleted_state = np.where(_latest(wrote & ~copies) > _latest(deletes), 0, _before(deletes, lengths))
    written_lengths, deleted_lengths = pairs.lengths(rows[wrote]), pairs.lengths(rows[deletes])
    return {
        "attended": Ragged(np.where(lemma_left, position + 1, 0), lengths),
        "actions": Ragged(actions, lengths),
        "lemma_left": Ragged(lemma_left, lengths),
        "written": Ragged(pairs.numbered(letters[wrote], characters), written_lengths),
        "written_state": Ragged(_before(wrote, lengths), lengths),
        "deleted": Ragged(pairs.numbered(letters[deletes], characters), deleted_lengths),
        "keep": Ragged(deleted_state[deletes] != 0, deleted_lengths),
        "deleted_state": Ragged(deleted_state, lengths),
    }


def _before(flags: Flags, lengths: Indices) -> Indices:
    """How many of the item's earlier places are flagged. Every item has at least one place. *Shape:* (all T)"""
    before: Indices = np.cumsum(flags) - flags
    before -= np.repeat(before[np.cumsum(lengths) - lengths], lengths)
    return before


def _latest(flags: Flags) -> Indices:
    """The latest flagged place before each place, in any item; -1 where there is none. *Shape:* (all T)"""
    latest = np.maximum.accumulate(np.where(flags, np.arange(len(flags)), NONE))
    return np.concatenate([[NONE], latest[:-1]])
