"""`reinflect forecast` says what to expect of more forms, and `report` draws it."""

import json
from pathlib import Path

import pytest

from reinflect.forecast import Forecast
from reinflect.inflector.inflector import Inflector
from tests.cli import Reinflect, as_options, succeeded
from tests.inflector.test_inflector import a_member

TINY = ["--seeds", 2, "--device", "cpu", "--workers", 1, "--systems", "haem", "--alignments", "naive"]
TINY += as_options("epochs=1 hidden=6 embedding=5 history_hidden=4")


@pytest.fixture
def verbs(tmp_path: Path, reinflect: Reinflect) -> Path:
    path = tmp_path / "verbs.tsv"
    reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", path)
    return path


def test_sentences_a_file_and_a_curve(verbs: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out, model, page = tmp_path / "forecast.json", tmp_path / "m.reinflect", tmp_path / "page.html"
    result = succeeded(reinflect("forecast", "--train", verbs, "--forms", "500, 250,2000", "--out", out, *TINY))
    made = Forecast.read(out)
    assert [one.items for one in made.measured] == [20, 40, 80]
    assert [one.items for one in made.expected] == [250, 500, 2000]
    for one in made.expected:
        assert f"With {one.items:,} forms expect {one.low:.0f} to {one.high:.0f} % right.\n" in result.stdout
    assert "training 6 small models" in result.stderr
    assert "a laptop about " in result.stderr
    assert "intervals were checked up to 10 times" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forecast.json", "verbs.tsv"]
    Inflector((a_member("haem"),), {}).save(model)
    succeeded(reinflect("report", model, "--forecast", out, "--out", page))
    text = page.read_text(encoding="utf-8")
    assert "With 2,000 forms expect" in text
    assert "accuracy with more forms" in text


def test_without_numbers_it_is_two_five_and_ten_times(verbs: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "f.json"
    succeeded(reinflect("forecast", "--train", verbs, "--out", out, *TINY))
    assert [one["items"] for one in json.loads(out.read_text())["expected"]] == [200, 500, 1000]
