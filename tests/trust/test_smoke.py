"""What an installed reinflect can do, and that all it needs came with it.

`scripts/check-wheel` runs this file alone against the wheels of reinflect and its pocket models, first without extras,
then with all: it imports nothing of the other tests, and uses reinflect as its users do.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen
from zipfile import is_zipfile

import pytest
from click.testing import CliRunner, Result

import reinflect
from reinflect.cli import COMMANDS, main

pytestmark = pytest.mark.smoke

PROGRAM = str(Path(sys.executable).with_name("reinflect"))
TINY = "--set epochs=1 --set hidden=6 --set history_hidden=4 --set embedding=5 --set score_from=0"
TRAIN = ("--train", "train-low.tsv", "--dev", "dev.tsv", "--out", "verbs.reinflect")
QUESTION = ("fliegen", "V;IND;PST;3;SG")
EXTRAS = {"train": "torch", "web": "starlette", "sheets": "openpyxl", "cluster": "distributed"}
"""By what is in them it can be told whether they are installed."""


def installed(extra: str) -> bool:
    return find_spec(EXTRAS[extra]) is not None


MODEL = "verbs.reinflect" if installed("train") else "german"
"""One that was trained here, or the pocket model."""
needs_torch = pytest.mark.skipif(not installed("train"), reason="without the extra train")
has_a_model = installed("train") or find_spec("reinflect_models") is not None
needs_models = pytest.mark.skipif(not has_a_model, reason="there is no model")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder elsewhere, with files of the bundled verbs and perhaps a model that two processes trained on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("smoke"))
        patch.setenv("OMP_NUM_THREADS", "1")
        for split in ("train-low", "dev"):
            printed("data", "show", "german-verbs", "--split", split, "--output", f"{split}.tsv")
        dev = Path("dev.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        Path("dev.tsv").write_text("".join(dev[:25]), encoding="utf-8")
        if installed("train"):
            printed("train", *TRAIN, "--seeds", "1", "--workers", "2", *TINY.split())
        yield


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def printed(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(result: Result, remedy: str) -> None:
    """In one line that says what to do."""
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert remedy in result.stderr


def test_everything_came_with_it() -> None:
    """Files that are no modules are easily left out of a wheel."""
    from reinflect.data.catalog import catalog
    from reinflect.data.dimensions import dimension_of
    from reinflect.data.german import SPLITS, read_split
    from reinflect.paper.published import average
    from reinflect.settings import PRESETS
    from reinflect.systems.symbols import load_preset

    assert [len(read_split(name)) for name in SPLITS] == [100, 1000, 300, 300]
    assert all(load_preset(name) for name in PRESETS)
    assert average("accuracy", "dev", "low", "run7")
    assert len(catalog()["conll2017"].files) == 259
    assert dimension_of("PST") == "tense"
    assert (Path(reinflect.__file__).parent / "py.typed").is_file()
    assert any(path.name == "LICENSE" for path in files("reinflect") or ())


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_says_what_it_does(command: str) -> None:
    assert "reinflect" in printed(command, "--help")


def test_the_program_is_installed() -> None:
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, check=True, text=True)
    assert done.stdout == f"reinflect, version {reinflect.__version__}\n"


@pytest.mark.skipif(installed("train"), reason="with the extra train")
def test_training_needs_its_extra() -> None:
    refused(run("train", *TRAIN), "pip install 'reinflect[train]'")
    assert not Path("verbs.reinflect").exists()


@needs_models
def test_a_model_is_asked() -> None:
    form = printed("inflect", MODEL, *QUESTION)
    answer = json.loads(printed("inflect", MODEL, *QUESTION, "--json", "--n-best", "3"))
    assert form == answer["form"] + "\n"
    assert 0 <= answer["confidence"] <= 1
    assert answer["nbest"][0]["form"] == answer["form"]
    inflector = reinflect.load(MODEL)
    assert inflector.inflect(*QUESTION) == answer["form"]
    assert len(inflector.members) == (4 if installed("train") else 1)


def test_pocket_models_are_found_if_they_are_installed() -> None:
    package = find_spec("reinflect_models")
    languages = list(json.loads(Path(str(package.origin)).with_name("index.json").read_bytes())) if package else []
    if not languages:
        refused(run("models"), "pip install")
        refused(run("inflect", "finnish", *QUESTION), "pip install")
        return
    assert f"{len(languages)} pocket models" in printed("models")
    assert reinflect.load(languages[0]).inflect(*QUESTION)


@needs_models
def test_paradigm_trace_info_and_suggest() -> None:
    assert "V;IND;PST" in printed("paradigm", MODEL, "fliegen", "--json")
    assert json.loads(printed("trace", MODEL, *QUESTION, "--json"))["lemma"] == "fliegen"
    assert "Training data" in printed("info", MODEL)
    Path("lemmas.txt").write_text("fliegen\n", encoding="utf-8")
    assert "fliegen" in printed("suggest", MODEL, "--lemmas", "lemmas.txt", "--n", "3")


def test_rules_scores_and_alignments() -> None:
    printed("baseline", "--train", "train-low.tsv", "--input", "dev.tsv", "--output", "rules.tsv")
    assert "accuracy" in printed("evaluate", "dev.tsv", "rules.tsv")
    assert printed("align", "train-low.tsv", "--limit", "1").startswith("f r i e r e n\n")
    assert "STOP" in printed("oracle", "fliegen", "flog")
    assert "100 " in printed("check", "train-low.tsv")


@needs_models
def test_a_report_is_one_page() -> None:
    printed("report", MODEL, "--dev", "dev.tsv", "--out", "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<style>" in page
    assert "<svg" in page


def test_a_spreadsheet_needs_its_extra() -> None:
    show = ("data", "show", "german-verbs", "--split", "dev", "--output")
    if installed("sheets"):
        printed(*show, "dev.xlsx")
        assert is_zipfile("dev.xlsx")
    else:
        refused(run(*show, "dev.xlsx"), "reinflect[sheets]")
    printed(*show, "dev.csv")


@needs_torch
def test_a_benchmark_and_its_figure() -> None:
    Path("languages").mkdir()
    for name, source in (("german-train-low", "train-low.tsv"), ("german-dev", "dev.tsv")):
        Path("languages", name).write_bytes(Path(source).read_bytes())
    benchmark = "benchmark --data languages --settings low --grid quick --device cpu".split() + TINY.split()
    printed(*benchmark, "--out", "results")
    assert "Run 7" in Path("results/results.md").read_text(encoding="utf-8")
    assert Path("results/languages-dev.svg").exists()
    remedy = "tcp://HOST:PORT" if installed("cluster") else "reinflect[cluster]"
    refused(run(*benchmark, "--out", "others", "--dask", "nowhere"), remedy)


@needs_models
def test_the_page_needs_its_extra() -> None:
    if not installed("web"):
        refused(run("serve", MODEL, "--port", "0"), "reinflect[web]")
        return
    call, environment = [PROGRAM, "serve", MODEL, "--port", "0"], os.environ | {"PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(call, env=environment, stdout=pipe, stderr=pipe, text=True) as running:
        try:
            assert running.stdout
            address = running.stdout.readline().split(" at ")[1].split(" ")[0]
            with urlopen(address) as answer:
                page = answer.read().decode()
            parts = re.findall(r'(?:href|src)="/?([^":#]+\.(?:js|css|svg))"', page)
            assert {part.rpartition(".")[2] for part in parts} == {"js", "css", "svg"}
            for part in parts:
                with urlopen(address + part) as answer:
                    assert answer.status == 200
            question = json.dumps(dict(zip(("lemma", "features"), QUESTION, strict=True))).encode()
            with urlopen(Request(f"{address}api/inflect", question, {"Content-Type": "application/json"})) as answer:
                assert json.load(answer)["answer"]["form"]
            running.send_signal(signal.SIGTERM)
            assert running.communicate(timeout=60)[1] == ""
        finally:
            running.kill()
