"""Actions as index arrays, for training and decoding to gather by.

The oracle is static: where the pointer stands at each action, which actions are valid there, how far each LSTM has
read are all known before training. A tape holds them as numbers, so that a training step is a few LSTM runs over
whole sequences and some gathers.

The tapes of a whole file are made at once, without a loop over its items: the oracles of `write_step` and `edits` are
carried out here on arrays of letters.

Letters: N lemma positions, T actions, Y written characters, K deleted characters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reinflect.alignment.pairs import EPSILON, Alignment
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.transitions import edits, write_step

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

HACM_SPECIALS = (UNKNOWN, write_step.BEGIN, write_step.END, write_step.STEP)
HAEM_SPECIALS = (edits.COPY, edits.DELETE, edits.STOP)
NONE = -1
"""Where there is no action."""


def hacm_symbols(characters: Iterable[str]) -> Vocabulary:
    """One table for lemma characters and actions: in HACM they are the same things."""
    return Vocabulary.of(HACM_SPECIALS, characters)


def haem_characters(characters: Iterable[str]) -> Vocabulary:
    return Vocabulary.of((UNKNOWN,), characters)


def haem_actions(characters: Iterable[str]) -> Vocabulary:
    return Vocabulary.of(HAEM_SPECIALS, characters)


@dataclass(frozen=True, slots=True)
class Ragged:
    """Numbers of many items, those of one behind those of another."""

    values: NDArray[Any]
    lengths: Indices
    """How many each item has. *Shape:* (I)"""

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "Ragged":
        """An item's symbols as numbers."""
        symbols = list(chain.from_iterable(rows))
        known = {symbol: vocabulary.number(symbol) for symbol in set(symbols)}
        numbers = np.fromiter(map(known.__getitem__, symbols), np.int64, len(symbols))
        return cls(numbers, np.fromiter(map(len, rows), np.int64, len(rows)))

    @property
    def starts(self) -> Indices:
        """Where each item's numbers begin. *Shape:* (I)"""
        return np.cumsum(self.lengths) - self.lengths

    def item(self, number: int) -> NDArray[Any]:
        start = self.starts[number]
        return self.values[start : start + self.lengths[number]]

    def reversed(self) -> "Ragged":
        """Each item's from its last back."""
        both_ends = np.repeat(2 * self.starts + self.lengths - 1, self.lengths)
        return Ragged(self.values[both_ends - np.arange(len(self.values))], self.lengths)

    def with_last(self, value: int) -> "Ragged":
        """Each item with one more number behind."""
        return Ragged(np.insert(self.values, np.cumsum(self.lengths), value), self.lengths + 1)

    def padded(self) -> NDArray[np.int32]:
        """A row an item, zeros behind; at least one place, so that an LSTM that reads nothing still has a shape."""
        width = max(1, int(self.lengths.max()))
        rows = np.zeros((len(self.lengths), width), dtype=np.int32)
        rows[np.arange(width) < self.lengths[:, np.newaxis]] = self.values
        return rows


@dataclass(frozen=True, slots=True)
class HacmTapes:
    """HACM's indices; all numbers are of `hacm_symbols`."""

    attended: Ragged
    """The pointer at each action, in `<s> x_1 … x_n </s>`. *Shape:* (T) an item"""
    previous: Ragged
    """The action before each action, `<s>` before the first. *Shape:* (T)"""
    targets: Ragged
    """*Shape:* (T)"""


@dataclass(frozen=True, slots=True)
class HaemTapes:
    """HAEM's indices; a state 0 is an LSTM that is empty, a state k one that has read k symbols."""

    attended: Ragged
    """The pointer at each action from 0; n when the lemma is used up. *Shape:* (T) an item"""
    targets: Ragged
    """In `haem_actions`; the symbols LSTM^a reads are these as well, its state before action t is t. *Shape:* (T)"""
    lemma_left: Ragged
    """Whether COPY and DELETE are valid (else STOP is); WRITE always is. *Shape:* (T)"""
    written: Ragged
    """What LSTM^y reads: characters written or copied, in `haem_characters`. *Shape:* (Y)"""
    written_state: Ragged
    """*Shape:* (T)"""
    deleted: Ragged
    """What LSTM^d reads: deleted characters, in `haem_characters`. *Shape:* (K)"""
    deleted_resets: Ragged
    """Whether LSTM^d is empty before it reads this one, as a WRITE has come since the last. *Shape:* (K)"""
    deleted_state: Ragged
    """The number of the deleted character LSTM^d read last, from 1; 0 when it is empty. *Shape:* (T)"""


class _Pairs:
    """The letters of many alignments as numbers of their own, 0 for none; behind each alignment a pair for its end."""

    def __init__(self, alignments: Sequence[Alignment]) -> None:
        sides = list(chain.from_iterable(chain.from_iterable(alignments)))
        self.letters = list(dict.fromkeys((EPSILON, *sides)))
        number = {letter: number for number, letter in enumerate(self.letters)}
        counts = np.fromiter(map(len, alignments), np.int64, len(alignments))
        self.ends = np.cumsum(counts + 1) - 1
        self.rows = np.repeat(np.arange(len(alignments)), counts + 1)
        """The alignment of each pair."""
        numbers = np.fromiter(map(number.__getitem__, sides), np.int64, len(sides)).reshape(-1, 2)
        both = np.zeros((len(self.rows), 2), dtype=np.int64)
        both[np.arange(len(numbers)) + np.repeat(np.arange(len(alignments)), counts)] = numbers
        self.lemma, self.form = both[:, 0], both[:, 1]

    def numbered(self, letters: Indices, vocabulary: Vocabulary) -> Indices:
        """These letters as that vocabulary numbers them; it is asked for no others."""
        table = np.zeros(len(self.letters), dtype=np.int64)
        used = np.flatnonzero(np.bincount(letters, minlength=1))
        table[used] = vocabulary.numbers(self.letters[letter] for letter in used)
        return table[letters]

    def lengths(self, rows: Indices) -> Indices:
        """How often each alignment is among these."""
        return np.bincount(rows, minlength=len(self.ends))


def hacm_tapes(alignments: Sequence[Alignment], symbols: Vocabulary) -> HacmTapes:
    """The tapes of `write_step.oracle`: for each pair a STEP, if it has a lemma character, and a character to write."""
    step, end, begin = (symbols.number(symbol) for symbol in (write_step.STEP, write_step.END, write_step.BEGIN))
    pairs = _Pairs(alignments)
    actions = np.full((len(pairs.rows), 2), NONE, dtype=np.int64)
    actions[pairs.lemma > 0, 0] = step
    writes = pairs.form > 0
    actions[writes, 1] = pairs.numbered(pairs.form[writes], symbols)
    actions[pairs.ends] = step, end
    taken = actions != NONE
    targets = actions[taken]
    lengths = pairs.lengths(np.repeat(pairs.rows, 2)[taken.ravel()])
    previous = np.roll(targets, 1)
    previous[np.cumsum(lengths) - lengths] = begin
    return HacmTapes(
        attended=Ragged(_before(targets == step, lengths), lengths),
        previous=Ragged(previous, lengths),
        targets=Ragged(targets, lengths),
    )


def haem_tapes(alignments: Sequence[Alignment], characters: Vocabulary, inventory: Vocabulary) -> HaemTapes:
    """The tapes of `edits.oracle`: for each pair a COPY, or a DELETE, or a character to write, or both of these."""
    copy, delete, stop = (inventory.number(action) for action in HAEM_SPECIALS)
    pairs = _Pairs(alignments)
    actions = np.full((len(pairs.rows), 2), NONE, dtype=np.int64)
    has_lemma, writes = pairs.lemma > 0, (pairs.form > 0) & (pairs.form != pairs.lemma)
    actions[has_lemma, 0] = np.where(pairs.lemma == pairs.form, copy, delete)[has_lemma]
    actions[writes, 1] = pairs.numbered(pairs.form[writes], inventory)
    actions[pairs.ends, 0] = stop
    taken = (actions != NONE).ravel()
    targets = actions.ravel()[taken]
    letters = np.stack([pairs.lemma, pairs.form], axis=1).ravel()[taken]
    rows = np.repeat(pairs.rows, 2)[taken]

    # Within every stretch without COPY, all DELETEs come first.
    closes = (targets == copy) | (targets == stop)
    stretch = np.cumsum(closes) - closes
    order = np.argsort(3 * stretch + np.where(closes, 2, targets != delete), kind="stable")
    targets, letters = targets[order], letters[order]

    lengths = pairs.lengths(rows)
    deletes, copies = targets == delete, targets == copy
    wrote = ~deletes & (targets != stop)
    attended = _before(deletes | copies, lengths)
    lemma_length = np.bincount(pairs.rows, weights=has_lemma).astype(np.int64)
    deleted_state = np.where(_latest(wrote & ~copies) > _latest(deletes), 0, _before(deletes, lengths))
    return HaemTapes(
        attended=Ragged(attended, lengths),
        targets=Ragged(targets, lengths),
        lemma_left=Ragged(attended < np.repeat(lemma_length, lengths), lengths),
        written=Ragged(pairs.numbered(letters[wrote], characters), pairs.lengths(rows[wrote])),
        written_state=Ragged(_before(wrote, lengths), lengths),
        deleted=Ragged(pairs.numbered(letters[deletes], characters), pairs.lengths(rows[deletes])),
        deleted_resets=Ragged(deleted_state[deletes] == 0, pairs.lengths(rows[deletes])),
        deleted_state=Ragged(deleted_state, lengths),
    )


def _before(flags: Flags, lengths: Indices) -> Indices:
    """How many of an item's earlier ones are flagged. Every item has at least one. *Shape:* (all T)"""
    before: Indices = np.cumsum(flags) - flags
    own: Indices = before - np.repeat(before[np.cumsum(lengths) - lengths], lengths)
    return own


def _latest(flags: Flags) -> Indices:
    """The place of the latest flag before each place, of whatever item; -1 where there is none. *Shape:* (all T)"""
    latest = np.maximum.accumulate(np.where(flags, np.arange(len(flags)), NONE))
    return np.concatenate([[NONE], latest[:-1]])
