import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.systems.symbols import UNKNOWN, Inventory, Vocabulary

SPECIALS = (UNKNOWN, "<s>", "</s>", "STEP")


@given(st.text(), st.text())
@example("*_<>S\u0301é😀", "<s>e\u0301")  # characters that look special are themselves
def test_numbers_are_places_and_anything_else_is_unknown(known: str, other: str) -> None:
    vocabulary = Vocabulary.of(SPECIALS, known)
    assert vocabulary.symbols[: len(SPECIALS)] == SPECIALS
    assert len(vocabulary) == len(SPECIALS) + len(set(known)) == len(set(vocabulary.symbols))
    for symbol in (*SPECIALS, *known):
        assert symbol in vocabulary.symbols
        assert vocabulary.symbols[vocabulary.numbers([symbol])[0]] == symbol
    for character in set(other) - set(known):
        assert character not in vocabulary.symbols
        assert vocabulary.numbers([character]) == [0]
    assert vocabulary.numbers(other) == [vocabulary.numbers([character])[0] for character in other]
    assert vocabulary == Vocabulary.of(SPECIALS, reversed(known)), "the order of the data does not matter"


def test_without_an_unknown_symbol_a_new_one_is_an_error_that_names_it() -> None:
    vocabulary = Vocabulary.of(("COPY",), "ab")
    assert vocabulary.numbers(["b", "COPY", "a"]) == [2, 0, 1]
    with pytest.raises(KeyError, match="ß"):
        vocabulary.numbers(["ß"])


def test_characters_of_lemmas_and_forms_but_not_of_features() -> None:
    items = [Item("Maß", Bundle("N;PL"), "Maße"), Item("ab ", Bundle("V"), "")]
    assert Inventory.of(items).characters == tuple(sorted("Maßeb "))
    assert Inventory.of([]).characters == ()
