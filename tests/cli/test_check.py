"""`reinflect check` says what is in a file, before a model learns from it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Reinflect = Callable[..., Result]


def test_a_messy_sheet(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.csv"
    text = "Verbs\nNo.,lemma,V;PST,V;PRS\n1,dive,dived / dove,dives\n2,go,went,-\n3,go,went,\n4,a\u0308,\u00e4x,*x\n"
    path.write_text(text, encoding="utf-8")
    result = reinflect("check", path)
    assert result.exit_code == 0, result.output
    said = result.stdout.replace(f"{path}: ", "")
    assert said.startswith("6 items with a form; 3 lemmas, 2 bundles; 4 of 6 cells filled, gaps: 2\n")
    for line in (
        "using row 2 as headings; ignored columns (not inflected forms): No.\n",
        "1 field has several forms",
        "  row 3, column C ('V;PST'): 'dived / dove'\n",
        "1 field has no form",
        "1 field has a mark of doubt",
        "duplicates: 1 item given again\n  row 5: go went V;PST (also in row 4)\n",
        "encoded in two ways",
        "rare characters: ",
    ):
        assert line in said, line


def test_a_wrong_form_is_suspicious(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.tsv"
    reinflect("data", "show", "german-verbs", "--split", "train-low", "-o", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[4] = lines[4].split("\t")[0] + "\tQwxyzzyq\t" + lines[4].split("\t")[2]
    path.write_text("\n".join([*lines, "gehen\tging / gang\tV;X"]) + "\n", encoding="utf-8")
    result = reinflect("check", path)
    assert result.exit_code == 0, result.output
    suspicious = result.stdout.partition("suspicious forms: ")[2].splitlines()
    assert suspicious[1].startswith("  line 5: ")
    assert (
        "forms that look like several, a remark or none: 1; taken as they are\n  line 101: gehen ging / gang"
        in result.stdout
    )
    assert "--places" not in reinflect("check", path, "--places", 0).stdout


def test_a_clean_file_has_little_to_say(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.csv"
    path.write_text("lemma,V;PST\n" + "".join(f"{w}en,{w}te\n" for w in ("an", "na", "ana", "nan")), encoding="utf-8")
    result = reinflect("check", path)
    assert result.stdout == f"{path}: 4 items with a form; 4 lemmas, 1 bundle; 4 of 4 cells filled, gaps: 0\n"


def test_nothing_to_learn_is_one_line(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.csv"
    path.write_text("lemma,V;PST\ngo,-\n", encoding="utf-8")
    result = reinflect("check", path)
    assert result.exit_code == 2
    assert result.stderr == f"reinflect: {path}: found no item with a form; give some forms: a model learns from them\n"


def test_json_has_the_same_findings(tmp_path: Path, reinflect: Reinflect) -> None:
    path = tmp_path / "verbs.csv"
    path.write_text("lemma,V;PST,V;PRS\ndive,dived / dove,dives\ngo,went,-\n", encoding="utf-8")
    found = json.loads(reinflect("check", path, "--json", "--places", 0).stdout)
    sizes = {"items": 4, "lemmas": 2, "bundles": 2, "cells": 4, "filled": 3}
    assert found | sizes == found
    assert found["file"] == str(path)
    said = reinflect("check", path, "--places", 100).stdout
    told = "".join(one["note"] + "\n" + "".join(f"  {p}\n" for p in one["places"]) for one in found["findings"])
    assert said.partition("\n")[2] == told
    assert "row 2, column B ('V;PST'): 'dived / dove'" in found["findings"][0]["places"]


def test_without_numba_a_thousand_items_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "verbs.tsv"
    path.write_text("".join(f"a{number}\ta\tV\n" for number in range(1234)), encoding="utf-8")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    call = [sys.executable, "-m", "reinflect", "check", str(path)]
    printed = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert "forms compared with their lemmas: only the first 1,000 of 1,234; to compare all: pip install" in printed
