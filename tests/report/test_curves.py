"""Logs, read again."""

import json
from pathlib import Path

import pytest

from reinflect.report.curves import Learning, by_kind, kind_in, mean_best, mean_loss, read_log


def line(model: str, epoch: int, loss: float | None = 1.0, dev: float | None = None, best: float | None = None) -> str:
    return json.dumps({"model": model, "epoch": epoch, "loss": loss, "dev_accuracy": dev, "best": best})


def log(path: Path, *lines: str) -> list[Learning]:
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return read_log(path)


@pytest.mark.parametrize(
    ("name", "kind", "before"),
    [
        ("hacm-naive-1", "hacm-naive", ""),
        ("scottish-gaelic-low-haem-smart-12", "haem-smart", "scottish-gaelic-low"),
        ("soft-1", "soft", ""),
        ("welsh-high-soft-3", "soft", "welsh-high"),
    ],
)
def test_what_a_name_says(name: str, kind: str, before: str) -> None:
    assert kind_in(name) == kind
    assert Learning(name, []).before_kind == before


def test_models_are_told_apart_and_kinds_put_together(tmp_path: Path) -> None:
    models = log(
        tmp_path / "log",
        line("haem-smart-1", 1),
        line("hacm-naive-1", 1, loss=3.0),
        line("haem-smart-2", 1),
        line("haem-smart-1", 2, dev=40.0, best=40.0),
    )
    assert [model.name for model in models] == ["haem-smart-1", "hacm-naive-1", "haem-smart-2"]
    assert list(by_kind(models)) == ["hacm-naive", "haem-smart"]
    assert models[0].accuracies == [(2, 40.0)]
    assert models[1].losses == [(1, 3.0)]


def test_a_model_that_started_again_and_a_line_cut_short(tmp_path: Path) -> None:
    lines = [line("soft-1", 1, loss=9.0), line("soft-1", 2, loss=None), line("soft-1", 1, loss=8.0), '{"model": "so']
    (model,) = log(tmp_path / "log", *lines)
    assert model.losses == [(1, 8.0)]


def test_means_wait_for_all_and_keep_what_has_ended(tmp_path: Path) -> None:
    models = log(
        tmp_path / "log",
        line("soft-1", 1, loss=4.0),
        line("soft-1", 2, loss=2.0, dev=30.0, best=30.0),
        line("soft-2", 1, loss=2.0),
        line("soft-2", 3, loss=None, dev=50.0, best=50.0),
        line("soft-2", 4, loss=1.0, dev=45.0, best=50.0),
    )
    assert mean_best(models) == [(3, 40.0), (4, 40.0)]
    assert mean_loss(models) == [(1, 3.0), (2, 2.0), (4, 1.5)]
    assert mean_best([]) == mean_loss([Learning("soft-3", [])]) == []


def test_lines_that_are_no_epochs_are_passed_over(tmp_path: Path) -> None:
    models = log(tmp_path / "log", "[" * 100_000, '{"model": ' * 5000, line("soft-1", 1), "{", "null")
    assert [model.name for model in models] == ["soft-1"]
