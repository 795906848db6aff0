"""What a start from other languages brings is compared."""

import json
from collections import Counter
from pathlib import Path

import pytest
from bench.start import ALONE, ISOLATES, groups, main

from reinflect.data.catalog import find
from reinflect.data.items import write_items
from reinflect.run.pack_files import by_key, read_results
from tests.learn.tiny import language
from tests.test_start import CHANGES, installed, languages

__all__ = ["installed", "languages"]


def test_the_families_of_the_benchmark_are_those_of_its_languages() -> None:
    assert groups().keys() == set(find("conll2017").languages)
    assert Counter(groups().values())["Slavic"] == 10
    assert {name for name, group in groups().items() if group == ISOLATES} >= {"basque", "haida", "turkish", "navajo"}
    assert {name for name, group in groups().items() if group == ALONE} >= {"albanian", "hungarian"}


def test_the_benchmark_compares_ways_to_start(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for name in ("german", "greek", "turkish"):
        items = language(name)
        write_items(data / f"{name}-dev", items[::2])
        write_items(data / f"{name}-train-low", items[1::2])
    tiny = [*CHANGES, "epochs=2"]
    given = ["--data", data, "--models", installed, "--out", out, "--languages", "german", "--relatives", 1]
    more = ["--systems", "haem", "--alignments", "naive", "--seeds", 2, "--set", *tiny]
    monkeypatch.setattr("sys.argv", ["start", *map(str, given + more)])
    main()
    assert list(json.loads((out / "results.json").read_text(encoding="utf-8"))) == ["best-1"]
    assert len(by_key(read_results(out / "packs"))) == 2 * 2
    assert "Start: best-1" in capsys.readouterr().out
