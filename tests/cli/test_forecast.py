"""`reinflect forecast` says what to expect of more forms, and `report` makes pages."""

import json
from pathlib import Path

import pytest

from reinflect.forecast import Forecast
from reinflect.inflector.inflector import Inflector
from tests.cli import Reinflect, as_options, succeeded
from tests.cli.test_transcripts import GOLDEN
from tests.inflector.test_inflector import a_member
from tests.report.pages import Page

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


def test_a_report_has_the_log_and_items_of_a_model(tmp_path: Path, reinflect: Reinflect) -> None:
    model = tmp_path / "small.reinflect"
    model.write_bytes((GOLDEN / "files" / "words.reinflect").read_bytes())
    on_screen = reinflect("report", model, "--out", "-")
    assert (on_screen.stdout[:15], on_screen.stderr) == ("<!doctype html>", "")
    (tmp_path / "dev.tsv").write_text("ab\tabc\tV;PRS;1;SG\nabc\tab\tN;PL\n", encoding="utf-8")
    log = '{"model": "haem-naive-1", "epoch": 1, "loss": 2.5, "dev_accuracy": 10.0, "best": 10.0}\n'
    (tmp_path / "small.reinflect.log.jsonl").write_text(log, encoding="utf-8")
    out = tmp_path / "page.html"
    result = succeeded(reinflect("report", model, "--dev", tmp_path / "dev.tsv", "--out", out))
    assert result.stdout == ""
    assert f"written: {out}" in result.stderr
    page = Page(out.read_text(encoding="utf-8"))
    assert "Report on small.reinflect" in page.text
    assert {"by-features", "commonest-mistakes", "learning-curves"} <= set(page.titles)
