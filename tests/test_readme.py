"""What the pages show is what the program does. Training is cut short here, and done as shown in the long test."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import pytest
from click.testing import CliRunner, Result

from reinflect.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models" / "reinflect_models"
"""The pocket models, which the sdist leaves out."""
PAGES = ["README.md", "docs/commands.md", "docs/training.md"]
OTHERS = {"BENCHMARKS.md", "models/README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))}
PAGES += sorted(OTHERS - set(PAGES))
README, COMMANDS_PAGE, TRAINING = ((ROOT / page).read_text(encoding="utf-8") for page in PAGES[:3])
SHOWN = README + COMMANDS_PAGE
TINY = "--seeds 1 --set epochs=1 --set hidden=6 --set embedding=5 --set score_from=0 --workers 1"
LEARNT = {"demo", "train"}
"""Commands that learn, whose output the short tests cannot compare."""


def blocks(page: str, language: str = "") -> list[str]:
    """What is between fences; the end of a block must not be taken for the beginning of another."""
    found = re.findall(r"^```(\S*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [block for own, block in found if re.fullmatch(language, own)]


def commands(page: str) -> list[str]:
    """The command lines, in the order of the page, but for those that need a network, or wait for Ctrl-C."""
    lines = [line.removeprefix("$ ") for block in blocks(page) for line in block.splitlines()]
    wanted = [line for line in lines if line.startswith("reinflect ")]
    return [line for line in wanted if shlex.split(line)[1] != "serve" and " fetch " not in line]


def name(line: str) -> str:
    return shlex.split(line)[1]


EXCERPTS = {block.splitlines()[0].removeprefix("$ "): block for block in blocks(SHOWN) if block.startswith("$ ")}
COMPARED = [line for line in EXCERPTS if name(line) not in LEARNT and ".reinflect" not in line]


def run(line: str) -> Result:
    """Do what the line says, in small: models that have hardly learnt anything are slow to come to an end."""
    more = TINY.split() if name(line) in ("train", "forecast") else []
    words = shlex.split(line)[1:]
    if name(line) == "inflect" and "--input" in words:
        words[words.index("--input") + 1] = shortened("gold.tsv")
    if "--dev" in words:
        words[words.index("--dev") + 1] = shortened("dev.tsv")
    return CliRunner().invoke(main, words + more)


def shortened(path: str) -> str:
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    Path(f"short-{path}").write_text("".join(lines[:10]), encoding="utf-8")
    return f"short-{path}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_pocket_models: Path) -> Iterator[Path]:
    """A folder in which everything on the pages was done, but for the demo."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("REINFLECT_CACHE", str(folder / "cache"))
        patch.setenv("REINFLECT_MODELS", str(MODELS if MODELS.is_dir() else tiny_pocket_models))
        for line in commands(SHOWN) + commands(TRAINING):
            if name(line) != "demo":
                result = run(line)
                assert result.exit_code == 0, f"{line}: {result.output}"
        yield folder


def test_there_are_excerpts_to_check() -> None:
    assert {name(line) for line in EXCERPTS} >= {"demo", "evaluate", "align", "oracle"}
    assert {name(line) for line in commands(README)} >= {"data", "check", "train", "inflect", "paradigm"}
    assert {name(line) for line in commands(TRAINING)} >= {"data", "train", "forecast"}


@pytest.mark.parametrize("line", COMPARED)
@pytest.mark.usefixtures("folder")
def test_an_excerpt_is_what_the_command_prints(line: str) -> None:
    if name(line) in ("inflect", "paradigm") and not MODELS.is_dir():
        pytest.skip("the pocket models are not here")
    assert run(line).stdout == EXCERPTS[line].removeprefix(f"$ {line}\n")


def test_the_python_on_the_pages_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    smaller = {"epochs=10": "epochs=1", "seeds=2": "seeds=1", "workers=2": "workers=1", "dev.tsv": "short-dev.tsv"}
    for page in (README, TRAINING):
        for program in blocks(page, "python"):
            for shown, less in smaller.items():
                program = program.replace(shown, less)
            script = folder / "shown.py"
            script.write_text(program, encoding="utf-8")
            run_path(str(script), run_name="__main__")
            assert capsys.readouterr().out, program


def accuracies(table: str) -> dict[str, float]:
    """By the first column of a table; what training says to expect by the words around it."""
    rows = re.finditer(r"^(\S.*?) {2,}(?:\d+ +)?(\d+\.\d\d)\b", table, re.MULTILINE)
    expected = re.finditer(r"^Expect about (\d+) (% right, .*)", table, re.MULTILINE)
    return {row[1]: float(row[2]) for row in rows} | {one[2]: float(one[1]) for one in expected}


def _sentence(page: str) -> str:
    """What the page shows as the end of a training."""
    (found,) = re.findall(r"^Expect about .*", page, re.MULTILINE)
    return str(found)


@pytest.mark.long
def test_what_is_learnt_on_the_page_is_learnt_here(tmp_path: Path, tiny_pocket_models: Path) -> None:
    """Other processors round otherwise, and models then learn a little otherwise: votes may differ by some points."""
    environment = os.environ | {"REINFLECT_CACHE": str(tmp_path / "cache"), "REINFLECT_MODELS": str(tiny_pocket_models)}
    program = str(Path(sys.executable).with_name("reinflect"))
    votes = []
    for line in commands(SHOWN):
        call = [program, *shlex.split(line)[1:]]
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0, f"{line}: {done.stderr.decode()}"
        if name(line) in LEARNT:
            shown, printed = accuracies(EXCERPTS.get(line) or _sentence(README)), accuracies(done.stdout.decode())
            assert shown.keys() <= printed.keys()
            assert shown.get("rule baseline") == printed.get("rule baseline")
            votes += [(row, shown[row], printed[row]) for row in shown if "vote" in row or "right" in row]
    assert len(votes) == 4
    for row, expected, found in votes:
        assert found == pytest.approx(expected, abs=6), row


def test_every_command_it_names_exists() -> None:
    for page in PAGES:
        named = set(re.findall(r"`reinflect (\w+)", (ROOT / page).read_text(encoding="utf-8")))
        assert named <= set(COMMANDS), page
    assert re.findall(r"`reinflect (\w+)", README)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
