"""Models by name: `reinflect models`, and a language in the place of a file in every command that takes a model."""

import json
from pathlib import Path

import pytest

from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import INDEX
from tests.cli import Reinflect, refused, succeeded

QUERY = ("gehen", "V;PST")
COMMANDS = {
    "inflect MODEL gehen V;PST": "",
    "paradigm MODEL gehen": "",
    "trace MODEL gehen V;PST": "",
    "info MODEL": "",
    "analyse MODEL ging": "",
    "suggest MODEL --lemmas lemmas.txt": "",
    "fill MODEL sheet.csv --output filled.csv": "filled.csv",
    "report MODEL --out page.html": "page.html",
}
"""Commands with a model, and the file that each writes."""


@pytest.fixture
def files(pocket: Path) -> Path:
    Path("lemmas.txt").write_text("gehen\nsehen\n", encoding="utf-8")
    Path("sheet.csv").write_text("lemma,V;PST\ngehen,\n", encoding="utf-8")
    return pocket


@pytest.mark.parametrize("line", COMMANDS)
def test_a_language_is_as_good_as_its_file(reinflect: Reinflect, files: Path, line: str) -> None:
    written, outputs = COMMANDS[line], []
    for model in ("finnish", files / "finnish.reinflect"):
        result = succeeded(reinflect(*line.replace("MODEL", str(model)).split()))
        outputs.append(Path(written).read_text(encoding="utf-8") if written else result.stdout)
        Path(written).unlink() if written else None
    assert outputs[0] == outputs[1]


@pytest.mark.usefixtures("pocket")
def test_a_note_says_so_where_a_file_has_the_same_name(reinflect: Reinflect) -> None:
    Path("finnish").write_text("my notes\n", encoding="utf-8")
    Path("german").mkdir()
    for line in (("inflect", "finnish", *QUERY), ("report", "german")):
        result = succeeded(reinflect(*line))
        note = f"note: {line[1]} is the pocket model; if you mean the file or folder of this name, write ./{line[1]}"
        assert result.stderr.splitlines()[0] == note
    assert "not a valid reinflect model" in reinflect("inflect", "./finnish", *QUERY).stderr
    assert reinflect("report", "./german", "--out", "other.html").exit_code == 2  # there are no results in it


def test_only_the_file_that_is_read_is_protected(reinflect: Reinflect, pocket: Path) -> None:
    succeeded(reinflect("inflect", "finnish", *QUERY, "--output", "finnish"))
    assert Path("finnish").exists()
    result = reinflect("inflect", "german", *QUERY, "--output", pocket / "german.reinflect", "--force")
    refused(result, "this file is read from")


@pytest.mark.parametrize("line", ["models", "info finnish", "serve"])
@pytest.mark.parametrize("models", ["none", "an empty index"])
def test_without_models_one_line_says_so(
    reinflect: Reinflect, line: str, models: str, request: pytest.FixtureRequest
) -> None:
    if models == "none":
        request.getfixturevalue("no_pocket")
    else:
        (request.getfixturevalue("pocket") / INDEX).write_text("{}\n")
    result = reinflect(*line.split())
    refused(result, "pip install --upgrade reinflect-models")
    assert result.stderr.count("\n") == 1


def test_a_damaged_pocket_model_is_one_line(reinflect: Reinflect, pocket: Path) -> None:
    (pocket / "finnish.reinflect").write_bytes(b"no model")
    result = reinflect("inflect", "finnish", *QUERY)
    refused(result, "finnish.reinflect: not a valid reinflect model")
    assert "install the pocket models again: pip install" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_card_as_json(reinflect: Reinflect, pocket: Path) -> None:
    card = json.loads(reinflect("info", "finnish", "--json").stdout)
    assert card == json.loads(json.dumps(Inflector.load(pocket / "finnish.reinflect").card))
    assert len(card["members"]) == 3
