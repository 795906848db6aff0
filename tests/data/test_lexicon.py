from pathlib import Path

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon, read_lemmas
from reinflect.errors import InputError


def lexicon(folder: Path, text: str, name: str) -> Lexicon:
    (folder / name).write_text(text, encoding="utf-8")
    return read_lemmas(folder / name)


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
    found = lexicon(tmp_path, text, name)
    assert found.lemmas == ("gehen", "sehen")
    assert found.known == known


def test_a_file_without_lemmas_is_refused(tmp_path: Path) -> None:
    for name, text in (("empty.txt", "\n"), ("empty.csv", "lemma\n")):
        with pytest.raises(InputError, match="found no lemmas; write one on each line"):
            lexicon(tmp_path, text, name)


def test_items_tell_the_part_of_speech() -> None:
    words = Lexicon(("gehen", "Haus", "x")).knowing(
        [Item("gehen", Bundle("PST;V.PTCP"), "gegangen"), Item("Haus", Bundle("N;PL")), Item("other", Bundle("V"), "y")]
    )
    assert words.known == {("gehen", ("PST", "V.PTCP"))}
    having = {lemma: [words.may_have(lemma, Bundle(b)) for b in ("V;PST", "N;SG", "PL")] for lemma in words.lemmas}
    assert having == {"gehen": [True, False, True], "Haus": [False, True, True], "x": [True, True, True]}
