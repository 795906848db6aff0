from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.analyse import CELLS, chances, open_cells, ranked


@dataclass
class Sure:
    """As sure of a cell as it was told to be."""

    confidences: dict[tuple[str, str], float | None]
    bundle_counts: dict[str, int] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def answers(self, items: Sequence[Item]) -> list[Answer]:
        self.asked.append(len(items))
        return [Answer("form", self.confidences.get((i.lemma, i.features.spelling), 0.5), 1, 4, -1.0) for i in items]


def order(sure: Sure, *, spread: bool = False) -> list[tuple[str, str]]:
    cells = [Item(lemma, Bundle(features)) for lemma, features in sure.confidences]
    made = ranked(cast(Inflector, cast(Any, sure)), cells, spread=spread)
    return [(one.lemma, one.features) for one in made]


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


def test_no_more_come_than_are_wanted() -> None:
    sure = Sure({(lemma, "V"): 0.5 for lemma in "abcdef"})
    items = [Item(lemma, Bundle(features)) for lemma, features in sure.confidences]
    for spread in (True, False):
        assert len(ranked(cast(Inflector, cast(Any, sure)), items, 4, spread=spread)) == 4


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
