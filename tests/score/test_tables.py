"""The columns of tables are aligned in any script."""

from reinflect.text import display_width, table, visible_piece


def test_numbers_are_aligned_right_and_words_left() -> None:
    text = table(("language", "items"), [("german", "1000"), ("a", "5")], sides=("left", "right"))
    assert text == "language  items\ngerman     1000\na             5\n"


def test_marks_have_no_width_and_wide_letters_two() -> None:
    first, second = table(("", ""), [("e\u0301漢", "1"), ("abc", "2")], sides=("left", "right")).splitlines()[1:]
    assert display_width(first) == display_width(second)


def test_every_character_of_a_piece_is_visible() -> None:
    assert visible_piece("") == "∅"
    assert visible_piece(" e") == "␣e"
    assert visible_piece("\u0308") == "◌\u0308"
