"""The Transformer equals the slow one, and commands use it once its package is there."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.systems import test_equations as every_system
from tests.systems.small_fleets import SLOW, SmallFleet, settings_of, tricky

import reinflect
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect_transformer import SYSTEM, TransformerSettings
from slow_transformer import SlowTransformer

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
OLD_MODEL = HERE / "transformer-0.2.reinflect"
"""Written by reinflect 0.2: `p`, `t`, `a`, `i`; the plural of a lemma ends in `t`."""
OLD_ANSWERS = {
    ("papa", "N;PL"): [("papat", -1.1624), ("ppat", -3.122)],
    ("pita", "N;PL"): [("patat", -2.2618), ("pipat", -2.0697)],
    ("tiŋi", "N;SG"): [("titi", -1.0385), ("titit", -3.0776)],
}
SMALL = {"embedding": 3, "hidden": 5, "layers": 2, "heads": 2, "feed_forward": 7}
VARIANTS = [{}, {"features": "counts", "hidden": 1}, {"layers": 1, "heads": 3, "hidden": 6, "embedding": 8}]
LEMMAS = ["papa", "t", "titipati", "tiŋi", "ŋŋ", "patapitatipi"]


def small(**changes: object) -> Settings:
    return settings_of(SYSTEM, **(SMALL | changes))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what pip would write about the package: its name and its entry points."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    site = tmp_path_factory.mktemp("site")
    about = site / f"reinflect_transformer-{project['version']}.dist-info"
    about.mkdir()
    identity = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(identity, encoding="utf-8")
    groups = project["entry-points"].items()
    lines = [line for group, things in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in things.items()))]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return site


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package in this process, which forgets it afterwards."""
    monkeypatch.syspath_prepend(site)
    vars(SYSTEMS).pop("_others", None)
    yield
    vars(SYSTEMS).pop("_others", None)


def run(folder: Path, site: Path | None, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    paths = [ROOT / "src", *([site, HERE.parent / "src"] if site else [])]
    done = subprocess.run(
        [sys.executable, "-m", "reinflect", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SLOW, SYSTEM.name, SlowTransformer)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("changes", VARIANTS)
def test_losses_and_gradients_equal_the_slow_ones(changes: dict[str, object], dtype: torch.dtype) -> None:
    fleet = SmallFleet(SYSTEM, small(**changes), tricky(SYSTEM), seed=7, dtype=dtype)
    every_system.check(fleet, 1e-5 if dtype == torch.float32 else 1e-9)


def test_dropout_knows_nothing_of_neighbours() -> None:
    every_system.test_dropout_knows_nothing_of_neighbours(SYSTEM, "plain")


@pytest.mark.usefixtures("installed")
def test_forms_and_log_probabilities_equal_the_slow_ones() -> None:
    inflector = reinflect.load(OLD_MODEL)
    member = inflector.members[0]
    assert isinstance(member.settings, TransformerSettings)
    weights = {name: torch.from_numpy(array).double() for name, array in member.parameters.items()}
    items = [Item(lemma, Bundle(features)) for lemma in LEMMAS for features in ("N;PL", "N;SG", "V")]
    for item, answer in zip(items, inflector.answers(items), strict=True):
        machine = SlowTransformer(weights, member.settings, member.inventory, item.lemma, item.features)
        form, log_probability, action = "", 0.0, ""
        while action != machine.end:
            choices = machine.choices()
            action = max(choices, key=lambda name: choices[name].item())
            log_probability += choices[action].log().item()
            form += machine.do(action)
        assert answer.form == form
        assert answer.log_probability == pytest.approx(log_probability, abs=1e-4)


def test_model_files_of_0_2_answer_as_they_did(site: Path, tmp_path: Path) -> None:
    lines = "".join(f"{lemma}\t\t{features}\n" for lemma, features in OLD_ANSWERS)
    (tmp_path / "words.tsv").write_text(lines, encoding="utf-8")
    done = run(tmp_path, site, "inflect", OLD_MODEL, "--input", "words.tsv", "--json", "--n-best", 2)
    for line, expected in zip(done.stdout.splitlines(), OLD_ANSWERS.values(), strict=True):
        answers = json.loads(line)["nbest"]
        assert [answer["form"] for answer in answers] == [form for form, _ in expected]
        found = [answer["log_probability"] for answer in answers]
        assert found == pytest.approx([number for _, number in expected], abs=2e-4)


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    refused = run(tmp_path, None, "inflect", OLD_MODEL, "papa", "N;PL", code=2)
    assert refused.stderr.count("\n") == 1
    assert "'transformer', which is not installed; install reinflect-transformer" in refused.stderr


def test_it_is_trained_and_traced_and_its_file_names_the_package(site: Path, tmp_path: Path) -> None:
    rows = [(lemma, lemma + end, features) for lemma in LEMMAS for end, features in (("", "N;SG"), ("t", "N;PL"))]
    (tmp_path / "words.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    brief = "embedding=6 hidden=8 layers=1 heads=2 feed_forward=8 epochs=3 score_from=0 warmup=2".split()
    run(
        tmp_path, site, "train", "--train", "words.tsv", "--dev", "words.tsv", "--out", "small.reinflect",
        "--systems", "transformer", "--preset", "low", "--seeds", 2, "--workers", 2, "--device", "cpu",
        *(word for change in brief for word in ("--set", change)),
    )  # fmt: skip
    members = json.loads(run(tmp_path, site, "info", "small.reinflect", "--json").stdout)["members"]
    assert [member["name"] for member in members] == ["transformer-1", "transformer-2"]
    assert "papa" in run(tmp_path, site, "trace", "small.reinflect", "papa", "N;PL", "--member", "transformer-2").stdout
    assert b"reinflect-transformer" in (tmp_path / "small.reinflect").read_bytes()
