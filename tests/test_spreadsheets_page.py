"""What docs/spreadsheets.md shows can be done, one line after the other."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from reinflect.cli import main
from tests.test_readme import ROOT, TINY, blocks, commands

PAGE = (ROOT / "docs" / "spreadsheets.md").read_text(encoding="utf-8")


def test_every_command_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    (labels,) = (block for block in blocks(PAGE) if block.startswith("past 3sg\t"))
    Path("labels.tsv").write_text(labels, encoding="utf-8")
    (cells,) = (block for block in blocks(PAGE) if block.startswith("V;IND;PRS;3;SG\n"))
    Path("cells.txt").write_text(cells, encoding="utf-8")
    lines = commands(PAGE)
    assert {shlex.split(line)[1] for line in lines} == {
        *("data", "check", "baseline", "evaluate", "train", "inflect", "suggest", "fill")
    }
    for line in lines:
        words = shlex.split(line)[1:]
        result = CliRunner().invoke(main, words + (TINY.split() if words[0] == "train" else []))
        assert result.exit_code == 0, f"{line}: {result.output}"
        if "--compare" in words:
            shown = next(block for block in blocks(PAGE) if block.startswith("on 100 items"))
            assert re.sub(r"[\d.]+", "0", shown.splitlines()[0]) in re.sub(r"[\d.]+", "0", result.stdout)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
