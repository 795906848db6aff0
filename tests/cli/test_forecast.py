"""`reinflect forecast` says what to expect of more forms, and `report` draws it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.forecast import Forecast
from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import a_member

Reinflect = Callable[..., Result]
TINY = ["--seeds", 2, "--device", "cpu", "--workers", 1, "--systems", "haem", "--alignments", "naive"]
TINY += [word for one in ("epochs=1", "hidden=6", "embedding=5", "history_hidden=4") for word in ("--set", one)]


@pytest.fixture
def verbs(tmp_path: Path, reinflect: Reinflect) -> Path:
    path = tmp_path / "verbs.tsv"
    reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", path)
    return path


def test_sentences_a_file_and_a_curve(verbs: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out, model, page = tmp_path / "forecast.json", tmp_path / "m.reinflect", tmp_path / "page.html"
    result = reinflect("forecast", "--train", verbs, "--forms", "500, 250,2000", "--out", out, *TINY)
    assert result.exit_code == 0, result.output
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
    assert reinflect("report", model, "--forecast", out, "--out", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "With 2,000 forms expect" in text
    assert "accuracy with more forms" in text


def test_without_numbers_it_is_two_five_and_ten_times(verbs: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "f.json"
    assert reinflect("forecast", "--train", verbs, "--out", out, *TINY).exit_code == 0
    assert [one["items"] for one in json.loads(out.read_text())["expected"]] == [200, 500, 1000]


@pytest.mark.parametrize("forms", ["", "many", "250;500", "1", "-3", "99999999"])
def test_impossible_numbers_are_one_line(verbs: Path, forms: str, reinflect: Reinflect) -> None:
    result = reinflect("forecast", "--train", verbs, "--forms", forms)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"reinflect: found --forms '{forms}'; give numbers from 2 to 1,000,000")


def test_what_it_may_not_replace(verbs: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    for out, said in ((verbs, "read from"), (tmp_path / "words.txt", "is not JSON")):
        (tmp_path / "words.txt").write_text("mine\n")
        result = reinflect("forecast", "--train", verbs, "--out", out)
        assert result.exit_code == 2
        assert said in result.stderr
    assert (tmp_path / "words.txt").read_text() == "mine\n"


def test_too_few_items_are_one_line(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "few.tsv"
    path.write_text("a\tb\tX\n", encoding="utf-8")
    result = reinflect("forecast", "--train", path, "--out", tmp_path / "f.json", *TINY)
    assert result.exit_code == 2
    assert "too few to hold some out" in result.stderr
