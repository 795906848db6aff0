"""HACM's actions: worked examples, round trips of any alignment, and the sequences the slow executor refuses."""

import pytest
from hypothesis import given

from reinflect.align.naive import Naive
from reinflect.align.pairs import Alignment, StringPair
from reinflect.align.smart import Smart
from reinflect.systems.oracle import BEGIN, END, STEP, Step, walk, write_step
from tests.systems.any_alignment import alignments, pairs_of_words, sides
from tests.systems.executors import InvalidActionError, execute_hacm, hacm_steps

GOLDEN = [
    ("fliegen", "flo·g··", "STEP f STEP l STEP o STEP STEP g STEP STEP STEP </s>"),
    ("fliegen", "flog···", "STEP f STEP l STEP o STEP g STEP STEP STEP STEP </s>"),
    ("walk··", "walked", "STEP w STEP a STEP l STEP k e d STEP </s>"),
    ("··legen", "gelegt·", "g e STEP l STEP e STEP g STEP t STEP STEP </s>"),
    ("", "", "STEP </s>"),
    ("··", "ab", "a b STEP </s>"),
    ("ab", "··", "STEP STEP STEP </s>"),
]


def written_out(lemma: str, form: str) -> Alignment:
    """An alignment from two strings in which · stands for ε."""
    return tuple((x.replace("·", ""), y.replace("·", "")) for x, y in zip(lemma, form, strict=True))


@pytest.mark.parametrize(("lemma", "form", "actions"), GOLDEN)
def test_worked_examples(lemma: str, form: str, actions: str) -> None:
    alignment = written_out(lemma, form)
    assert write_step(alignment) == actions.split()
    assert execute_hacm(actions.split(), sides(alignment)[0]) == sides(alignment)[1]


def test_table_1_of_the_paper() -> None:
    """Table 1, left; the paper counts the initial `<s>` as t = 1, our actions start after it."""
    steps = list(walk(write_step(written_out("fliegen", "flo·g··")), "fliegen"))
    assert [step.position for step in steps] == [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8]
    assert [step.attended for step in steps] == [BEGIN, *"ffllii", "e", "g", "g", "e", "n", END]
    assert [step.written for step in steps] == ["", "f", "", "l", "", "o", "", "", "g", "", "", "", ""]
    assert steps[0] == Step(STEP, 0, BEGIN, "")


def step_after_each_pair(alignment: Alignment) -> list[str]:
    """The oracle of the 2017 code, which looks at the next pair to decide on each STEP."""
    actions: list[str] = []
    pairs = [*alignment, (END, END)]
    last = len(sides(alignment)[0]) + 1
    i = 0
    for k, (x, y) in enumerate(pairs):
        if y == END:
            return [*actions, END]
        if i == 0 and x:
            actions.append(STEP)
            i += 1
        if y:
            actions.append(y)
        if i < last and pairs[k + 1][0]:
            actions.append(STEP)
            i += 1
    raise AssertionError("the last pair is the end")


@given(alignments().filter(bool))
def test_equals_the_oracle_that_looks_ahead(alignment: Alignment) -> None:
    assert write_step(alignment) == step_after_each_pair(alignment)


def check(alignment: Alignment) -> None:
    lemma, form = sides(alignment)
    actions = write_step(alignment)
    assert execute_hacm(actions, lemma) == form
    assert actions.count(STEP) == len(lemma) + 1
    assert len(actions) == len(lemma) + len(form) + 2
    assert actions[-1] == END
    steps = list(walk(actions, lemma))
    assert steps == list(hacm_steps(actions, lemma))
    assert [step.action for step in steps] == actions
    assert steps[-1].position == len(lemma) + 1
    assert [step.position for step in steps] == [actions[:t].count(STEP) for t in range(len(actions))]
    assert all(step.attended == [BEGIN, *lemma, END][step.position] for step in steps)


@given(alignments())
def test_actions_of_any_alignment_write_its_form(alignment: Alignment) -> None:
    check(alignment)


@given(pairs_of_words(), pairs_of_words())
def test_actions_from_both_aligners_write_the_form(first: StringPair, second: StringPair) -> None:
    for aligner in (Naive(), Smart(sweeps=3)):
        for pair, alignment in zip((first, second), aligner.align([first, second]), strict=True):
            check(alignment)
            assert sides(alignment) == pair


@given(alignments())
def test_a_character_is_written_at_its_aligned_position(alignment: Alignment) -> None:
    """At its own lemma character or, if inserted, at the last lemma character before it."""
    places, passed = [], 0
    for x, y in alignment:
        passed += bool(x)
        if y:
            places.append(passed)
    steps = walk(write_step(alignment), sides(alignment)[0])
    assert [step.position for step in steps if step.written] == places


def test_a_step_at_the_end_symbol_does_not_move_the_pointer() -> None:
    steps = list(hacm_steps([STEP, STEP, STEP, STEP, "b", END], "a"))
    assert [step.position for step in steps] == [0, 1, 2, 2, 2, 2]
    assert [step.attended for step in steps] == [BEGIN, "a", END, END, END, END]


def test_the_end_symbol_may_come_early() -> None:
    assert execute_hacm(["x", END], "abc") == "x"


@pytest.mark.parametrize(
    ("actions", "because"),
    [
        ([STEP, "a"], "do not end with </s>"),
        ([], "do not end with </s>"),
        ([STEP, END, "a"], "found a after </s>"),
        ([STEP, END, END], "found </s> after </s>"),
        ([STEP, "COPY", END], "the action COPY at position 1 is not allowed: HACM knows"),
        ([BEGIN, END], "the action <s> at position 0"),
        (["", END], "at position 0"),
        (["ab", END], "the action ab at position 0"),
    ],
)
def test_refusals_of_the_slow_executor(actions: list[str], because: str) -> None:
    with pytest.raises(InvalidActionError, match=because):
        execute_hacm(actions, "abc")
