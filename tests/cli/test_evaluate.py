"""`reinflect evaluate`: scores, notes and errors."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

GOLD = """\
gehen\tging\tV;PST
sehen\tsah\tV;PST
flog\tflöge\tV;SBJV
Haus\tHäuser\tN;PL
"""
PREDICTED = """\
sehen\tsah\tV;PST
gehen\tgehte\tV;PST
Haus\tHauser\tN;PL
Maus\tMäuse\tN;PL
"""

Run = Callable[..., Result]


def accuracy_line(result: Result) -> list[str]:
    return result.stdout.splitlines()[1].split()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return written(tmp_path / "german-dev", GOLD)


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    return written(tmp_path / "predicted.tsv", PREDICTED)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def failed(result: Result) -> str:
    """The error message, which is one line."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_two_files(reinflect: Run, gold: Path, predicted: Path) -> None:
    result = reinflect("evaluate", gold, predicted)
    assert result.exit_code == 0
    # One of four right; ging/gehte 4, flöge missing 5, Häuser/Hauser 1.
    assert accuracy_line(result) == ["25.00", "2.50", "4"]
    last = result.stdout.splitlines()[-1]
    assert last.startswith("data:german-dev|items:4|gold:")
    assert "|variants:last|version:reinflect-" in last
    assert result.stderr.count("\n") == 1
    assert "1 of 4 cells are not predicted (such as 'flog' V;SBJV)" in result.stderr


def test_json_has_the_same_figures(reinflect: Run, gold: Path, predicted: Path) -> None:
    text = reinflect("evaluate", gold, predicted)
    found = json.loads(reinflect("evaluate", gold, predicted, "--json").stdout)
    assert [f"{found['accuracy']:.2f}", f"{found['levenshtein']:.2f}", str(found["items"])] == accuracy_line(text)
    assert found["missing"] == 1
    assert found["signature"] == text.stdout.splitlines()[-1]
    assert not {"languages", "breakdown", "comparison", "errors"} & set(found)


def test_standard_input_may_be_one_of_the_files(reinflect: Run, gold: Path, predicted: Path) -> None:
    expected = accuracy_line(reinflect("evaluate", gold, predicted))
    assert accuracy_line(reinflect("evaluate", gold, "-", stdin=PREDICTED)) == expected
    from_gold = reinflect("evaluate", "-", predicted, stdin=GOLD)
    assert accuracy_line(from_gold) == expected
    assert "data:stdin|" in from_gold.stdout
    assert "more than once" in failed(reinflect("evaluate", "-", "-", stdin=GOLD))
    assert "more than once" in failed(reinflect("evaluate", gold, "-", "--against", "-", stdin=GOLD))


def test_columns_apply_to_both_files(reinflect: Run, tmp_path: Path, gold: Path, predicted: Path) -> None:
    def moved(text: str) -> str:
        return "".join("\t".join(line.split("\t")[i] for i in (0, 2, 1)) + "\n" for line in text.splitlines())

    files = written(tmp_path / "gold2023", moved(GOLD)), written(tmp_path / "predicted2023", moved(PREDICTED))
    result = reinflect("evaluate", *files, "--columns", "lemma,features,form")
    assert accuracy_line(result) == accuracy_line(reinflect("evaluate", gold, predicted))


def test_columns_in_the_wrong_order_are_noticed(reinflect: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "deu.dev", "gehen\tV;PST\tging\n")
    assert reinflect("evaluate", file, file).stderr == f"note: {file}: its columns are read as lemma, features, form\n"
    wrong = reinflect("evaluate", file, file, "--columns", "lemma,form,features")
    assert "did you mean --columns lemma,features,form?" in wrong.stderr
    right = reinflect("evaluate", file, file, "--columns", "lemma,features,form")
    assert right.stderr == ""


def test_breakdowns(reinflect: Run, gold: Path, predicted: Path) -> None:
    by_pos = reinflect("evaluate", gold, predicted, "--by", "pos").stdout.splitlines()
    assert [line.split() for line in by_pos[4:6]] == [["V", "33.33", "3.00", "3"], ["N", "0.00", "1.00", "1"]]
    found = json.loads(reinflect("evaluate", gold, predicted, "--by", "features", "--json").stdout)["breakdown"]
    assert found["by"] == "features"
    assert list(found["groups"]) == ["V;PST", "N;PL", "V;SBJV"]
    assert found["groups"]["V;PST"] == {"accuracy": 50.0, "levenshtein": 2.0, "items": 2, "missing": 0}


def test_variants(reinflect: Run, tmp_path: Path) -> None:
    gold = written(tmp_path / "gold", "backen\tbuk\tV;PST\nbacken\tbackte\tV;PST\n")
    predicted = written(tmp_path / "predicted", "backen\tbuk\tV;PST\n")
    last = reinflect("evaluate", gold, predicted)
    assert accuracy_line(last) == ["0.00", "4.00", "1"]
    assert last.stderr.count("\n") == 1
    assert "more than one form (such as backen V;PST: buk, backte); the last is right" in last.stderr
    any_of_them = reinflect("evaluate", gold, predicted, "--any-variant")
    assert accuracy_line(any_of_them) == ["100.00", "0.00", "1"]
    assert "|variants:any|" in any_of_them.stdout


def test_of_several_predictions_the_last_counts(reinflect: Run, tmp_path: Path, gold: Path) -> None:
    predicted = written(tmp_path / "twice", GOLD + "gehen\tgehte\tV;PST\n")
    result = reinflect("evaluate", gold, predicted)
    assert accuracy_line(result)[0] == "75.00"
    assert "the last counts" in result.stderr


def test_errors(reinflect: Run, tmp_path: Path) -> None:
    gold = written(tmp_path / "gold", "".join(f"l{i}\tf{i}\tV\n" for i in range(4)) + "x\tsöb\tV\ny\tlög\tV\nz\tz\tV\n")
    predicted = written(tmp_path / "predicted", "l0\tf0e\tV\nl1\tf1e\tV\nl2\tf2e\tV\nx\tsob\tV\ny\tlog\tV\nz\tz\tV\n")
    lines = reinflect("evaluate", gold, predicted, "--errors", 2).stdout.splitlines()[4:6]
    assert [line.split() for line in lines] == [
        ["3", "∅→e", "end", "l0", "V:", "f0,", "not", "f0e"],
        ["2", "ö→o", "middle", "x", "V:", "söb,", "not", "sob"],
    ]
    found = json.loads(reinflect("evaluate", gold, predicted, "--errors", 9, "--json").stdout)["errors"]
    assert [(e["gold"], e["predicted"], e["position"], e["count"]) for e in found] == [
        ("", "e", "end", 3),
        ("ö", "o", "middle", 2),
        ("", "", "missing", 1),
    ]
    assert found[1]["example"] == {"lemma": "x", "features": "V", "gold": "söb", "predicted": "sob"}


def test_errors_of_a_perfect_system(reinflect: Run, gold: Path) -> None:
    assert "no wrong predictions" in reinflect("evaluate", gold, gold, "--errors", 3).stdout


def test_against_another(reinflect: Run, tmp_path: Path) -> None:
    gold = written(tmp_path / "gold", "".join(f"l{i}\tf\tV\n" for i in range(100)))
    good = written(tmp_path / "good", "".join(f"l{i}\t{'f' if i < 80 else 'g'}\tV\n" for i in range(100)))
    bad = written(tmp_path / "bad", "".join(f"l{i}\t{'f' if i < 50 else 'gg'}\tV\n" for i in range(100)))
    result = reinflect("evaluate", gold, good, "--against", bad)
    assert "difference +30.00, 95 % interval +2" in result.stdout
    assert f"The difference is real: {good} is better" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("|bootstrap:10000|seed:1")
    found = json.loads(reinflect("evaluate", gold, bad, "--against", good, "--json").stdout)["comparison"]
    assert (found["predicted"]["accuracy"], found["other"]["accuracy"], found["difference"]) == (50, 80, -30)
    assert found["interval"][0] < -30 < found["interval"][1] < 0
    assert found["p_value"] < 0.01
    assert found["real"] is True
    same = json.loads(reinflect("evaluate", gold, bad, "--against", bad, "--json").stdout)["comparison"]
    assert (same["difference"], same["real"], same["p_value"]) == (0, False, 1)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One item of four right in German, one of two in Nynorsk."""
    written(tmp_path / "gold" / "german-dev", GOLD)
    written(tmp_path / "gold" / "norwegian-nynorsk-dev", "a\tb\tN\nc\td\tN\n")
    written(tmp_path / "predicted" / "german-dev", PREDICTED)
    written(tmp_path / "predicted" / "norwegian-nynorsk-low-out", "a\tb\tN\nc\tddd\tN\n")
    return tmp_path / "gold", tmp_path / "predicted"


def test_two_folders(reinflect: Run, folders: tuple[Path, Path]) -> None:
    lines = reinflect("evaluate", *folders).stdout.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["language", "accuracy", "Levenshtein", "items"],
        ["german", "25.00", "2.50", "4"],
        ["norwegian-nynorsk", "50.00", "1.00", "2"],
        ["macro", "average", "37.50", "1.75", "6"],
    ]
    assert lines[-1].startswith("data:gold|languages:2|average:macro|items:6|")


def test_two_folders_as_json(reinflect: Run, folders: tuple[Path, Path]) -> None:
    found = json.loads(reinflect("evaluate", *folders, "--json", "--by", "pos", "--errors", 1).stdout)
    assert (found["accuracy"], found["levenshtein"], found["items"]) == (37.5, 1.75, 6)
    assert {name: one["accuracy"] for name, one in found["languages"].items()} == {
        "german": 25,
        "norwegian-nynorsk": 50,
    }
    assert found["languages"]["german"]["signature"].startswith("data:german-dev|items:4|")
    assert {name: group["items"] for name, group in found["breakdown"]["groups"].items()} == {"N": 3, "V": 3}
    assert len(found["errors"]) == 1


def test_two_folders_against_a_third(reinflect: Run, folders: tuple[Path, Path]) -> None:
    gold, predicted = folders
    found = json.loads(reinflect("evaluate", gold, predicted, "--against", gold, "--json").stdout)["comparison"]
    assert (found["predicted"]["accuracy"], found["other"]["accuracy"]) == (37.5, 100)
    assert found["difference"] == -62.5
    assert (found["only_predicted_right"], found["only_other_right"]) == (0, 4)


def test_some_languages_of_a_folder(reinflect: Run, folders: tuple[Path, Path]) -> None:
    gold, predicted = folders
    (predicted / "german-dev").unlink()
    assert "(german)" in failed(reinflect("evaluate", gold, predicted))
    found = json.loads(reinflect("evaluate", gold, predicted, "--languages", "norwegian-nynorsk", "--json").stdout)
    assert list(found["languages"]) == ["norwegian-nynorsk"]
    assert "'klingon'" in failed(reinflect("evaluate", gold, predicted, "--languages", "klingon"))


def test_systems_scored_on_different_gold_are_not_compared(reinflect: Run, folders: tuple[Path, Path]) -> None:
    gold, predicted = folders
    written(gold / "german-test", GOLD)
    written(predicted.parent / "other" / "german-test", GOLD)
    arguments = ("evaluate", gold, predicted, "--against", predicted.parent / "other", "--languages", "german")
    assert "german-dev and german-test" in failed(reinflect(*arguments))


def test_notes_on_many_files_are_one_line(reinflect: Run, folders: tuple[Path, Path]) -> None:
    _, predicted = folders
    written(predicted / "norwegian-nynorsk-low-out", "a\tb\tN\n")
    written(predicted / "klingon-dev", "a\tb\tN\n")
    notes = reinflect("evaluate", *folders).stderr.splitlines()
    assert len(notes) == 2
    assert "klingon" in notes[0]
    assert notes[1].endswith("(and 1 more file like this)")


class TestMisuse:
    def test_a_covered_file_as_gold(self, reinflect: Run, tmp_path: Path, predicted: Path) -> None:
        for text in ("gehen\tV;PST\nsehen\tV;PST\n", "gehen\t\tV;PST\n"):
            covered = written(tmp_path / "german-covered-test", text)
            message = failed(reinflect("evaluate", covered, predicted))
            assert "german-covered-test: this file is covered" in message

    def test_one_gold_form_missing(self, reinflect: Run, tmp_path: Path, predicted: Path) -> None:
        gold = written(tmp_path / "gold", "gehen\tging\tV;PST\nsehen\t\tV;PST\n")
        assert "gold, line 2: found no form for 'sehen'" in failed(reinflect("evaluate", gold, predicted))

    def test_a_missing_file(self, reinflect: Run, tmp_path: Path, gold: Path) -> None:
        assert "nowhere: there is no such file" in failed(reinflect("evaluate", gold, tmp_path / "nowhere"))
        assert "nowhere: there is no such file" in failed(reinflect("evaluate", tmp_path / "nowhere", tmp_path))

    def test_a_file_with_a_folder(self, reinflect: Run, tmp_path: Path, gold: Path) -> None:
        for pair in [(gold, tmp_path), (tmp_path, gold)]:
            assert "files only, or folders only" in failed(reinflect("evaluate", *pair))
        assert "folders only" in failed(reinflect("evaluate", gold, gold, "--against", tmp_path))

    def test_languages_of_two_files(self, reinflect: Run, gold: Path) -> None:
        assert "--languages" in failed(reinflect("evaluate", gold, gold, "--languages", "german"))

    def test_a_broken_line(self, reinflect: Run, tmp_path: Path, gold: Path) -> None:
        broken = written(tmp_path / "broken", "gehen\tging\tV;PST\nsehen sah V;PST\n")
        assert "broken, line 2: found 1 column" in failed(reinflect("evaluate", gold, broken))


def test_predictions_without_forms_are_wrong_not_an_error(reinflect: Run, tmp_path: Path, gold: Path) -> None:
    covered = written(tmp_path / "covered", "gehen\tV;PST\nsehen\tV;PST\nflog\tV;SBJV\nHaus\tN;PL\n")
    assert accuracy_line(reinflect("evaluate", gold, covered)) == ["0.00", "4.50", "4"]


def test_the_example_of_the_help_runs(reinflect: Run, tmp_path: Path) -> None:
    example = reinflect("evaluate", "--help").stdout.split("Example:\n")[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = ["sh", "-ec", example]
    ran = subprocess.run(shell, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "50.00" in ran.stdout
    assert "ing→ehte" in ran.stdout


@pytest.mark.parametrize(("against", "numpy"), [(False, False), (True, True)])
def test_heavy_modules_are_imported_only_when_needed(gold: Path, predicted: Path, against: bool, numpy: bool) -> None:
    arguments = ["evaluate", str(gold), str(predicted), "--errors", "3", "--by", "pos"]
    arguments += ["--against", str(gold)] if against else []
    code = (
        "import sys; from reinflect.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print(*(m for m in ('torch', 'numba', 'numpy', 'rapidfuzz') if m in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1].split() == (["numpy"] if numpy else []) + ["rapidfuzz"]


def test_help_imports_no_scorer() -> None:
    code = (
        "import sys; from reinflect.cli import main; main(['evaluate', '--help'], standalone_mode=False);"
        "print(*(m for m in ('torch', 'numba', 'numpy', 'rapidfuzz', 'rich') if m in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


def test_all_languages_of_the_shared_task(reinflect: Run, conll2017: Path, tmp_path: Path) -> None:
    """Gold dev files without their first lines as predictions: small languages have the same weight as large ones."""
    for file in conll2017.glob("*-dev"):
        text = file.read_text(encoding="utf-8")
        written(tmp_path / "predicted" / file.name, text.split("\n", 1)[1])
    found = json.loads(reinflect("evaluate", conll2017, tmp_path / "predicted", "--json").stdout)
    rows = found["languages"].values()
    assert len(rows) == 52
    assert all(row["accuracy"] == pytest.approx(100 - 100 / row["items"]) for row in rows)
    assert found["accuracy"] == pytest.approx(sum(row["accuracy"] for row in rows) / 52, abs=0.00501)
