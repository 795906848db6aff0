"""Word lists: every layout, encoding and accident of a file."""

from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from reinflect.data import words
from reinflect.data.words import WordList
from reinflect.errors import InputError
from reinflect.files import PIECE


def read(tmp_path: Path, content: str | bytes) -> WordList:
    path = tmp_path / "list.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return WordList.read(path)


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        ("ging\nsah\n", {"ging": 1, "sah": 1}),
        ("\ufeffging\r\nsah\r\n\r\n", {"ging": 1, "sah": 1}),
        ("ging\t12\nsah\t 3 \nkam\t0\n", {"ging": 12, "sah": 3, "kam": 0}),
        ("hat gesagt\t5\ngesagt\t2\n", {"hat": 5, "gesagt": 7}),
        ("»Sie ging,« sagte er: ging sie?\n", {"Sie": 1, "sie": 2, "ging": 2, "sagte": 1, "er": 1}),
        ("gehen/AB\nging/\n", {"gehen": 1, "AB": 1, "ab": 1, "ging": 1}),
        ("don't rock-n-roll ʼaʼ -- \u0915\u093f\n", {"don't": 1, "rock-n-roll": 1, "ʼaʼ": 1, "\u0915\u093f": 1}),
        ("ging\tsah\n", {"ging": 1, "sah": 1}),
    ],
)
def test_the_words_of_a_file(content: str, counts: dict[str, int], tmp_path: Path) -> None:
    assert dict(read(tmp_path, content).counts) == counts


def test_its_name_size_and_digest(tmp_path: Path) -> None:
    one = read(tmp_path, "Ging\nsah\n")
    assert (one.name, one.size) == ("list.txt", 2)
    assert one.digest != read(tmp_path, "Ging\nsah\nkam\n").digest
    assert one.digest == read(tmp_path, "Ging\nsah\n").digest


@pytest.mark.parametrize("of_list", ["NFC", "NFD"])
@pytest.mark.parametrize("of_form", ["NFC", "NFD"])
def test_the_encoding_of_marks_does_not_matter(
    of_list: Literal["NFC", "NFD"], of_form: Literal["NFC", "NFD"], tmp_path: Path
) -> None:
    made = read(tmp_path, normalize(of_list, "hände\n"))
    assert made.count(normalize(of_form, "hände")) == 1


def test_capitals_matter_in_forms_only(tmp_path: Path) -> None:
    made = read(tmp_path, "Ging er? Er ging. haus\n")
    assert [made.count(form) for form in ("ging", "Ging", "er", "ER", "Haus", "haus")] == [2, 1, 2, 0, 0, 1]


def test_a_form_of_several_words_is_as_frequent_as_the_rarest(tmp_path: Path) -> None:
    made = read(tmp_path, "hat\t100\ngesagt\t3\n")
    assert [made.count(form) for form in ("hat gesagt", "hat gesogt", " ", "")] == [3, 0, 0, 0]


def test_pieces_of_a_long_file_are_counted_together(tmp_path: Path) -> None:
    many = PIECE // 4
    assert read(tmp_path, "ging sah\n" * many).counts == {"ging": many, "sah": many}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "found no words"),
        ("\n \n", "found no words"),
        ("… -- !\n", "found no words"),
        ("ging\0sah\n", "found a NUL character"),
        (b"ging\n\xff\xfe\x00\n", "line 2: found the byte 0xFF, which is not UTF-8"),
    ],
)
def test_what_is_no_list_is_named_in_one_line(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, content)
    assert message in str(raised.value)
    assert "list.txt" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_list_with_too_many_words_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_WORDS", 3)
    assert read(tmp_path, "a b c a b c\n").size == 3
    with pytest.raises(InputError, match="more than 3 words; leave out the rarest"):
        read(tmp_path, "a b c d\n")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        WordList.read(tmp_path / "none")
