"""Attested forms: kept with the model, shown as what they are, and never mixed with predictions silently."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reinflect import assemble
from reinflect.cli.inflect import paradigm_text
from reinflect.data.dimensions import paradigms
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.sheets import sheet_bundles
from reinflect.files import kind_of_sheet
from reinflect.inflector.inflector import Inflector
from reinflect.train import train
from reinflect.web.inventory import inventory
from tests.fuzz import tiny_models

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
GOES = Item("gehen", Bundle("V;PST"), "ging"), Item("gehen", Bundle("PST;V"), "gung")
KNOWN = (*GOES, Item("hand", Bundle("N;PL"), "hände"))


@pytest.fixture
def inflector() -> Inflector:
    return replace(tiny_models.inflector(), attested=KNOWN)


def test_they_are_found_in_any_order_of_features(inflector: Inflector) -> None:
    assert inflector.attested_forms("gehen", " PST;V") == ("ging", "gung")
    assert inflector.attested_forms("sehen", "V;PST") == ()


def test_they_are_found_in_either_encoding_of_a_model_that_normalises(inflector: Inflector) -> None:
    kept = replace(inflector, attested=(Item("h\u00e4nde", Bundle("V;PST"), "x"),), normalisation="nfc")
    for lemma in ("h\u00e4nde", "ha\u0308nde"):
        assert kept.attested_forms(lemma, "V;PST") == ("x",)
        assert kept.paradigm(lemma, ["V;PST"])[0].answer.attested
    assert not replace(kept, normalisation="none").paradigm("ha\u0308nde", ["V;PST"])[0].answer.attested


def test_predictions_stay_predictions(inflector: Inflector) -> None:
    bare, asked = replace(inflector, attested=()), [("gehen", "V;PST"), ("sehen", "V;PST")]
    assert inflector.inflect_many(asked) == bare.inflect_many(asked)
    assert inflector.answers(asked) == bare.answers(asked)
    assert inflector.nbest_many(asked) == bare.nbest_many(asked)
    assert not any(answer.attested for answer in inflector.answers(asked))


def test_they_beat_predictions_where_they_are_asked_for(inflector: Inflector) -> None:
    known, guess = inflector.answers([("gehen", "V;PST"), ("sehen", "V;PST")], attested=True)
    assert (known.form, known.variants, known.attested, known.confidence) == ("ging", ("gung",), True, None)
    assert guess == inflector.answers([("sehen", "V;PST")])[0]
    [listed] = inflector.nbest_many([("gehen", "V;PST")], 4, attested=True)
    assert [(answer.form, answer.attested) for answer in listed[:2]] == [("ging", True), ("gung", True)]
    assert not any(answer.attested for answer in listed[2:])
    assert len({answer.form for answer in listed}) == len(listed) == 4


def test_paradigms_show_them_as_attested(inflector: Inflector) -> None:
    made = inflector.paradigm("gehen")
    assert {cell.features: cell.answer.attested for cell in made} == {"V;PST": True, "N;PL": False}
    assert "<td>ging / gung <small>attested</small></td>" in made._repr_html_()
    text = paradigm_text(made)
    assert any(line.split() == ["past", "ging", "/", "gung", "✓"] for line in text.splitlines())
    assert text.endswith("✓ attested: a person gave the form\n")
    assert "✓" not in paradigm_text(inflector.paradigm("sehen"))


def test_training_keeps_them_unless_told_not_to(tmp_path: Path) -> None:
    items = [Item("ab", Bundle("V;PST"), "aba"), Item("ac", Bundle("V;PST"), "aca"), Item("ab", Bundle("V;PRS"), "abi")]
    dev = [Item("ad", Bundle("V;PST"), "ada"), items[0]]
    small: dict[str, Any] = {"preset": "low", "changes": ["epochs=1"], "kinds": ["haem-naive"], "seeds": 1}
    for attested in (True, False):
        trained = train(items, dev, out=tmp_path / str(attested), attested=attested, **small)
        assert trained.attested == ((*items, dev[0]) if attested else ())
        assert Inflector.load(tmp_path / str(attested)).attested == trained.attested
    assert b"aca" not in (tmp_path / "False").read_bytes()


def test_more_forms_than_a_file_can_hold_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert assemble.attested_items([*KNOWN, KNOWN[0], Item("x", Bundle("V"))]) == KNOWN
    monkeypatch.setattr(assemble, "MOST_ATTESTED", 2)
    assert assemble.attested_items(KNOWN) == ()
    monkeypatch.undo()
    monkeypatch.setattr(assemble, "MOST_CHARACTERS", 20)
    assert assemble.attested_items(KNOWN) == ()


def test_only_a_wide_sheet_gives_the_order(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("lemma,form,features\ngehen,ging,V;PST\n", encoding="utf-8")
    assert sheet_bundles(tmp_path / "long.csv") == ()
    assert not kind_of_sheet(tmp_path / "none.tsv"), "and a table is no sheet"


VERB = [f"V;{person};{number}" for number in ("PL", "SG") for person in "312"]


def test_a_paradigm_has_the_users_order_in_terminal_notebook_and_page(inflector: Inflector) -> None:
    training = inflector.training
    assert training is not None
    counts = dict.fromkeys([*VERB[2:], *VERB[:2], "V;NFIN"], 1)
    training = msgspec.structs.replace(training, bundles=counts)
    ours = replace(inflector, training=training, cells=("V;XX", *VERB), attested=())
    assert ours.usual_bundles() == [*VERB, "V;NFIN"]
    table, others = ours.paradigm("gehen").tables()
    assert table.columns == ("PL", "SG")
    assert [row.title for row in table.rows] == ["3", "1", "2"]
    assert others.rows[0].title == "V;NFIN"
    assert inventory("x", ours)["paradigms"][0]["tables"] == msgspec.to_builtins([table, others])
    by_schema, _ = replace(ours, cells=()).paradigm("gehen").tables()
    assert by_schema.columns == ("SG", "PL")
    assert [row.title for row in by_schema.rows] == ["1", "2", "3"]


def test_features_outside_the_schema_come_by_first_appearance() -> None:
    spellings = [f"V;{own};{number}" for own in ("ZULU", "ALFA", "MIKE") for number in ("PL", "SG")]
    [(_, found)] = paradigms([*spellings, "V;NFIN"]).items()
    assert [table.title for table in found] == ["V;ZULU", "V;ALFA", "V;MIKE", ""]
