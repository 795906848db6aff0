"""`reinflect oracle`: the actions of the paper's systems."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from reinflect.align.naive import Naive
from reinflect.align.smart import Smart
from tests.cli.test_transcripts import GOLDEN
from tests.systems.executors import execute_hacm, execute_haem

Reinflect = Callable[..., Result]
VERBS = GOLDEN / "files" / "verbs.tsv"
PAIRS = [(line.split("\t")[0], line.split("\t")[1]) for line in VERBS.read_text(encoding="utf-8").splitlines()]
EXECUTE = {"hacm": execute_hacm, "haem": execute_haem}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "alignments"


@pytest.fixture
def answer(reinflect: Reinflect) -> Callable[..., Any]:
    def run(*arguments: object) -> Any:
        result = reinflect("oracle", "--json", *arguments)
        assert (result.exit_code, result.stderr) == (0, ""), result.stderr
        return json.loads(result.stdout)

    return run


# The worked examples of the paper's systems with the naive alignment.
@pytest.mark.parametrize(
    ("lemma", "form", "system", "actions"),
    [
        ("fliegen", "flog", "hacm", "STEP f STEP l STEP o STEP g STEP STEP STEP STEP </s>"),
        ("walk", "walked", "hacm", "STEP w STEP a STEP l STEP k e d STEP </s>"),
        ("fliegen", "flog", "haem", "COPY COPY DELETE DELETE DELETE DELETE DELETE o g STOP"),
        ("walk", "walked", "haem", "COPY COPY COPY COPY e d STOP"),
        ("ab", "", "hacm", "STEP STEP STEP </s>"),
        ("ab", "", "haem", "DELETE DELETE STOP"),
    ],
)
def test_naive_examples(answer: Callable[..., Any], lemma: str, form: str, system: str, actions: str) -> None:
    assert answer(lemma, form, "--system", system)["actions"] == actions.split(" ")


# The same with the smart alignment, learnt from the bundled verbs.
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
    assert reinflect("data", "show", "german-verbs", "--split", "train-medium", "--output", verbs).exit_code == 0
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
def test_another_pair_is_added_after_those_of_the_file(
    answer: Callable[..., Any], new: tuple[str, str], cache: Path
) -> None:
    found = answer(*new, "--method", "smart", "--pairs", VERBS, "--sweeps", 4)
    assert tuple(map(tuple, found["pairs"])) == Smart(sweeps=4).align([*PAIRS, new])[-1]
    assert not cache.exists()  # not worth caching
