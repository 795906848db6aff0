import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from reinflect.align.naive import Naive
from reinflect.align.smart import Smart
from tests.systems.executors import execute_hacm, execute_haem

Reinflect = Callable[..., Result]
GOLDEN = Path(__file__).parents[1] / "golden"

PAIRS = [
    ("fliegen", "flog"),
    ("biegen", "bog"),
    ("legen", "gelegt"),
    ("sagen", "gesagt"),
    ("fragen", "gefragt"),
    ("lügen", "log"),
    ("wiegen", "wog"),
    ("regen", "geregt"),
]
EXECUTE = {"hacm": execute_hacm, "haem": execute_haem}
GOLDEN_EXAMPLES = {
    "haem-german": ["fliegen", "flog"],
    "hacm-german": ["fliegen", "flog", "--system", "hacm"],
    "haem-hebrew": ["כתב", "כָּתְבוּ"],
    "hacm-blanks": ["a b", "\u0301a\u200c ∅", "--system", "hacm"],
    "haem-wide": ["食べる", "食べた"],
    "haem-empty": ["ab", ""],
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "alignments"


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{lemma}\t{form}\tV\n" for lemma, form in PAIRS), "utf-8")
    return path


@pytest.fixture
def answer(reinflect: Reinflect) -> Callable[..., Any]:
    def run(*arguments: object) -> Any:
        result = reinflect("oracle", "--json", *arguments)
        assert (result.exit_code, result.stderr) == (0, ""), result.stderr
        return json.loads(result.stdout)

    return run


@pytest.mark.parametrize("name", GOLDEN_EXAMPLES)
def test_golden_table(reinflect: Reinflect, name: str) -> None:
    result = reinflect("oracle", *GOLDEN_EXAMPLES[name])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (GOLDEN / f"oracle-{name}.txt").read_text("utf-8")


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


def test_the_default_is_haem_on_the_naive_alignment(answer: Callable[..., Any]) -> None:
    plain = answer("legen", "gelegt")
    assert (plain["system"], plain["method"]) == ("haem", "naive")
    assert plain == answer("legen", "gelegt", "--system", "haem", "--method", "naive")


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


def test_a_pair_in_the_file_gets_the_alignment_used_in_training(answer: Callable[..., Any], pairs_file: Path) -> None:
    for sweeps in (0, 1, 20):
        trained = Smart(sweeps=sweeps, seed=5).align(PAIRS)
        for (lemma, form), expected in zip(PAIRS, trained, strict=True):
            options = ("--method", "smart", "--pairs", pairs_file, "--sweeps", sweeps, "--seed", 5)
            assert tuple(map(tuple, answer(lemma, form, *options)["pairs"])) == expected


def test_another_pair_is_added_after_those_of_the_file(
    answer: Callable[..., Any], pairs_file: Path, cache: Path
) -> None:
    new = ("liegen", "gelegen")
    found = answer(*new, "--method", "smart", "--pairs", pairs_file, "--sweeps", 4)
    assert tuple(map(tuple, found["pairs"])) == Smart(sweeps=4).align([*PAIRS, new])[-1]
    assert not cache.exists()  # not worth caching


def test_an_empty_form_can_be_learnt(answer: Callable[..., Any], pairs_file: Path) -> None:
    found = answer("ab", "", "--method", "smart", "--pairs", pairs_file, "--sweeps", 2)
    assert found["pairs"] == [["a", ""], ["b", ""]]


def test_the_alignments_of_a_file_are_shared_with_align(
    reinflect: Reinflect, answer: Callable[..., Any], pairs_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligned = reinflect("align", pairs_file, "--sweeps", 3, "--json").stdout.splitlines()

    def refuse(*_: object) -> None:
        raise AssertionError("asked to align again")

    monkeypatch.setattr(Smart, "align", refuse)
    found = answer(*PAIRS[2], "--method", "smart", "--pairs", pairs_file, "--sweeps", 3)
    assert found["pairs"] == json.loads(aligned[2])["pairs"]
    anew = reinflect("oracle", *PAIRS[2], "--method", "smart", "--pairs", pairs_file, "--sweeps", 3, "--no-cache")
    assert isinstance(anew.exception, AssertionError)


def test_columns_of_the_pairs(answer: Callable[..., Any], pairs_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("".join(f"{lemma}\tV\t{form}\n" for lemma, form in PAIRS), "utf-8")
    options = ("fliegen", "flog", "--method", "smart", "--sweeps", 3)
    swapped = answer(*options, "--pairs", other, "--columns", "lemma,features,form")
    assert swapped == answer(*options, "--pairs", pairs_file)


def test_words_that_start_with_a_hyphen(reinflect: Reinflect) -> None:
    result = reinflect("oracle", "--json", "--", "-keit", "-keiten")
    assert json.loads(result.stdout)["actions"] == ["COPY"] * 5 + ["e", "n", "STOP"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "flog"], "found an empty lemma"),
        (["", "", "--system", "hacm"], "found an empty lemma"),
        (["fliegen", "flog", "--method", "smart"], "--pairs"),
        (["fliegen", "flog", "--method", "smart", "--pairs", "nowhere.tsv"], "nowhere.tsv: there is no such file"),
        (["fliegen", "flog", "--method", "smart", "--sweeps", "-2"], "found -2 sweeps"),
    ],
)
def test_misuse_is_one_line(
    reinflect: Reinflect, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = reinflect("oracle", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_pairs_without_forms_are_refused(reinflect: Reinflect, tmp_path: Path) -> None:
    covered = tmp_path / "covered.tsv"
    covered.write_text("fliegen\t\tV\n", "utf-8")
    result = reinflect("oracle", "fliegen", "flog", "--method", "smart", "--pairs", covered)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"reinflect: {covered}, line 1: found no form for 'fliegen'; ")


def test_a_word_too_long_for_smart_is_refused(reinflect: Reinflect, pairs_file: Path) -> None:
    result = reinflect("oracle", "x" * 1001, "y", "--method", "smart", "--pairs", pairs_file)
    assert result.exit_code == 2
    assert result.stderr.startswith("reinflect: found a lemma or form of 1001 characters; ")
