"""A model and a lexicon: from a form back to lemma and features, and which forms to ask a speaker for next."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.analyse import CELLS, analyse, chances, open_cells, ranked
from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import copying

ITEMS = [Item("gen", Bundle("V;A"), "gen"), Item("gen", Bundle("V;B"), "gan"), Item("eng", Bundle("N;A"), "eng")]


@pytest.fixture(scope="module", name="copying")
def copying_model() -> Inflector:
    return copying(ITEMS)


def cells_of(inflector: Inflector, form: str, lexicon: Lexicon, n: int = 9) -> list[tuple[str, str, bool]]:
    """Lemma, features, and whether the form is attested there."""
    return [(cell.lemma, cell.features, cell.answer is None) for cell in analyse(inflector, form, lexicon, n)]


def test_cells_for_which_the_model_predicts_the_form_are_its_analyses(copying: Inflector) -> None:
    lexicon = Lexicon(("ab", "gen", "gens", "eng"))
    assert cells_of(copying, "gen", lexicon)[:3] == [("gen", own, False) for own in ("V;A", "V;B", "N;A")]
    assert cells_of(copying, "gen", lexicon, n=2) == [("gen", own, False) for own in ("V;A", "V;B")]
    others = analyse(copying, "gen", lexicon, 9)[3:]
    assert all(own.answer is not None and own.answer.votes == 0 for own in others), "alternatives of near lemmas"
    assert cells_of(copying, "genug", lexicon) == []
    assert cells_of(copying, "gen", Lexicon(("ab",))) == []


def test_attested_forms_come_first_and_exclude_their_cell_where_they_are_others(copying: Inflector) -> None:
    lexicon = Lexicon(("gen", "eng"), tuple(ITEMS))
    assert cells_of(copying, "gan", lexicon) == [("gen", "V;B", True)]
    assert cells_of(copying, "gen", lexicon) == [("gen", "V;A", True)], "V;B has another form, and verbs have no N;A"
    kept = replace(copying, attested=tuple(ITEMS))
    assert cells_of(kept, "gan", Lexicon(())) == [("gen", "V;B", True)]
    assert cells_of(kept, "gen", Lexicon(("gene",)))[0] == ("gen", "V;A", True)


def test_the_lemma_is_found_among_thousands(copying: Inflector) -> None:
    """More cells than are inflected: those of the lemmas nearest to the form are."""
    letters = "abcdefghij"
    lemmas = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in letters[:5]]
    assert len(lemmas) * 3 > 5 * CELLS
    assert ("cafe", "V;A", False) in cells_of(copying, "cafe", Lexicon((*lemmas, "cafe")))


@dataclass
class Sure:
    """As sure of a cell as it was told to be."""

    confidences: dict[tuple[str, str], float | None]
    bundle_counts: dict[str, int] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def answers(self, items: Sequence[Item]) -> list[Answer]:
        self.asked.append(len(items))
        return [Answer("form", self.confidences.get((i.lemma, i.features.spelling), 0.5), 1, 4, -1.0) for i in items]


def order(sure: Sure, most: int | None = None, *, spread: bool = False) -> list[tuple[str, str]]:
    cells = [Item(lemma, Bundle(features)) for lemma, features in sure.confidences]
    suggestions = ranked(cast(Inflector, cast(Any, sure)), cells, most, spread=spread)
    return [(suggestion.lemma, suggestion.features) for suggestion in suggestions]


def test_the_least_certain_comes_first_and_among_equals_the_commonest() -> None:
    sure = Sure(
        {("a", "V;1"): 0.9, ("b", "V;1"): 0.201, ("b", "V;2"): 0.199, ("c", "3;V"): 0.2, ("c", "V;4"): 0.1},
        {"V;1": 5, "V;2": 2, "V;3": 4, "3;V": 4},
    )
    assert order(sure) == [("c", "V;4"), ("c", "3;V"), ("b", "V;1"), ("b", "V;2"), ("a", "V;1")]


def slowly_in_turns(cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Again and again the first of those whose lemma and features have come most seldom."""
    left, chosen = list(cells), list[tuple[str, str]]()
    while left:
        seen = [sum((lemma == c[0]) + (features == c[1]) for c in chosen) for lemma, features in left]
        chosen.append(left.pop(seen.index(min(seen))))
    return chosen


cells = st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("1 2 3 4".split())), st.floats(0, 1))


@given(cells)
def test_every_cell_comes_once_and_in_its_turn(confidences: dict[tuple[str, str], float | None]) -> None:
    plain = order(Sure(confidences))
    assert sorted(plain) == sorted(confidences)
    assert order(Sure(confidences), spread=True) == slowly_in_turns(plain)
    assert order(Sure(confidences), 4) == plain[:4]
    assert order(Sure(confidences), 4, spread=True) == slowly_in_turns(plain)[:4]


def test_without_a_confidence_votes_count() -> None:
    assert chances(Answer("x", None, 1, 4, None)) == 0.25
    assert chances(Answer("x", 0.9, 1, 4, None)) == 0.9


def test_many_cells_are_asked_for_in_portions() -> None:
    sure = Sure({(str(number), "V"): 0.5 for number in range(CELLS + 1)})
    assert len(order(sure)) == CELLS + 1
    assert sure.asked == [CELLS, 1]


def test_cells_that_are_known_or_of_another_part_of_speech_are_not_open() -> None:
    lexicon = Lexicon(("gehen", "neu"), (Item("gehen", Bundle("PST;V"), "ging"),))
    found = [(item.lemma, item.features.spelling) for item in open_cells(lexicon, ["V;PST", "V;PRS", "N;SG"])]
    assert found == [("gehen", "V;PRS"), ("neu", "V;PST"), ("neu", "V;PRS"), ("neu", "N;SG")]
