"""`reinflect align`: it shows what the aligners say; goldens have the formats."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.align.smart import Smart
from reinflect.cli.align import SEED, SWEEPS, command
from tests.cli.test_transcripts import GOLDEN

Reinflect = Callable[..., Result]
VERBS = GOLDEN / "files" / "verbs.tsv"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keeps tests away from the user's own cache."""
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "alignments"


def split_cells(line: str) -> list[str]:
    return line.replace("\u200e", "").split()


def test_the_defaults_are_those_of_the_aligner() -> None:
    assert (SWEEPS, SEED) == (Smart().sweeps, Smart().seed) == (150, 1)
    defaults = {parameter.name: parameter.default for parameter in command.params}
    assert (defaults["method"], defaults["sweeps"], defaults["seed"]) == ("smart", 150, 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_smart_finds_the_stem_after_a_prefix(reinflect: Reinflect, seed: int) -> None:
    shown = reinflect("align", VERBS, "--sweeps", 20, "--seed", seed).stdout.split("\n\n")
    lemma, marks, form = (split_cells(line)[:5] for line in shown[2].splitlines())
    assert lemma == ["∅", "∅", "l", "o", "b"]
    assert marks == ["+", "+", "|", "|", "|"]
    assert form == ["g", "e", "l", "o", "b"]


def test_json_of_smart_equals_the_aligner(reinflect: Reinflect) -> None:
    rows = [line.split("\t") for line in VERBS.read_text(encoding="utf-8").splitlines()]
    for sweeps, seed in [(0, 1), (5, 1), (5, 3)]:
        result = reinflect("align", VERBS, "--json", "--sweeps", sweeps, "--seed", seed)
        items = [json.loads(line) for line in result.stdout.splitlines()]
        assert [[item["lemma"], item["form"], item["features"]] for item in items] == rows
        expected = Smart(sweeps=sweeps, seed=seed).align([(lemma, form) for lemma, form, _ in rows])
        assert [tuple(map(tuple, item["pairs"])) for item in items] == expected


def test_stats_count_the_shown_pairs(reinflect: Reinflect) -> None:
    arguments = ("align", VERBS, "--sweeps", "5")
    marks = Counter("".join(reinflect(*arguments).stdout.split("\n")[1::4]).replace(" ", ""))
    stats = json.loads(reinflect(*arguments, "--stats", "--json").stdout)
    assert stats["items"] == 12
    kinds = {"copy": "|", "substitution": "×", "insertion": "+", "deletion": "-"}
    assert {mark: stats[kind]["count"] for kind, mark in kinds.items() if stats[kind]["count"]} == marks
    for kind in kinds:
        assert stats[kind]["share"] == pytest.approx(stats[kind]["count"] / marks.total())


def test_limit_shows_fewer_items_but_learns_from_all(reinflect: Reinflect) -> None:
    everything = reinflect("align", VERBS, "--json", "--sweeps", 5).stdout.splitlines()
    assert reinflect("align", VERBS, "--json", "--sweeps", 5, "--limit", 3).stdout.splitlines() == everything[:3]


def test_a_file_is_aligned_once(reinflect: Reinflect, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = reinflect("align", VERBS, "--sweeps", 5)
    assert len(list(cache.iterdir())) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("asked to align again")

    monkeypatch.setattr(Smart, "align", refuse)
    assert reinflect("align", VERBS, "--sweeps", 5).stdout == first.stdout
    assert isinstance(reinflect("align", VERBS, "--sweeps", 5, "--no-cache").exception, AssertionError)
    assert isinstance(reinflect("align", VERBS, "--sweeps", 4).exception, AssertionError)
    pair = ("oracle", "loben", "gelobt", "--method", "smart", "--pairs", VERBS, "--sweeps", 5)
    assert reinflect(*pair).exit_code == 0
    assert isinstance(reinflect(*pair, "--no-cache").exception, AssertionError)


def test_no_cache_leaves_nothing(reinflect: Reinflect, cache: Path) -> None:
    assert reinflect("align", VERBS, "--sweeps", 2, "--no-cache").exit_code == 0
    assert reinflect("align", VERBS, "--method", "naive").exit_code == 0
    assert not cache.exists()


def test_the_naive_aligner_takes_long_strings(reinflect: Reinflect) -> None:
    result = reinflect("align", "-", "--method", "naive", stdin="x" * 1001 + "\ty\tN\n")
    assert result.exit_code == 0
    assert len(split_cells(result.stdout.splitlines()[0])) == 1001


def test_a_terminal_gets_a_progress_bar_and_the_output_stays_clean(reinflect: Reinflect, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    run = [sys.executable, "-m", "reinflect", "align", str(VERBS), "--sweeps", "5"]
    with (tmp_path / "output").open("wb") as output:
        program = subprocess.Popen(run, stdout=output, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = read_all(ours)  # while the program runs: writing to a terminal blocks until it is read
    assert program.wait() == 0
    assert b"aligning" in shown
    assert (tmp_path / "output").read_text("utf-8") == reinflect("align", VERBS, "--sweeps", 5).stdout


def read_all(terminal: int) -> bytes:
    output = b""
    try:
        while part := os.read(terminal, 4096):
            output += part
    except OSError:  # raised by Linux when the other side is closed
        pass
    os.close(terminal)
    return output
