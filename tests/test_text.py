import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.errors import printable
from reinflect.text import (
    LEFT_TO_RIGHT_MARK,
    display_width,
    in_columns,
    nearest,
    table,
    visible,
    visible_piece,
    visible_text,
)

# Letters, marks, wide and right-to-left letters and unseen characters, all of them often enough to meet.
CHARACTERS = st.one_of(
    st.sampled_from("aß ◌∅␣\\|日Ａｱ한ᅡबाִאب٣\u0301\u200c\u200f\u202e\u00a0\u00ad\u034f\ufe0f\n\x1b\ue000"),
    st.characters(),
)


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
        ("a\u200db", 1),  # wcwidth counts what a joiner joins as one character; `visible_text` shows joiners escaped
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


def test_a_table_has_no_blanks_at_its_line_ends() -> None:
    assert in_columns([["a", "bb", ""], ["ccc", "", ""]], "  ") == ["a    bb", "ccc"]


def test_numbers_go_to_the_right() -> None:
    assert in_columns([["a", "5"], ["日", "10"]], "  ", ["left", "right"]) == ["a    5", "日  10"]


def test_a_number_keeps_its_side_next_to_letters_that_run_right_to_left() -> None:
    mark = LEFT_TO_RIGHT_MARK
    assert in_columns([["5", "ב"], ["10", "x"]], " ", ["right", "left"]) == [
        f"{mark} 5{mark} ב{mark}",
        f"{mark}10{mark} x{mark}",
    ]


# Cells are made printable before they are put into columns; the width of control characters is undefined.
@given(st.lists(st.tuples(st.text(CHARACTERS).map(visible_text), st.just("1")), min_size=1))
def test_right_hand_columns_end_together(rows: list[tuple[str, str]]) -> None:
    lines = in_columns(rows, "  ", ["left", "right"])
    assert len({display_width(line) for line in lines}) == 1


def test_printable_text_keeps_its_blanks_and_marks() -> None:
    assert printable("a\x1b[2Jb\u200c") == "a\\x1b[2Jb\\u200c"
    assert printable("look up e\u0301") == "look up e\u0301"


@given(st.text())
def test_printable_text_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)


def test_the_nearest_names_are_offered_or_else_another_remedy() -> None:
    known = {"train-low", "train-high", "dev"}
    assert nearest("trainlow", known, "see the list") == "did you mean train-low?"
    assert nearest("DEV", known, "see the list") == "did you mean dev?"
    assert nearest("train-hi", known, "see the list") == "did you mean train-high or train-low?"
    assert nearest("xyz", known, "see the list") == "see the list"


def test_columns_of_a_table_are_aligned_in_any_script() -> None:
    text = table(("language", "items"), [("german", "1000"), ("a", "5")], sides=("left", "right"))
    assert text == "language  items\ngerman     1000\na             5\n"
    first, second = table(("", ""), [("e\u0301漢", "1"), ("abc", "2")], sides=("left", "right")).splitlines()[1:]
    assert display_width(first) == display_width(second)


@pytest.mark.parametrize(("piece", "shown"), [("", "∅"), (" e", "␣e"), ("\u0308", "◌\u0308")])
def test_every_character_of_a_piece_is_visible(piece: str, shown: str) -> None:
    assert visible_piece(piece) == shown
