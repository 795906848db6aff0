"""The bundled German verbs: their forms, their splits, and whether they agree with the shared task's data."""

import hashlib
from pathlib import Path

import pytest

from reinflect.data import german
from reinflect.data.german import SPLITS, read_split
from reinflect.data.items import Item, read_items
from reinflect.errors import InputError

FOLDER = Path(german.__file__).parent
DIGESTS = {
    "train-low": "9a285c40dec336a7017585e82d70ff433f5c213eff40ee38f9d7cfd192599109",
    "train-medium": "253ae9448e2aad375e22813ce9791b99853459289cce54164e156c71d382ec0c",
    "dev": "4741b8aea7c5df8a4119ed0b3042fb96721a6ed85cf76be9d7a760c5e0499e29",
    "test": "e8c19582804e48cc1287cd4da8aa3889e9c14c209210686a1ce81ce793201199",
}
"""Of the splits as they were checked by hand: all forms of ten verbs of every class, and single cells where a rule of
German decides that would break under a rule that is almost right (`wandere`, `wünschst`, `giltst`, `schlosst`).
"""
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
CELLS = {
    *("V;NFIN", "V.PTCP;PRS", "V.PTCP;PST", "V;IMP;2;SG", "V;IMP;2;PL"),
    *(f"V;{mood};{tense};{person}" for tense in ("PRS", "PST") for mood in ("IND", "SBJV") for person in PERSONS),
}
FORMS = {(item.lemma, item.features.spelling): item.form for name in SPLITS for item in read_split(name)}


def cells(items: list[Item]) -> set[tuple[str, str]]:
    return {(item.lemma, item.features.spelling) for item in items}


def test_the_forms_are_those_that_were_checked() -> None:
    assert {name: hashlib.sha256((FOLDER / f"{name}.tsv").read_bytes()).hexdigest() for name in SPLITS} == DIGESTS


def test_cells_and_forms_are_those_of_the_shared_task(conll2017: Path) -> None:
    theirs = [item for split in ("train-high", "dev") for item in read_items(conll2017 / f"german-{split}")]
    verbs = {item.features.spelling for item in theirs if item.features.part_of_speech.startswith("V")}
    assert {cell for _, cell in FORMS} == CELLS == verbs
    shared = [item for item in theirs if (item.lemma, item.features.spelling) in FORMS]
    assert len(shared) >= 30
    assert [item for item in shared if FORMS[item.lemma, item.features.spelling] != item.form] == []


def test_splits_have_their_sizes_and_share_no_cell() -> None:
    splits = {name: read_split(name) for name in SPLITS}
    low, medium, dev, test = map(cells, splits.values())
    assert [len(items) for items in splits.values()] == [100, 1000, 300, 300] == [*map(len, (low, medium, dev, test))]
    assert low < medium
    assert len(medium | dev | test) == 1600
    assert {item.features.spelling for item in splits["train-low"]} == CELLS  # every one is trained on


def test_past_of_fliegen_is_asked_for_and_never_trained_on() -> None:
    """The demo shows it; no relative of the verb gives it away."""
    assert {lemma for lemma, _ in FORMS if lemma.endswith("fliegen")} == {"fliegen"}
    for item in read_split("train-medium"):
        assert item.lemma != "fliegen" or "PST" not in item.features.atoms
    assert ("fliegen", "V;IND;PST;3;SG") in cells(read_split("test"))
    assert FORMS["fliegen", "V;IND;PST;3;SG"] == "flog"


def test_a_split_is_a_plain_file_too_and_an_unknown_one_names_the_known() -> None:
    assert read_items(FOLDER / "dev.tsv") == read_split("dev")
    with pytest.raises(InputError, match=r"'train'.*train-low, train-medium, dev, test"):
        read_split("train")
