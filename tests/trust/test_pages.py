"""The pages name commands, options, files, programs and limits that are there."""

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
PATHS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("models/*.md"), *ROOT.glob("examples/*/*.md")]
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(PATHS)}
DATED = {"CHANGELOG.md", "docs/lab-notebook.md"}
"""Pages with commands and files of their time."""
PRESENT = {name: text for name, text in PAGES.items() if name not in DATED}
EVERYTHING = "\n".join(PRESENT.values())
CODE = {
    name: [" ".join(part.split()) for part in re.findall(r"`([^`]+)`", re.sub(r"(?ms)^```.*?^```$", "", text))]
    for name, text in PRESENT.items()
}
"""What stands between backticks, but for blocks."""
HELP = {
    command: CliRunner().invoke(main, [*command.split(), "--help"]).output
    for command in ("", *COMMANDS, *(f"data {part}" for part in ("fetch", "list", "show", "split")))
}
OTHER_OPTIONS = "".join(
    path.read_text(encoding="utf-8") for path in [*ROOT.glob("bench/*.py"), ROOT / "tests/conftest.py"]
)


def headings(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", PAGES[name]):
        path, _, heading = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        assert not heading or heading in headings(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", PRESENT)
def test_files_and_folders_are_there(name: str) -> None:
    folders = [ROOT, (ROOT / name).parent]
    first = {path.name for folder in folders for path in folder.iterdir()}
    for part in CODE[name]:
        if re.fullmatch(r"[a-z0-9_.-]+/[a-z0-9_./-]+", part) and part.split("/")[0] in first:
            assert any((folder / part).exists() for folder in folders), part


def test_the_walk_names_modules_that_are_there() -> None:
    names = [part.partition(":")[0] for part in CODE["docs/walk.md"] if re.match(r"(\w+/)*\w+\.py", part)]
    assert len(names) > 40
    assert [name for name in names if not (any((ROOT / "src").rglob(name)) or (ROOT / name).is_file())] == []


def test_what_make_is_asked_for_can_be_made() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)(?=`| +#)", EVERYTHING))
    assert {"test", "check", "check-wheel", "test-long", "audit"} <= named <= targets
    assert set(re.findall(r'"make (\S+)', (ROOT / "Makefile").read_text(encoding="utf-8"))) == targets - {"help"}
    assert set(re.findall(r"^make (\S+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)) <= targets


@pytest.mark.parametrize("name", PRESENT)
def test_commands_and_their_options_are_there(name: str) -> None:
    for part in CODE[name]:
        if command := re.match(r"reinflect (?!-)(data \w+|\w+)", part):
            here = HELP[command[1]]
        elif part.startswith(("--", "reinflect --")):
            here = "".join(HELP.values()) + OTHER_OPTIONS
        else:
            continue
        assert [option for option in re.findall(r"(?<!\S)--[a-z-]+", part) if option not in here] == [], part


@pytest.mark.parametrize("module", sorted(set(re.findall(r"\bpython -m (bench\.\w+)", EVERYTHING))))
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
    assert {path.name for path in ROOT.glob("*.md")} <= included
