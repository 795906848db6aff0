"""Letters in two spellings are found, whatever the script, and nothing else is."""

import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.data.words import Files, letters, two_ways

WORD = st.text(
    st.sampled_from("aäoneȯ̇ō\u0301\u0304\u0308\u0323") | st.characters(exclude_categories=["Cs"]), max_size=8
)


def two_ways_note(files: Files) -> str | None:
    found = two_ways(files)
    return found and found.note


FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


def items_of(*words: str) -> list[Item]:
    return [Item(word, Bundle("N"), word, line) for line, word in enumerate(words, start=1)]


def test_both_spellings_are_shown_with_their_places() -> None:
    items = items_of("Tag", "B\u00e4r", "Ba\u0308r", "\u00e4")
    assert two_ways_note([("n.tsv", items)]) == (
        "note: '\u00e4' is encoded in two ways, which look the same but are learnt as different letters "
        "(U+00E4 in n.tsv, line 2, lemma; U+0061 U+0308 in n.tsv, line 3, lemma); --normalise nfc uses one encoding "
        "throughout"
    )


def test_a_dev_file_may_be_spelled_otherwise_than_the_training_file() -> None:
    train, dev = items_of("B\u00e4r", "T\u00fcr", "\u00d6l"), items_of("Ba\u0308r", "Tu\u0308r", "O\u0308l")
    assert two_ways_note([("train", train)]) is None
    assert two_ways_note([("dev", dev)]) is None
    note = two_ways_note([("train", train), ("dev", dev)])
    assert note is not None
    assert note.startswith("note: '\u00e4' and 2 other letters are encoded in two ways")
    assert "(U+00E4 in train, line 1, lemma; U+0061 U+0308 in dev, line 1, lemma)" in note


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u1ec7", "e\u0323\u0302"),  # a letter with two marks
        ("\u00ea\u0323", "\u1eb9\u0302"),  # neither of them composed as far as it can be
        ("\uac01", "\u1100\u1161\u11a8"),  # a Korean syllable
        ("\u09cb", "\u09c7\u09be"),  # a Bengali vowel sign, of two that are no accents
        ("\u05d1\u05bc\u05b0", "\u05d1\u05b0\u05bc"),  # Hebrew points in another order
        ("\u212b", "\u00c5"),  # the sign for the unit and the letter
    ],
)
def test_whatever_the_script(one: str, other: str) -> None:
    assert two_ways_note([("x", items_of(f"k{one}k", f"k{other}k"))]) is not None
    assert two_ways_note([("x", items_of(f"k{one}k", f"{one}n"))]) is None


@given(WORD)
def test_letters_make_the_word_and_their_normal_forms_its_normal_form(word: str) -> None:
    found = letters(word)
    assert "".join(found) == word
    assert "".join(unicodedata.normalize("NFC", letter) for letter in found) == unicodedata.normalize("NFC", word)


@given(st.lists(WORD, max_size=4), st.sampled_from(FORMS))
def test_files_in_one_normal_form_give_no_note(words: list[str], form: Literal["NFC", "NFD"]) -> None:
    normal = [unicodedata.normalize(form, word) for word in words]
    assert two_ways_note([("x", items_of(*normal))]) is None


def test_the_shared_tasks_files_are_consistent(conll2017: Path) -> None:
    for path in sorted(conll2017.glob("*-train-medium")):
        assert two_ways_note([(path, read_items(path))]) is None
