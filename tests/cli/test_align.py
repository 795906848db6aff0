"""`reinflect align` and `oracle`: they show what the aligners and the paper's systems do; goldens have the formats."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.cli.align import SEED, SWEEPS, align
from tests.cli import Reinflect, succeeded
from tests.cli.test_transcripts import GOLDEN
from tests.systems.executors import execute_hacm, execute_haem

VERBS = GOLDEN / "files" / "verbs.tsv"
ROWS = [line.split("\t") for line in VERBS.read_text(encoding="utf-8").splitlines()]
PAIRS = [(lemma, form) for lemma, form, _ in ROWS]


def split_cells(line: str) -> list[str]:
    return line.replace("\u200e", "").split()


def test_the_defaults_are_those_of_the_aligner() -> None:
    assert (SWEEPS, SEED) == (Smart().sweeps, Smart().seed) == (150, 1)
    defaults = {parameter.name: parameter.default for parameter in align.params}
    assert (defaults["method"], defaults["sweeps"], defaults["seed"]) == ("smart", 150, 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_smart_finds_the_stem_after_a_prefix(reinflect: Reinflect, seed: int) -> None:
    shown = reinflect("align", VERBS, "--sweeps", 20, "--seed", seed).stdout.split("\n\n")
    columns = ["".join(split_cells(line)[:5]) for line in shown[2].splitlines()]
    assert columns == ["∅∅lob", "++|||", "gelob"]


def test_json_of_smart_equals_the_aligner(reinflect: Reinflect) -> None:
    for sweeps, seed in [(0, 1), (5, 1), (5, 3)]:
        result = reinflect("align", VERBS, "--json", "--sweeps", sweeps, "--seed", seed)
        items = [json.loads(line) for line in result.stdout.splitlines()]
        assert [[item["lemma"], item["form"], item["features"]] for item in items] == ROWS
        expected = Smart(sweeps=sweeps, seed=seed).align(PAIRS)
        assert [tuple(map(tuple, item["pairs"])) for item in items] == expected


def test_limit_shows_fewer_items_but_learns_from_all(reinflect: Reinflect) -> None:
    everything = reinflect("align", VERBS, "--json", "--sweeps", 5).stdout.splitlines()
    assert reinflect("align", VERBS, "--json", "--sweeps", 5, "--limit", 3).stdout.splitlines() == everything[:3]


def test_a_file_is_aligned_once(reinflect: Reinflect, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for more in (("--sweeps", 2, "--no-cache"), ("--method", "naive")):
        succeeded(reinflect("align", VERBS, *more))
    assert not cache.exists()
    first = reinflect("align", VERBS, "--sweeps", 5)
    assert len(list((cache / "alignments").iterdir())) == 1

    monkeypatch.delattr(Smart, "align")
    assert reinflect("align", VERBS, "--sweeps", 5).stdout == first.stdout
    assert isinstance(reinflect("align", VERBS, "--sweeps", 5, "--no-cache").exception, AttributeError)
    assert isinstance(reinflect("align", VERBS, "--sweeps", 4).exception, AttributeError)
    pair = ("oracle", "loben", "gelobt", "--method", "smart", "--pairs", VERBS, "--sweeps", 5)
    succeeded(reinflect(*pair))
    assert isinstance(reinflect(*pair, "--no-cache").exception, AttributeError)


def test_the_naive_aligner_takes_long_strings(reinflect: Reinflect) -> None:
    result = succeeded(reinflect("align", "-", "--method", "naive", stdin="x" * 1001 + "\ty\tN\n"))
    assert len(split_cells(result.stdout.splitlines()[0])) == 1001


def test_a_terminal_gets_a_progress_bar_and_the_output_stays_clean(reinflect: Reinflect, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    run = [sys.executable, "-m", "reinflect", "align", str(VERBS), "--sweeps", "5"]
    with (tmp_path / "output").open("wb") as output:
        program = subprocess.Popen(run, stdout=output, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    written = b""
    with suppress(OSError):  # raised by Linux when the other side is closed
        while part := os.read(ours, 4096):  # while the program runs: writing to a terminal blocks until it is read
            written += part
    os.close(ours)
    assert program.wait() == 0
    assert b"aligning" in written
    assert (tmp_path / "output").read_text("utf-8") == reinflect("align", VERBS, "--sweeps", 5).stdout


EXECUTE = {"hacm": execute_hacm, "haem": execute_haem}


@pytest.fixture
def answer(reinflect: Reinflect) -> Callable[..., Any]:
    def run(*arguments: object) -> Any:
        result = succeeded(reinflect("oracle", "--json", *arguments))
        assert result.stderr == ""
        return json.loads(result.stdout)

    return run


# Learnt from the bundled verbs; the worked examples of the naive alignment are in tests/systems.
@pytest.mark.parametrize(
    ("lemma", "form", "haem"),
    [
        ("fliegen", "flog", "COPY COPY DELETE DELETE o COPY DELETE DELETE STOP"),
        ("legen", "gelegt", "g e COPY COPY COPY DELETE DELETE t STOP"),
    ],
)
def test_smart_examples(
    reinflect: Reinflect, answer: Callable[..., Any], tmp_path: Path, lemma: str, form: str, haem: str
) -> None:
    verbs = tmp_path / "verbs.tsv"
    succeeded(reinflect("data", "show", "german-verbs", "--split", "train-medium", "--output", verbs))
    options = ("--method", "smart", "--pairs", verbs, "--sweeps", 20)
    assert answer(lemma, form, *options)["actions"] == haem.split(" ")
    hacm = answer(lemma, form, *options, "--system", "hacm")["actions"]
    assert hacm.count("STEP") == len(lemma) + 1
    assert "".join(action for action in hacm if len(action) == 1) == form
    assert len(hacm) == len(lemma) + len(form) + 2


@pytest.mark.parametrize("system", EXECUTE)
@pytest.mark.parametrize(("lemma", "form"), [("look up", "looks up "), ("כתב", "כָּתְבוּ"), ("STOP", "COPY"), ("x", "")])
def test_json_has_every_step(answer: Callable[..., Any], lemma: str, form: str, system: str) -> None:
    found = answer(lemma, form, "--system", system)
    assert (found["lemma"], found["form"], found["system"], found["method"]) == (lemma, form, system, "naive")
    assert [tuple(map(tuple, found["pairs"]))] == Naive().align([(lemma, form)])
    assert EXECUTE[system](found["actions"], lemma) == form
    assert [step["action"] for step in found["steps"]] == found["actions"]
    assert [step["t"] for step in found["steps"]] == list(range(1, len(found["actions"]) + 1))
    assert "".join(step["written"] for step in found["steps"]) == form
    symbols = ["<s>", *lemma, "</s>"] if system == "hacm" else ["", *lemma, ""]
    assert [step["attended"] for step in found["steps"]] == [symbols[step["position"]] for step in found["steps"]]


def test_a_pair_in_the_file_gets_the_alignment_used_in_training(answer: Callable[..., Any]) -> None:
    for sweeps in (0, 1, 20):
        trained = Smart(sweeps=sweeps, seed=5).align(PAIRS)
        for (lemma, form), expected in zip(PAIRS, trained, strict=True):
            options = ("--method", "smart", "--pairs", VERBS, "--sweeps", sweeps, "--seed", 5)
            assert tuple(map(tuple, answer(lemma, form, *options)["pairs"])) == expected


@pytest.mark.parametrize("new", [("liegen", "gelegen"), ("ab", "")])
def test_another_pair_comes_last(answer: Callable[..., Any], new: tuple[str, str], cache: Path) -> None:
    found = answer(*new, "--method", "smart", "--pairs", VERBS, "--sweeps", 4)
    assert tuple(map(tuple, found["pairs"])) == Smart(sweeps=4).align([*PAIRS, new])[-1]
    assert not cache.exists()  # not worth caching
