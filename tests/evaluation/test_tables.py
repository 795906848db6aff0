"""Tables line up, whatever the script."""

from reinflect.evaluation.tables import table, visible_piece
from reinflect.text import display_width


def test_numbers_go_right_and_words_left() -> None:
    text = table(("language", "items"), [("german", "1000"), ("a", "5")], sides=("left", "right"))
    assert text == "language  items\ngerman     1000\na             5\n"


def test_marks_take_no_room_and_wide_letters_two() -> None:
    first, second = table(("", ""), [("e\u0301漢", "1"), ("abc", "2")], sides=("left", "right")).splitlines()[1:]
    assert display_width(first) == display_width(second)


def test_a_piece_of_a_word_is_seen() -> None:
    assert visible_piece("") == "∅"
    assert visible_piece(" e") == "␣e"
    assert visible_piece("\u0308") == "◌\u0308"
