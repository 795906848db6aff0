import unicodedata
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.alignment.layout import (
    LEFT_TO_RIGHT_MARK,
    MARKS,
    display_width,
    in_columns,
    lay_out,
    visible,
    visible_text,
)
from reinflect.alignment.pairs import Alignment, kind

# Letters, marks, wide and right-to-left letters and unseen characters, all of them often enough to meet.
CHARACTERS = st.one_of(
    st.sampled_from("aß ◌∅␣\\|日Ａｱ한ᅡबाִאب٣\u0301\u200c\u200f\u202e\u00a0\u00ad\u034f\ufe0f\n\x1b\ue000"),
    st.characters(),
)
ALIGNED = st.tuples(st.one_of(st.just(""), CHARACTERS), st.one_of(st.just(""), CHARACTERS)).filter(any)
ALIGNMENTS = st.lists(ALIGNED, min_size=1, max_size=12).map(tuple)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("flog", 4),
        ("é", 1),
        ("e\u0301", 1),  # a letter and its mark
        ("◌\u0323\u0301", 1),
        ("日本", 4),
        ("Ａ", 2),  # fullwidth
        ("ｱ", 1),  # halfwidth
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),  # the same syllable in its three letters
        ("का", 2),  # a spacing vowel sign has room of its own
        ("क्", 1),  # a virama has none
        ("a\u200db", 2),
    ],
)
def test_width_is_what_a_terminal_gives(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("", "∅"),
        ("∅", r"\u2205"),
        (" ", "␣"),
        ("␣", r"\u2423"),
        ("a", "a"),
        ("\u0301", "◌\u0301"),
        ("ा", "◌ा"),
        ("\u00a0", r"\xa0"),
        ("\u200c", r"\u200c"),
        ("\u200e", r"\u200e"),
        ("\u202e", r"\u202e"),
        ("\x1b", r"\x1b"),
        ("\n", r"\n"),
        ("\ufe0f", r"\ufe0f"),  # a mark by category, yet one that draws nothing
        ("\udc80", r"\udc80"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_each_character_is_seen(character: str, shown: str) -> None:
    assert visible(character) == shown


@given(st.one_of(st.just(""), CHARACTERS), st.one_of(st.just(""), CHARACTERS))
def test_no_two_characters_look_the_same(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)


@given(CHARACTERS)
def test_what_is_shown_is_printable_has_room_and_no_blank(character: str) -> None:
    shown = visible(character)
    assert shown.isprintable()
    assert " " not in shown
    assert display_width(shown) > 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("e\u0323\u0301", "e\u0323\u0301"),
        ("\u0301e", "◌\u0301e"),
        (" \u0301", "␣◌\u0301"),
        ("a\u200c\u0301", r"a\u200c" + "◌\u0301"),
        ("auf ∅", r"auf␣\u2205"),
        ("كَ", "كَ"),
    ],
)
def test_a_mark_stays_on_its_letter_in_a_whole_string(text: str, shown: str) -> None:
    assert visible_text(text) == shown


def column_starts(line: str) -> list[int]:
    """Where the cells of a line begin on the screen; no cell has a blank in it."""
    places = accumulate(line, lambda place, character: place + display_width(character), initial=0)
    plain = [(place, character) for place, character in zip(places, line, strict=False)]
    shown = [(place, character) for place, character in plain if character != LEFT_TO_RIGHT_MARK]
    return [
        place
        for (place, character), (_, before) in zip(shown, [(0, " "), *shown], strict=False)
        if character != " " and before == " "
    ]


@given(ALIGNMENTS)
def test_the_columns_of_the_three_lines_start_together(alignment: Alignment) -> None:
    lemma, marks, form = lay_out(alignment)
    assert column_starts(lemma) == column_starts(marks) == column_starts(form)


@given(ALIGNMENTS)
def test_each_line_has_a_cell_for_each_pair(alignment: Alignment) -> None:
    lemma, marks, form = (line.replace(LEFT_TO_RIGHT_MARK, "").split(" ") for line in lay_out(alignment))
    assert [cell for cell in lemma if cell] == [visible(x) for x, _ in alignment]
    assert [cell for cell in marks if cell] == [MARKS[kind(x, y)] for x, y in alignment]
    assert [cell for cell in form if cell] == [visible(y) for _, y in alignment]


@given(ALIGNMENTS)
def test_right_to_left_letters_stand_between_left_to_right_marks(alignment: Alignment) -> None:
    for line in lay_out(alignment):
        for at, character in enumerate(line):
            if unicodedata.bidirectional(character) in ("R", "AL", "AN"):
                assert line[at - 1 : at + 2] in (
                    f"{LEFT_TO_RIGHT_MARK}{character}{LEFT_TO_RIGHT_MARK}",
                    f" {character}{LEFT_TO_RIGHT_MARK}",
                )


def test_right_to_left_letters_put_a_mark_after_each_cell_of_all_lines() -> None:
    mark = LEFT_TO_RIGHT_MARK
    assert lay_out((("ב", "ב"), ("", "\u05bc"), ("x", ""))) == [
        f"{mark}ב{mark} ∅{mark} x{mark}",
        f"{mark}|{mark} +{mark} -{mark}",
        f"{mark}ב{mark} ◌\u05bc{mark} ∅{mark}",
    ]


def test_left_to_right_letters_get_no_marks() -> None:
    assert lay_out((("f", "f"), ("i", "o"), ("e", ""))) == ["f i e", "| × -", "f o ∅"]


def test_wide_and_escaped_cells_pad_their_column() -> None:
    assert lay_out((("日", "a"), ("\u200c", ""), ("", " "), ("x", "x"))) == [
        r"日 \u200c ∅ x",
        "×  -      + |",
        "a  ∅      ␣ x",
    ]


def test_a_table_has_no_blanks_at_its_line_ends() -> None:
    assert in_columns([["a", "bb", ""], ["ccc", "", ""]], "  ") == ["a    bb", "ccc"]
