import pytest

from reinflect.data.features import Bundle


def test_a_bundle_remembers_its_spelling() -> None:
    assert str(Bundle("N;SG;DEF")) == "N;SG;DEF"
    assert Bundle("N;SG;DEF") != Bundle("N;DEF;SG")


def test_bundles_with_the_same_atoms_are_one_cell() -> None:
    assert Bundle("N;SG;DEF").cell == Bundle("N;DEF;SG").cell
    assert Bundle("N; PL").cell == Bundle("N;PL").cell


def test_a_repeated_atom_counts() -> None:
    assert Bundle("V;PRF").cell != Bundle("V;PRF;PRF").cell
    assert Bundle("V;PRF;PRF").atoms.count("PRF") == 2


def test_blanks_around_atoms_and_empty_atoms_do_not_count() -> None:
    assert Bundle(" N ;; PL;").atoms == ("N", "PL")
    assert Bundle("").atoms == ()


@pytest.mark.parametrize(
    ("spelling", "part"),
    [("V;IND;PST", "V"), ("3;SG;V", "V"), ("V.PTCP;PST", "V.PTCP"), ("SG;DEF", "(none)"), ("ADJ;F", "ADJ")],
)
def test_part_of_speech_is_found_wherever_it_stands(spelling: str, part: str) -> None:
    assert Bundle(spelling).part_of_speech == part
