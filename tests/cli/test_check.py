"""`reinflect check` says what is in a file; goldens have more kinds of findings."""

import json
from pathlib import Path

import pytest

from tests.cli import Reinflect, printed_by, succeeded
from tests.cli.test_transcripts import GOLDEN


def test_a_wrong_form_is_suspicious(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.tsv"
    reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[4] = lines[4].split("\t")[0] + "\tQwxyzzyq\t" + lines[4].split("\t")[2]
    path.write_text("\n".join([*lines, "gehen\tging / gang\tV;X"]) + "\n", encoding="utf-8")
    result = succeeded(reinflect("check", path))
    assert result.stdout.partition("suspicious forms: ")[2].splitlines()[1].startswith("  line 5: ")
    several = "forms that look like several, a remark or none: 1; taken as they are\n  line 101: gehen ging / gang"
    assert several in result.stdout
    assert "--places" not in reinflect("check", path, "--places", 0).stdout


def test_json_has_the_same_findings(reinflect: Reinflect) -> None:
    path = GOLDEN / "files" / "messy.csv"
    found = json.loads(reinflect("check", path, "--json", "--places", 0).stdout)
    text = reinflect("check", path, "--places", 100).stdout
    listed = [line for one in found["findings"] for line in (one["note"], *(f"  {place}" for place in one["places"]))]
    assert text.splitlines()[1:] == listed


def test_without_numba_a_thousand_items_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "verbs.tsv"
    path.write_text("".join(f"a{number}\ta\tV\n" for number in range(1234)), encoding="utf-8")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    printed = printed_by("-m", "reinflect", "check", path)
    assert "forms compared with their lemmas: only the first 1,000 of 1,234; to compare all: pip install" in printed
