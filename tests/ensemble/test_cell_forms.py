"""Forms of many cells, kept as changes of their lemmas."""

import lzma

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.cell_forms import AFTER, SURROGATES, CellForms

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)


def items(*lemmas: str) -> list[Item]:
    return [Item(lemma, Bundle("V")) for lemma in lemmas]


def again(own: CellForms) -> CellForms:
    return msgspec.json.decode(msgspec.json.encode(own), type=CellForms)


@given(st.lists(st.tuples(WORDS, st.none() | WORDS)))
def test_forms_come_back_as_they_were(pairs: list[tuple[str, str | None]]) -> None:
    cells, forms = items(*(lemma for lemma, _ in pairs)), [form for _, form in pairs]
    assert again(CellForms.of(cells, forms)).forms(cells) == forms


def test_words_that_change_alike_have_one_change() -> None:
    cells = items("sagen", "legen", "machen", "sagen", "x")
    own = CellForms.of(cells, ["gesagt", "gelegt", "gemacht", "sagte", None])
    assert own.changes == (("ge", 0, 2, "t"), ("", 0, 2, "te"), None)
    assert own.which == "   !" + '"'


def test_more_changes_than_there_are_characters_before_the_surrogates() -> None:
    cells = items(*map(str, range(SURROGATES + 10)))
    forms = [f"{item.lemma}{place:x}" for place, item in enumerate(cells)]
    own = CellForms.of(cells, forms)
    assert max(own.which) > chr(AFTER)
    assert again(own).forms(cells) == forms


def test_forms_take_little_room() -> None:
    cells = items(*(f"{'kptslmr'[number % 7]}a{number}in" for number in range(10_000)))
    forms = [f"ge{item.lemma[:-2]}{'et'[number % 2]}" for number, item in enumerate(cells)]
    assert len(lzma.compress(msgspec.json.encode(CellForms.of(cells, forms)), preset=1)) < 1_000


def test_forms_are_for_cells_in_their_order() -> None:
    own = CellForms.of(items("a", "b"), ["ax", "bx"])
    assert own.cells == CellForms.of(items("a", "b"), ["", None]).cells
    assert own.cells != CellForms.of(items("b", "a"), ["ax", "bx"]).cells
    with pytest.raises(ValueError, match="zip"):
        own.forms(items("a"))


@pytest.mark.parametrize("which", ["#", "\x1f", chr(AFTER)])
def test_a_change_that_is_not_there(which: str) -> None:
    own = CellForms.of(items("a", "b"), ["ax", "by"])
    with pytest.raises(ValueError, match="without a form"):
        again(msgspec.structs.replace(own, which=f" {which}"))
