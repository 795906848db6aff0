"""Training logs and learning curves."""

import json
from pathlib import Path

import pytest

from reinflect.report.drawing import NOT_INSTALLED, ModelLog, colour_of, learning_curves, mean_curve, read_log, title_of
from reinflect.systems import SYSTEMS
from tests.report.pages import Page


def line(model: str, epoch: int, loss: float | None = 1.0, dev: float | None = None, best: float | None = None) -> str:
    return json.dumps({"model": model, "epoch": epoch, "loss": loss, "dev_accuracy": dev, "best": best})


def log(path: Path, *lines: str) -> list[ModelLog]:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read_log(path)


@pytest.mark.parametrize(
    ("name", "kind", "dataset", "title"),
    [
        ("hacm-naive-1", "hacm-naive", "", "HACM, naive"),
        ("scottish-gaelic-low-haem-smart-12", "haem-smart", "scottish-gaelic-low", "HAEM, smart"),
        ("soft-1", "soft", "", "soft attention"),
        ("welsh-high-soft-3", "soft", "welsh-high", "soft attention"),
        ("welsh-low-pointer-smart-1", "pointer-smart", "welsh-low", "pointer, smart"),
        ("welsh-low-pointer+made-up-1", "pointer+made-up", "welsh-low", "pointer, made-up"),
        ("", "", "", ""),
    ],
)
def test_the_parts_of_a_model_name(name: str, kind: str, dataset: str, title: str) -> None:
    model = ModelLog(name, [])
    assert (model.kind, model.dataset, title_of(kind)) == (kind, dataset, title)
    colours = {system.colour for system in SYSTEMS.values()}
    assert colour_of(kind) == NOT_INSTALLED or (kind.partition("-")[0] in SYSTEMS and colour_of(kind) in colours)


def test_a_log_is_read_by_model_and_drawn_by_kind(tmp_path: Path) -> None:
    models = log(
        tmp_path / "log",
        line("haem-smart-1", 1),
        line("hacm-naive-1", 1, loss=3.0),
        line("haem-smart-2", 1),
        line("haem-smart-1", 2, dev=40.0, best=40.0),
    )
    assert [model.name for model in models] == ["haem-smart-1", "hacm-naive-1", "haem-smart-2"]
    assert models[0].points("dev_accuracy") == [(2, 40.0)]
    assert models[1].points("loss") == [(1, 3.0)]
    page = Page(learning_curves(models))
    assert page.text.startswith("HACM, naive (1)HAEM, smart (2)")
    assert len(page.elements("polyline", "faint")) == 2 * 3
    assert [len(page.elements("polyline", style)) for style in ("naive", "smart")] == [2 * 2, 2 * 3]


def test_the_last_start_of_a_model_counts_and_lines_that_are_not_epochs_are_ignored(tmp_path: Path) -> None:
    starts = [line("soft-1", 1, loss=9.0), line("soft-1", 2, loss=None), line("soft-1", 1, loss=8.0)]
    (model,) = log(tmp_path / "log", "[" * 100_000, '{"model": ' * 5000, *starts, "{", "null", '{"model": "so')
    assert model.points("loss") == [(1, 8.0)]


def test_means_wait_for_all_models_and_keep_last_values(tmp_path: Path) -> None:
    models = log(
        tmp_path / "log",
        line("soft-1", 1, loss=4.0),
        line("soft-1", 2, loss=2.0, dev=30.0, best=30.0),
        line("soft-2", 1, loss=2.0),
        line("soft-2", 3, loss=None, dev=50.0, best=50.0),
        line("soft-2", 4, loss=1.0, dev=45.0, best=50.0),
    )
    assert mean_curve(models, "best") == [(3, 40.0), (4, 40.0)]
    assert mean_curve(models, "loss") == [(1, 3.0), (2, 2.0), (4, 1.5)]
    assert mean_curve([], "best") == mean_curve([ModelLog("soft-3", [])], "loss") == []
