from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import COLUMNS_2017, Columns, format_items, parse_items
from reinflect.errors import InputError

VERBS = Labels((("past", "V;PST"), ("1sg", "V;PRS;1;SG"), ("pl", "PL"), ("preterite", "V;PST")))


def read(folder: Path, text: str, name: str = "labels.tsv") -> Labels:
    (folder / name).write_text(text, encoding="utf-8")
    return Labels.read(folder / name)


def test_both_kinds_of_file_say_the_same(tmp_path: Path) -> None:
    lines = read(tmp_path, "past\tV;PST\r\n\n1sg present\tV;PRS;1;SG\n")
    table = read(tmp_path, "past = 'V;PST'\n'1sg present' = 'V;PRS;1;SG'\n", "labels.toml")
    assert lines == table == Labels((("past", "V;PST"), ("1sg present", "V;PRS;1;SG")))


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("past", "V;PST"),
        ("preterite", "V;PST"),
        ("V;PST", "V;PST"),
        ("N;pl", "N;PL"),
        ("N; pl", "N;PL"),
        ("pl", "PL"),
        ("V;past", "V;past"),  # a label for several features is not part of others
        ("", ""),
        ("N; SG", "N; SG"),
    ],
)
def test_a_label_stands_for_its_features(text: str, features: str) -> None:
    assert VERBS.to_features(text) == features


@pytest.mark.parametrize(
    ("features", "label"),
    [
        ("V;PST", "past"),
        ("PST;V", "past"),
        ("SG;1;PRS; V", "1sg"),
        ("N;PL", "N;pl"),
        ("N;SG", "N;SG"),
        ("N; SG", "N; SG"),
    ],
)
def test_features_have_a_label_in_any_order(features: str, label: str) -> None:
    assert VERBS.to_label(features) == label


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
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


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
