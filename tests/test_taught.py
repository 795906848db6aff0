"""`bench.taught`: models that learn from what others agree on."""

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from bench import taught
from bench.taught import run, taught_lesson

from reinflect.data.items import Item, write_items
from reinflect.ensemble.cell_forms import CellForms
from reinflect.ensemble.member import UNALIGNED, TrainedModel
from reinflect.learn.lesson import Lesson
from reinflect.paper.grid import Entry
from tests.learn.tiny import language, small


def models_that_say(lesson: Lesson, *forms: str) -> list[TrainedModel]:
    """Models that put one ending each behind every lemma."""
    cells, settings = lesson.further_cells, small("haem")
    made = TrainedModel("haem", "naive", 1, settings, lesson.inventory, 50.0)
    return [replace(made, cells=CellForms.of(cells, [cell.lemma + form for cell in cells])) for form in forms]


def test_a_taught_lesson_has_real_items_and_agreed_cells() -> None:
    items = tuple(language("german"))
    lesson = Lesson(items[:24:2], items[24:28], cells=30)
    cells = {(cell.lemma, cell.features) for cell in lesson.further_cells}
    made = taught_lesson(lesson, models_that_say(lesson, "x", "x", "y"), 20)
    new = [item for item in made.train if item not in lesson.train]
    assert len(made.train) == 20
    assert made.cells == 0
    assert 0 < len(new) <= 8
    assert all(item.form == f"{item.lemma}x" for item in new)
    assert {(item.lemma, item.features) for item in new} <= cells
    real = Counter(item for item in made.train if item in lesson.train)
    assert set(real) == set(lesson.train)
    assert real.total() == 20 - len(new)


def test_where_nobody_agrees_real_items_come_again() -> None:
    items = tuple(language("german"))
    lesson = Lesson(items[:10:2], items[12:16], cells=30)
    made = taught_lesson(lesson, models_that_say(lesson, "x", "y", "z"), 20)
    assert Counter(made.train) == dict.fromkeys(lesson.train, 4)


def test_it_compares_with_and_without_taught_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    items = language("german")
    data = tmp_path / "data"
    data.mkdir()
    write_items(data / "german-dev", items[::3])
    write_items(data / "german-train-medium", [item for place, item in enumerate(items) if place % 3])
    write_items(data / "german-covered-test", [Item(item.lemma, item.features) for item in items[:2]])
    monkeypatch.setattr(taught, "TEACH", (Entry("haem", "smart", {"medium": 2}),))
    monkeypatch.setattr(taught, "LEARN", (Entry("soft", UNALIGNED, {"medium": 1}, variant="taught"),))
    tiny = ["embedding=5", "hidden=6", "haem.history_hidden=4", "soft.attention=4", "epochs=2", "score_from=0"]
    given = {"data": data, "out": tmp_path / "out", "setting": "medium", "languages": None, "items": 20, "set": tiny}
    run(argparse.Namespace(**given, device="cpu", workers=1))
    printed = capsys.readouterr().out
    assert "one haem-smart" in printed
    assert "one soft+taught" in printed
    assert "difference" in printed
