import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import Result

from reinflect import __version__
from reinflect.cli import COMMANDS

Reinflect = Callable[..., Result]


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_version(reinflect: Reinflect) -> None:
    assert reinflect("--version").output == f"reinflect, version {__version__}\n"


def test_help_lists_every_command(reinflect: Reinflect) -> None:
    listed = reinflect("--help").output
    for name, summary in COMMANDS.items():
        assert f"  {name}" in listed
        assert summary in listed


def test_the_module_runs_as_a_program() -> None:
    code = (
        "import runpy, sys; sys.argv = ['reinflect', '--version']; runpy.run_module('reinflect', run_name='__main__')"
    )
    assert __version__ in run_python(code)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_that_ends_with_an_example(reinflect: Reinflect, name: str) -> None:
    command = import_module(f"reinflect.cli.{name}").command
    subcommands = list(command.commands) if isinstance(command, click.Group) else []
    for arguments in [[name, subcommand] for subcommand in subcommands] or [[name]]:
        shown = reinflect(*arguments, "--help")
        assert shown.exit_code == 0
        assert "reinflect " + " ".join(arguments) in shown.output.rstrip().split("\n\n")[-1]


@pytest.mark.parametrize("name", COMMANDS)
def test_importing_a_command_imports_nothing_heavy(name: str) -> None:
    heavy = {"torch", "numba", "numpy", "scipy", "rich", "requests", "rapidfuzz"}
    loaded = run_python(f"import sys, reinflect.cli.{name}; print(*{{m.split('.')[0] for m in sys.modules}})")
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_no_help_imports_torch_or_numba(arguments: list[str]) -> None:
    call = f"main({[*arguments, '--help']}, standalone_mode=False)"
    loaded = run_python(f"import sys; from reinflect.cli import main; {call}; print(*sys.modules)").splitlines()[-1]
    assert {"torch", "numba"}.isdisjoint(loaded.split())


def test_an_unknown_command_is_an_error(reinflect: Reinflect) -> None:
    result = reinflect("inflate")
    assert result.exit_code == 2
    assert result.stderr == "reinflect: there is no command 'inflate'; did you mean inflect?\n"
    assert reinflect("xyzzy").stderr.endswith("'xyzzy'; reinflect --help lists all commands\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--foo"], "No such option '--foo'; reinflect --help"),
        (["train", "--foo"], "reinflect train --help"),
        (["train"], "Missing option '--train'; reinflect train --help"),
        (["train", "--train", "x", "--out", "y", "--seeds", "0"], "0 is not in the range 1<=x<=100; reinflect train"),
        (["data", "fotch"], "Did you mean 'fetch'?; reinflect data --help"),
        (["paradigm"], "Missing argument 'MODEL'"),
    ],
)
def test_invalid_options_are_one_line(reinflect: Reinflect, arguments: list[str], message: str) -> None:
    result = reinflect(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("reinflect: ")
    assert result.stderr.endswith(" --help explains the options\n")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_no_command_prints_the_help(reinflect: Reinflect) -> None:
    assert "Learn to inflect words" in reinflect().output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [["--help"], ["oracle", "fliegen", "flog"], ["data", "show", "german-verbs"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        program = [sys.executable, "-m", "reinflect", *arguments]
        ran = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("reinflect: standard input/output: No space left on device; make room there, then run")
    assert ran.stderr.count("\n") == 1


def test_an_impossible_file_name_is_one_line(reinflect: Reinflect, tmp_path: Path) -> None:
    result = reinflect("evaluate", tmp_path / ("漢\f" * 100), "-")
    assert result.exit_code == 2
    assert result.stderr.removesuffix("\n").isprintable()
    assert "too long" in result.stderr
