"""`reinflect info`: the card."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.assemble import Keep
from reinflect.inflector.card import card_text, fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.run.resources import Resources
from reinflect.train import train_model
from tests.learn.tiny import SMALL, language, wish

Reinflect = Callable[..., Result]
ITEMS = language("german")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model") / "verbs.reinflect"
    train_model(ITEMS, None, wish("haem-naive", seeds=5), Keep(), Resources(), out=out, source="verbs.tsv")
    return out


def test_text(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("info", model)
    assert result.exit_code == 0, result.output
    assert result.stdout == card_text(Inflector.load(model).card)
    assert "24 forms of 8 lemmas, from verbs.tsv" in result.stdout
    assert "INF, PST, PTCP, V" in result.stdout


def test_json(model: Path, reinflect: Reinflect) -> None:
    card = json.loads(reinflect("info", model, "--json").stdout)
    assert card == json.loads(json.dumps(Inflector.load(model).card))
    assert card["training"]["fingerprint"] == fingerprint(ITEMS)
    assert card["training"]["bundles"] == {"V;INF": 8, "V;PST": 8, "V;PTCP;PST": 8}
    assert card["confidence"]["items"] == 24
    assert len(card["members"]) == 5
    assert {member["settings"]["hidden"] for member in card["members"]} == {SMALL.hidden}


def test_a_file_that_is_not_a_model(tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "notes").write_text("my field notes")
    result = reinflect("info", tmp_path / "notes")
    assert result.exit_code == 2
    assert "not a valid reinflect model" in result.stderr
    assert len(result.stderr.splitlines()) == 1
