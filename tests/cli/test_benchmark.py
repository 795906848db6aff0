"""`reinflect benchmark`: what it says and leaves, and what it refuses."""

import json
from pathlib import Path

from tests.cli import Reinflect, as_options, succeeded

TINY = as_options("embedding=5 hidden=6 history_hidden=4 epochs=4 patience=60 score_from=0 score_every=2")


def command(data: Path, out: Path, *more: object) -> list[str]:
    fixed = ["benchmark", "--data", data, "--out", out, "--grid", "quick", "--settings", "low", "--device", "cpu"]
    return [str(argument) for argument in (*fixed, *TINY, *more)]


def test_a_benchmark_and_what_it_shows(two_languages: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "deep" / "out"
    result = succeeded(reinflect(*command(two_languages, out, "--workers", 1, "--save-models")))
    lines = result.stdout.splitlines()
    assert lines[0].startswith("| dev ")
    assert [line.split("|")[2].strip() for line in lines[2:5]] == ["ours", "paper", "difference"]
    assert "Languages averaged: 2 (low). The paper averages 52" in result.stdout
    assert "16 of 16 models trained" in result.stderr
    assert f"written: {out}" in result.stderr
    page = (out / "results.md").read_text(encoding="utf-8")
    assert result.stdout.strip().splitlines()[2] in page
    assert "settings changed: embedding=5" in page
    languages = json.loads((out / "results.json").read_text())["dev"]["low"]["run7"]["languages"]
    assert languages.keys() == {"german", "turkish"}
    model = out / "models" / "low" / "german.reinflect"
    succeeded(reinflect("inflect", model, "lernen", "V;PST"))
    again = succeeded(reinflect(*command(two_languages, out, "--workers", 1)))
    assert again.stdout == result.stdout
    assert "2 commands in this folder" in (out / "results.md").read_text(encoding="utf-8")


def test_what_is_missing_is_said(two_languages: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    more = ("--time-limit", 0, "--settings", "low,high")
    result = succeeded(reinflect(*command(two_languages, tmp_path / "out", *more)))
    assert "no training items for turkish-high" in result.stderr
    assert "20 of 20 models are not trained yet; the same command resumes the training" in result.stderr
