"""CONTRIBUTING.md and SECURITY.md name commands, files and limits that are there."""

import ast
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from reinflect.cli import COMMANDS, main
from reinflect.inflector.file import HEADER_BYTES

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "SECURITY.md")}
EVERYTHING = "\n".join(PAGES.values())
CODE = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", EVERYTHING, flags=re.DOTALL | re.MULTILINE))


def headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:)([^)]+)\)", EVERYTHING))))
def test_links_lead_somewhere(link: str) -> None:
    path, _, place = link.partition("#")
    assert (ROOT / path).is_file()
    assert not place or place in headings(ROOT / path)


def test_files_and_folders_are_there() -> None:
    first = {path.name for path in ROOT.iterdir()}
    named = [part for part in CODE if re.fullmatch(r"[\w./-]+", part) and part.split("/")[0] in first]
    assert len(named) > 15
    assert [part for part in named if not (ROOT / part).exists()] == []


def test_the_walk_names_modules_that_are_there() -> None:
    names = re.findall(r"`((?:\w+/)*\w+\.py)", (ROOT / "docs" / "walk.md").read_text(encoding="utf-8"))
    assert len(names) > 40
    missing = [name for name in names if not (any((ROOT / "src").rglob(name)) or (ROOT / name).is_file())]
    assert [name for name in missing if not name.startswith("run/")] == []


def test_what_make_is_asked_for_can_be_made() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)(?=`| +#)", EVERYTHING))
    assert {"test", "check", "check-wheel", "test-long", "audit"} <= named <= targets
    assert set(re.findall(r'"make (\S+)', (ROOT / "Makefile").read_text(encoding="utf-8"))) == targets - {"help"}
    assert set(re.findall(r"^make (\S+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)) <= targets


def test_commands_and_their_options_are_there() -> None:
    lines = [part for part in CODE if part.startswith("reinflect ")]
    assert {line.split()[1] for line in lines} >= {"serve", "data", "benchmark"}
    for line in lines:
        if line.split()[1].startswith("-"):
            continue
        words = re.match(r"reinflect ((?:[a-z]+ ?)+)", line)
        assert words
        command = [word for word in words[1].split() if word in COMMANDS or word == "fetch"]
        help_text = CliRunner().invoke(main, [*command, "--help"]).output
        assert [option for option in re.findall(r"--[\w-]+", line) if option not in help_text] == [], line
    help_text = "".join(CliRunner().invoke(main, [command, "--help"]).output for command in COMMANDS)
    help_text += (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    assert [part for part in CODE if re.fullmatch(r"--[\w-]+", part) and part not in help_text] == []


@pytest.mark.parametrize("module", sorted(set(re.findall(r"^python -m (bench\.\w+)", EVERYTHING, re.MULTILINE))))
def test_programs_are_there(module: str) -> None:
    assert find_spec(module)


def test_the_limit_of_headers_is_the_one_that_is_told() -> None:
    assert f"A header of more than {HEADER_BYTES / 2**20:g} MiB" in PAGES["SECURITY.md"]


def test_nothing_that_is_read_can_be_executed() -> None:
    """No module imports what would do so; what SECURITY.md promises rests on that."""
    forbidden = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "code", "runpy"}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
                assert not forbidden & {name.partition(".")[0] for name in names}, path
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"eval", "exec", "torch.load", "np.load", "numpy.load", "os.system"}, path


def test_the_pages_are_in_the_sdist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    assert set(PAGES) <= included
    assert {path.name for path in ROOT.glob("*.md")} <= included
