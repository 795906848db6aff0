"""Probabilities of one form, caps, and the filter for endlessly repeating characters."""

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import Scored, beam, filtered, greedy, longest_runs, merged, most_actions
from reinflect.systems.system import Attention


def test_probabilities_of_one_form_are_added() -> None:
    ways = [Scored("a", math.log(0.2)), Scored("b", math.log(0.3)), Scored("a", math.log(0.15)), Scored("c", -math.inf)]
    assert [(form, round(math.exp(score), 6)) for form, score in merged(ways, 5)] == [("a", 0.35), ("b", 0.3)]
    assert [form for form, _ in merged(ways, 1)] == ["a"]
    assert merged([Scored("a", -1e6), Scored("a", -1e6)], 1)[0].log_probability == pytest.approx(-1e6 + math.log(2))
    assert merged([], 3) == []


def test_long_sources_have_more_actions() -> None:
    assert most_actions(np.array([0, 25, 90])).tolist() == [150, 150, 410]


def runs(word: str) -> dict[str, int]:
    """The longest run of each character, counted."""
    longest: dict[str, int] = {}
    for character, same in groupby(word):
        longest[character] = max(longest.get(character, 0), len(list(same)))
    return longest


few = st.text("ab\n", max_size=14)


@example([("flooog", "fliegen"), ("floooog", "fliegen"), ("jäääärs", "jäääär"), ("", "a"), (None, "a")], [])
@example([("jäääärs", "jää"), ("jääääärs", "jäääär"), ("jooooo", "jäääär"), ("jäääroooo", "jäääär")], ["jäääär"])
@example([("aaaabbbb", "aaaa"), ("aaaabbbbb", "aaaa")], ["bbbb"])
@given(st.lists(st.tuples(st.none() | few, few), max_size=6), st.lists(few, max_size=3))
def test_the_filter_for_anything(pairs: list[tuple[str | None, str]], words: list[str]) -> None:
    expected = []
    for form, lemma in pairs:
        allowed = [runs(word) for word in (lemma, *words)]
        strange = form is None or any(
            run >= 4 and not any(longest.get(character, 0) >= run for longest in allowed)
            for character, run in runs(form).items()
        )
        expected.append(lemma if strange else form)
    assert filtered([form for form, _ in pairs], [lemma for _, lemma in pairs], longest_runs(words)) == expected


def test_a_flag_that_a_product_raises_is_no_warning() -> None:
    """BLAS was seen to raise one where all numbers are finite; the tests make errors of warnings."""

    class Flagged:
        def __init__(self, items: Sequence[Item]) -> None:
            self.sources, self.lengths = [("a",)] * len(items), np.ones(len(items), dtype=np.int64)

        def log_probabilities(self) -> NDArray[np.float32]:
            np.float32("inf") - np.array(np.inf)
            return np.array([[-5.0, -0.1]], dtype=np.float32)

        def attention(self) -> Attention:
            return Attention(0)

        def keep(self, rows: NDArray[np.int64]) -> None: ...

        def advance(self, actions: NDArray[np.int64]) -> list[str]:
            return [""] * len(actions)

    class Words:
        end = 1

        def start(self, items: Sequence[Item]) -> Flagged:
            return Flagged(items)

    item = Item("a", Bundle("V"))
    with pytest.raises(RuntimeWarning, match="invalid value"):
        Flagged([item]).log_probabilities()
    assert greedy(Words(), [item]).forms == [""]
    assert [form.form for form in beam(Words(), [item], 1, 1)[0]] == [""]
