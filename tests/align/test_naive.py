"""The naive aligner, and what all aligners share."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.align import ALIGNERS
from reinflect.align.naive import Naive
from reinflect.align.pairs import EPSILON, KINDS, Aligner, count_kinds, kind
from reinflect.align.smart import Smart
from tests.systems.any_alignment import sides


def test_the_example_of_the_paper() -> None:
    (alignment,) = Naive().align([("fliegen", "flog")])
    assert alignment == (("f", "f"), ("l", "l"), ("i", "o"), ("e", "g"), ("g", ""), ("e", ""), ("n", ""))


def test_a_longer_form_ends_in_insertions() -> None:
    (alignment,) = Naive().align([("walk", "walked")])
    assert alignment == (("w", "w"), ("a", "a"), ("l", "l"), ("k", "k"), ("", "e"), ("", "d"))


@given(st.text(), st.text())
def test_position_i_pairs_with_position_i(lemma: str, form: str) -> None:
    (alignment,) = Naive().align([(lemma, form)])
    assert len(alignment) == max(len(lemma), len(form))
    for i, (x, y) in enumerate(alignment):
        assert x == (lemma[i] if i < len(lemma) else EPSILON)
        assert y == (form[i] if i < len(form) else EPSILON)
    assert sides(alignment) == (lemma, form)


def test_empty_strings() -> None:
    assert Naive().align([]) == []
    assert Naive().align([("", "")]) == [()]


def test_progress_is_reported() -> None:
    calls: list[tuple[int, int]] = []
    Naive().align([("a", "b"), ("c", "d")], lambda done, of: calls.append((done, of)))
    assert calls == [(2, 2)]


def test_a_code_point_is_a_character() -> None:
    (alignment,) = Naive().align([("e\u0301", "é"), ("𐍈😀", "😀")])[:1]
    assert alignment == (("e", "é"), ("\u0301", ""))


def test_kinds() -> None:
    assert [kind(*pair) for pair in (("a", "a"), ("a", "b"), ("", "b"), ("a", ""))] == list(KINDS)
    counts = count_kinds(Naive().align([("fliegen", "flog"), ("walk", "walked")]))
    assert counts == {"copy": 6, "substitution": 2, "deletion": 3, "insertion": 2}


def test_aligners_are_made_by_name() -> None:
    assert set(ALIGNERS) >= {"naive", "smart"}
    assert isinstance(ALIGNERS["naive"](), Naive)
    assert ALIGNERS["smart"](sweeps=7, seed=3) == Smart(sweeps=7, seed=3)


def test_signatures_of_different_settings_differ() -> None:
    aligners: list[Aligner] = [Naive(), Smart(), Smart(sweeps=10), Smart(seed=2), Smart(alpha=0.2)]
    assert len({aligner.signature for aligner in aligners}) == len(aligners)
