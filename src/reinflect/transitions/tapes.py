"""Actions as index arrays, for training and decoding to gather by.

The oracle is static: where the pointer stands at each action, which actions are valid there, how far each LSTM has
read are all known before training. A tape holds them as numbers, so that a training step is a few LSTM runs over
whole sequences and some gathers.

Letters: N lemma positions, T actions, Y written characters, K deleted characters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.transitions import edits, write_step
from reinflect.transitions.actions import is_write

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

HACM_SPECIALS = (UNKNOWN, write_step.BEGIN, write_step.END, write_step.STEP)
HAEM_SPECIALS = (edits.COPY, edits.DELETE, edits.STOP)


def hacm_symbols(characters: Iterable[str]) -> Vocabulary:
    """One table for lemma characters and actions: in HACM they are the same things."""
    return Vocabulary.of(HACM_SPECIALS, characters)


def haem_characters(characters: Iterable[str]) -> Vocabulary:
    return Vocabulary.of((UNKNOWN,), characters)


def haem_actions(characters: Iterable[str]) -> Vocabulary:
    return Vocabulary.of(HAEM_SPECIALS, characters)


@dataclass(frozen=True, slots=True)
class HacmTape:
    """HACM's indices for one item; all numbers are of `hacm_symbols`."""

    lemma: Indices
    """`<s> x_1 … x_n </s>`. *Shape:* (N = n + 2)"""
    attended: Indices
    """The pointer at each action. *Shape:* (T)"""
    previous: Indices
    """The action before each action, `<s>` before the first. *Shape:* (T)"""
    targets: Indices
    """*Shape:* (T)"""


@dataclass(frozen=True, slots=True)
class HaemTape:
    """HAEM's indices for one item; a state 0 is an LSTM that is empty, a state k one that has read k symbols."""

    lemma: Indices
    """x_1 … x_n, in `haem_characters`. *Shape:* (N = n)"""
    attended: Indices
    """The pointer at each action from 0; n when the lemma is used up. *Shape:* (T)"""
    targets: Indices
    """In `haem_actions`; the symbols LSTM^a reads are these as well, its state before action t is t. *Shape:* (T)"""
    lemma_left: Flags
    """Whether COPY and DELETE are valid (else STOP is); WRITE always is. *Shape:* (T)"""
    written: Indices
    """What LSTM^y reads: characters written or copied, in `haem_characters`. *Shape:* (Y)"""
    written_state: Indices
    """*Shape:* (T)"""
    deleted: Indices
    """What LSTM^d reads: deleted characters, in `haem_characters`. *Shape:* (K)"""
    deleted_resets: Flags
    """Whether LSTM^d is empty before it reads this one, as a WRITE has come since the last. *Shape:* (K)"""
    deleted_state: Indices
    """The number of the deleted character LSTM^d read last, from 1; 0 when it is empty. *Shape:* (T)"""


def hacm_tape(lemma: str, actions: Sequence[str], symbols: Vocabulary) -> HacmTape:
    positions = [step.position for step in write_step.walk(actions, lemma)]
    return HacmTape(
        lemma=_indices(symbols.numbers([write_step.BEGIN, *lemma, write_step.END])),
        attended=_indices(positions),
        previous=_indices(symbols.numbers([write_step.BEGIN, *actions[:-1]])),
        targets=_indices(symbols.numbers(actions)),
    )


def haem_tape(lemma: str, actions: Sequence[str], characters: Vocabulary, inventory: Vocabulary) -> HaemTape:
    attended, lemma_left, written_state, deleted_state = [], [], [], []
    written: list[str] = []
    deleted: list[str] = []
    resets: list[bool] = []
    last_deleted = 0
    for step in edits.walk(actions, lemma):
        attended.append(step.position - 1)
        lemma_left.append(bool(step.attended))
        written_state.append(len(written))
        deleted_state.append(last_deleted)
        written += step.written
        if step.action == edits.DELETE:
            resets.append(last_deleted == 0)
            deleted.append(step.attended)
            last_deleted = len(deleted)
        elif is_write(step.action):
            last_deleted = 0
    return HaemTape(
        lemma=_indices(characters.numbers(lemma)),
        attended=_indices(attended),
        targets=_indices(inventory.numbers(actions)),
        lemma_left=np.array(lemma_left, dtype=np.bool_),
        written=_indices(characters.numbers(written)),
        written_state=_indices(written_state),
        deleted=_indices(characters.numbers(deleted)),
        deleted_resets=np.array(resets, dtype=np.bool_),
        deleted_state=_indices(deleted_state),
    )


def _indices(numbers: Sequence[int]) -> Indices:
    return np.array(numbers, dtype=np.int64)
