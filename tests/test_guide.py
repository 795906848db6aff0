"""Every line of the guide runs, in its order: with small models here, and as it stands in the long test."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from reinflect.cli import main
from tests.conftest import CONLL2017
from tests.test_readme import ROOT, TINY, blocks, name, shortened

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
LINGUIST, RESEARCHER = GUIDE.split("\n## ")[1:]
SMALL = [*TINY.removeprefix("--seeds 1 ").split(), "--device", "cpu"]
MORE = {
    "train": [*TINY.split(), "--systems", "haem", "--alignments", "naive"],
    "benchmark": SMALL,
    "forecast": [*TINY.split(), "--alignments", "naive"],
}
NETWORK = "data fetch"


def lines(part: str) -> list[str]:
    """The commands of a part, and what it shows of files, as `> NAME`, in the order of the page."""
    found = []
    for block in re.finditer(r"^```(\S*)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE):
        if "." in block[1]:
            found.append(f"> {block[1]}")
        elif not block[1]:
            shown = [line.removeprefix("$ ") for line in block[2].splitlines()]
            found += [line for line in shown if line.startswith("reinflect ") and NETWORK not in line]
    return found


def write(part: str, file: str) -> None:
    (content,) = blocks(part, re.escape(file))
    Path(file).write_text(content, encoding="utf-8")


def in_small(line: str) -> list[str]:
    words = shlex.split(line)[1:]
    if "--dev" in words:
        words[words.index("--dev") + 1] = shortened(words[words.index("--dev") + 1])
    return words + MORE.get(words[0], [])


def asked() -> tuple[str, list[str]]:
    """The suggestions, without any form: the headings, and the rows."""
    head, *rows = Path("ask.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(rows) == 20
    assert all(row.split(",")[1] == "" for row in rows)
    return head, rows


def fill_in() -> None:
    """What a reader does with the suggestions, for two of them."""
    head, rows = asked()
    filled = [row.replace(",,", "," + row.split(",")[0] + "te,", 1) for row in rows[:2]]
    Path("ask.csv").write_text("\n".join([head, *filled, *rows[2:], ""]), encoding="utf-8")


def serves(words: Sequence[str]) -> dict[str, object]:
    """Start the server on any free port, and ask it for its models."""
    program = [sys.executable, "-m", "reinflect", *words, "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        try:
            for line in server.stdout:
                address = re.search(r"http://\S+:\d+", line)
                if address:
                    with urlopen(f"{address[0]}/api/models") as answer:
                        found: dict[str, object] = json.load(answer)
                        return found
        finally:
            server.terminate()
    raise AssertionError("the server said nothing of where it is")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_there_is_something_to_run() -> None:
    said = [name(line) for line in lines(LINGUIST) if not line.startswith(">")]
    assert {"train", "inflect", "paradigm", "trace", "report", "serve", "suggest"} <= set(said)
    assert said.count("train") == 2
    assert {"benchmark", "report", "evaluate"} <= {name(line) for line in lines(RESEARCHER)}


def test_the_linguists_way(folder: Path) -> None:
    excerpts = {block.splitlines()[0]: block for block in blocks(LINGUIST) if block.startswith("$ ")}
    for line in lines(LINGUIST):
        if line.startswith("> "):
            write(LINGUIST, line.removeprefix("> "))
        elif name(line) == "serve":
            assert "verbs" in json.dumps(serves(shlex.split(line)[1:]))
        else:
            result = CliRunner().invoke(main, in_small(line))
            assert result.exit_code == 0, f"{line}: {result.output}"
            if f"$ {line}" in excerpts:
                assert result.stdout == excerpts[f"$ {line}"].removeprefix(f"$ {line}\n")
            if name(line) == "suggest":
                asked()
            if "--add ask.csv" in line:  # which a reader in a hurry has not filled in
                assert "note: ask.csv has no forms yet; nothing added" in result.stderr
    assert {"report.html", "ask.csv", "better.reinflect"} <= {path.name for path in folder.iterdir()}
    assert "she then" in Path("report.html").read_text(encoding="utf-8")


def test_the_researchers_way(folder: Path, conll2017: Path) -> None:
    (folder / "conll2017").mkdir()
    for language in ("welsh", "haida", "scottish-gaelic"):
        for file, items in ((f"{language}-train-low", 100), (f"{language}-dev", 10)):
            start = (conll2017 / file).read_text(encoding="utf-8").splitlines(keepends=True)[:items]
            (folder / "conll2017" / file).write_text("".join(start), encoding="utf-8")
    for line in lines(RESEARCHER):
        result = CliRunner().invoke(main, in_small(line))
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert "Welsh" in Path("results.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_every_line_as_it_stands(folder: Path) -> None:
    program = str(Path(sys.executable).with_name("reinflect"))
    parts = [LINGUIST]
    if CONLL2017.is_dir():
        (folder / "conll2017").symlink_to(CONLL2017)
        parts.append(RESEARCHER)
    for part in parts:
        for line in lines(part):
            words = shlex.split(line)[1:]
            if line.startswith("> "):
                write(part, line.removeprefix("> "))
            elif name(line) != "serve":
                done = subprocess.run([program, *words], env=os.environ, capture_output=True)
                assert done.returncode == 0, f"{line}: {done.stderr.decode()}"
                if name(line) == "suggest":
                    fill_in()
    assert Path("better.reinflect").exists()
