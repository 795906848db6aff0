"""The naive aligner, and what all aligners share."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.align import ALIGNERS
from reinflect.align.naive import Naive
from reinflect.align.pairs import EPSILON, KINDS, count_kinds, kind, moves_of, replayed
from reinflect.align.smart import Smart
from tests.systems.any_alignment import alignments, sides


def test_the_example_of_the_paper_and_a_longer_form() -> None:
    first, second = Naive().align([("fliegen", "flog"), ("walk", "walked")])
    assert first == (("f", "f"), ("l", "l"), ("i", "o"), ("e", "g"), ("g", ""), ("e", ""), ("n", ""))
    assert second == (("w", "w"), ("a", "a"), ("l", "l"), ("k", "k"), ("", "e"), ("", "d"))
    assert count_kinds([first, second]) == {"copy": 6, "substitution": 2, "deletion": 3, "insertion": 2}
    assert [kind(*pair) for pair in (("a", "a"), ("a", "b"), ("", "b"), ("a", ""))] == list(KINDS)
    calls: list[tuple[int, int]] = []
    assert Naive().align([("", "")] * 2, lambda done, of: calls.append((done, of))) == [(), ()]
    assert (Naive().align([]), calls) == ([], [(2, 2)])


@given(st.text(), st.text())
def test_position_i_pairs_with_position_i(lemma: str, form: str) -> None:
    """Of code points: a combining mark is a character."""
    (alignment,) = Naive().align([(lemma, form)])
    assert len(alignment) == max(len(lemma), len(form))
    for i, (x, y) in enumerate(alignment):
        assert x == (lemma[i] if i < len(lemma) else EPSILON)
        assert y == (form[i] if i < len(form) else EPSILON)


@given(alignments())
def test_moves_and_strings_make_the_alignment(alignment: tuple[tuple[str, str], ...]) -> None:
    assert replayed(moves_of(alignment), *sides(alignment)) == alignment


def test_aligners_are_made_by_name() -> None:
    assert isinstance(ALIGNERS["naive"](), Naive)
    assert ALIGNERS["smart"](sweeps=7, seed=3) == Smart(sweeps=7, seed=3)
