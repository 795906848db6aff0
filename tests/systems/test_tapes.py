"""The tapes hold what a slow executor of the oracle's actions sees at every step."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align.pairs import Alignment
from reinflect.systems import hacm, haem
from reinflect.systems.haem.model import allowed_outputs
from reinflect.systems.oracle import BEGIN, COPY, DELETE, END, STOP, edits, write_step
from reinflect.systems.symbols import UNKNOWN, Vocabulary
from reinflect.systems.tapes import Ragged, hacm_tapes, haem_tapes
from tests.systems.any_alignment import alignments, letters, sides, words
from tests.systems.executors import hacm_steps, haem_steps, is_write

files = st.lists(alignments(), min_size=1, max_size=6)


def haem_vocabularies(known: Iterable[str]) -> tuple[Vocabulary, Vocabulary]:
    """The characters and the actions."""
    return Vocabulary.of((UNKNOWN,), known), Vocabulary.of(haem.SPECIALS, known)


def row(tape: Ragged, item: int) -> np.ndarray:
    """The numbers of one item."""
    start = int(tape.lengths[:item].sum())
    return tape.values[start : start + tape.lengths[item]]


@given(files, st.sets(letters))
def test_haem_tapes(file: list[Alignment], known: set[str]) -> None:
    """Characters outside `known` are out of vocabulary, except those that are written."""
    every = [edits(alignment) for alignment in file]
    known = known | {action for actions in every for action in actions if is_write(action)}
    characters, inventory = haem_vocabularies(known)
    tapes = haem_tapes(file, characters, inventory)

    def seen(symbols: str | list[str]) -> list[str]:
        return [symbol if symbol in known else UNKNOWN for symbol in symbols]

    def named(numbers: np.ndarray, vocabulary: Vocabulary) -> list[str]:
        return [vocabulary.symbols[number] for number in numbers]

    for number, (alignment, actions) in enumerate(zip(file, every, strict=True)):
        lemma = sides(alignment)[0]
        tape = {name: row(own, number) for name, own in tapes.items()}
        valid = allowed_outputs({"actions": len(inventory)}, len(inventory)).numpy()[tape["lemma_left"].astype(int)]
        assert named(tape["actions"], inventory) == actions
        read_by_y, read_by_d = list[str](), list[str]()
        for t, step in enumerate(haem_steps(actions, lemma)):
            assert lemma[tape["attended"][t] - 1 : tape["attended"][t]] == step.attended
            assert named(tape["written"][: tape["written_state"][t]], characters) == seen(read_by_y)
            assert named(tape["actions"][:t], inventory) == actions[:t]
            in_d = since_reset(tape["deleted"], tape["keep"], tape["deleted_state"][t])
            assert named(in_d, characters) == seen(read_by_d)
            invalid = {STOP} if step.attended else {COPY, DELETE}
            assert {inventory.symbols[number] for number in np.flatnonzero(valid[t])} == {*inventory.symbols} - invalid
            read_by_y += step.written
            read_by_d = [] if is_write(step.action) else [*read_by_d, *step.attended * (step.action == DELETE)]
        assert len(tape["deleted"]) == len(tape["keep"]) == actions.count(DELETE)
        assert len(tape["written"]) == len(sides(alignment)[1])


def since_reset(deleted: np.ndarray, keep: np.ndarray, state: int) -> np.ndarray:
    """The symbols an LSTM in this state has read since its last reset."""
    if state == 0:
        return deleted[:0]
    first = max(k for k in range(state) if not keep[k])
    return deleted[first:state]


@given(files, st.sets(letters))
def test_hacm_tapes(file: list[Alignment], known: set[str]) -> None:
    symbols = Vocabulary.of(hacm.SPECIALS, known)
    tapes = hacm_tapes(file, symbols)
    for number, alignment in enumerate(file):
        lemma, actions = sides(alignment)[0], write_step(alignment)
        steps = list(hacm_steps(actions, lemma))
        attended = [[BEGIN, *lemma, END][i] for i in row(tapes["attended"], number)]
        assert attended == [step.attended for step in steps]
        assert row(tapes["actions"], number).tolist() == symbols.numbers(step.action for step in steps)


FLIEGEN = tuple(zip("fliegen", ["f", "l", "o", "", "g", "", ""], strict=True))


def test_a_haem_tape_worked_by_hand() -> None:
    """fliegen/flog: LSTM^d reads i, e; writing o resets it, copying g does not; then it reads e, n."""
    characters, inventory = haem_vocabularies("flog")
    tapes = haem_tapes([FLIEGEN], characters, inventory)
    assert " ".join(inventory.symbols[number] for number in tapes["actions"].values) == (
        "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP"
    )
    assert tapes["attended"].values.tolist() == [1, 2, 3, 4, 5, 5, 6, 7, 0]
    assert tapes["lemma_left"].values.tolist() == [True] * 8 + [False]
    assert tapes["written"].values.tolist() == [1, 3, 4, 2]
    assert tapes["written_state"].values.tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 4]
    assert tapes["deleted"].values.tolist() == [0, 0, 0, 0]
    assert tapes["keep"].values.tolist() == [False, True, False, True]
    assert tapes["deleted_state"].values.tolist() == [0, 0, 0, 1, 2, 0, 0, 3, 4]


def test_writing_an_unknown_character_is_an_error() -> None:
    with pytest.raises(KeyError, match="ß"):
        haem_tapes([(("", "ß"),)], *haem_vocabularies("ab"))


@given(st.lists(words, min_size=1, max_size=6), st.sets(letters))
def test_ragged_rows(rows: list[str], known: set[str]) -> None:
    vocabulary, _ = haem_vocabularies(known)
    numbers = [vocabulary.numbers(own) for own in rows]
    made = Ragged.of(rows, vocabulary)
    width = max(1, max(map(len, rows)))
    assert [row(made, k).tolist() for k in range(len(rows))] == numbers
    assert [row(made.reversed(), k).tolist() for k in range(len(rows))] == [own[::-1] for own in numbers]
    assert [row(made.with_last(-1), k).tolist() for k in range(len(rows))] == [[*own, -1] for own in numbers]
    assert made.padded().tolist() == [own + [0] * (width - len(own)) for own in numbers]
