"""From a form back to lemma and features: by a model that copies lemmas, and from attested forms."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import Result

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.inflector.analyse import CELLS, analyse
from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import copying

Reinflect = Callable[..., Result]
ITEMS = [Item("gen", Bundle("V;A"), "gen"), Item("gen", Bundle("V;B"), "gan"), Item("eng", Bundle("N;A"), "eng")]


@pytest.fixture(scope="module", name="copying")
def copying_model() -> Inflector:
    return copying(ITEMS)


def found(inflector: Inflector, form: str, lexicon: Lexicon, n: int = 9) -> list[tuple[str, str, bool]]:
    return [(own.lemma, own.features, own.answer is None) for own in analyse(inflector, form, lexicon, n)]


def test_cells_for_which_the_model_predicts_the_form_are_its_analyses(copying: Inflector) -> None:
    lexicon = Lexicon(("ab", "gen", "gens", "eng"))
    assert found(copying, "gen", lexicon)[:3] == [("gen", own, False) for own in ("V;A", "V;B", "N;A")]
    assert found(copying, "gen", lexicon, n=2) == [("gen", own, False) for own in ("V;A", "V;B")]
    others = analyse(copying, "gen", lexicon, 9)[3:]
    assert all(own.answer is not None and own.answer.votes == 0 for own in others), "alternatives of near lemmas"
    assert found(copying, "genug", lexicon) == []
    assert found(copying, "gen", Lexicon(("ab",))) == []


def test_attested_forms_come_first_and_exclude_their_cell_where_they_are_others(copying: Inflector) -> None:
    lexicon = Lexicon(("gen", "eng"), tuple(ITEMS))
    assert found(copying, "gan", lexicon) == [("gen", "V;B", True)]
    assert found(copying, "gen", lexicon) == [("gen", "V;A", True)], "V;B has another form, and verbs have no N;A"
    kept = replace(copying, attested=tuple(ITEMS))
    assert found(kept, "gan", Lexicon(())) == [("gen", "V;B", True)]
    assert found(kept, "gen", Lexicon(("gene",)))[0] == ("gen", "V;A", True)


def test_the_lemma_is_found_among_thousands(copying: Inflector) -> None:
    """More cells than are inflected: those of the lemmas nearest to the form are."""
    letters = "abcdefghij"
    lemmas = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in letters[:5]]
    assert len(lemmas) * 3 > 5 * CELLS
    assert ("cafe", "V;A", False) in found(copying, "cafe", Lexicon((*lemmas, "cafe")))
