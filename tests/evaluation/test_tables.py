"""Tables line up, whatever the script."""

from reinflect.evaluation.tables import table, visible, visible_piece, width


def test_numbers_go_right_and_words_left() -> None:
    text = table(("language", "items"), [("german", "1000"), ("a", "5")], sides=("left", "right"))
    assert text == "language  items\ngerman     1000\na             5\n"


def test_marks_take_no_room_and_wide_letters_two() -> None:
    assert width("mo\u0308ge") == 4
    assert width("漢字") == 4
    first, second = table(("", ""), [("e\u0301漢", "1"), ("abc", "2")], sides=("left", "right")).splitlines()[1:]
    assert width(first) == width(second)


def test_what_cannot_be_seen_is_shown() -> None:
    assert visible("a\x1b[2Jb\u200c") == "a\\x1b[2Jb\\u200c"
    assert visible_piece("") == "∅"
    assert visible_piece(" e") == "␣e"
    assert visible_piece("\u0308") == "◌\u0308"
