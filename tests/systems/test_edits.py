"""HAEM's actions: worked examples, round trips of any alignment, and the sequences the slow executor refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align.naive import Naive
from reinflect.align.pairs import Alignment, StringPair
from reinflect.align.smart import Smart
from reinflect.systems.oracle import COPY, DELETE, STOP, edits, walk
from tests.systems.any_alignment import AWKWARD, alignments, pairs_of_words, sides
from tests.systems.executors import InvalidActionError, execute_haem, haem_steps, is_write
from tests.systems.test_write_step import written_out

GOLDEN = [
    ("fliegen", "flo·g··", "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP"),
    ("fliegen", "flog···", "COPY COPY DELETE DELETE DELETE DELETE DELETE o g STOP"),
    ("··legen", "gelegt·", "g e COPY COPY COPY DELETE DELETE t STOP"),
    ("walk··", "walked", "COPY COPY COPY COPY e d STOP"),
    ("", "", "STOP"),
    ("··", "ab", "a b STOP"),
    ("ab", "··", "DELETE DELETE STOP"),
    ("·a·b", "x·y·", "DELETE DELETE x y STOP"),
    ("·aab·", "xa·cd", "x COPY DELETE DELETE c d STOP"),
]


@pytest.mark.parametrize(("lemma", "form", "actions"), GOLDEN)
def test_worked_examples(lemma: str, form: str, actions: str) -> None:
    alignment = written_out(lemma, form)
    assert edits(alignment) == actions.split()
    assert execute_haem(actions.split(), sides(alignment)[0]) == sides(alignment)[1]


def test_table_1_of_the_paper() -> None:
    """Table 1, right; at STOP the pointer has moved past the end, to 8, where the paper prints 7."""
    steps = list(walk(edits(written_out("fliegen", "flo·g··")), "fliegen"))
    assert [step.position for step in steps] == [1, 2, 3, 4, 5, 5, 6, 7, 8]
    assert [step.attended for step in steps] == [*"flieggen", ""]
    assert [step.written for step in steps] == ["f", "l", "", "", "o", "g", "", "", ""]


def stretches(actions: list[str]) -> list[list[str]]:
    """The actions between the COPYs, without STOP."""
    found: list[list[str]] = [[]]
    for action in actions[:-1]:
        if action == COPY:
            found.append([])
        else:
            found[-1].append(action)
    return found


def algorithm_1(alignment: Alignment) -> list[str]:
    """The paper's Algorithm 1 before its normalisation."""
    return [
        action
        for x, y in alignment
        for action in ([y] if not x else [DELETE] if not y else [COPY] if x == y else [DELETE, y])
    ]


def check(alignment: Alignment) -> None:
    lemma, form = sides(alignment)
    actions = edits(alignment)
    assert execute_haem(actions, lemma) == form
    assert list(walk(actions, lemma)) == list(haem_steps(actions, lemma))
    assert [step.action for step in walk(actions, lemma)] == actions
    assert actions.count(COPY) + actions.count(DELETE) == len(lemma)
    before = stretches([*algorithm_1(alignment), STOP])
    for unordered, stretch in zip(before, stretches(actions), strict=True):
        writes = [action for action in unordered if is_write(action)]
        assert stretch == [DELETE] * (len(unordered) - len(writes)) + writes


@given(alignments())
def test_actions_of_any_alignment_write_its_form(alignment: Alignment) -> None:
    check(alignment)


@given(pairs_of_words(), pairs_of_words())
def test_actions_from_both_aligners_write_the_form(first: StringPair, second: StringPair) -> None:
    for aligner in (Naive(), Smart(sweeps=3)):
        for pair, alignment in zip((first, second), aligner.align([first, second]), strict=True):
            check(alignment)
            assert sides(alignment) == pair


@given(st.lists(st.sampled_from([COPY, DELETE, STOP, *AWKWARD])), st.text(AWKWARD, max_size=5))
def test_the_slow_executor_refuses_exactly_the_invalid_sequences(actions: list[str], lemma: str) -> None:
    moves = [action for action in actions if action in (COPY, DELETE)]
    if actions.count(STOP) == 1 and actions[-1] == STOP and len(moves) == len(lemma):
        left = iter(lemma)
        written = [next(left) if a == COPY else next(left) and "" if a == DELETE else a for a in actions[:-1]]
        assert execute_haem(actions, lemma) == "".join(written)
    else:
        with pytest.raises(InvalidActionError):
            execute_haem(actions, lemma)


@pytest.mark.parametrize(
    ("actions", "because"),
    [
        ([COPY, COPY, STOP], "the action COPY at position 2 is not allowed: no lemma character is left"),
        ([DELETE, DELETE, STOP], "the action DELETE at position 2 .* no lemma character is left"),
        ([STOP], "the action STOP at position 1 .* lemma characters are left"),
        ([COPY], "do not end with STOP"),
        ([], "do not end with STOP"),
        ([COPY, STOP, "a"], "found a after STOP"),
        (["STEP", COPY, STOP], "the action STEP at position 1 .* HAEM knows"),
        (["", COPY, STOP], "HAEM knows"),
    ],
)
def test_refusals_of_the_slow_executor(actions: list[str], because: str) -> None:
    with pytest.raises(InvalidActionError, match=because):
        execute_haem(actions, "a")
