"""The changed piece is the smallest possible, and mistakes are counted by it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.score import evaluate
from reinflect.score.mistakes import MISSING, Change, change_between, commonest_mistakes

FORMS = st.text(alphabet="ab", max_size=7)


def slow_pieces(gold: str, predicted: str) -> tuple[str, str, int, int]:
    """The pieces left by the longest common beginning and end; among equals, the longest beginning."""
    shorter = min(len(gold), len(predicted))
    ways = [
        (start + end, start, end)
        for start in range(shorter + 1)
        for end in range(shorter + 1 - start)
        if gold[:start] == predicted[:start] and gold[len(gold) - end :] == predicted[len(predicted) - end :]
    ]
    _, start, end = max(ways)
    return gold[start : len(gold) - end], predicted[start : len(predicted) - end], start, end


@given(FORMS, FORMS)
def test_the_piece_is_the_smallest(gold: str, predicted: str) -> None:
    change = change_between(gold, predicted)
    left, right, start, end = slow_pieces(gold, predicted)
    assert (change.gold, change.predicted) == (left, right)
    assert change.position == {(0, 0): "whole", (0, 1): "begin", (1, 0): "end"}.get((start > 0, end > 0), "middle")


@given(st.lists(st.tuples(FORMS.filter(bool), st.none() | FORMS), max_size=20), st.integers(1, 30))
def test_mistakes_are_counted_with_their_first_example(pairs: list[tuple[str, str | None]], limit: int) -> None:
    gold = [Item(f"lemma{i}", Bundle("V"), form) for i, (form, _) in enumerate(pairs)]
    predicted = [Item(f"lemma{i}", Bundle("V"), form) for i, (_, form) in enumerate(pairs) if form is not None]
    wrong = [
        (f"lemma{i}", MISSING if guess is None else change_between(form, guess))
        for i, (form, guess) in enumerate(pairs)
        if form != guess
    ]
    counts = Counter(change for _, change in wrong)
    mistakes = commonest_mistakes(evaluate(gold, predicted).cells if gold else [], limit)
    assert [mistake.count for mistake in mistakes] == sorted(counts.values(), reverse=True)[:limit]
    for mistake in mistakes:
        assert mistake.count == counts[mistake.change]
        assert mistake.example.lemma == next(lemma for lemma, change in wrong if change == mistake.change)


def test_with_several_right_forms_the_nearest_is_compared() -> None:
    gold = [Item("backen", Bundle("V;PST"), "buk"), Item("backen", Bundle("V;PST"), "backte")]
    scored = evaluate(gold, [Item("backen", Bundle("V;PST"), "bukk")], variants="any")
    (mistake,) = commonest_mistakes(scored.cells, 5)
    assert mistake.change == Change("", "k", "end")
