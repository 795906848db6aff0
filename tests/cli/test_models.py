"""Models by name: `reinflect models`, and a language in the place of a file in every command that takes a model."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.inflector.pocket import INDEX
from tests.fuzz import tiny_models

Reinflect = Callable[..., Result]
ASKED = ("gehen", "V;PST")
COMMANDS = {
    "inflect MODEL gehen V;PST": "",
    "paradigm MODEL gehen": "",
    "trace MODEL gehen V;PST": "",
    "info MODEL": "",
    "analyse MODEL ging": "",
    "suggest MODEL --lemmas lemmas.txt": "",
    "fill MODEL sheet.csv --output filled.csv": "filled.csv",
    "report MODEL --out page.html": "page.html",
    "train --train items.tsv --dev items.tsv --compare MODEL --out new.reinflect": "",
}
"""Commands with a model, and the file that each writes."""


@pytest.fixture
def files(pocket: Path) -> Path:
    Path("lemmas.txt").write_text("gehen\nsehen\n", encoding="utf-8")
    Path("sheet.csv").write_text("lemma,V;PST\ngehen,\n", encoding="utf-8")
    items = "".join(f"{own.lemma}\t{own.form}\t{own.features.spelling}\n" for own in tiny_models.ITEMS)
    Path("items.tsv").write_text(items, encoding="utf-8")
    return pocket


def told(result: Result, written: str) -> str:
    """What a command printed or wrote, without the names of files."""
    assert result.exit_code == 0, result.output
    return Path(written).read_text(encoding="utf-8") if written else result.stdout


@pytest.mark.parametrize("line", [line for line in COMMANDS if "train" not in line])
@pytest.mark.usefixtures("files")
def test_a_language_is_as_good_as_its_file(reinflect: Reinflect, files: Path, line: str) -> None:
    written, outputs = COMMANDS[line], []
    for model in ("finnish", files / "finnish.reinflect"):
        outputs.append(told(reinflect(*line.replace("MODEL", str(model)).split()), written))
        if written:
            Path(written).unlink()
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.usefixtures("files")
def test_an_unknown_language_is_one_line_before_any_work(reinflect: Reinflect, line: str) -> None:
    before = sorted(Path().iterdir())
    result = reinflect(*line.replace("MODEL", "finish").split())
    assert result.exit_code == 2
    assert result.stderr.startswith("reinflect: there is no pocket model 'finish'; did you mean finnish?")
    assert result.stderr.count("\n") == 1
    assert sorted(Path().iterdir()) == before


@pytest.mark.usefixtures("pocket")
def test_a_note_says_so_where_a_file_has_the_same_name(reinflect: Reinflect) -> None:
    Path("finnish").write_text("my notes\n", encoding="utf-8")
    result = reinflect("inflect", "finnish", *ASKED)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == (
        "note: finnish is the pocket model; if you mean the file or folder of this name, write ./finnish"
    )
    assert "not a valid reinflect model" in reinflect("inflect", "./finnish", *ASKED).stderr


@pytest.mark.usefixtures("pocket")
def test_a_report_of_a_folder_with_the_name_of_a_language(reinflect: Reinflect) -> None:
    Path("german").mkdir()
    result = reinflect("report", "german")
    assert result.exit_code == 0, result.output
    assert "write ./german" in result.stderr
    assert reinflect("report", "./german", "--out", "other.html").exit_code == 2  # there are no results in it


@pytest.mark.usefixtures("pocket")
def test_the_output_may_have_the_name_of_the_language(reinflect: Reinflect) -> None:
    """Only the file that is read is protected."""
    result = reinflect("inflect", "finnish", *ASKED, "--output", "finnish")
    assert result.exit_code == 0, result.output
    assert Path("finnish").exists()


def test_a_pocket_model_is_not_overwritten(reinflect: Reinflect, pocket: Path) -> None:
    result = reinflect("inflect", "finnish", *ASKED, "--output", pocket / "finnish.reinflect", "--force")
    assert result.exit_code == 2
    assert "this file is read from" in result.stderr


@pytest.mark.parametrize("line", [["models"], ["info", "finnish"], ["serve"]])
@pytest.mark.usefixtures("no_pocket")
def test_without_the_distribution_one_line_says_how_to_install_it(
    reinflect: Reinflect, line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = reinflect(*line)
    assert result.exit_code == 2
    assert "pip install --upgrade reinflect-models" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_a_distribution_without_models_is_one_line(reinflect: Reinflect, pocket: Path) -> None:
    (pocket / INDEX).write_text("{}\n")
    for line in (["models"], ["info", "finnish"], ["serve"]):
        result = reinflect(*line)
        assert result.exit_code == 2
        assert "pip install --upgrade reinflect-models" in result.stderr


def test_the_list_has_accuracy_size_and_date(reinflect: Reinflect, pocket: Path) -> None:
    result = reinflect("models")
    assert result.exit_code == 0, result.output
    header, *rows, blank, last = result.stdout.splitlines()
    assert header.split() == ["language", "accuracy", "size", "date"]
    assert [row.split()[0] for row in rows] == ["finnish", "german", "norwegian-bokmal"]
    size = (pocket / "finnish.reinflect").stat().st_size
    assert rows[0].split()[2:] == [f"{size / 1000:.0f}", "KB", "2026-11-15"]
    assert not blank
    assert last == f"3 pocket models, {3 * size / 1e6:.1f} MB, in {pocket}"


def test_a_damaged_pocket_model_is_one_line(reinflect: Reinflect, pocket: Path) -> None:
    (pocket / "finnish.reinflect").write_bytes(b"no model")
    result = reinflect("inflect", "finnish", *ASKED)
    assert result.exit_code == 2
    assert "finnish.reinflect: not a valid reinflect model" in result.stderr
    assert "install the pocket models again: pip install" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_list_needs_no_model_and_nothing_slow(pocket: Path) -> None:
    for path in pocket.glob("*.reinflect"):
        path.unlink()
    code = "import sys; from reinflect.cli import main; main(['models'], standalone_mode=False); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert "norwegian-bokmal" in ran.stdout
    assert {"torch", "numba", "numpy"}.isdisjoint(ran.stdout.splitlines()[-1].split())
