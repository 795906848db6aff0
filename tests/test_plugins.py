"""A package outside reinflect brings one thing of each kind; commands in processes of their own know them."""

import json
import os
import re
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.errors import InputError
from reinflect.settings import Registry
from reinflect.systems.system import System
from tests.cli import as_options
from tests.cli.test_serve import inflected, program

ROOT = Path(__file__).parents[1]
PLUGINS = ROOT / "tests" / "plugins"
SUFFIXES = {"N;PL": "ka", "N;SG": "", "N;GEN": "ton"}


def items(first: int, last: int) -> list[Item]:
    """A language in which every bundle has one suffix."""
    syllables = [f"{consonant}{vowel}" for vowel in "aeiou" for consonant in "ptkmnls"]
    cells = cycle(SUFFIXES.items())
    lemmas = (syllables[n * 8 % 35] + syllables[n * 11 % 34] for n in range(first, last))
    return [Item(lemma, Bundle(bundle), lemma + suffix) for lemma, (bundle, suffix) in zip(lemmas, cells)]  # noqa: B905


def environment(*, plugins: bool = True) -> dict[str, str]:
    paths = [ROOT / "src", PLUGINS] if plugins else [ROOT / "src"]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}


def run(folder: Path, *words: object, plugins: bool = True, code: int = 0) -> subprocess.CompletedProcess[str]:
    command, variables = [sys.executable, "-m", "reinflect", *map(str, words)], environment(plugins=plugins)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data files, and a model of the toy system and HAEM that the command trained with two workers."""
    folder = tmp_path_factory.mktemp("plugins")
    write_items(folder / "train.tsv", items(0, 60))
    write_items(folder / "dev.tsv", items(100, 130))
    changes = as_options("embedding=6 hidden=8 history_hidden=4 batch=4 haem.epochs=2 score_from=0")
    changes += as_options("doubled.epochs=2 mirror.shift=1")
    words = "train --train train.tsv --dev dev.tsv --out toy.reinflect --preset low --systems toy,haem".split()
    words += "--alignments mirror --augment doubled --strategy runner-up --seeds 2 --workers 2 --device cpu".split()
    trained = run(folder, *words, *changes)
    assert "training 4 models" in trained.stderr
    return folder


def test_a_system_of_another_package_learns_by_its_aligner_and_augmentation(folder: Path) -> None:
    card = json.loads(run(folder, "info", "toy.reinflect", "--json").stdout)
    members = {member["name"]: member for member in card["members"]}
    assert set(members) == {"toy-1", "toy-2", "haem-mirror-1", "haem-mirror-2"}
    assert members["toy-1"]["dev_accuracy"] == members["toy-2"]["dev_accuracy"] == 100.0
    assert members["toy-1"]["settings"]["sharpness"] == 1.0
    assert card["strategy"] == "runner-up"
    assert card["voters"] == ["toy-2"]
    lines = (folder / "toy.reinflect.log.jsonl").read_text(encoding="utf-8").splitlines()
    epochs = [json.loads(line)["epoch"] for line in lines if json.loads(line)["model"] == "haem-mirror-1"]
    assert epochs == [1, 2, 3, 4], "two epochs of the phase, two of the real items"


def test_it_aligns_inflects_and_is_traced(folder: Path) -> None:
    (folder / "pair.tsv").write_text("legen\tgelegt\tV\n", encoding="utf-8")
    rows = run(folder, "align", "pair.tsv", "--method", "mirror").stdout
    assert rows.splitlines()[0].split()[1:] == list("legen")
    assert run(folder, "inflect", "toy.reinflect", "zuzu", "N;PL").stdout == "zuzuka\n"
    voted = run(folder, "inflect", "toy.reinflect", "zuzu", "N;GEN", "--strategy", "runner-up", "--json", "--n-best", 2)
    assert json.loads(voted.stdout.splitlines()[0])["form"] == "zuzuton"
    trace = run(folder, "trace", "toy.reinflect", "pala", "N;PL", "--member", "toy-1").stdout
    assert "COPY" in trace
    assert "palaka" in trace


def test_it_is_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    with program(folder / "toy.reinflect") as (_, port):
        assert inflected(port, "zuzu", "N;PL")["answer"]["form"] == "zuzuka"


def test_it_is_benchmarked_and_reported(folder: Path) -> None:
    for language in ("northern", "southern"):
        write_items(folder / f"{language}-train-low", items(0, 40))
        write_items(folder / f"{language}-dev", items(100, 115))
    changes = as_options("embedding=5 hidden=6 history_hidden=4 batch=4 epochs=2 toy.epochs=15 score_from=0")
    out = folder / "benchmark"
    words = "--settings low --grid quick --systems toy --kinds haem-mirror --augment doubled --workers 2".split()
    done = run(folder, "benchmark", "--data", folder, "--out", out, *words, "--device", "cpu", *changes)
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))["dev"]["low"]
    assert results["toy"]["accuracy"] == 100.0
    assert {"hacm-naive", "haem-smart", "haem-mirror", "run7", "runner-up"} <= set(results)
    voters = json.loads((out / "details.json").read_text(encoding="utf-8"))["voters"]["low"]
    names = [name for by_strategy in voters.values() for name in by_strategy["run7"]]
    assert not any("toy" in name for name in names), "runs keep to the paper's systems"
    header = next(line for line in done.stdout.splitlines() if "HACM N" in line)
    assert "suffix writer" not in header, "the paper's table has the paper's columns"
    assert "suffix writer" in (out / "results.md").read_text(encoding="utf-8")
    run(folder, "report", out, "--dev", folder, "--out", "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "suffix writer" in page
    assert "#7a3fb0" in page


def test_help_and_errors_list_what_is_installed(folder: Path) -> None:
    assert "toy" in run(folder, "train", "--help").stdout
    assert "mirror" in run(folder, "align", "--help").stdout
    assert "toy" not in run(folder, "train", "--help", plugins=False).stdout
    refused = run(folder, "train", "--train", "train.tsv", "--out", "m", "--systems", "toyy", code=2)
    assert "did you mean toy?" in refused.stderr
    refused = run(folder, "train", "--train", "train.tsv", "--out", "m", "--systems", "toy", "--preset", "high", code=2)
    assert refused.stderr.splitlines()[-1].startswith("reinflect: the system toy has no preset high; choose low, or")

    refused = run(folder, "inflect", "toy.reinflect", "zuzu", "N;PL", plugins=False, code=2)
    assert refused.stderr.count("\n") == 1
    assert "'toy', which is not installed" in refused.stderr


def test_nothing_can_replace_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "other-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text("[reinflect.systems]\nhacm = nowhere:X\nbad = nowhere:X\n")
    monkeypatch.syspath_prepend(tmp_path)
    systems = Registry[System]("system", {"hacm": "reinflect.systems.hacm:SYSTEM"})
    assert (systems["hacm"].title, systems.package("hacm"), systems.package("bad")) == ("HACM", "", "other")
    with pytest.raises(InputError, match="the system 'bad' of the package other could not be loaded"):
        systems.find("bad")


def test_contributing_shows_these_very_files() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    examples = [text for language, text in blocks if language in ("python", "toml")]
    assert examples
    example = ROOT / "examples" / "reinflect-transformer"
    paths = [*(PLUGINS / "reinflect_toy").glob("*.py"), *example.glob("src/*/*.py"), example / "pyproject.toml"]
    files = [path.read_text(encoding="utf-8") for path in paths]
    entries = (PLUGINS / "reinflect_toy-1.0.dist-info" / "entry_points.txt").read_text(encoding="utf-8")
    for text in examples:
        if not any(text.strip() in content for content in files):
            entry_points = re.findall(r'entry-points\."(\S+)"\]\n(\S+) = "(\S+)"', text)
            assert entry_points, text
            assert all(f"[{group}]\n{name} = {value}\n" in entries for group, name, value in entry_points)
