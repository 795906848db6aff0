"""The filter for endlessly repeating characters."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.decode.repeats import filtered, filtered_all, longest_runs


@pytest.mark.parametrize(
    ("form", "lemma", "words", "expected"),
    [
        ("flooog", "fliegen", [], "flooog"),  # three in a row are fine
        ("floooog", "fliegen", [], "fliegen"),
        ("jäääärs", "jäääär", [], "jäääärs"),  # the lemma has such a run
        ("jäääärs", "jää", ["jäääär"], "jäääärs"),  # a training word has
        ("jääääärs", "jäääär", ["jäääär"], "jäääär"),  # but not one of five
        ("jäääärs", "jääääär", [], "jäääärs"),
        ("jooooo", "jäääär", ["jäääär"], "jäääär"),  # nor one of another character
        ("jäääroooo", "jäääär", [], "jäääär"),
        ("aaaabbbb", "aaaa", ["bbbb"], "aaaabbbb"),  # each character from its own source
        ("", "fliegen", [], ""),
    ],
)
def test_the_rule(form: str, lemma: str, words: list[str], expected: str) -> None:
    assert filtered(form, lemma, longest_runs(words)) == expected


def runs(word: str) -> dict[str, int]:
    """The longest run of each character, counted."""
    found: dict[str, int] = {}
    for character, same in groupby(word):
        found[character] = max(found.get(character, 0), len(list(same)))
    return found


few = st.text("ab\n", max_size=14)


@given(few, few, st.lists(few, max_size=3))
def test_the_rule_for_anything(form: str, lemma: str, words: list[str]) -> None:
    known = [runs(word) for word in (lemma, *words)]
    strange = any(
        run >= 4 and not any(own.get(character, 0) >= run for own in known) for character, run in runs(form).items()
    )
    assert filtered(form, lemma, longest_runs(words)) == (lemma if strange else form)


@given(st.lists(st.tuples(st.none() | few, few), max_size=6), st.lists(few, max_size=3))
def test_filtering_many_equals_filtering_one_by_one(pairs: list[tuple[str | None, str]], words: list[str]) -> None:
    known = longest_runs(words)
    forms, lemmas = [form for form, _ in pairs], [lemma for _, lemma in pairs]
    expected = [lemma if form is None else filtered(form, lemma, known) for form, lemma in pairs]
    assert filtered_all(forms, lemmas, known) == expected
    assert [filtered(form, lemma, known) for form, lemma in pairs] == expected
