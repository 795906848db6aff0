"""The tapes say of every step what a machine that simply carries the actions out sees there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.alignment.pairs import Alignment, sides
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.models.haem import allowed_outputs
from reinflect.transitions import edits, write_step
from reinflect.transitions.actions import InvalidActionError, is_write
from reinflect.transitions.tapes import (
    hacm_symbols,
    hacm_tape,
    haem_actions,
    haem_characters,
    haem_tape,
)
from tests.transitions.any_alignment import alignments, letters, words
from tests.transitions.slow_machine import hacm_moments, haem_moments


@st.composite
def edited_words(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A lemma with any valid HAEM actions, not only such as the oracle gives."""
    lemma = draw(words)
    actions: list[str] = []
    for _ in lemma:
        actions += draw(st.lists(letters, max_size=2))
        actions.append(draw(st.sampled_from([edits.COPY, edits.DELETE])))
    return lemma, [*actions, *draw(st.lists(letters, max_size=3)), edits.STOP]


@st.composite
def stepped_words(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A lemma with any HACM actions; some never reach the end of it, some step on at the end."""
    return draw(words), [*draw(st.lists(letters | st.just(write_step.STEP), max_size=20)), write_step.END]


def check_haem(lemma: str, actions: list[str], known: set[str]) -> None:
    """Characters outside `known` are out of vocabulary; what is written must be known."""
    known = known | {action for action in actions if is_write(action)}
    characters, inventory = haem_characters(known), haem_actions(known)
    tape = haem_tape(lemma, actions, characters, inventory)
    valid = allowed_outputs({"actions": len(inventory)}, len(inventory)).numpy()[tape.lemma_left.astype(int)]

    def seen(symbols: str | list[str]) -> list[str]:
        return [symbol if symbol in known else UNKNOWN for symbol in symbols]

    def named(numbers: np.ndarray, vocabulary: Vocabulary) -> list[str]:
        return [vocabulary.symbols[number] for number in numbers]

    assert named(tape.lemma, characters) == seen(lemma)
    assert named(tape.targets, inventory) == actions
    for t, moment in enumerate(haem_moments(lemma, actions, set(inventory.symbols))):
        if moment.attended is None:
            assert tape.attended[t] == len(lemma)
        else:
            assert lemma[tape.attended[t]] == moment.attended
        assert named(tape.written[: tape.written_state[t]], characters) == seen(moment.read_by_y)
        assert named(tape.targets[:t], inventory) == moment.read_by_a
        assert named(since_reset(tape.deleted, tape.deleted_resets, tape.deleted_state[t]), characters) == seen(
            moment.read_by_d
        )
        assert {inventory.symbols[number] for number in np.flatnonzero(valid[t])} == moment.valid


def since_reset(deleted: np.ndarray, resets: np.ndarray, state: int) -> np.ndarray:
    """What an LSTM in this state has read: back from there to the last symbol that it was emptied before."""
    if state == 0:
        return deleted[:0]
    first = max(k for k in range(state) if resets[k])
    return deleted[first:state]


@given(edited_words(), st.sets(letters))
def test_haem_tapes_of_any_valid_actions(edited: tuple[str, list[str]], known: set[str]) -> None:
    check_haem(*edited, known)


@given(alignments(), st.sets(letters))
def test_haem_tapes_of_the_oracle(alignment: Alignment, known: set[str]) -> None:
    check_haem(sides(alignment)[0], edits.oracle(alignment), known)


def check_hacm(lemma: str, actions: list[str], known: set[str]) -> None:
    symbols = hacm_symbols(known)
    tape = hacm_tape(lemma, actions, symbols)
    moments = hacm_moments(lemma, actions)
    assert tape.lemma.tolist() == symbols.numbers([write_step.BEGIN, *lemma, write_step.END])
    assert tape.lemma[tape.attended].tolist() == symbols.numbers(moment.attended for moment in moments)
    assert tape.previous.tolist() == symbols.numbers(moment.previous for moment in moments)
    assert tape.targets.tolist() == symbols.numbers(moment.target for moment in moments)
    attended = [[write_step.BEGIN, *lemma, write_step.END][i] for i in tape.attended]
    assert attended == [moment.attended for moment in moments]


@given(stepped_words(), st.sets(letters))
def test_hacm_tapes_of_any_actions(stepped: tuple[str, list[str]], known: set[str]) -> None:
    check_hacm(*stepped, known)


@given(alignments(), st.sets(letters))
def test_hacm_tapes_of_the_oracle(alignment: Alignment, known: set[str]) -> None:
    check_hacm(sides(alignment)[0], write_step.oracle(alignment), known)


def test_one_haem_tape_written_out() -> None:
    """fliegen/flog: LSTM^d reads i, e, is emptied by the o, is not by the g copied, then reads e, n."""
    actions = "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP".split()
    characters, inventory = haem_characters("flog"), haem_actions("flog")
    tape = haem_tape("fliegen", actions, characters, inventory)
    assert tape.lemma.tolist() == [1, 3, 0, 0, 2, 0, 0]
    assert tape.attended.tolist() == [0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert tape.lemma_left.tolist() == [True] * 8 + [False]
    assert tape.written.tolist() == [1, 3, 4, 2]
    assert tape.written_state.tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 4]
    assert tape.deleted.tolist() == [0, 0, 0, 0]
    assert tape.deleted_resets.tolist() == [True, False, True, False]
    assert tape.deleted_state.tolist() == [0, 0, 0, 1, 2, 0, 0, 3, 4]


def test_copy_does_not_empty_what_was_deleted() -> None:
    actions = [edits.DELETE, edits.COPY, edits.DELETE, edits.STOP]
    tape = haem_tape("abc", actions, haem_characters("abc"), haem_actions("abc"))
    assert tape.deleted_resets.tolist() == [True, False]
    assert tape.deleted_state.tolist() == [0, 1, 1, 2]


def test_actions_that_are_not_valid_make_no_tape() -> None:
    with pytest.raises(InvalidActionError):
        haem_tape("ab", [edits.COPY, edits.STOP], haem_characters("ab"), haem_actions("ab"))
    with pytest.raises(InvalidActionError):
        hacm_tape("ab", [write_step.STEP], hacm_symbols("ab"))


def test_a_character_that_was_never_seen_cannot_be_written() -> None:
    with pytest.raises(KeyError, match="ß"):
        haem_tape("", ["ß", edits.STOP], haem_characters("ab"), haem_actions("ab"))
