"""The naive aligner, what all aligners share, and alignments laid out in three lines."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.align import ALIGNERS
from reinflect.align.pairs import EPSILON, KINDS, Alignment, Naive, count_kinds, kind, lay_out, moves_of, replayed
from reinflect.align.smart import Smart
from reinflect.text import LEFT_TO_RIGHT_MARK, display_width, visible
from tests.systems.any_alignment import alignments, sides
from tests.test_text import CHARACTERS


def test_the_example_of_the_paper_and_a_longer_form() -> None:
    first, second = Naive().align([("fliegen", "flog"), ("walk", "walked")])
    assert first == (("f", "f"), ("l", "l"), ("i", "o"), ("e", "g"), ("g", ""), ("e", ""), ("n", ""))
    assert second == (("w", "w"), ("a", "a"), ("l", "l"), ("k", "k"), ("", "e"), ("", "d"))
    assert count_kinds([first, second]) == {"copy": 6, "substitution": 2, "deletion": 3, "insertion": 2}
    assert [kind(*pair) for pair in (("a", "a"), ("a", "b"), ("", "b"), ("a", ""))] == list(KINDS)
    calls: list[tuple[int, int]] = []
    assert Naive().align([("", "")] * 2, lambda done, of: calls.append((done, of))) == [(), ()]
    assert (Naive().align([]), calls) == ([], [(2, 2)])


@given(st.text(), st.text())
def test_position_i_pairs_with_position_i(lemma: str, form: str) -> None:
    """Of code points: a combining mark is a character."""
    (alignment,) = Naive().align([(lemma, form)])
    assert len(alignment) == max(len(lemma), len(form))
    for i, (x, y) in enumerate(alignment):
        assert x == (lemma[i] if i < len(lemma) else EPSILON)
        assert y == (form[i] if i < len(form) else EPSILON)


@given(alignments())
def test_moves_and_strings_make_the_alignment(alignment: Alignment) -> None:
    assert replayed(moves_of(alignment), *sides(alignment)) == alignment


def test_aligners_are_made_by_name() -> None:
    assert isinstance(ALIGNERS["naive"](), Naive)
    assert ALIGNERS["smart"](sweeps=7, seed=3) == Smart(sweeps=7, seed=3)


ALIGNED = st.tuples(st.one_of(st.just(""), CHARACTERS), st.one_of(st.just(""), CHARACTERS)).filter(any)
ALIGNMENTS = st.lists(ALIGNED, min_size=1, max_size=12).map(tuple)


def column_starts(line: str) -> list[int]:
    """Where the columns of a line begin on the screen; no column contains a blank."""
    # The width of all that comes before: a mark may be wider on its letter than alone.
    plain = [(display_width(line[:at]), character) for at, character in enumerate(line)]
    shown = [(place, character) for place, character in plain if character != LEFT_TO_RIGHT_MARK]
    return [
        place
        for (place, character), (_, before) in zip(shown, [(0, " "), *shown], strict=False)
        if character != " " and before == " "
    ]


@given(ALIGNMENTS)
def test_the_columns_of_the_three_lines_start_together_and_hold_each_pair(alignment: Alignment) -> None:
    lemma, marks, form = lay_out(alignment)
    assert column_starts(lemma) == column_starts(marks) == column_starts(form)
    plain = [line.replace(LEFT_TO_RIGHT_MARK, "").split(" ") for line in (lemma, marks, form)]
    columns = zip(*(filter(None, cells) for cells in plain), strict=True)
    assert list(columns) == [(visible(x), KINDS[kind(x, y)], visible(y)) for x, y in alignment]


def test_right_to_left_letters_put_a_mark_after_each_column_of_all_lines() -> None:
    mark = LEFT_TO_RIGHT_MARK
    assert lay_out((("ב", "ב"), ("", "\u05bc"), ("x", ""))) == [
        f"{mark}ב{mark} ∅{mark} x{mark}",
        f"{mark}|{mark} +{mark} -{mark}",
        f"{mark}ב{mark} ◌\u05bc{mark} ∅{mark}",
    ]


def test_left_to_right_letters_get_no_marks() -> None:
    assert lay_out((("f", "f"), ("i", "o"), ("e", ""))) == ["f i e", "| × -", "f o ∅"]


def test_wide_and_escaped_characters_widen_their_column() -> None:
    assert lay_out((("日", "a"), ("\u200c", ""), ("", " "), ("x", "x"))) == [
        r"日 \u200c ∅ x",
        "×  -      + |",
        "a  ∅      ␣ x",
    ]
