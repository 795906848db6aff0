"""The program: its help, what it imports, and its errors."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reinflect.cli import COMMANDS, main
from tests.cli import Reinflect, printed_by, succeeded
from tests.cli.test_transcripts import GOLDEN

HEAVY = {"torch", "numba", "numpy", "scipy", "rich", "requests", "rapidfuzz"}
NOT_RUN = ("train", "demo", "forecast", "benchmark", "serve", "data fetch")
"""Commands whose examples take long or need a network."""
IN_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def commands() -> list[str]:
    """All commands and subcommands, such as `data show`."""
    names = []
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        names += [f"{name} {sub}" for sub in command.commands] if isinstance(command, click.Group) else [name]
    return names


def test_help_lists_every_command(reinflect: Reinflect) -> None:
    listed = reinflect("--help").output
    assert "Learn to inflect words" in listed
    assert listed == reinflect().output
    for name, summary in COMMANDS.items():
        assert f"  {name}" in listed
        assert summary in listed


@pytest.mark.parametrize("name", commands())
def test_the_help_ends_with_an_example_that_runs(
    name: str, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REINFLECT_MODELS", str(GOLDEN / "files" / "pocket"))
    shown = succeeded(reinflect(*name.split(), "--help"))
    lines = [line.strip() for line in re.split(r"Example.*:\n", shown.output)[-1].splitlines()]
    assert f"reinflect {name}" in lines[-1]
    shutil.copy(GOLDEN / "files" / "words.reinflect", "verbs.reinflect")  # in the place of the one that is trained
    for line in lines * (name not in NOT_RUN):
        command, _, target = line.partition(" > ")
        output = ""
        for stage in command.split(" | "):
            program, *words = shlex.split(stage)
            if program == "printf":
                output = words[0].replace("\\n", "\n").replace("\\t", "\t")
            elif words[0] != "train":
                output = succeeded(reinflect(*words, stdin=output)).stdout
        if target:
            Path(target).write_text(output, encoding="utf-8")


def test_the_help_names_the_strategies_of_other_packages() -> None:
    plugins = Path(__file__).parents[1] / "plugins"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from reinflect.cli import main; main(['inflect', '--help'], standalone_mode=False)"
    )
    assert "Of other packages: runner-up." in " ".join(printed_by("-c", code, plugins).split())


def heavy_imports(*arguments: str) -> set[str]:
    code = (
        "import sys; from reinflect.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print(*{module.split('.')[0] for module in sys.modules})"
    )
    return HEAVY.intersection(printed_by("-c", code, *arguments).splitlines()[-1].split())


@pytest.mark.parametrize("name", COMMANDS)
def test_neither_a_command_nor_its_help_imports_anything_heavy(name: str) -> None:
    assert heavy_imports(name, "--help") == set()


@pytest.mark.parametrize(
    ("line", "imported"),
    [
        ("models", ""),
        ("baseline --train train.tsv --input asked.tsv -o /dev/null", "rapidfuzz"),
        ("evaluate gold.tsv predicted.tsv --errors 3 --by pos", "rapidfuzz"),
        ("evaluate gold.tsv predicted.tsv --against better.tsv", "rapidfuzz numpy"),
    ],
)
def test_what_a_command_imports(line: str, imported: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "files")
    monkeypatch.setenv("REINFLECT_MODELS", "pocket")
    assert heavy_imports(*line.split()) <= set(imported.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [["--help"], ["oracle", "fliegen", "flog"], ["data", "show", "german-verbs"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        program = [sys.executable, "-m", "reinflect", *arguments]
        ran = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("reinflect: standard input/output: No space left on device; make room there, then run")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError, 2, "reinflect: there is not enough memory; use smaller files, or close other programs\n"),
        (KeyboardInterrupt, 130, "\n"),
    ],
)
def test_too_little_memory_and_ctrl_c_end_in_one_line(
    error: type[BaseException], code: int, message: str, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("reinflect.inflector.pocket.models_folder", fail)
    result = reinflect("models")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", message)


@pytest.mark.parametrize("words", [["oracle", "Bö", "ö"], ["inflect", "words.reinflect", "Bö", "V"]])
def test_words_are_letters_whatever_the_locale_claims(words: list[str]) -> None:
    call, folder = ("-m", "reinflect", *words), GOLDEN / "files"
    in_c, usual = (printed_by(*call, cwd=folder, env=os.environ | more) for more in (IN_C, {}))
    assert in_c == usual
    assert "ö" in usual


def test_words_in_another_encoding_are_one_line(reinflect: Reinflect) -> None:
    result = reinflect("oracle", "b\udcf6se", "bös")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "reinflect: found 'b\\udcf6se', which is not UTF-8; type it in a UTF-8 terminal\n"
