from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import read_items
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory


@pytest.mark.parametrize(
    ("spelling", "other", "same"),
    [
        ("N;SG;DEF", "N;DEF;SG", True),
        (" N ;; PL;", "N;PL", True),
        ("V;PRF", "V;PRF;PRF", False),
        ("", ";", True),
    ],
)
def test_bundles_with_the_same_atoms_are_one_cell(spelling: str, other: str, same: bool) -> None:
    assert (Bundle(spelling).cell == Bundle(other).cell) == same
    assert Bundle(spelling) != Bundle(other)


@pytest.mark.parametrize(
    ("spelling", "part"),
    [("V;IND;PST", "V"), ("3;SG;V", "V"), ("V.PTCP;PST", "V.PTCP"), ("SG;DEF", "(none)"), ("ADJ;F", "ADJ")],
)
def test_part_of_speech_is_found_wherever_it_stands(spelling: str, part: str) -> None:
    assert Bundle(spelling).part_of_speech == part


# Layers


@pytest.mark.parametrize(
    ("spelling", "atoms"),
    [
        ("V;NOM(1,SG);ACC(2,PL)", ["V", "NOM(1)", "NOM(SG)", "ACC(2)", "ACC(PL)"]),
        ("N;NOM(PL;PSS(1,PL))", ["N", "NOM", "PL", "PSS(1)", "PSS(PL)"]),
        ("ADJ;ACC(INAN;MASC;SG)", ["ADJ", "ACC", "INAN", "MASC", "SG"]),
        ("V.PTCP;ACC(MASC;SG)", ["V.PTCP", "ACC", "MASC", "SG"]),
        ("N;PL;PSS(3,SG,MASC)", ["N", "PL", "PSS(3)", "PSS(SG)", "PSS(MASC)"]),
        ("N;PL;PRS;NOM(1,SG)", ["N", "PL", "PRS", "NOM(1)", "NOM(SG)"]),
        ("V;PRS;NOM(PSS(1),SG)", ["V", "PRS", "NOM(PSS(1))", "NOM(SG)"]),
        ("N; ACC ( PL ; DEF ) ", ["N", "ACC", "PL", "DEF"]),
        ("V;ACC(INDF)", ["V", "ACC(INDF)"]),
        ("N;ACC(GEN(SG))", ["N", "ACC(GEN(SG))"]),
        ("N;GEN(SG);ACC(PL)", ["N", "GEN(SG)", "ACC(PL)"]),
    ],
)
def test_atoms_say_whose_they_are(spelling: str, atoms: list[str]) -> None:
    bundle = Bundle(spelling)
    assert list(bundle.atoms) == atoms
    assert str(bundle) == spelling
    assert not bundle.malformed


@pytest.mark.parametrize(
    ("spelling", "atoms"),
    [
        ("N;(non)NOM;SG", ["N", "(non)NOM", "SG"]),
        ("N;ABL(PL;DEF", ["N", "ABL(PL", "DEF"]),
        ("V;1);NOM(2)", ["V", "1)", "NOM(2)"]),
        ("V;NOM()", ["V", "NOM()"]),
        ("V;NOM(1,)", ["V", "NOM(1,)"]),
        ("V;NOM(1)x", ["V", "NOM(1)x"]),
        ("(" * 50_000, ["(" * 50_000]),
        ("a(" * 50_000 + ")" * 50_000, ["a(" * 50_000 + ")" * 50_000]),
    ],
)
def test_brackets_that_do_not_nest_are_letters(spelling: str, atoms: list[str]) -> None:
    assert list(Bundle(spelling).atoms) == atoms
    assert Bundle(spelling).malformed


@given(st.text().filter(lambda text: "(" not in text))
def test_flat_bundles_are_cut_at_semicolons(spelling: str) -> None:
    assert list(Bundle(spelling).atoms) == [atom for piece in spelling.split(";") if (atom := piece.strip(" "))]


@given(st.text("N;(), A1"))
def test_any_text_has_atoms_and_each_is_its_own_atom(spelling: str) -> None:
    for atom in Bundle(spelling).atoms:
        assert Bundle(atom).atoms == (atom,)


words = st.sampled_from(["NOM", "ACC", "PSS", "PL", "SG", "1", "2", "3", "DEF"])
nested = st.recursive(
    words,
    lambda own: st.builds("{}({})".format, words, st.lists(own, min_size=1, max_size=3).map(",".join)),
    max_leaves=8,
)


@given(st.sampled_from(["V", "N", "ADJ", "V.PTCP", "PL"]), st.lists(nested, max_size=4))
def test_the_atoms_of_a_bundle_are_a_spelling_of_its_cell(part: str, features: list[str]) -> None:
    bundle = Bundle(";".join([part, *features]))
    depth = max((text.count("(") for text in features), default=0)
    assert not bundle.malformed or depth > 8
    assert Bundle(";".join(bundle.atoms)).cell == bundle.cell


def test_bundles_of_2023_have_layers_and_cells_of_their_own(shared_sets: Path) -> None:
    for path in sorted((shared_sets / "sigmorphon2023").glob("*.trn")):
        notes: list[str] = []
        bundles = {item.features for item in read_items(path, note=notes.append)}
        assert not any(bundle.malformed for bundle in bundles)
        assert len({bundle.cell for bundle in bundles}) == len(bundles)
        assert all(Bundle(";".join(bundle.atoms)).atoms == bundle.atoms for bundle in bundles)
        assert f"note: {path}: its columns are read as lemma, features, form" in notes


def test_models_of_earlier_versions_know_the_text_between_semicolons() -> None:
    old, new = Inventory((), ("N", "NOM(1,SG)", "NOM(PL", "PSS(1,SG))", "V")), Inventory((), ("N", "NOM", "PL", "V"))
    for spelling in ("N;NOM(PL;PSS(1,SG))", "V;NOM(1,SG)"):
        assert old.feature_symbols(Bundle(spelling), counts=True) == sorted(
            f";{piece}" for piece in spelling.split(";")
        )
        counted = Settings(features="counts", feature_scale=1.0)
        assert old.feature_numbers([Bundle(spelling)], counted).sum() == len(spelling.split(";"))
    assert new.feature_symbols(Bundle("N;NOM(PL;PSS(1,SG))"), counts=True) == [";N", ";NOM", ";PL"]


def test_labels_of_atoms_leave_layers_as_they_are() -> None:
    labels = Labels((("plural", "PL"), ("my plural", "N;NOM(PL;PSS(1,SG))")))
    assert labels.to_label("N;ACC;PL") == "N;ACC;plural"
    assert labels.to_label("N;ACC(PL)") == "N;ACC(PL)"
    assert labels.to_label("N;NOM(PL;PSS(SG,1))") == "my plural"
