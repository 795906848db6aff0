"""Lists of words and of lemmas in every layout and encoding; letters in two encodings, whatever the script."""

from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data import lexicon
from reinflect.data.corrections import Files, letters, two_ways
from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.data.lexicon import Lexicon, WordList, read_lemmas
from reinflect.errors import InputError
from tests.data import written

Form = Literal["NFC", "NFD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD")


def read(tmp_path: Path, content: str | bytes) -> WordList:
    return WordList.read(written(tmp_path / "list.txt", content))


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
        ("ging ging\t3\n", {"ging": 3}),
    ],
)
def test_the_words_of_a_file(content: str, counts: dict[str, int], tmp_path: Path) -> None:
    assert dict(read(tmp_path, content).counts) == counts


def test_its_name_size_and_digest(tmp_path: Path) -> None:
    words = read(tmp_path, "Ging\nsah\n")
    assert (words.name, words.size) == ("list.txt", 2)
    assert words.digest != read(tmp_path, "Ging\nsah\nkam\n").digest
    assert words.digest == read(tmp_path, "Ging\nsah\n").digest


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        ("Ging er? Er ging. haus\n", {"ging": 2, "Ging": 1, "er": 2, "ER": 0, "Haus": 0, "haus": 1}),
        ("hat\t100\ngesagt\t3\n", {"hat gesagt": 3, "hat gesogt": 0, " ": 0, "": 0}),
        *((normalize(of_list, "hände\n"), {normalize(of_form, "hände"): 1}) for of_list in FORMS for of_form in FORMS),
    ],
)
def test_the_count_of_a_form(content: str, counts: dict[str, int], tmp_path: Path) -> None:
    """Capitals matter in forms only, encodings nowhere; several words are as frequent as the rarest."""
    listed = read(tmp_path, content)
    assert {form: listed.count(form) for form in counts} == counts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "found no words"),
        ("\n \n", "found no words"),
        ("… -- !\n", "found no words"),
        ("ging\0sah\n", "found a NUL character"),
        (b"ging\n\xff\xfe\x00\n", "line 2: found the byte 0xFF, which is not UTF-8"),
        ("a b c d\n", "more than 3 words; leave out the rarest"),
    ],
)
def test_what_is_no_list_is_named_in_one_line(
    content: str | bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexicon, "MOST_WORDS", 3)
    assert read(tmp_path, "a b c a b c\n").size == 3
    with pytest.raises(InputError, match=r"\A.*list\.txt.*\Z") as raised:  # one line
        read(tmp_path, content)
    assert message in str(raised.value)


# Lists of lemmas


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("plain.txt", "gehen\r\nsehen\n\ngehen\n", set()),
        ("sheet.csv", "My words,\ngloss,lemma\ngo,gehen\nsee,sehen\n", set()),
        ("items.tsv", "gehen\tging\tV;PST\nsehen\t\tV;PST\n", {("gehen", ("PST", "V"))}),
        ("asked.tsv", "gehen\tV;PST\nsehen\tV;PST\n", set()),
        ("wide.csv", "lemma,V;PST\ngehen,ging\nsehen,\n", {("gehen", ("PST", "V"))}),
    ],
)
def test_lemmas_come_from_any_file_and_their_forms_are_known(
    tmp_path: Path, name: str, text: str, known: set[tuple[str, tuple[str, ...]]]
) -> None:
    lexicon = read_lemmas(written(tmp_path / name, text))
    assert lexicon.lemmas == ("gehen", "sehen")
    assert lexicon.known == known


def test_a_file_without_lemmas_is_refused(tmp_path: Path) -> None:
    for name, text in (("empty.txt", "\n"), ("empty.csv", "lemma\n")):
        with pytest.raises(InputError, match="found no lemmas; write one on each line"):
            read_lemmas(written(tmp_path / name, text))


def test_items_tell_the_part_of_speech() -> None:
    words = Lexicon(("gehen", "Haus", "x")).knowing(
        [Item("gehen", Bundle("PST;V.PTCP"), "gegangen"), Item("Haus", Bundle("N;PL")), Item("other", Bundle("V"), "y")]
    )
    assert words.known == {("gehen", ("PST", "V.PTCP"))}
    having = {lemma: [words.may_have(lemma, Bundle(b)) for b in ("V;PST", "N;SG", "PL")] for lemma in words.lemmas}
    assert having == {"gehen": [True, False, True], "Haus": [False, True, True], "x": [True, True, True]}


# Letters in two encodings

WORD = st.text(
    st.sampled_from("aäoneȯ̇ō\u0301\u0304\u0308\u0323") | st.characters(exclude_categories=["Cs"]), max_size=8
)


def note_of(files: Files) -> str | None:
    finding = two_ways(files)
    return finding and finding.note


def items_of(*words: str) -> list[Item]:
    return [Item(word, Bundle("N"), word, line) for line, word in enumerate(words, start=1)]


def test_both_encodings_are_shown_with_their_places() -> None:
    items = items_of("Tag", "B\u00e4r", "Ba\u0308r", "\u00e4")
    places = "U+00E4 in n.tsv, line 2, lemma; U+0061 U+0308 in n.tsv, line 3, lemma"
    assert note_of([("n.tsv", items)]) == (
        "note: '\u00e4' is encoded in two ways, which look the same but are learnt as different letters "
        f"({places}); --normalise nfc uses one encoding throughout"
    )


def test_a_dev_file_may_be_encoded_otherwise_than_the_training_file() -> None:
    train, dev = items_of("B\u00e4r", "T\u00fcr", "\u00d6l"), items_of("Ba\u0308r", "Tu\u0308r", "O\u0308l")
    assert note_of([("train", train)]) is None
    assert note_of([("dev", dev)]) is None
    note = note_of([("train", train), ("dev", dev)])
    assert note is not None
    assert note.startswith("note: '\u00e4' and 2 other letters are encoded in two ways")
    assert "(U+00E4 in train, line 1, lemma; U+0061 U+0308 in dev, line 1, lemma)" in note


@pytest.mark.parametrize(
    ("letter", "other"),
    [
        ("\u1ec7", "e\u0323\u0302"),  # a letter with two marks
        ("\u00ea\u0323", "\u1eb9\u0302"),  # neither of them composed as far as it can be
        ("\uac01", "\u1100\u1161\u11a8"),  # a Korean syllable
        ("\u09cb", "\u09c7\u09be"),  # a Bengali vowel sign, of two that are no accents
        ("\u05d1\u05bc\u05b0", "\u05d1\u05b0\u05bc"),  # Hebrew points in another order
        ("\u212b", "\u00c5"),  # the sign for the unit and the letter
    ],
)
def test_whatever_the_script(letter: str, other: str) -> None:
    assert note_of([("x", items_of(f"k{letter}k", f"k{other}k"))]) is not None
    assert note_of([("x", items_of(f"k{letter}k", f"{letter}n"))]) is None


@given(WORD)
def test_letters_make_the_word_and_their_normal_forms_its_normal_form(word: str) -> None:
    pieces = letters(word)
    assert "".join(pieces) == word
    assert "".join(normalize("NFC", letter) for letter in pieces) == normalize("NFC", word)


@given(st.lists(WORD, max_size=4), st.sampled_from(FORMS))
def test_files_in_one_normal_form_give_no_note(words: list[str], form: Form) -> None:
    assert note_of([("x", items_of(*(normalize(form, word) for word in words)))]) is None


def test_the_shared_tasks_files_are_consistent(conll2017: Path) -> None:
    for path in sorted(conll2017.glob("*-train-medium")):
        assert note_of([(path, read_items(path))]) is None
