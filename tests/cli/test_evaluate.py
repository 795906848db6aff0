"""`reinflect evaluate`: what goldens do not have: real differences, many notes, all languages."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli import Reinflect, refused
from tests.cli.test_transcripts import GOLDEN


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_apply_to_both_files(reinflect: Reinflect, tmp_path: Path) -> None:
    def moved(name: str) -> Path:
        lines = (GOLDEN / "files" / name).read_text(encoding="utf-8").splitlines()
        swapped = ["\t".join(line.split("\t")[place] for place in (0, 2, 1)) for line in lines]
        return written(tmp_path / name, "\n".join(swapped) + "\n")

    usual = reinflect("evaluate", GOLDEN / "files" / "gold.tsv", GOLDEN / "files" / "predicted.tsv")
    other = reinflect("evaluate", moved("gold.tsv"), moved("predicted.tsv"), "--columns", "lemma,features,form")
    assert usual.stdout == other.stdout


def test_a_real_difference(reinflect: Reinflect, tmp_path: Path) -> None:
    gold = written(tmp_path / "gold", "".join(f"l{i}\tf\tV\n" for i in range(100)))
    good = written(tmp_path / "good", "".join(f"l{i}\t{'f' if i < 80 else 'g'}\tV\n" for i in range(100)))
    bad = written(tmp_path / "bad", "".join(f"l{i}\t{'f' if i < 50 else 'gg'}\tV\n" for i in range(100)))
    result = reinflect("evaluate", gold, good, "--against", bad)
    assert "difference +30.00, 95 % interval +2" in result.stdout
    assert f"The difference is real: {good} is better" in result.stdout
    found = json.loads(reinflect("evaluate", gold, bad, "--against", good, "--json").stdout)["comparison"]
    assert (found["predicted"]["accuracy"], found["other"]["accuracy"], found["difference"]) == (50, 80, -30)
    assert found["interval"][0] < -30 < found["interval"][1] < 0
    assert found["p_value"] < 0.01
    assert found["real"] is True
    same = json.loads(reinflect("evaluate", gold, bad, "--against", bad, "--json").stdout)["comparison"]
    assert (same["difference"], same["real"], same["p_value"]) == (0, False, 1)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One item of four right in German, one of two in Nynorsk."""
    for name in ("golds", "predictions"):
        shutil.copytree(GOLDEN / "files" / name, tmp_path / name)
    return tmp_path / "golds", tmp_path / "predictions"


def test_a_language_without_predictions_can_be_left_out(reinflect: Reinflect, folders: tuple[Path, Path]) -> None:
    (folders[1] / "german-dev").unlink()
    refused(reinflect("evaluate", *folders), "found no predictions for 1 of 2 languages (german)")
    found = json.loads(reinflect("evaluate", *folders, "--languages", "norwegian-nynorsk", "--json").stdout)
    assert list(found["languages"]) == ["norwegian-nynorsk"]


def test_systems_scored_on_different_gold_are_not_compared(reinflect: Reinflect, folders: tuple[Path, Path]) -> None:
    gold, predicted = folders
    other = predicted.parent / "other" / "german-test"
    for path in (gold / "german-test", other):
        written(path, (gold / "german-dev").read_text(encoding="utf-8"))
    result = reinflect("evaluate", gold, predicted, "--against", other.parent, "--languages", "german")
    refused(result, "german paired with different gold (german-dev and german-test)")


def test_notes_on_many_files_are_one_line(reinflect: Reinflect, folders: tuple[Path, Path]) -> None:
    written(folders[1] / "norwegian-nynorsk-low-out", "a\tb\tN\n")
    notes = reinflect("evaluate", *folders).stderr.splitlines()
    assert len(notes) == 2
    assert "klingon" in notes[0]
    assert notes[1].endswith("each counts as an empty form (and 1 more file like this)")


def test_all_languages_of_the_shared_task(reinflect: Reinflect, conll2017: Path, tmp_path: Path) -> None:
    """Gold dev files without their first lines as predictions: small languages have the same weight as large ones."""
    for file in conll2017.glob("*-dev"):
        text = file.read_text(encoding="utf-8")
        written(tmp_path / "predicted" / file.name, text.split("\n", 1)[1])
    found = json.loads(reinflect("evaluate", conll2017, tmp_path / "predicted", "--json").stdout)
    rows = found["languages"].values()
    assert len(rows) == 52
    assert all(row["accuracy"] == pytest.approx(100 - 100 / row["items"]) for row in rows)
    assert found["accuracy"] == pytest.approx(sum(row["accuracy"] for row in rows) / 52, abs=0.00501)
