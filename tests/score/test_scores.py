"""Scores equal those of a slow, obviously right program, on any items."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.errors import InputError
from reinflect.score import MacroEvaluation, Score, evaluate
from reinflect.score.mistakes import MISSING, Change, change_between, commonest_mistakes
from reinflect.score.scores import breakdown

# Few lemmas and bundles, so that cells come up twice; forms that are equal or nearly so, and any others, with
# combining marks and letters beyond the first plane.
FORMS = st.sampled_from(["sah", "Sah", "sah ", "säh", "sa\u0308h"]) | st.text(alphabet="abö\u0301 𐐀", max_size=6)
GOLD_FORMS = FORMS.filter(bool)
LEMMAS = st.sampled_from(["gehen", "sehen", "sehen ", "Gehen"])
BUNDLES = st.sampled_from(["V;PST", "PST;V", "V; PST", "N;PL", "V;PST;PST", "PL", ""])


def items_of(forms: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[list[Item]]:
    return st.lists(
        st.builds(lambda lemma, bundle, form: Item(lemma, Bundle(bundle), form), LEMMAS, BUNDLES, forms),
        min_size=least,
        max_size=25,
    )


def slow_distance(left: str, right: str) -> int:
    """The textbook dynamic program."""
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) + 1):
        for j in range(len(right) + 1):
            if i == 0 or j == 0:
                rows[i][j] = i + j
            else:
                replaced = rows[i - 1][j - 1] + (left[i - 1] != right[j - 1])
                rows[i][j] = min(replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
    return rows[-1][-1]


def slow_score(gold: list[Item], predicted: list[Item], any_variant: bool) -> tuple[float, float, int]:
    """Searches the lists for every cell."""
    asked = {(item.lemma, item.features.spelling) for item in gold}
    correct, edits = 0, 0
    for lemma, spelling in asked:
        right = [item.form for item in gold if (item.lemma, item.features.spelling) == (lemma, spelling)]
        guesses = [item.form for item in predicted if (item.lemma, item.features.spelling) == (lemma, spelling)]
        guess = guesses[-1] if guesses else ""
        accepted = right if any_variant else right[-1:]
        correct += any(form == guess for form in accepted)
        edits += min(slow_distance(form, guess) for form in accepted)
    return round(100 * correct / len(asked), 2), round(edits / len(asked), 2), len(asked)


def macro_of(languages: Mapping[str, tuple[Sequence[Item], Sequence[Item]]]) -> MacroEvaluation:
    return MacroEvaluation("gold", {name: evaluate(*pair, name=name) for name, pair in languages.items()})


@given(items_of(GOLD_FORMS, least=1), items_of(FORMS), st.booleans())
def test_a_score_equals_that_of_the_slow_program(gold: list[Item], predicted: list[Item], any_variant: bool) -> None:
    others = [Item("another lemma", item.features, item.form) for item in predicted]  # they change nothing
    score = evaluate(gold, predicted + others, variants="any" if any_variant else "last")
    assert (score.accuracy, score.levenshtein, score.items) == slow_score(gold, predicted, any_variant)


def test_missing_and_empty_predictions_differ() -> None:
    gold = [Item("a", Bundle("V"), "aa"), Item("b", Bundle("V"), "bbb")]
    empty, absent = evaluate(gold, [Item("a", Bundle("V"), "")]).cells
    assert (empty.predicted, empty.missing, empty.distance) == ("", False, 2)
    assert (absent.predicted, absent.missing, absent.distance) == ("", True, 3)


def test_scoring_against_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match="no gold items"):
        evaluate([], [])


@given(st.lists(st.tuples(items_of(GOLD_FORMS, least=1), items_of(FORMS)), min_size=1, max_size=5))
def test_the_macro_average_is_the_mean_over_languages(languages: list[tuple[list[Item], list[Item]]]) -> None:
    macro = macro_of({f"language-{i}": pair for i, pair in enumerate(languages)})
    slow = [slow_score(gold, predicted, False) for gold, predicted in languages]
    assert math.isclose(macro.accuracy, sum(row[0] for row in slow) / len(slow), abs_tol=0.00501)
    assert math.isclose(macro.levenshtein, sum(row[1] for row in slow) / len(slow), abs_tol=0.00501)
    assert macro.items == sum(row[2] for row in slow)


@given(items_of(GOLD_FORMS, least=1), items_of(FORMS))
def test_the_groups_of_a_breakdown_add_up_to_the_score(gold: list[Item], predicted: list[Item]) -> None:
    evaluation = evaluate(gold, predicted)
    for by in ("features", "pos"):
        groups = breakdown(evaluation.cells, by)
        parts = groups.values()
        sizes = [score.items for score in parts]
        assert sizes == sorted(sizes, reverse=True)
        assert Score(*(sum(getattr(s, n) for s in parts) for n in ("items", "correct", "edits", "missing"))) == (
            Score.of(evaluation.cells)
        )
    assert set(breakdown(evaluation.cells, "features")) == {item.features.spelling for item in gold}
    assert set(breakdown(evaluation.cells, "pos")) == {item.features.part_of_speech for item in gold}


def test_the_score_of_a_group_is_that_of_its_items() -> None:
    gold = [Item("a", Bundle("V;PST"), "x"), Item("b", Bundle("PST;V"), "yy"), Item("a", Bundle("N"), "z")]
    predicted = [Item("a", Bundle("V;PST"), "x"), Item("b", Bundle("PST;V"), ""), Item("a", Bundle("N"), "z")]
    by_pos = breakdown(evaluate(gold, predicted).cells, "pos")
    assert by_pos == {"V": Score(items=2, correct=1, edits=2, missing=0), "N": Score(1, 1, 0, 0)}


def test_a_signature_names_what_changes_the_score_and_nothing_else() -> None:
    a, b, again = gold = (Item("a", Bundle("V"), "x"), Item("b", Bundle("V"), "y"), Item("a", Bundle("V"), "z"))
    signature = evaluate(gold, [], name="german-dev").signature
    assert signature.startswith("data:german-dev|items:2|gold:")
    assert "|variants:last|version:reinflect-" in signature
    assert evaluate((b, a, again), gold, name="german-dev").signature == signature, "the order of cells is no matter"
    others = (gold[:2], (a, b, Item("a", Bundle("V"), "other")))
    changed = {evaluate(other, [], name="german-dev").signature for other in others}
    assert len({signature, evaluate(gold, [], name="german-dev", variants="any").signature} | changed) == 4
    both, other = (macro_of({"a": (gold, []), "b": (second, [])}).signature for second in (gold, gold[:2]))
    assert both != other
    assert "|languages:2|average:macro|items:4|" in both
    assert evaluate(gold, [], name="a|items:9\n").signature.startswith("data:a_items_9_|items:2|")


def test_real_data_with_lemmas_as_predictions(conll2017: Path) -> None:  # with blanks in them
    gold = read_items(conll2017 / "persian-dev")
    predicted = [Item(item.lemma, item.features, item.lemma) for item in gold]
    score = evaluate(gold, predicted)
    assert (score.accuracy, score.levenshtein, score.items) == slow_score(gold, predicted, False)


# Mistakes: the changed piece is the smallest possible, and they are counted by it

SHORT_FORMS = st.text(alphabet="ab", max_size=7)


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


@given(SHORT_FORMS, SHORT_FORMS)
def test_the_piece_is_the_smallest(gold: str, predicted: str) -> None:
    change = change_between(gold, predicted)
    left, right, start, end = slow_pieces(gold, predicted)
    assert (change.gold, change.predicted) == (left, right)
    assert change.position == {(0, 0): "whole", (0, 1): "begin", (1, 0): "end"}.get((start > 0, end > 0), "middle")


@given(st.lists(st.tuples(SHORT_FORMS.filter(bool), st.none() | SHORT_FORMS), max_size=20), st.integers(1, 30))
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
