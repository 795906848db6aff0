import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.errors import nearest, printable
from reinflect.text import LEFT_TO_RIGHT_MARK, display_width, in_columns, table, visible, visible_piece, visible_text

# Letters, marks, wide and right-to-left letters and unseen characters, all of them often enough to meet.
CHARACTERS = st.one_of(
    st.sampled_from("aß ◌∅␣\\|日Ａｱ한ᅡबाִאب٣\u0301\u200c\u200f\u202e\u00a0\u00ad\u034f\ufe0f\n\x1b\ue000"),
    st.characters(),
)


WIDTHS = {"": 0, "flog": 4, "e\u0301": 1, "◌\u0323\u0301": 1, "日本": 4, "Ａ": 2, "ｱ": 1, "한": 2}
WIDTHS |= {"\u1112\u1161\u11ab": 2, "का": 2, "क्": 1}  # three letters of a syllable; a vowel sign with room, a virama


@pytest.mark.parametrize("text", WIDTHS)
def test_width_is_what_a_terminal_gives(text: str) -> None:
    assert display_width(text) == WIDTHS[text]


VISIBLE = {"": "∅", " ": "␣", "a": "a", "\u0301": "◌\u0301", "ा": "◌ा", "\n": r"\n"}
ESCAPED = "∅␣\u00a0\u200c\u200e\u202e\x1b\ufe0f\udc80\U000e0041"
"""The signs themselves, and what draws nothing: U+FE0F is a mark by category."""
VISIBLE |= {character: character.encode("unicode_escape").decode() for character in ESCAPED}


@pytest.mark.parametrize("character", VISIBLE)
def test_each_character_is_seen(character: str) -> None:
    assert visible(character) == VISIBLE[character]


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


def test_columns_have_sides_and_no_blanks_at_line_ends() -> None:
    assert in_columns([["a", "bb", ""], ["ccc", "", ""]], "  ") == ["a    bb", "ccc"]
    assert in_columns([["a", "5"], ["日", "10"]], "  ", ["left", "right"]) == ["a    5", "日  10"]
    text = table(("language", "items"), [("german", "1000"), ("a", "5")], sides=("left", "right"))
    assert text == "language  items\ngerman     1000\na             5\n"


def test_a_number_keeps_its_side_next_to_letters_that_run_right_to_left() -> None:
    mark = LEFT_TO_RIGHT_MARK
    rows = in_columns([["5", "ב"], ["10", "x"]], " ", ["right", "left"])
    assert rows == [f"{mark} 5{mark} ב{mark}", f"{mark}10{mark} x{mark}"]


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
    remedies = {"trainlow": "train-low?", "DEV": "dev?", "train-hi": "train-high or train-low?"}
    for name, remedy in {**{name: f"did you mean {text}" for name, text in remedies.items()}, "xyz": "see"}.items():
        assert nearest(name, {"train-low", "train-high", "dev"}, "see") == remedy


def test_every_character_of_a_piece_is_visible() -> None:
    assert [visible_piece(piece) for piece in ("", " e", "\u0308")] == ["∅", "␣e", "◌\u0308"]
