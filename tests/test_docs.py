"""What the pages show is what the program does: every line runs, with small models unless the test is long."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from inspect import getmembers
from pathlib import Path
from runpy import run_path
from typing import Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from reinflect.cli import main
from reinflect.inflector.inflector import Inflector
from tests.cli.test_serve import program

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models" / "reinflect_models"
"""The pocket models, which the sdist leaves out."""
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
}
README, COMMANDS_PAGE, TRAINING = (TEXTS[page] for page in ("README.md", "docs/commands.md", "docs/training.md"))
LINGUIST, RESEARCHER = TEXTS["docs/guide.md"].split("\n## ")[1:]
WALKS = {
    "README": README + COMMANDS_PAGE + TRAINING,
    "linguist": LINGUIST,
    "researcher": RESEARCHER,
    "spreadsheets": TEXTS["docs/spreadsheets.md"],
}
"""Lines that are run one after the other."""
NAMED = {
    "README": {"data", "check", "train", "inflect", "paradigm", "evaluate", "align", "oracle", "forecast", "serve"},
    "linguist": {"train", "inflect", "paradigm", "trace", "report", "serve", "suggest"},
    "researcher": {"benchmark", "report", "evaluate"},
    "spreadsheets": {"data", "check", "baseline", "evaluate", "train", "inflect", "suggest", "fill"},
}
SMALL = "--set epochs=1 --set hidden=6 --set embedding=5 --set score_from=0 --workers 1"
MORE = {
    "train": f"--seeds 1 {SMALL} --kinds haem-naive",
    "forecast": f"--seeds 1 {SMALL} --alignments naive",
    "benchmark": f"{SMALL} --device cpu",
}
"""Models that have hardly learnt anything, as they are slow to come to an end."""


def blocks(page: str, language: str = "") -> list[str]:
    """What is between fences; the end of a block must not be taken for the beginning of another."""
    fenced = re.findall(r"^```(\S*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if re.fullmatch(language, name)]


def lines(page: str) -> list[str]:
    """The commands of a page but for those that need a network, and the files it shows, as `> NAME`, in their order."""
    steps = []
    for block in re.finditer(r"^```(\S*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if "." in block[1]:
            steps.append(f"> {block[1]}")
        elif not block[1]:
            typed = [line.removeprefix("$ ") for line in block[2].splitlines()]
            steps += [line for line in typed if line.startswith("reinflect ") and " fetch " not in line]
    return steps


def command(line: str) -> str:
    return shlex.split(line)[1]


def write(page: str, file: str) -> None:
    (content,) = blocks(page, re.escape(file))
    Path(file).write_text(content, encoding="utf-8")


def in_small(line: str) -> list[str]:
    """A line with small models, and few items to score or inflect."""
    words, more = shlex.split(line)[1:], MORE.get(command(line), "").split()
    for name in {"--dev", "--input"} & set(words):
        path = Path(words[words.index(name) + 1])
        if path.suffix == ".tsv" and command(line) != "baseline":
            start = path.read_text(encoding="utf-8").splitlines(keepends=True)[:10]
            Path(f"short-{path}").write_text("".join(start), encoding="utf-8")
            words[words.index(name) + 1] = f"short-{path}"
    if {"--systems", "--kinds", "--from"} & set(words):
        more = [word for word in more if word not in ("--kinds", "haem-naive")]
    return words + more


def run(line: str) -> Result:
    result = CliRunner().invoke(main, in_small(line))
    assert result.exit_code == 0, f"{line}: {result.output}"
    return result


def served(models: Sequence[str]) -> str:
    """What a server of these models says about them."""
    with program(*map(Path, models)) as (_, port), urlopen(f"http://127.0.0.1:{port}/api/models") as answer:
        return str(answer.read())


def check_suggestions() -> list[str]:
    """The lines of a file of suggestions, none of which has a form."""
    head, *rows = Path("ask.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(rows) == 20
    assert all(row.split(",")[1] == "" for row in rows)
    return [head, *rows]


def few_languages(conll2017: Path) -> None:
    """What the researcher fetches, with a tenth of the dev items."""
    Path("conll2017").mkdir()
    for language in ("welsh", "haida", "scottish-gaelic"):
        for file, items in ((f"{language}-train-low", 100), (f"{language}-dev", 10)):
            start = (conll2017 / file).read_text(encoding="utf-8").splitlines(keepends=True)[:items]
            Path("conll2017", file).write_text("".join(start), encoding="utf-8")


@pytest.mark.parametrize("walk", WALKS)
def test_every_line_runs_and_shows_what_the_page_shows(
    walk: str, tmp_path: Path, tiny_pocket_models: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("REINFLECT_MODELS", str(MODELS if MODELS.is_dir() else tiny_pocket_models))
    page = WALKS[walk]
    assert NAMED[walk] <= {command(line) for line in lines(page) if not line.startswith(">")}
    if walk == "researcher":
        few_languages(request.getfixturevalue("conll2017"))
    if walk == "spreadsheets":
        for file, first in (("labels.tsv", "past 3sg\t"), ("cells.txt", "V;IND;PRS;3;SG\n")):
            (content,) = (block for block in blocks(page) if block.startswith(first))
            Path(file).write_text(content, encoding="utf-8")
    excerpts = {block.splitlines()[0].removeprefix("$ "): block for block in blocks(page) if block.startswith("$ ")}
    for line in lines(page):
        if line.startswith("> "):
            write(page, line.removeprefix("> "))
        elif command(line) == "serve":
            assert "verbs" in served(shlex.split(line)[2:])
        else:
            result = run(line)
            if line in excerpts and (MODELS.is_dir() or ("finnish" not in line and "german " not in line)):
                assert result.stdout == excerpts[line].removeprefix(f"$ {line}\n")
            if "--output ask.csv" in line and command(line) == "suggest":
                check_suggestions()
            if "--add corrections.tsv" in line:  # and ask.csv, which a reader in a hurry has not filled in
                assert "note: ask.csv has no forms yet; nothing added" in result.stderr
            if walk == "spreadsheets" and "--compare" in line:
                changes = next(block for block in blocks(page) if block.startswith("on 100 items")).splitlines()[0]
                assert re.sub(r"[\d.]+", "0", changes) in re.sub(r"[\d.]+", "0", result.stdout)
    if walk == "linguist":
        assert "she then" in Path("report.html").read_text(encoding="utf-8")
    if walk == "researcher":
        assert "Welsh" in Path("results.html").read_text(encoding="utf-8")
    for code in blocks(page, "python"):
        for shown, less in {"epochs=10": "epochs=1", "seeds=2": "seeds=1", "workers=2": "workers=1"}.items():
            code = code.replace(shown, less)
        Path("shown.py").write_text(code.replace("dev.tsv", "short-dev.tsv"), encoding="utf-8")
        run_path("shown.py", run_name="__main__")
        assert capsys.readouterr().out, code


@pytest.mark.long
@pytest.mark.parametrize("walk", ["README", "linguist", "researcher"])
def test_every_line_as_it_stands(
    walk: str, tmp_path: Path, tiny_pocket_models: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Other processors round otherwise, and models then learn a little otherwise: votes may differ by some points."""
    monkeypatch.chdir(tmp_path)
    if walk == "researcher":
        Path("conll2017").symlink_to(request.getfixturevalue("conll2017"))
    folders = {"REINFLECT_CACHE": str(tmp_path / "cache"), "REINFLECT_MODELS": str(tiny_pocket_models)}
    page = README + COMMANDS_PAGE if walk == "README" else WALKS[walk]
    printed = ""
    for line in ["reinflect demo"] * (walk == "README") + lines(page):
        if line.startswith("> "):
            write(page, line.removeprefix("> "))
        elif command(line) != "serve":
            call = [str(Path(sys.executable).with_name("reinflect")), *shlex.split(line)[1:]]
            done = subprocess.run(call, env=os.environ | folders, capture_output=True)
            assert done.returncode == 0, f"{line}: {done.stderr.decode()}"
            printed += done.stdout.decode()
            if "--output ask.csv" in line and command(line) == "suggest":
                head, *rows = check_suggestions()
                filled = [row.replace(",,", "," + row.split(",")[0] + "te,", 1) for row in rows[:2]]
                Path("ask.csv").write_text("\n".join([head, *filled, *rows[2:], ""]), encoding="utf-8")
    if walk == "linguist":
        assert Path("better.reinflect").exists()
    if walk == "README":
        measured = accuracies(printed)
        for row, (low, high) in accuracies(README).items():
            tolerance = 0 if row == "rule baseline" else 4
            assert low - tolerance <= measured[row][0] <= high + tolerance, row


def accuracies(text: str) -> dict[str, tuple[float, float]]:
    """The range of accuracies by the first column of the demo's table, and what training says to expect."""
    rows = re.findall(r"^(rule baseline|.*vote.*?) {2,}\d+ +(\d+(?:\.\d+)?)(?: to (\d+))?", text, re.MULTILINE)
    rows += re.findall(r"^Expect about ()(\d+)() % right, estimated", text, re.MULTILINE)
    return {name: (float(low), float(high or low)) for name, low, high in rows}


def test_the_readme_shows_what_the_demo_prints() -> None:
    """Its words are compared where the pocket models are; its votes are ranges, which the long test compares."""
    shown = next(block for block in blocks(README, "text") if block.startswith("language"))
    assert set(accuracies(README)) == {"rule baseline", "HACM, vote", "HAEM, vote", "vote of all", ""}
    if MODELS.is_dir():
        printed = CliRunner(env={"REINFLECT_MODELS": str(MODELS)}).invoke(main, ["demo", "--only", "words"]).stdout
        assert shown.partition("…")[0] in printed


# Python


def run_examples(name: str, text: str, names: dict[str, Any]) -> None:
    # The fences that close a block would be taken for output.
    example = doctest.DocTestParser().get_doctest(text.replace("```", ""), names, name, name, 0)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    results = runner.run(example, out=output.append, clear_globs=False)
    names.update(example.globs)
    assert results.attempted > 0, name
    assert not results.failed, "".join(output)


@pytest.fixture(scope="module")
def python_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that docs/api.md has defined at its end."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("api"))
        run_examples("api.md", TEXTS["docs/api.md"], names)
        yield names


@pytest.mark.parametrize(
    "name", [name for name, its in getmembers(Inflector, callable) if ">>>" in (its.__doc__ or "")]
)
def test_examples_in_docstrings_run(name: str, python_names: dict[str, Any]) -> None:
    run_examples(name, getattr(Inflector, name).__doc__, {"inflector": python_names["inflector"]})
