"""What a word list is worth: much, little, or nothing, as the cells with known forms show."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import pytest

from reinflect.data.lexicon import WordList
from reinflect.ensemble.confidence import COUNTS, USUAL, Confidence, Evidence, WordEvidence, learn
from reinflect.score.scores import Cell

PLAIN = Confidence(USUAL, 100)
Judged = tuple[Cell, dict[str, Evidence], tuple[str, ...]]


def cells(count: int, right_first: float = 0.5, part: str = "V", seed: int = 1) -> list[Judged]:
    """Cells whose two voters disagree; the first form is right in some share of them."""
    judged: list[Judged] = []
    random = np.random.default_rng(seed)
    for number in range(count):
        lemma = f"{part.lower()}{number}"
        good, bad = f"{lemma}good", f"{lemma}bad"
        order = [good, bad] if random.random() < right_first else [bad, good]
        lists = [{order[0]: -0.4, order[1]: -1.6}, {order[1]: -0.5, order[0]: -1.8}]
        evidence = {form: Evidence.in_lists(form, order, lists, seen=True) for form in order}
        judged.append(((lemma, f"{part};PST"), evidence, (good,)))
    return judged


def listing(judged: Sequence[Judged], count: Callable[[str], int], *, lemmas: bool = True) -> WordList:
    forms = {form: count(form) for _, candidates, _ in judged for form in candidates}
    counts = {form: own for form, own in forms.items() if own} | {cell[0]: 1 for cell, _, _ in judged if lemmas}
    return WordList("list.txt", "abc", len(counts), counts)


def accuracy(learnt: WordEvidence, judged: Sequence[Judged], words: WordList) -> float:
    chosen = [next(iter(learnt.weighed(cell, candidates, words))) for cell, candidates, _ in judged]
    return float(np.mean([form in right for form, (_, _, right) in zip(chosen, judged, strict=True)]))


def taught(judged: Sequence[Judged], words: WordList, pull: float = 10.0) -> WordEvidence:
    learnt = learn(words, judged, PLAIN, pull)
    assert learnt is not None
    return learnt


def test_a_list_with_the_right_forms_decides_where_voters_disagree() -> None:
    known, new = cells(100), cells(200, seed=2, part="N")
    words = listing([*known, *new], lambda form: int(form.endswith("good")))
    learnt = taught(known, words)
    assert accuracy(learnt, new, words) == 1.0
    assert (learnt.words, learnt.digest, learnt.accuracy) == (words.size, "abc", 100.0)
    right, wrong = learnt.overall[0]
    assert right > 0.9
    assert wrong < 0.1
    # The confidence follows: of chosen forms it was fitted on, nearly all are right.
    sure = [learnt.confidence.of(next(iter(learnt.weighed(cell, own, words).values()))) for cell, own, _ in new]
    assert min(sure) > 0.8


@pytest.mark.parametrize(
    "count",
    [
        lambda _: 0,
        lambda _: 1,
        lambda form: int(form.endswith("bad") and form[-4] != "7"),
        lambda form: 50 * int(form.endswith("bad")),
    ],
    ids=["no forms", "all forms", "many wrong forms", "wrong forms, often"],
)
def test_a_useless_or_misleading_list_changes_no_form(count: Callable[[str], int]) -> None:
    known, new = cells(100), cells(200, seed=2)
    words = listing([*known, *new], count)
    learnt = taught(known, words)
    for cell, candidates, _ in new:
        assert [*learnt.weighed(cell, candidates, words)] == [*candidates]


def test_thousands_of_cells_leave_no_share_without_a_logarithm() -> None:
    known = cells(6000)
    learnt = taught(known, listing(known, lambda _: 0))
    assert learnt.overall[0] == (0.001, 0.001)
    assert taught(known, listing(known, lambda form: int("good" in form))).overall[0] == (0.999, 0.001)


def test_a_random_list_is_worth_little() -> None:
    known, new = cells(100), cells(500, seed=2)
    random = np.random.default_rng(3)
    words = listing([*known, *new], lambda _: int(random.random() < 0.5))
    learnt = taught(known, words)
    added = [own.added for cell, candidates, _ in new for own in learnt.weighed(cell, candidates, words).values()]
    assert max(map(abs, added)) < 0.35
    right_before = [next(iter(candidates)) in right for _, candidates, right in new]
    assert accuracy(learnt, new, words) == pytest.approx(np.mean(right_before), abs=0.1)


def test_few_cells_are_worth_less_than_many() -> None:
    good = [taught(cells(count), listing(cells(count), lambda form: int("good" in form))) for count in (20, 50, 500)]
    assert [round(own.overall[0][0], 2) for own in good] == sorted(round(own.overall[0][0], 2) for own in good)
    assert good[0].overall[0][0] < good[2].overall[0][0]
    assert learn(listing(cells(19), lambda _: 1), cells(19), PLAIN, 1.0) is None


def test_parts_of_speech_differ() -> None:
    verbs, nouns = cells(100), cells(100, part="N")
    words = listing([*verbs, *nouns], lambda form: int("good" in form and form[0] == "n"))
    learnt = taught([*verbs, *nouns], words)
    (verb_right, _), (noun_right, _) = learnt.shares["V"][0], learnt.shares["N"][0]
    assert verb_right < 0.2
    assert noun_right > 0.8


def test_counts_matter_where_wrong_forms_are_rarer() -> None:
    known, new = cells(100), cells(200, seed=2)
    often = listing([*known, *new], lambda form: 200 if form.endswith("good") else 2)
    assert accuracy(taught(known, often), new, often) == 1.0
    once = listing([*known, *new], lambda _: 1)
    assert accuracy(taught(known, once), new, once) < 0.7


def test_the_lemma_and_forms_of_lemmas_that_are_not_in_the_list_are_neither_better_nor_worse() -> None:
    known = cells(100)
    words = listing(known, lambda form: int(form.endswith("good")))
    learnt = taught(known, words)
    cell, candidates, _ = cells(1, part="X")[0]
    assert all(own.added == 0 for own in learnt.weighed(cell, candidates, words).values())
    with_lemma = WordList("", "", 1, {cell[0]: 1})
    assert all(own.added < 0 for own in learnt.weighed(cell, candidates, with_lemma).values())
    (lemma, features), candidates, _ = known[0]
    among = {**candidates, lemma: next(iter(candidates.values()))}
    assert learnt.weighed((lemma, features), among, words)[lemma].added == 0


@pytest.mark.parametrize(
    "damage",
    [
        {"overall": [[0.5, 0.5]] * (len(COUNTS) - 1)},
        {"overall": [[0.5, 0.0]] * len(COUNTS)},
        {"shares": {"V": [[1.0, 0.5]] * len(COUNTS)}},
        {"accuracy": 101.0},
        {"confidence": {"weights": [1.0], "items": 3}},
    ],
)
def test_damaged_records_are_refused(damage: dict[str, object]) -> None:
    known = cells(100)
    sound = msgspec.to_builtins(taught(known, listing(known, lambda _: 1)))
    assert msgspec.convert(sound, WordEvidence)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(sound | damage, WordEvidence)
