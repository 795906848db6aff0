"""No command overwrites a file that it reads, under any of its names, or what a person may have typed."""

import os
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.cli import main
from tests.cli import Reinflect, succeeded
from tests.cli.test_transcripts import GOLDEN

FILES = {
    "items": "ab\tabc\tV;PST\nabc\tab\tN\n",
    "others": "ba\tbac\tV;PST\n",
    "lemmas": "ab\nabc\nbab\n",
    "cells": "V;PST\n",
    "labels": "past\tV;PST\n",
    "sheet.csv": "lemma,gloss,V;PST\nab,to ab,abc\nba,to ba,\n",
    "results/predictions/ab-dev": "ab\tabc\tV;PST\n",
    "results/commands.jsonl": '{"command": "reinflect benchmark --data data"}\n',
    "data/ab-dev": "ab\tabc\tV;PST\n",
}
# Commands without the name of their output, with the files they read.
COMMANDS = {
    "inflect model --input items --labels labels --output": ["model", "items", "labels"],
    "inflect model --input sheet.csv --wide -o": ["sheet.csv"],
    "inflect model ab V;PST --json -o": ["model"],
    "suggest model --lemmas lemmas --features cells --known items --known others --labels labels -o": [
        "model", "lemmas", "cells", "items", "others", "labels",
    ],
    "suggest model --lemmas sheet.csv --features cells -o": ["sheet.csv"],
    "baseline --train items --input others --labels labels -o": ["items", "others", "labels"],
    "paradigm model ab abc --features cells --labels labels -o": ["model", "cells", "labels"],
    "paradigm model --input lemmas --features cells --json -o": ["model", "lemmas"],
    "fill model sheet.csv --labels labels -o": ["model", "sheet.csv", "labels"],
    "trace model ab V;PST --labels labels -o": ["model", "labels"],
    "report model --dev items --labels labels --out": ["model", "items", "labels"],
    "report results --out": ["results/predictions/ab-dev", "data/ab-dev"],
    "report results --dev data --out": ["data/ab-dev"],
    "train --train items --dev others --add sheet.csv --compare model --labels labels --out": [
        "items", "others", "sheet.csv", "model", "labels",
    ],
}  # fmt: skip
OLD = {
    "inflect model --input items --labels labels --output": "x\ty\tz\n",
    "inflect model ab V;PST --json -o": '{"lemma": "x"}\n',
    "baseline --train items --input others --labels labels -o": "x\ty\tz\n",
    "report model --dev items --labels labels --out": "<!doctype html>\n<title>old</title>\n",
}
"""What may be written again, with an earlier output: nobody fills it in or corrects it."""
OTHERS = ["my notes\n", "lemma\tform\nnotes\n", "PK\x03\x04\0\t\0", *dict.fromkeys(OLD.values())]
OTHERWISE = ("report", "train", "fill")
SHOW = "data show german-verbs --split dev -o"
PROTECTED = [SHOW, *(line for line in COMMANDS if line not in OLD and line.split()[0] not in OTHERWISE)]
CASES = [(command, read) for command, inputs in COMMANDS.items() for read in inputs]
SHEETS = [SHOW, *(command for command in COMMANDS if command.split()[0] not in ("report", "trace", "train", "fill"))]
FILLED_IN = [(command, "") for command in PROTECTED if "--wide" not in command]
FILLED_IN += [(command, ending) for command in SHEETS if "--json" not in command for ending in (".csv", ".xlsx")]
FILLED_IN += [(command, ".csv") for command in COMMANDS if command.startswith("fill")]  # whose output is of one kind
EXISTS = "a file of this name exists; choose another --output, or give --force to replace it"
KEPT_BY_OTHER_MEANS = {"benchmark", "forecast"}
"""`forecast` overwrites only JSON, and `benchmark` writes into a folder."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Path:
    for folder in ("data", "results/predictions", "deep"):
        Path(folder).mkdir(parents=True)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("model").write_bytes((GOLDEN / "files" / "words.reinflect").read_bytes())
    return tmp_path


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def refused(result: Result, message: str) -> None:
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"reinflect: {message}\n")


def option_of(command: str) -> str:
    return "--out" if command.endswith("--out") else "--output"


@pytest.mark.parametrize(("command", "read"), CASES)
def test_an_input_is_not_overwritten_under_any_name(command: str, read: str, here: Path, reinflect: Reinflect) -> None:
    ending = Path(read).suffix
    Path(f"link{ending}").symlink_to(read)
    os.link(read, f"hard{ending}")
    before = contents()
    for name in (read, here / read, f"deep/../{read}", f"link{ending}", f"hard{ending}"):
        message = f"{name}: this file is read from; choose another {option_of(command)}"
        refused(reinflect(*command.split(), name), message)
    assert contents() == before


def test_an_input_that_links_to_the_output(reinflect: Reinflect) -> None:
    Path("link").symlink_to("items")
    result = reinflect("inflect", "model", "--input", "link", "-o", "items")
    refused(result, "items: this file is read from; choose another --output")


@pytest.mark.parametrize(("command", "old"), OLD.items())
def test_plain_output_is_written_again(command: str, old: str, reinflect: Reinflect) -> None:
    output = "old.html" if command.startswith("report") else "old"
    Path(output).write_text(old, encoding="utf-8")
    result = succeeded(reinflect(*command.split(), output))
    assert Path(output).read_text(encoding="utf-8") not in ("", old)
    assert f"written: {output}" in result.stderr


@pytest.mark.parametrize(
    ("command", "old"), [(command, old) for command, own in OLD.items() for old in OTHERS if old != own]
)
def test_plain_output_replaces_no_file_of_another_kind(command: str, old: str, reinflect: Reinflect) -> None:
    output = "old.html" if command.startswith("report") else "old"
    Path(output).write_text(old, encoding="utf-8")
    before = contents()
    result = reinflect(*command.split(), output, *([] if command.startswith("report") else ["--force"]))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"reinflect: {output}: a file of this name exists and is not ")
    assert result.stderr.endswith(f"; choose another {option_of(command)}\n")
    assert contents() == before


@pytest.mark.parametrize(("command", "ending"), FILLED_IN)
def test_what_people_fill_in_is_replaced_only_by_force(command: str, ending: str, reinflect: Reinflect) -> None:
    output = f"ask{ending}"
    Path(output).write_text("lemma\tform\tfeatures\nab\ttyped\tV;PST\n", encoding="utf-8")
    before = contents()
    refused(reinflect(*command.split(), output), f"{output}: {EXISTS}")
    assert contents() == before
    result = succeeded(reinflect(*command.split(), output, "--force"))
    assert result.stderr.splitlines()[-1].startswith(f"written: {output}")
    assert b"typed" not in Path(output).read_bytes()


@pytest.mark.parametrize("command", PROTECTED)
def test_a_model_is_replaced_by_a_model_only(command: str, reinflect: Reinflect) -> None:
    output = "other.csv" if "--wide" in command else "other"
    Path(output).write_bytes(Path("model").read_bytes())
    message = f"{output}: a file of this name exists and is a model; choose another --output"
    refused(reinflect(*command.split(), output, "--force"), message)
    assert Path(output).read_bytes() == Path("model").read_bytes()


@pytest.mark.parametrize("command", PROTECTED)
def test_an_empty_file_and_a_new_one_are_written(command: str, reinflect: Reinflect) -> None:
    Path("empty.csv" if "--wide" in command else "empty").touch()
    for name in ("empty", "new"):
        output = f"{name}.csv" if "--wide" in command else name
        result = succeeded(reinflect(*command.split(), output))
        assert result.stderr.endswith(f"written: {output}\n")


def test_a_page_in_the_folder_of_a_benchmark_is_overwritten(reinflect: Reinflect) -> None:
    Path("results/report.html").write_text("<!doctype html>", encoding="utf-8")
    result = reinflect("report", "results", "--out", "results/report.html")
    assert "there is no results.json in it" in result.stderr


def test_standard_input_and_output_are_not_the_same_file(reinflect: Reinflect) -> None:
    Path("-").write_text("a file of this name is not meant", encoding="utf-8")
    result = succeeded(reinflect("inflect", "model", "--input", "-", "--output", "-", stdin=FILES["items"]))
    assert len(result.stdout.splitlines()) == 2
    assert "written" not in result.stderr


def test_every_command_with_an_output_is_tested() -> None:
    def writes(command: object) -> bool:
        options = {name for parameter in getattr(command, "params", []) for name in parameter.opts}
        return bool({"--output", "--out"} & options) or any(map(writes, getattr(command, "commands", {}).values()))

    context = main.make_context("reinflect", [], resilient_parsing=True)
    found = {name for name in main.list_commands(context) if writes(main.get_command(context, name))}
    assert found == {command.split()[0] for command in (*COMMANDS, SHOW)} | KEPT_BY_OTHER_MEANS
