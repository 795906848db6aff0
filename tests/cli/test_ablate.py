"""`reinflect ablate`: what it says, what it writes, and what it refuses."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from reinflect.data.items import write_items
from reinflect.run.engines import run_packs
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult
from tests.learn.tiny import language

Reinflect = Callable[..., Result]

TINY = [
    argument
    for change in "embedding=5 hidden=6 epochs=2 score_from=0 score_every=1 batch=2".split()
    for argument in ("--set", change)
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for name in ("german", "turkish"):
        items = language(name)
        write_items(folder / f"{name}-train-low", items[4:])
        write_items(folder / f"{name}-dev", items[:4])
    write_items(folder / "german-train-medium", language("german")[4:])
    return folder


@pytest.fixture
def ablate(reinflect: Reinflect, data: Path) -> Callable[..., Result]:
    return lambda *more: reinflect("ablate", "--data", str(data), "--device", "cpu", "--workers", "1", *TINY, *more)


def test_variants_are_trained_and_compared(ablate: Callable[..., Result], tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    ran = ablate("--vary", "dropout=0.4,0.8", "--systems", "hacm", "--seeds", "2", "--out", str(out))
    assert ran.exit_code == 0, ran.output
    header, base, other = ran.stdout.splitlines()
    assert header.split()[:8] == ["hacm", "E(naive)", "E(smart)", "MAX", "single", "epoch", "seconds", "difference"]
    assert base.split()[0] == "dropout=0.4"
    assert base.split()[-1] == "base"
    assert other.split()[0] == "dropout=0.8"
    assert "comparing 2 variants on 2 languages at low, 2 seeds of each" in ran.stderr
    assert "8 pairs of models that share language, alignment and seed" in ran.stderr
    assert "* the time of all variants" in ran.stderr
    whole = json.loads(out.read_text(encoding="utf-8"))
    assert whole["languages"] == ["german", "turkish"]
    assert whole["rows"][0]["verdict"] == "base"
    assert [whole["settings"][row["settings"]]["dropout"] for row in whole["rows"]] == [0.4, 0.8]
    assert len(whole["models"]) == 16
    assert {whole["settings"][one["settings"]]["epochs"] for one in whole["models"]} == {2}
    found = whole["rows"][1]["against_base"]
    assert f"{found['difference']:+.2f}" in other
    by_place: dict[tuple[str, str, int], dict[float, float]] = {}
    for one in whole["models"]:
        place = by_place.setdefault((one["language"], one["alignment"], one["seed"]), {})
        place[whole["settings"][one["settings"]]["dropout"]] = one["accuracy"]
    differences = [own[0.8] - own[0.4] for own in by_place.values()]
    assert found["difference"] == pytest.approx(sum(differences) / 8, abs=0.01)
    assert list(tmp_path.iterdir()) == [out], "what is needed to go on is gone when all is done"


COMPARISON = ("--vary", "dropout=0.4,0.8", "--systems", "hacm", "--seeds", "2")


def test_stopped_at_once_it_is_no_mistake(
    ablate: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reinflect.run.engines.run_packs", lambda work, *_, **__: [None] * len(work))
    ran = ablate(*COMPARISON, "--out", str(tmp_path / "found.json"))
    assert ran.exit_code == 130
    assert "nothing to compare yet; the same command resumes if it has --out FILE" in ran.stderr
    ran = ablate(*COMPARISON)
    assert ran.exit_code == 130
    assert "nothing to compare yet; the same command resumes if it has --out FILE" in ran.stderr


def test_a_whole_comparison_is_not_replaced_by_a_part(
    ablate: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "found.json"
    assert ablate(*COMPARISON, "--out", str(out)).exit_code == 0
    before = out.read_bytes()

    def german_only(work: Sequence[Pack], *arguments: Any, **options: Any) -> list[PackResult | None]:
        results = run_packs([pack for pack in work if pack.name.startswith("german")], *arguments, **options)
        return [*results, *[None] * (len(work) - len(results))]

    with monkeypatch.context() as patch:
        patch.setattr("reinflect.run.engines.run_packs", german_only)
        ran = ablate(*COMPARISON, "--out", str(out))
        assert ran.exit_code == 130
        assert f"{out} is still the earlier, complete comparison" in ran.stderr
        assert out.read_bytes() == before
    other = ablate(*COMPARISON, "--set", "epochs=3", "--out", str(out))
    assert other.exit_code == 0
    assert "also has work with other data or settings, which this command does not use" in other.stderr
    assert out.read_bytes() != before


@pytest.mark.parametrize("out", ["-", "german-dev", "other.json"])
def test_nothing_else_is_overwritten(ablate: Callable[..., Result], data: Path, tmp_path: Path, out: str) -> None:
    path = data / out if out == "german-dev" else tmp_path / out
    if out == "other.json":
        path.write_text('{"rows": []}', encoding="utf-8")
    before = path.read_bytes() if path.exists() else None
    ran = ablate(*COMPARISON, "--out", out if out == "-" else str(path))
    assert ran.exit_code == 2
    assert ("name a file" if out == "-" else "a file of this name exists and is not a comparison") in ran.stderr
    assert (path.read_bytes() if path.exists() else None) == before


def test_two_at_once_do_not_write_the_same(ablate: Callable[..., Result], tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    with WorkFolder.beside(out).held():
        ran = ablate("--vary", "dropout=0.4,0.8", "--systems", "hacm", "--seeds", "2", "--out", str(out))
    assert ran.exit_code == 2
    assert f"another command (process {os.getpid()}) is working on this; wait for it" in ran.stderr
    assert not out.exists()


def test_each_setting_and_system_has_its_table(ablate: Callable[..., Result]) -> None:
    ran = ablate(
        *("--vary", "step=1,0.5", "--vary", "haem.clip=5,1", "--alignments", "naive", "--languages", "turkish"),
        *("--seeds", "6"),
    )
    assert ran.exit_code == 0, ran.output
    tables = [part.splitlines() for part in ran.stdout.split("\n\n")]
    assert [[line.split()[0] for line in part] for part in tables] == [
        ["hacm", "step=1", "step=0.5"],
        ["haem", "step=1", "step=0.5"],
        ["haem", "clip=5", "clip=1"],
    ]
    assert "MAX" not in ran.stdout


VARY = ("--vary", "dropout=0.1,0.2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*VARY, "--languages", "germna"], "found no files of the language 'germna'; did you mean german?"),
        ([*VARY, "--languages", ","], "found no language in --languages"),
        ([*VARY, "--setting", "medium", "--languages", "turkish,german"], "no training file for medium of turkish"),
        ([*VARY, "--setting", "high"], "no training file for high of german, turkish"),
        (["--vary", "dropout=0.1"], "fewer than two values"),
        (["--vary", "dropuot=0.1,0.2"], "did you mean dropout"),
        (["--vary", "dropout=0.1,2"], "--vary: found dropout = '2', which does not fit"),
        ([*VARY, "--set", "hiden=3"], "--set: found the unknown setting 'hiden'"),
        ([*VARY, "--systems", "haem,hacn"], "found the system 'hacn'; did you mean hacm"),
        ([*VARY, "--preset", "lwo"], "found the preset 'lwo'; did you mean low"),
        ([*VARY, "--seeds", "1"], "4 pairs of models, which are too few to distinguish a difference from chance"),
        ([*VARY, "--out", "/nowhere/at/all.json"], "there is no folder"),
    ],
)
def test_what_is_refused_is_said_in_one_line(ablate: Callable[..., Result], arguments: list[str], said: str) -> None:
    ran = ablate(*arguments)
    assert ran.exit_code == 2
    assert ran.stdout == ""
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("reinflect: ")
    assert said in last


def test_a_folder_that_is_none(reinflect: Reinflect, tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        ran = reinflect("ablate", "--data", str(folder), *VARY)
        assert ran.exit_code == 2
        assert str(folder) in ran.stderr


def test_languages_without_the_setting_are_left_out_and_named(ablate: Callable[..., Result]) -> None:
    ran = ablate("--vary", "haem.step=1,0.5", "--systems", "haem", "--setting", "medium", "--seeds", "3")
    assert ran.exit_code == 0, ran.output
    assert "note: left out (no training file for medium): turkish" in ran.stderr
    assert "on german at medium" in ran.stderr
