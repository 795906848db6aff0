"""`reinflect benchmark`: what it says and leaves, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli import Reinflect

TINY = [
    argument
    for change in "embedding=5 hidden=6 history_hidden=4 epochs=4 patience=60 score_from=0 score_every=2".split()
    for argument in ("--set", change)
]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))


def command(data: Path, out: Path, *more: object) -> list[str]:
    fixed = ["benchmark", "--data", data, "--out", out, "--grid", "quick", "--settings", "low", "--device", "cpu"]
    return [str(argument) for argument in (*fixed, *TINY, *more)]


def test_a_benchmark_and_what_it_shows(two_languages: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "deep" / "out"
    result = reinflect(*command(two_languages, out, "--workers", 1, "--save-models"))
    assert result.exit_code == 0, result.output
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
    inflected = reinflect("inflect", model, "lernen", "V;PST")
    assert inflected.exit_code == 0, inflected.output
    again = reinflect(*command(two_languages, out, "--workers", 1))
    assert again.exit_code == 0, again.output
    assert again.stdout == result.stdout
    assert "2 commands in this folder" in (out / "results.md").read_text(encoding="utf-8")


def test_what_is_missing_is_said(two_languages: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect(*command(two_languages, tmp_path / "out", "--time-limit", 0, "--settings", "low,high"))
    assert result.exit_code == 0, result.output
    assert "no training items for turkish-high" in result.stderr
    assert "20 of 20 models are not trained yet; the same command resumes the training" in result.stderr
