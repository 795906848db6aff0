"""`reinflect demo`: its table is what its models say. They are tiny here, and real in the long test."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from reinflect.cli import COMMANDS, demo, main
from reinflect.cli import train as wishes
from reinflect.data import german
from reinflect.data.features import Bundle
from reinflect.data.german import read_split
from reinflect.data.items import Item, read_items
from reinflect.ensemble.strategies import Member
from reinflect.errors import StoppedError
from reinflect.inflector.inflector import Inflector
from reinflect.score import Judged
from reinflect.score.baseline import Baseline
from reinflect.train import Outcome
from tests.cli import Reinflect, succeeded

TRAIN = sys.modules["reinflect.train"]
"""The module, whose name in the package is that of its function."""

TINY = tuple("embedding=8 hidden=8 history_hidden=4 epochs=4 score_from=0 score_every=4 dropout=0.0".split())
SHORT = {"train-low": read_split("train-low"), "dev": read_split("dev")[:10], "test": read_split("test")[::6]}
SHORT["test"] += [item for item in read_split("test") if item.lemma == "fliegen" and item not in SHORT["test"]]


@dataclass
class Run:
    """A demo, and the models that it trained."""

    stdout: str
    stderr: str
    outcome: Outcome
    left_behind: list[Path]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The demo with models that are trained in a moment and little to inflect, in an empty folder."""
    folder, seen = tmp_path_factory.mktemp("demo"), []
    train, forms = TRAIN.train_model, Inflector.member_forms

    def noticed(examples: Sequence[Item], dev: Sequence[Item], *options: Any, **more: Any) -> Any:
        assert (examples, dev) == (SHORT["train-low"], SHORT["dev"])
        seen.append(train(examples, dev, *options, **more))
        return seen[-1]

    def without_answers(self: Inflector, items: Sequence[Item]) -> list[list[str]]:
        assert all(item.covered for item in items)
        return forms(self, items)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("REINFLECT_CACHE", str(folder / "cache"))
        patch.setattr(german, "read_split", SHORT.__getitem__)
        patch.setattr(demo, "CHANGES", TINY)
        patch.setattr(wishes, "cores", lambda: 1)
        patch.setattr(TRAIN, "train_model", noticed)
        patch.setattr(Inflector, "member_forms", without_answers)
        result = succeeded(CliRunner().invoke(main, ["demo"]))
    return Run(result.stdout, result.stderr, seen[0], list(folder.rglob("*")))


def section(shown: str, first: str) -> list[list[str]]:
    """The rows of the table whose header begins with `first`; its columns are two blanks apart or more."""
    lines = shown.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{first} "))
    end = next(i for i, line in enumerate(lines) if i > start and not line)
    return [re.split(" {2,}", line) for line in lines[start + 1 : end] if not line.startswith("data:")]


def per_cent_right(inflect: Callable[[Item], str]) -> str:
    asked = SHORT["test"]
    return f"{100 * sum(inflect(item) == item.form for item in asked) / len(asked):.2f}"


def by(members: Sequence[Member], runs: dict[str, int]) -> Callable[[Item], str]:
    """An inflector of these members alone."""
    asked = SHORT["test"]
    said = Inflector(tuple(members), runs).inflect_many([Item(item.lemma, item.features) for item in asked])
    forms = {(item.lemma, item.features): form for item, form in zip(asked, said, strict=True)}
    return lambda item: forms[item.lemma, item.features]


def test_the_table_gives_what_counting_by_hand_gives(run: Run) -> None:
    rows = section(run.stdout, "system")
    baseline = Baseline.learn(SHORT["train-low"])
    members, runs = run.outcome.inflector.members, dict(run.outcome.inflector.known_runs)
    trained = sorted((member.system, member.alignment, member.seed) for member in members)
    assert trained == [(s, a, n) for s in ("hacm", "haem") for a in ("naive", "smart") for n in (1, 2)]
    hacm = [member for member in members if member.system == "hacm"]
    haem = [member for member in members if member.system == "haem"]
    assert [row[:3] for row in rows] == [
        ["rule baseline", "1", per_cent_right(lambda item: baseline.inflect(item.lemma, item.features))],
        ["HACM, vote", "4", per_cent_right(by(hacm, runs))],
        ["HAEM, vote", "4", per_cent_right(by(haem, runs))],
        ["vote of all", "8", per_cent_right(by(members, runs))],
    ]
    assert f"data:german-verbs-test|items:{len(SHORT['test'])}|" in run.stdout


def test_the_inflections_are_the_vote_for_cells_never_seen_in_training(run: Run) -> None:
    seen = {(item.lemma, item.features.spelling) for split in ("train-low", "dev") for item in read_split(split)}
    right = {(item.lemma, item.features.spelling): item.form for item in SHORT["test"]}
    rows = section(run.stdout, "lemma")
    assert rows[0][:2] == ["fliegen", "V;IND;PST;3;SG"]
    assert len(rows) == demo.MOST_LISTED == len({row[0] + row[1] for row in rows})
    for lemma, features, predicted, verdict in rows:
        assert (lemma, features) not in seen
        assert predicted == run.outcome.inflector.inflect(lemma, features)
        form = right[lemma, features]
        assert verdict == ("right" if predicted == form else f"wrong: {form}")


def test_progress_is_shown_beside_the_results_and_no_file_is_left(run: Run) -> None:
    for pack in ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart"):
        assert f"{pack}: trained in" in run.stderr
    assert "trained in" not in run.stdout
    assert run.left_behind == []


def test_it_ends_with_two_lines_of_commands_that_exist(run: Run) -> None:
    for line in run.stdout.splitlines()[-2:]:
        assert set() < set(re.findall(r"reinflect (\w+)", line)) <= set(COMMANDS)


def test_after_ctrl_c_it_shows_what_there_is(run: Run, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch) -> None:
    inflector = run.outcome.inflector
    left = tuple(member for member in inflector.members if member.system == "haem")[:3]
    assert inflector.training is not None
    cut_short = msgspec.structs.replace(inflector.training, interrupted=True)
    stopped = replace(run.outcome, inflector=Inflector(left, inflector.known_runs, training=cut_short))
    monkeypatch.setattr(german, "read_split", SHORT.__getitem__)
    monkeypatch.setattr(TRAIN, "train_model", lambda *_, **__: stopped)
    result = reinflect("demo")
    assert result.exit_code == 130
    assert [row[:2] for row in section(result.stdout, "system")[1:]] == [["HAEM, vote", "3"], ["vote of all", "3"]]
    assert "interrupted" in result.stderr


def stop(*_: object, **__: object) -> Outcome:
    raise StoppedError("stop")


def test_pocket_models_come_first(pocket: Path, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"finnish", "german", "turkish", "spanish", "russian"} == set(demo.WORDS)
    monkeypatch.setattr(TRAIN, "train_model", stop)
    shown = reinflect("demo").stdout
    rows = section(f"{shown}\n\n", "language")
    assert [row[0] for row in rows] == ["finnish", "german"]
    for language, lemma, features, *rest in rows:
        [answer] = Inflector.load(pocket / f"{language}.reinflect").answers([Item(lemma, Bundle(features))])
        sure = f"{100 * (answer.confidence or 0):.0f} %"
        assert rest == ([answer.form, sure] if answer.form else [sure])
    assert shown.index("finnish ") < shown.index("German verbs")


@pytest.mark.usefixtures("pocket")
def test_one_part_alone(reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make demo` shows words before torch is installed, then the training."""
    monkeypatch.setattr(TRAIN, "train_model", stop)
    whole, words, training = (reinflect("demo", *more) for more in ((), ("--only", "words"), ("--only", "training")))
    assert (words.exit_code, training.stderr) == (0, "reinflect: stop\n")
    assert words.stdout + training.stdout == whole.stdout


@pytest.mark.usefixtures("no_pocket")
def test_without_pocket_models_one_line_says_so(reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRAIN, "train_model", stop)
    result = reinflect("demo")
    assert result.stderr.splitlines() == ["note: no pocket models are installed: German verbs only", "reinflect: stop"]
    assert result.stdout.startswith("German verbs: learn from")


def test_the_words_for_pocket_models_are_of_the_shared_task_and_not_among_its_training_items(conll2017: Path) -> None:
    for language, (lemma, features) in demo.WORDS.items():
        dev = {(item.lemma, item.features.spelling) for item in read_items(conll2017 / f"{language}-dev")}
        assert (lemma, features) in dev
        assert lemma not in {item.lemma for item in read_items(conll2017 / f"{language}-train-high")}


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 300])
def test_a_shorter_list_is_shown_as_far_as_it_goes(count: int) -> None:
    cells = [Judged(f"word{number}", Bundle("N"), "a", "b", 1, False) for number in range(count)]
    found = demo.sample(cells)
    assert len(found) == len(set(found)) == min(count, len(found))
    assert set(found) <= set(cells)
    assert 0 < len(found) <= demo.MOST_LISTED


@pytest.mark.long
def test_the_real_one_is_five_points_above_the_rules(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "reinflect", "demo"]
    done = subprocess.run(call, cwd=tmp_path, env=os.environ | {"REINFLECT_CACHE": str(tmp_path)}, capture_output=True)
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    accuracy = {row[0]: float(row[2]) for row in section(shown, "system")}
    assert accuracy["vote of all"] >= accuracy["rule baseline"] + 5
    lemma, features, predicted, verdict = section(shown, "lemma")[0]
    assert (lemma, features) == ("fliegen", "V;IND;PST;3;SG")
    assert verdict == ("right" if predicted == "flog" else "wrong: flog")
    assert list(tmp_path.iterdir()) == []
