"""Both oracles: worked examples, round trips of any alignment and of the words of all 52 languages, and the sequences
that the slow executors refuse.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given

from reinflect.align.pairs import Aligner, Alignment, Naive, StringPair
from reinflect.align.smart import Smart
from reinflect.data.catalog import find
from reinflect.data.items import read_items
from reinflect.systems.oracle import BEGIN, COPY, DELETE, END, ORACLES, STEP, Step, edits, walk, write_step
from tests.systems.any_alignment import alignments, pairs_of_words, sides
from tests.systems.executors import InvalidActionError, hacm_steps, haem_steps, is_write

EXAMPLES = [
    (write_step, "fliegen", "flo·g··", "STEP f STEP l STEP o STEP STEP g STEP STEP STEP </s>"),
    (write_step, "fliegen", "flog···", "STEP f STEP l STEP o STEP g STEP STEP STEP STEP </s>"),
    (write_step, "walk··", "walked", "STEP w STEP a STEP l STEP k e d STEP </s>"),
    (write_step, "··legen", "gelegt·", "g e STEP l STEP e STEP g STEP t STEP STEP </s>"),
    (write_step, "", "", "STEP </s>"),
    (write_step, "··", "ab", "a b STEP </s>"),
    (write_step, "ab", "··", "STEP STEP STEP </s>"),
    (edits, "fliegen", "flo·g··", "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP"),
    (edits, "fliegen", "flog···", "COPY COPY DELETE DELETE DELETE DELETE DELETE o g STOP"),
    (edits, "··legen", "gelegt·", "g e COPY COPY COPY DELETE DELETE t STOP"),
    (edits, "walk··", "walked", "COPY COPY COPY COPY e d STOP"),
    (edits, "", "", "STOP"),
    (edits, "··", "ab", "a b STOP"),
    (edits, "ab", "··", "DELETE DELETE STOP"),
    (edits, "·a·b", "x·y·", "DELETE DELETE x y STOP"),
    (edits, "·aab·", "xa·cd", "x COPY DELETE DELETE c d STOP"),
]
Steps = Callable[[Sequence[str], str], Iterator[Step]]
SLOW: dict[str, Steps] = {"hacm": hacm_steps, "haem": haem_steps}


def written_out(lemma: str, form: str) -> Alignment:
    """An alignment from two strings in which · stands for ε."""
    return tuple((x.replace("·", ""), y.replace("·", "")) for x, y in zip(lemma, form, strict=True))


@pytest.mark.parametrize(("oracle", "lemma", "form", "actions"), EXAMPLES)
def test_worked_examples(oracle: Callable[[Alignment], list[str]], lemma: str, form: str, actions: str) -> None:
    assert oracle(written_out(lemma, form)) == actions.split()


def test_table_1_of_the_paper() -> None:
    """Left: the paper counts the initial `<s>` as t = 1, our actions start after it. Right: at STOP the pointer has
    moved past the end, to 8, where the paper prints 7.
    """
    left, right = ([*walk(oracle(written_out("fliegen", "flo·g··")), "fliegen")] for oracle in (write_step, edits))
    assert [step.position for step in left] == [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8]
    assert [step.attended for step in left] == [BEGIN, *"ffllii", "e", "g", "g", "e", "n", END]
    assert [step.written for step in left] == ["", "f", "", "l", "", "o", "", "", "g", "", "", "", ""]
    assert left[0] == Step(STEP, 0, BEGIN, "")
    assert [step.position for step in right] == [1, 2, 3, 4, 5, 5, 6, 7, 8]
    assert [step.attended for step in right] == [*"flieggen", ""]
    assert [step.written for step in right] == ["f", "l", "", "", "o", "g", "", "", ""]


def step_after_each_pair(alignment: Alignment) -> list[str]:
    """HACM's oracle in the 2017 code, which looks at the next pair to decide on each STEP."""
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


def algorithm_1(alignment: Alignment) -> list[str]:
    """The paper's Algorithm 1 before its normalisation."""
    return [
        action
        for x, y in alignment
        for action in ([y] if not x else [DELETE] if not y else [COPY] if x == y else [DELETE, y])
    ]


def stretches(actions: list[str]) -> list[list[str]]:
    """The actions between the COPYs."""
    runs: list[list[str]] = [[]]
    for action in actions:
        if action == COPY:
            runs.append([])
        else:
            runs[-1].append(action)
    return runs


def check(alignment: Alignment) -> None:
    lemma, form = sides(alignment)
    for system, oracle in ORACLES.items():
        actions = oracle(alignment)
        steps = [*walk(actions, lemma)]
        assert steps == [*SLOW[system](actions, lemma)]
        assert [step.action for step in steps] == actions
        assert "".join(step.written for step in steps) == form
        assert steps[-1].position == len(lemma) + 1
    assert len(write_step(alignment)) == len(lemma) + len(form) + 2
    actions = edits(alignment)
    assert actions.count(COPY) + actions.count(DELETE) == len(lemma)
    for unordered, stretch in zip(stretches(algorithm_1(alignment)), stretches(actions[:-1]), strict=True):
        writes = [action for action in unordered if is_write(action)]
        assert stretch == [DELETE] * (len(unordered) - len(writes)) + writes


@given(alignments())
def test_actions_of_any_alignment_write_its_form(alignment: Alignment) -> None:
    check(alignment)


def check_aligned(pairs: Sequence[StringPair], *aligners: Aligner) -> None:
    for aligner in aligners:
        for pair, alignment in zip(pairs, aligner.align(pairs), strict=True):
            check(alignment)
            assert sides(alignment) == pair


@given(pairs_of_words(), pairs_of_words())
def test_actions_from_both_aligners_write_the_form(first: StringPair, second: StringPair) -> None:
    check_aligned([first, second], Naive(), Smart(sweeps=3))


FILES = [file.name for file in find("conll2017").files if "-train-" in file.name]


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("-medium")])
def test_actions_for_every_language_write_its_forms(conll2017: Path, name: str) -> None:
    check_aligned([(item.lemma, item.form) for item in read_items(conll2017 / name)], Naive(), Smart(sweeps=2))


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_actions_for_every_training_file_with_default_sweeps(conll2017: Path, name: str) -> None:
    check_aligned([(item.lemma, item.form) for item in read_items(conll2017 / name)], Naive(), Smart())


@given(alignments().filter(bool))
def test_hacm_s_oracle_equals_the_one_that_looks_ahead(alignment: Alignment) -> None:
    assert write_step(alignment) == step_after_each_pair(alignment)


REFUSED = {
    "haem": ["COPY COPY STOP", "STOP", "COPY", "COPY STOP a", "STEP COPY STOP"],
    "hacm": ["STEP a", "STEP </s> </s>", "STEP COPY </s>", "<s> </s>"],
}


@pytest.mark.parametrize(("system", "actions"), [(system, each) for system in REFUSED for each in REFUSED[system]])
def test_refusals_of_the_slow_executors(system: str, actions: str) -> None:
    with pytest.raises(InvalidActionError):
        list(SLOW[system](actions.split(), "a"))
