"""The tapes say of every step what a machine that simply carries the oracle's actions out sees there."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.alignment.pairs import Alignment, sides
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.systems.haem.model import allowed_outputs
from reinflect.transitions import edits, write_step
from reinflect.transitions.actions import is_write
from reinflect.transitions.tapes import (
    Ragged,
    hacm_symbols,
    hacm_tapes,
    haem_actions,
    haem_characters,
    haem_tapes,
)
from tests.transitions.any_alignment import alignments, letters, words
from tests.transitions.slow_machine import hacm_moments, haem_moments

files = st.lists(alignments(), min_size=1, max_size=6)


@given(files, st.sets(letters))
def test_haem_tapes(file: list[Alignment], known: set[str]) -> None:
    """Characters outside `known` are out of vocabulary, but for those that are written."""
    every = [edits.oracle(alignment) for alignment in file]
    known = known | {action for actions in every for action in actions if is_write(action)}
    characters, inventory = haem_characters(known), haem_actions(known)
    tapes = haem_tapes(file, characters, inventory)

    def seen(symbols: str | list[str]) -> list[str]:
        return [symbol if symbol in known else UNKNOWN for symbol in symbols]

    def named(numbers: np.ndarray, vocabulary: Vocabulary) -> list[str]:
        return [vocabulary.symbols[number] for number in numbers]

    for number, (alignment, actions) in enumerate(zip(file, every, strict=True)):
        lemma = sides(alignment)[0]
        tape = {field.name: getattr(tapes, field.name).item(number) for field in fields(tapes)}
        valid = allowed_outputs({"actions": len(inventory)}, len(inventory)).numpy()[tape["lemma_left"].astype(int)]
        assert named(tape["targets"], inventory) == actions
        for t, moment in enumerate(haem_moments(lemma, actions, set(inventory.symbols))):
            if moment.attended is None:
                assert tape["attended"][t] == len(lemma)
            else:
                assert lemma[tape["attended"][t]] == moment.attended
            assert named(tape["written"][: tape["written_state"][t]], characters) == seen(moment.read_by_y)
            assert named(tape["targets"][:t], inventory) == moment.read_by_a
            in_d = since_reset(tape["deleted"], tape["deleted_resets"], tape["deleted_state"][t])
            assert named(in_d, characters) == seen(moment.read_by_d)
            assert {inventory.symbols[number] for number in np.flatnonzero(valid[t])} == moment.valid
        assert len(tape["deleted"]) == len(tape["deleted_resets"]) == actions.count(edits.DELETE)
        assert len(tape["written"]) == len(sides(alignment)[1])


def since_reset(deleted: np.ndarray, resets: np.ndarray, state: int) -> np.ndarray:
    """What an LSTM in this state has read: back from there to the last symbol that it was emptied before."""
    if state == 0:
        return deleted[:0]
    first = max(k for k in range(state) if resets[k])
    return deleted[first:state]


@given(files, st.sets(letters))
def test_hacm_tapes(file: list[Alignment], known: set[str]) -> None:
    symbols = hacm_symbols(known)
    tapes = hacm_tapes(file, symbols)
    for number, alignment in enumerate(file):
        lemma, actions = sides(alignment)[0], write_step.oracle(alignment)
        moments = hacm_moments(lemma, actions)
        attended = [[write_step.BEGIN, *lemma, write_step.END][i] for i in tapes.attended.item(number)]
        assert attended == [moment.attended for moment in moments]
        assert tapes.previous.item(number).tolist() == symbols.numbers(moment.previous for moment in moments)
        assert tapes.targets.item(number).tolist() == symbols.numbers(moment.target for moment in moments)


FLIEGEN = tuple(zip("fliegen", ["f", "l", "o", "", "g", "", ""], strict=True))


def test_one_haem_tape_written_out() -> None:
    """fliegen/flog: LSTM^d reads i, e, is emptied by the o, is not by the g copied, then reads e, n."""
    characters, inventory = haem_characters("flog"), haem_actions("flog")
    tapes = haem_tapes([FLIEGEN], characters, inventory)
    assert " ".join(inventory.symbols[number] for number in tapes.targets.values) == (
        "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP"
    )
    assert tapes.attended.values.tolist() == [0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert tapes.lemma_left.values.tolist() == [True] * 8 + [False]
    assert tapes.written.values.tolist() == [1, 3, 4, 2]
    assert tapes.written_state.values.tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 4]
    assert tapes.deleted.values.tolist() == [0, 0, 0, 0]
    assert tapes.deleted_resets.values.tolist() == [True, False, True, False]
    assert tapes.deleted_state.values.tolist() == [0, 0, 0, 1, 2, 0, 0, 3, 4]


def test_copy_does_not_empty_what_was_deleted_but_another_item_does() -> None:
    alignment = (("a", ""), ("b", "b"), ("c", ""))
    tapes = haem_tapes([alignment, alignment], haem_characters("abc"), haem_actions("abc"))
    assert tapes.deleted_resets.values.tolist() == [True, False] * 2
    assert tapes.deleted_state.values.tolist() == [0, 1, 1, 2] * 2


def test_a_character_that_was_never_seen_cannot_be_written() -> None:
    with pytest.raises(KeyError, match="ß"):
        haem_tapes([(("", "ß"),)], haem_characters("ab"), haem_actions("ab"))


@given(st.lists(words, min_size=1, max_size=6), st.sets(letters))
def test_rows_of_different_lengths(rows: list[str], known: set[str]) -> None:
    vocabulary = haem_characters(known)
    numbers = [vocabulary.numbers(row) for row in rows]
    made = Ragged.of(rows, vocabulary)
    width = max(1, max(map(len, rows)))
    assert [made.item(k).tolist() for k in range(len(rows))] == numbers
    assert [made.reversed().item(k).tolist() for k in range(len(rows))] == [row[::-1] for row in numbers]
    assert [made.with_last(-1).item(k).tolist() for k in range(len(rows))] == [[*row, -1] for row in numbers]
    assert made.padded().tolist() == [row + [0] * (width - len(row)) for row in numbers]
