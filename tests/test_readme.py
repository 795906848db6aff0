"""What the README shows is what the program prints."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.cli import COMMANDS

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
SHOWN = {block.splitlines()[0].removeprefix("$ "): block for block in BLOCKS if block.startswith("$ ")}
OFFLINE = [
    line for block in BLOCKS for line in block.splitlines() if line.startswith("reinflect ") and " fetch " not in line
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Callable[..., Result]) -> Path:
    """A folder with the files that the README makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    for line in OFFLINE:
        result = reinflect(*shlex.split(line)[1:])
        assert (result.exit_code, result.stderr) == (0, ""), line
    return tmp_path


def test_there_are_excerpts_to_check() -> None:
    assert {shlex.split(line)[1] for line in SHOWN} >= {"demo", "evaluate", "align", "oracle"}
    assert {shlex.split(line)[1] for line in OFFLINE} >= {"data", "baseline"}


@pytest.mark.parametrize("line", SHOWN)
@pytest.mark.usefixtures("folder")
def test_an_excerpt_is_what_the_command_prints(line: str, reinflect: Callable[..., Result]) -> None:
    excerpt = SHOWN[line].removeprefix(f"$ {line}\n")
    printed = reinflect(*shlex.split(line)[1:]).stdout
    if excerpt.endswith("…\n"):
        assert printed.startswith(excerpt.removesuffix("…\n"))
    else:
        assert printed == excerpt


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"`reinflect (\w+)", README))
    assert named
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("page", ["README.md", "docs/walk.md", "BENCHMARKS.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = Path(__file__).parents[1] / page
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
