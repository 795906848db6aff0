"""`reinflect baseline`: output, notes and errors."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.cli.baseline import EXAMPLE

TRAIN = "lachen\tlachte\tV;PST\nsagen\tsagte\tV;PST\n"
COVERED = "fragen\t\tV;PST\nmachen\t\tV;PST\n"
INFLECTED = "fragen\tfragte\tV;PST\nmachen\tmachte\tV;PST\n"

AS_IT_WAS = "as\tit\twas\n"
Run = Callable[..., Result]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return written(tmp_path / "train.tsv", TRAIN)


@pytest.fixture
def covered(tmp_path: Path) -> Path:
    return written(tmp_path / "covered.tsv", COVERED)


def failed(result: Result) -> str:
    """The error message, which is one line."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_to_the_screen(reinflect: Run, train: Path, covered: Path) -> None:
    result = reinflect("baseline", "--train", train, "--input", covered)
    assert (result.exit_code, result.stdout, result.stderr) == (0, INFLECTED, "")


def test_to_a_file(reinflect: Run, train: Path, covered: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.tsv"
    result = reinflect("baseline", "--train", train, "--input", covered, "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    assert output.read_text(encoding="utf-8") == INFLECTED


def test_from_standard_input(reinflect: Run, train: Path, covered: Path) -> None:
    result = reinflect("baseline", "--train", train, "--input", "-", "--output", "-", stdin=COVERED)
    assert (result.exit_code, result.stdout) == (0, INFLECTED)
    result = reinflect("baseline", "--train", "-", "--input", covered, stdin=TRAIN)
    assert (result.exit_code, result.stdout) == (0, INFLECTED)


@pytest.mark.parametrize(
    "asked", ["fragen\tV;PST\nmachen\tV;PST\n", "fragen\tfrug\tV;PST\nmachen\t?\tV;PST\n", "\n" + COVERED + "\n"]
)
def test_forms_of_the_input_are_ignored(reinflect: Run, train: Path, asked: str) -> None:
    assert reinflect("baseline", "--train", train, "--input", "-", stdin=asked).stdout == INFLECTED


def test_other_columns(reinflect: Run, train: Path, tmp_path: Path) -> None:
    train = written(tmp_path / "train", "lachen\tV;PST\tlachte\n")
    columns = "lemma,features,form"
    result = reinflect("baseline", "--train", train, "--input", "-", "--columns", columns, stdin="machen\tV;PST\t\n")
    assert result.stdout == "machen\tV;PST\tmachte\n"


def test_lemma_features_and_order_are_kept_exactly(reinflect: Run, tmp_path: Path) -> None:
    train = written(tmp_path / "train", 'gå \tgår \tV; PRS\n"x\t"xr\tV; PRS\n')
    asked = '"å \t\tV; PRS\nstå \t\tPRS;V\nstå \t\tV; PRS\n"å \t\tV; PRS\n'
    result = reinflect("baseline", "--train", train, "--input", "-", stdin=asked)
    assert result.stdout == '"å \t"år \tV; PRS\nstå \tstå \tPRS;V\nstå \tstår \tV; PRS\n"å \t"år \tV; PRS\n'


def test_a_note_counts_items_with_unknown_features(reinflect: Run, train: Path) -> None:
    result = reinflect("baseline", "--train", train, "--input", "-", stdin=COVERED + "sagen\t\tV;PRS\n")
    assert result.exit_code == 0
    assert result.stdout == INFLECTED + "sagen\tsagen\tV;PRS\n"
    assert "features of 1 of 3 items are not in the training file" in result.stderr


def test_a_note_names_a_cell_with_several_forms(reinflect: Run, tmp_path: Path, covered: Path) -> None:
    train = written(tmp_path / "train", TRAIN + "lachen\tlachtete\tV;PST\n")
    result = reinflect("baseline", "--train", train, "--input", covered)
    assert result.exit_code == 0
    assert "(such as lachen V;PST: lachte, lachtete)" in result.stderr


# Misuse


@pytest.mark.parametrize("missing", ["--train", "--input"])
def test_a_missing_file(reinflect: Run, train: Path, covered: Path, tmp_path: Path, missing: str) -> None:
    paths = {"--train": train, "--input": covered, missing: tmp_path / "nowhere.tsv"}
    message = failed(reinflect("baseline", *(part for pair in paths.items() for part in pair)))
    assert "nowhere.tsv: there is no such file" in message


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        (TRAIN + "fragen\t\tV;PST\n", ", line 3: ", "no form for 'fragen'"),
        (TRAIN + "fragen\tV;PST\n", ", line 3: ", "2 columns"),
        (TRAIN + f"fragen\t{'a' * 5000}\tV;PST\n", ", line 3: ", "5000 characters"),
        ("", ": ", "no items"),
    ],
)
def test_invalid_training_data(
    reinflect: Run, covered: Path, tmp_path: Path, text: str, place: str, found: str
) -> None:
    train, output = written(tmp_path / "bad.tsv", text), written(tmp_path / "out.tsv", AS_IT_WAS)
    message = failed(reinflect("baseline", "--train", train, "--input", covered, "--output", output))
    assert f"bad.tsv{place}" in message
    assert found in message
    assert output.read_text() == AS_IT_WAS


def test_invalid_input_leaves_the_output_unchanged(reinflect: Run, train: Path, tmp_path: Path) -> None:
    asked, output = (
        written(tmp_path / "asked.tsv", COVERED + "a\tb\tc\td\n"),
        written(tmp_path / "out.tsv", AS_IT_WAS),
    )
    assert "asked.tsv, line 3" in failed(reinflect("baseline", "--train", train, "--input", asked, "-o", output))
    assert output.read_text() == AS_IT_WAS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked.tsv", "out.tsv", "train.tsv"]


def test_an_output_that_cannot_be_written(reinflect: Run, train: Path, covered: Path, tmp_path: Path) -> None:
    there = ("baseline", "--train", train, "--input", covered, "--output")
    assert "this is a folder" in failed(reinflect(*there, tmp_path))
    assert "there is no folder" in failed(reinflect(*there, tmp_path / "new" / "out.tsv"))
    assert not (tmp_path / "new").exists()


def test_standard_input_cannot_be_used_twice(reinflect: Run) -> None:
    assert "found - (standard input) more than once" in failed(
        reinflect("baseline", "--train", "-", "--input", "-", stdin=TRAIN)
    )


@pytest.mark.parametrize("arguments", [[], ["--train", "x"], ["--input", "x"], ["--train", "x", "--input", "y", "z"]])
def test_missing_and_extra_arguments(reinflect: Run, arguments: list[str]) -> None:
    result = reinflect("baseline", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


# The help


def test_the_example_of_the_help_runs(reinflect: Run, tmp_path: Path) -> None:
    shown = reinflect("baseline", "--help").stdout.rstrip().splitlines()
    example = "\n".join(line.strip() for line in EXAMPLE.splitlines()[2:])
    assert "\n".join(line.strip() for line in shown[-2:]) == example
    program = f"{shlex.quote(sys.executable)} -m reinflect "
    script = example.replace("| reinflect ", f"| {program}")
    ran = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout == "fragen\tfragte\tV;PST\n"


def test_no_heavy_packages_are_imported(train: Path, covered: Path) -> None:
    script = (
        "import sys; from reinflect.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "sys.exit(f'loaded {heavy}' if (heavy := {'torch', 'numba', 'numpy', 'rich'} & set(sys.modules)) else 0)"
    )
    arguments = ["baseline", "--train", str(train), "--input", str(covered), "--output", os.devnull]
    ran = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, encoding="utf-8", check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
