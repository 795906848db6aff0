"""`reinflect inflect`: what it prints is what the inflector says; goldens have the formats."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from reinflect.data.items import read_items, write_items
from reinflect.inflector.inflector import Inflector
from tests.fuzz import tiny_models
from tests.learn.tiny import language

Reinflect = Callable[..., Result]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.reinflect"
    path.write_bytes(tiny_models.model_file())
    return path


def test_a_file_keeps_its_order_lemmas_and_features(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    asked = [*language("german"), *language("greek"), *language("turkish")]
    write_items(tmp_path / "words", asked)
    result = reinflect("inflect", model, "--input", tmp_path / "words", "--output", tmp_path / "forms")
    assert result.exit_code == 0, result.output
    inflected = read_items(tmp_path / "forms", forms="optional")
    assert [(item.lemma, item.features) for item in inflected] == [(item.lemma, item.features) for item in asked]
    assert [item.form for item in inflected] == Inflector.load(model).inflect_many(asked)


def test_json_lines_have_the_answers_of_the_inflector(model: Path, reinflect: Reinflect) -> None:
    words, inflector = [("gehen", "V;PST"), ("ge漢en", "N;PL")], Inflector.load(model)
    stdin = "".join(f"{lemma}\t\t{features}\n" for lemma, features in words)
    lines = reinflect("inflect", model, "--input", "-", "--json", stdin=stdin).stdout.splitlines()
    expected = [
        {"lemma": lemma, "features": features, **json.loads(msgspec.json.encode(answer))}
        for (lemma, features), answer in zip(words, inflector.answers(words), strict=True)
    ]
    assert [json.loads(line) for line in lines] == expected
    lines = reinflect("inflect", model, "--input", "-", "--json", "--n-best", 4, stdin=stdin).stdout.splitlines()
    lists = inflector.nbest_many(words, 4)
    assert [json.loads(line)["nbest"] for line in lines] == json.loads(msgspec.json.encode(lists))
    assert [json.loads(line)["form"] for line in lines] == [answer["form"] for answer in expected]
    assert "漢" in lines[1]  # not escaped


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028"])
@pytest.mark.parametrize("features", ["V;PST", ";", "XX;YY", ""])
def test_unusual_lemmas_and_features(lemma: str, features: str, model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, lemma, features)
    assert result.exit_code == 0
    assert result.stdout.endswith("\n")
