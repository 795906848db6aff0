"""Lemma, right form and prediction, aligned."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.align import align
from reinflect.data.features import Bundle
from reinflect.report.alignments import alignment_table, alignments_of, three_rows
from reinflect.score.scores import Judged
from tests.report.pages import Page

WORDS = st.text("abcde", max_size=8)


@given(WORDS, WORDS, WORDS, st.sampled_from(["naive", "smart"]))
def test_each_row_spells_its_word(lemma: str, right: str, predicted: str, method: str) -> None:
    columns = three_rows(*align([(lemma, right), (lemma, predicted)], method))
    rows = ["".join(column[number] for column in columns) for number in range(3)]
    assert rows == [lemma, right, predicted]
    assert all(any(column) for column in columns)


def test_equal_insertions_share_a_column() -> None:
    right = (("g", "g"), ("", "t"), ("", "e"), ("", "n"))
    predicted = (("g", "g"), ("", "e"), ("", "n"))
    assert three_rows(right, predicted) == [("g", "g", "g"), ("", "t", ""), ("", "e", "e"), ("", "n", "n")]


def judged(lemma: str, gold: str, predicted: str) -> Judged:
    return Judged(lemma, Bundle("V"), gold, predicted, 1, False)


def test_differences_are_marked() -> None:
    (columns,) = alignments_of([judged("ab", "ab", "ab")] * 20, [judged("sagen", "sagte", "sage")])
    page = Page(alignment_table(columns))
    assert page.text.startswith("lemma")
    assert len(page.elements("td", "wrong")) == len(page.elements("td", "missed")) > 0
    assert alignments_of([], []) == []


def test_right_to_left_words_have_right_to_left_columns() -> None:
    (columns,) = alignments_of([], [judged("זז", "זוז", "זז")])
    assert Page(alignment_table(columns)).elements("table")[0]["dir"] == "rtl"
    (columns,) = alignments_of([], [judged("ab", "b<", "&")])
    page = Page(alignment_table(columns))
    assert "dir" not in page.elements("table")[0]
    assert "<" in page.text
    assert "&" in page.text
