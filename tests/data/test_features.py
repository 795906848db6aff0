import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import COLUMNS_2017, Columns, format_items, parse_items, read_items
from reinflect.errors import InputError
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from tests.data import written


def test_bundles_with_the_same_atoms_are_one_cell() -> None:
    for spelling, other in (("N;SG;DEF", "N;DEF;SG"), (" N ;; PL;", "N;PL"), ("", ";")):
        assert Bundle(spelling).cell == Bundle(other).cell
        assert Bundle(spelling) != Bundle(other)
    assert Bundle("V;PRF").cell != Bundle("V;PRF;PRF").cell


def test_part_of_speech_is_found_wherever_it_stands() -> None:
    parts = {"V;IND;PST": "V", "3;SG;V": "V", "V.PTCP;PST": "V.PTCP", "SG;DEF": "(none)", "ADJ;F": "ADJ"}
    assert {spelling: Bundle(spelling).part_of_speech for spelling in parts} == parts


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


# Labels

VERBS = Labels((("past", "V;PST"), ("1sg", "V;PRS;1;SG"), ("pl", "PL"), ("preterite", "V;PST")))


def read(folder: Path, text: str, name: str = "labels.tsv") -> Labels:
    return Labels.read(written(folder / name, text))


def test_both_kinds_of_file_say_the_same(tmp_path: Path) -> None:
    lines = read(tmp_path, "past\tV;PST\r\n\n1sg present\tV;PRS;1;SG\n")
    table = read(tmp_path, "past = 'V;PST'\n'1sg present' = 'V;PRS;1;SG'\n", "labels.toml")
    assert lines == table == Labels((("past", "V;PST"), ("1sg present", "V;PRS;1;SG")))


def test_a_label_stands_for_its_features() -> None:
    features = {"past": "V;PST", "preterite": "V;PST", "V;PST": "V;PST", "N;pl": "N;PL", "N; pl": "N;PL", "pl": "PL"}
    # A label for several features is not part of others.
    features |= {"V;past": "V;past", "": "", "N; SG": "N; SG"}
    assert {text: VERBS.to_features(text) for text in features} == features


def test_features_have_a_label_in_any_order() -> None:
    labels = {"V;PST": "past", "PST;V": "past", "SG;1;PRS; V": "1sg", "N;PL": "N;pl", "N;SG": "N;SG", "N; SG": "N; SG"}
    assert {features: VERBS.to_label(features) for features in labels} == labels


bundles = st.lists(st.sampled_from("V N 1 2 SG PL PST".split()), min_size=1, max_size=4).map(";".join)


@given(st.dictionaries(st.text("abcxyz ", min_size=1).map(str.strip).filter(bool), bundles), bundles)
def test_what_is_labelled_can_be_read_again(pairs: dict[str, str], features: str) -> None:
    labels = Labels(tuple(pairs.items()))
    assert Bundle(labels.to_features(labels.to_label(features))).cell == Bundle(features).cell
    for label, meant in pairs.items():
        assert labels.to_features(label) == meant


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("past V;PST\n", "labels.tsv, line 1: found 1 column in 'past V;PST'; write a label, a tab, and its features"),
        ("a\tV\n\tV;PST\n", "line 2: found no label in this line"),
        ("past\t ;\n", "line 1: found no features in this line"),
        ("a\tV\na\tN\n", "line 2: found the label 'a' for 'N', but earlier for 'V'; give each label one meaning"),
        ("\n", "found no labels"),
        ("past \tV;PST\n", "line 1: found the label 'past ', with a blank before or after it; remove the blank"),
        ("N\tNOM\nnoun\tN;SG\n", "found the label 'N', which is also a feature in 'N;SG'; choose another label"),
        ("V;PST\tV;PRS\npast\tV;PST\n", "found the label 'V;PST', which is also a feature in 'V;PST'"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    ["past = 3\n", "past =\n", "[verbs]\npast = 'V;PST'\n", f"past = {'[' * 5000}", f"past = {'9' * 5000}"],
    ids=lambda text: text[:20],
)
def test_toml_that_cannot_be_used(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="write lines such as 'past' = 'V;PST'"):
        read(tmp_path, text, "labels.toml")


def test_a_name_may_be_a_feature_of_its_own_cell(tmp_path: Path) -> None:
    labels = read(tmp_path, "PST\tV;IND;PST\nPST3\tV;IND;PST;3\n")
    assert labels.to_features("PST") == "V;IND;PST"
    assert labels.to_features("V;IND;PST;3") == "V;IND;PST;3"


def test_items_are_read_and_written_with_labels() -> None:
    columns = Columns(COLUMNS_2017.order, labels=VERBS)
    text = "gehen\tging\tpast\ngehen\tgehe\t1sg\nHaus\tHäuser\tN;pl\n"
    items = parse_items(text, "x", columns)
    assert [item.features.spelling for item in items] == ["V;PST", "V;PRS;1;SG", "N;PL"]
    assert format_items(items, "x", columns) == text
