"""Mistakes: lemma, right form and prediction, aligned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align import align
from reinflect.data.features import Bundle
from reinflect.report.model import aligned, alignment_table, columns_of, mistakes_list
from reinflect.score.scores import Judged
from tests.report.pages import Page

WORDS = st.text("abcde", max_size=8)


def judged(lemma: str, gold: str, predicted: str) -> Judged:
    return Judged(lemma, Bundle("V"), gold, predicted, int(gold != predicted), False)


@given(WORDS, WORDS, WORDS, st.sampled_from(["naive", "smart"]))
def test_each_row_spells_its_word(lemma: str, right: str, predicted: str, method: str) -> None:
    columns = columns_of(*align([(lemma, right), (lemma, predicted)], method))
    assert ["".join(column[number] for column in columns) for number in range(3)] == [lemma, right, predicted]
    assert all(any(column) for column in columns)


def test_equal_insertions_share_a_column() -> None:
    right = (("g", "g"), ("", "t"), ("", "e"), ("", "n"))
    predicted = (("g", "g"), ("", "e"), ("", "n"))
    assert columns_of(right, predicted) == [("g", "g", "g"), ("", "t", ""), ("", "e", "e"), ("", "n", "n")]


def test_differences_are_marked() -> None:
    (columns,) = aligned([judged("ab", "ab", "ab")] * 20, [judged("sagen", "sagte", "sage")])
    page = Page(alignment_table(columns))
    assert page.text.startswith("lemma")
    assert len(page.elements("td", "wrong")) == len(page.elements("td", "missed")) > 0
    assert aligned([], []) == []


@pytest.mark.parametrize(("cell", "direction"), [(("זז", "זוז", "זז"), "rtl"), (("ab", "b<", "&"), None)])
def test_right_to_left_words_have_right_to_left_columns(cell: tuple[str, str, str], direction: str | None) -> None:
    page = Page(mistakes_list([judged(*cell)] * 2, 5))
    assert page.elements("table")[0].get("dir") == direction
    assert "2 times" in page.text
    assert all(character in page.text for character in cell[2])


def test_without_mistakes_there_is_a_sentence() -> None:
    assert Page(mistakes_list([judged("ab", "ab", "ab")], 5)).text == "All forms are right."
