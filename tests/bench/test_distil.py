"""`bench.distil`: from cells that a teacher inflects to pocket models."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.cells import agreed, cells_of, forms_of
from bench.distil import Student, largest_corpora

import reinflect
from bench import distil
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import INTERRUPTED, InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import VARIABLE, read_index
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson
from tests.data.test_corrections import items_of

ROOT = Path(__file__).parents[2]
TINY = "embedding=5 hidden=6 history_hidden=4 epochs=2 score_from=0".split()
VERBS = "gehen V;PST ging, sagen V;PRS;SG sagt, laufen V;PRS;PL laufen"
TRAIN = items_of(f"{VERBS}, Haus N;PL Häuser, Tag GEN;N Tags, laufen N;PL Läufe")


def cells(train: Sequence[Item], others: Sequence[Item] = (), most: int = 1000) -> list[tuple[str, str]]:
    return [(item.lemma, item.features.spelling) for item in cells_of(Lesson(tuple(train), tuple(others)), most)]


def test_cells_are_lemmas_with_bundles_of_their_part_of_speech_in_no_file() -> None:
    verbs, nouns = ("V;PST", "V;PRS;SG", "V;PRS;PL"), ("N;PL", "GEN;N")
    expected = {(lemma, bundle) for lemma in ("gehen", "sagen", "laufen") for bundle in verbs}
    expected |= {(lemma, bundle) for lemma in ("Haus", "Tag", "laufen") for bundle in nouns}
    expected -= {(item.lemma, item.features.spelling) for item in TRAIN}
    assert sorted(cells(TRAIN)) == sorted(expected)
    # In whatever order the features are; other lemmas and bundles add no cells.
    dev = items_of("gehen SG;V;PRS x, neu V;PST x, Haus N;DAT")
    assert set(cells(TRAIN)) - set(cells(TRAIN, dev)) == {("gehen", "V;PRS;SG")}
    large = [Item(f"a{number}", Bundle(f"V;{number % 7}"), "x") for number in range(60)]
    assert len(cells(large)) == 60 * 7 - 60
    some = cells(large, most=100)
    assert some == cells(large, most=100) == sorted(some, key=lambda cell: cell[::-1])
    assert set(cells(large, most=50)) < set(some), "a smaller sample is the beginning of a larger one"
    assert cells(large, most=0) == cells([]) == []


def test_a_cell_counts_if_enough_models_agree_on_a_form() -> None:
    four = [Item(lemma, Bundle("V")) for lemma in "abcd"]
    forms = [["ax", "bx", "", ""], ["ax", "by", "", ""], ["ax", "by", "cx", ""]]
    assert [item.form for item in agreed(four, forms, 2)] == ["ax", "by"]
    assert agreed(four, forms, 3) == (Item("a", Bundle("V"), "ax"),)
    assert agreed([], [[], []], 1) == ()


def student(two_languages: Path, agreed_cells: int) -> Student:
    german = largest_corpora(two_languages, ["german"])[0]
    items = tuple(Item(f"{item.lemma}{item.line}", item.features, "x") for item in german.train[:agreed_cells])
    return Student.of(german, items, 2, Counter({"haem-naive": 2, "soft": 1}))


def test_a_student_learns_from_gold_and_agreed_items(two_languages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    german = student(two_languages, 4)
    assert german.corpus.label == "german-high"
    assert german.source == (
        "german-train-high and 4 further cells, on which at least 2 of 3 models agree (haem-naive ×2, soft ×1)"
    )
    assert student(two_languages, 0).source == "german-train-high"
    spec = german.spec("imitation")
    assert spec.lesson.train == (*german.corpus.train, *german.agreed)
    assert (spec.settings.hidden, spec.settings.epochs, spec.settings.patience) == (100, 60, 20)
    gold = german.corpus.train
    monkeypatch.setattr(distil, "SIZES", (len(gold) + 2, 4 * len(gold)))
    assert student(two_languages, 4).agreed == german.agreed[::2], "two of four cells, spread evenly"
    monkeypatch.setattr(distil, "SIZES", (len(gold) + 6,))
    filled = student(two_languages, 4).spec("haem", ["dropout=0.3"])
    assert filled.lesson.train == (*gold, *german.agreed, *gold[:2]), "gold items come twice"
    assert (str(filled.kind), filled.settings.dropout) == ("haem-smart", 0.3)
    monkeypatch.setattr(distil, "MANY", 5)
    monkeypatch.setattr(distil, "UPDATES", len(filled.lesson.train))
    many = german.spec("haem").settings
    assert (many.batch, many.epochs, many.patience) == (32, 32, 10)
    with pytest.raises(InputError, match="no training items for medium or high of turkish"):
        largest_corpora(two_languages, ["german", "turkish"])


def test_from_a_teacher_to_pocket_models(
    two_languages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    into, command = tmp_path / "models", ["distil", "--data", two_languages, "--languages", "german"]
    command += ["--out", tmp_path / "out", "--into", into, "--device", "cpu", "--workers", 1, "--cells", 9]
    command += ["--teacher-set", "hidden=6", "embedding=5", "epochs=2", "score_from=0"]
    for change in TINY:
        command += ["--set", change]
    monkeypatch.setattr("sys.argv", [*map(str, command), "--time-limit", "0"])
    with pytest.raises(SystemExit) as stopped:
        distil.main()
    assert stopped.value.code == INTERRUPTED
    assert "stopped before the teacher was trained" in capsys.readouterr().err

    def in_en(cells: Sequence[Item], *more: Any) -> list[list[str]]:
        """The teacher's models have learnt nothing, and would hardly agree."""
        forms = forms_of(cells, *more)
        assert list(map(len, forms)) == [len(cells)] * 5
        assert forms_of(cells, *more) == forms, "now from the file"
        return [[f"{cell.lemma}en" for cell in cells]] * 5

    monkeypatch.setattr(distil, "forms_of", in_en)
    sys.argv[-2:] = []
    distil.main()
    printed = capsys.readouterr()
    assert "german learns from german-train-high and 8 further cells" in printed.err
    assert "% of dev items right on average, pocket models: 1\n" in printed.out
    files = {path.name: path.read_bytes() for path in into.iterdir()}
    assert sorted(files) == ["german.reinflect", "german.txt", "index.json"]
    card = " ".join(files["german.txt"].decode().split())
    assert "further cells, on which at least 4 of 5 models" in card
    assert "Command: runs/pocket.sh DATA OUT --system haem --set embedding=5 --set hidden=6" in card
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
    distil.main()
    assert {path.name: path.read_bytes() for path in into.iterdir()} == files
    inflector = Inflector.load(into / "german.reinflect")
    assert [member.name for member in inflector.members] == ["haem-smart-1"]
    assert inflector.members[0].dev_accuracy == pytest.approx(read_index(into)["german"].accuracy)
    assert inflector.rounded("eighth").members[0].fingerprint == inflector.members[0].fingerprint, "of 8-bit numbers"
    monkeypatch.setenv(VARIABLE, str(into))
    assert reinflect.load("german").inflect("sagen", "V;PST") == inflector.inflect("sagen", "V;PST")


def test_the_script_that_rebuilds_all(tmp_path: Path) -> None:
    for folder in ("runs", ".venv/bin", "data"):
        (tmp_path / folder).mkdir(parents=True)
    script, stub = tmp_path / "runs" / "pocket.sh", tmp_path / ".venv" / "bin" / "python"
    script.write_bytes((ROOT / "runs" / "pocket.sh").read_bytes())
    stub.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    stub.chmod(0o755)

    def ran(**environment: str) -> str:
        words = ["sh", str(script), "data", "out", "--least", "4"]
        environment["PATH"] = os.environ["PATH"]
        done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
        return str(done.stdout)

    common = "-m bench.distil --data data --out out --into"
    assert ran() == f"{common} models/reinflect_models --device auto --least 4\n"
    chosen = ran(LANGUAGES="welsh,scottish-gaelic", DEVICE="cuda", WORKERS="3", INTO="here")
    assert chosen == f"{common} here --device cuda --workers 3 --languages welsh,scottish-gaelic --least 4\n"
