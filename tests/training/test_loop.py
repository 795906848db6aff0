"""Epochs: early stopping, restarts, going on after a stop."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.training.checkpoint import Checkpoint, fingerprint
from reinflect.training.fleet import NEXT_SEED, Epoch, Fleet
from reinflect.training.lesson import Model, Pack
from reinflect.training.loop import MOST_RESTARTS, Report, Trained, train
from tests.training.tiny import SMALL, pack

LONGER = msgspec.structs.replace(SMALL, epochs=12, dropout=0.2)


def same(one: Trained, other: Trained) -> bool:
    """To the bit, curve and all."""
    return (one.seed, one.dev_accuracy, one.best_epoch, one.epochs, one.restarts, one.curve) == (
        (other.seed, other.dev_accuracy, other.best_epoch, other.epochs, other.restarts, other.curve)
    ) and all(torch.equal(one.parameters[name], other.parameters[name]) for name in one.parameters)


def difference(one: Trained, other: Trained) -> float:
    return max(float((tensor - other.parameters[name]).abs().max()) for name, tensor in one.parameters.items())


def stop_after(updates: int) -> Callable[[], bool]:
    left = iter([False] * updates)
    return lambda: next(left, True)


def run(
    own: Pack, folder: Path, stop: Callable[[], bool] = lambda: False, seconds: float = 1e9
) -> tuple[list[Trained], bool]:
    checkpoint = Checkpoint(folder / "checkpoint", fingerprint(own), seconds)
    return train(own.tasks(), checkpoint=checkpoint, log=folder / "log", stop=stop)


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_a_run_that_is_stopped_again_and_again_ends_as_if_it_had_not_been(system: str, tmp_path: Path) -> None:
    own = pack(system, LONGER)
    (tmp_path / "plain").mkdir()
    (tmp_path / "broken").mkdir()
    expected, ended = run(own, tmp_path / "plain")
    assert ended
    stops, ended = 0, False
    while not ended:
        trained, ended = run(own, tmp_path / "broken", stop_after(17))
        stops += 1
    assert stops > 5
    assert all(map(same, trained, expected))
    assert (tmp_path / "broken/log").read_bytes() == (tmp_path / "plain/log").read_bytes()


class Killed(BaseException):
    """As good as a power cut: nothing of ours sees it coming or cleans up."""


def test_a_run_that_dies_goes_on_from_its_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = pack("haem", LONGER)
    (tmp_path / "plain").mkdir()
    (tmp_path / "broken").mkdir()
    expected, _ = run(own, tmp_path / "plain")
    whole, saved, count = Fleet.update, Checkpoint.save, 0

    def dying(self: Fleet, epoch: Epoch, number: int) -> Tensor:
        nonlocal count
        count += 1
        if count % 31 == 0:
            raise Killed
        return whole(self, epoch, number)

    def seldom(self: Checkpoint, *arguments: object) -> None:
        if count % 7 == 0 or not arguments[0].running:  # type: ignore[attr-defined]
            saved(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Fleet, "update", dying)
    monkeypatch.setattr(Checkpoint, "save", seldom)
    deaths = 0
    while True:
        try:
            trained, _ = run(own, tmp_path / "broken", seconds=0)
            break
        except Killed:
            deaths += 1
    assert deaths > 2
    assert all(map(same, trained, expected))
    assert (tmp_path / "broken/log").read_bytes() == (tmp_path / "plain/log").read_bytes()


def test_a_finished_run_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = pack()
    expected, _ = run(own, tmp_path)
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
    trained, ended = run(own, tmp_path)
    assert ended
    assert all(map(same, trained, expected))


def test_a_stop_gives_the_best_so_far(tmp_path: Path) -> None:
    own = pack("haem", LONGER)
    per_epoch = -(-len(own.models[0].lesson.split.train) // LONGER.batch)
    trained, ended = run(own, tmp_path, stop_after(3 * per_epoch + 2))
    assert not ended
    short = msgspec.structs.replace(LONGER, epochs=3)
    expected, _ = train(pack("haem", short).tasks())
    for one, other in zip(trained, expected, strict=True):
        assert one.usable
        assert one.dev_accuracy == other.dev_accuracy
        assert all(torch.equal(one.parameters[name], other.parameters[name]) for name in one.parameters)


def test_a_stop_before_the_first_score_gives_models_as_they_stand(tmp_path: Path) -> None:
    trained, _ = run(pack(), tmp_path, stop_after(2))
    assert [(one.usable, one.dev_accuracy) for one in trained] == [(True, -1.0)] * 3
    at_once, _ = train(pack().tasks(), stop=lambda: True)
    assert not any(one.usable for one in at_once)
    name = next(iter(trained[0].parameters))
    assert not torch.equal(trained[0].parameters[name], at_once[0].parameters[name])


def spoil(monkeypatch: pytest.MonkeyPatch, seeds: set[int], epoch_number: int = 2) -> None:
    """Let the models of these seeds diverge in an epoch, once each."""
    whole, left = Fleet.update, set(seeds)

    def update(self: Fleet, epoch: Epoch, number: int) -> Tensor:
        losses = whole(self, epoch, number)
        for column, running in enumerate(self.running):
            model = self.models[running]
            if model.seed in left and model.epoch == epoch_number:
                left.remove(model.seed)
                with torch.no_grad():
                    self.parameters.flat[column, 3] = float("nan")
        return losses

    monkeypatch.setattr(Fleet, "update", update)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_a_model_that_diverges_starts_again_and_disturbs_nobody(
    system: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = msgspec.structs.replace(LONGER, epochs=6)
    expected, _ = train(pack(system, settings).tasks(), dtype=dtype)
    spoil(monkeypatch, {2})
    reports: list[Report] = []
    trained, _ = train(pack(system, settings).tasks(), dtype=dtype, report=reports.append, log=tmp_path / "log")
    monkeypatch.undo()
    assert (trained[1].seed, trained[1].restarts, trained[1].epochs) == (2 + NEXT_SEED, 1, settings.epochs)
    assert [name for report in reports for name in report.restarted] == [f"{system}-naive-2"]
    # The restarted one is at other items than the others, so that batches are padded, and sums rounded, differently.
    close = 1e-8 if dtype == torch.float64 else 1e-3
    for number in (0, 2):
        assert trained[number].curve[:3] == expected[number].curve[:3]
        assert difference(trained[number], expected[number]) < close
        assert trained[number].dev_accuracy == expected[number].dev_accuracy
    (alone,), _ = train(pack(system, settings, [2 + NEXT_SEED]).tasks(), dtype=dtype)
    assert difference(trained[1], alone) < close
    lines = [json.loads(line, parse_constant=pytest.fail) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines if line["model"] == f"{system}-naive-2"] == [1, 2, 3]


def test_a_model_that_always_diverges_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    always = {2 + NEXT_SEED * restart for restart in range(MOST_RESTARTS + 1)}
    spoil(monkeypatch, always, epoch_number=0)
    trained, ended = train(pack().tasks())
    assert ended
    assert [one.usable for one in trained] == [True, False, True]
    assert all(tensor.isfinite().all() for tensor in trained[0].parameters.values())


def test_a_restart_is_taken_up_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "broken").mkdir()
    spoil(monkeypatch, {2})
    expected, _ = run(pack("haem", LONGER), tmp_path / "plain")
    monkeypatch.undo()
    spoil(monkeypatch, {2})
    ended = False
    while not ended:
        trained, ended = run(pack("haem", LONGER), tmp_path / "broken", stop_after(23))
    assert all(map(same, trained, expected))
    assert (tmp_path / "broken/log").read_bytes() == (tmp_path / "plain/log").read_bytes()


def test_models_that_have_finished_leave_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    patient = msgspec.structs.replace(SMALL, epochs=30)
    hasty = msgspec.structs.replace(patient, patience=3)
    expected, _ = train(pack("haem", patient).tasks(), dtype=torch.float64)
    sizes: list[int] = []
    whole = Fleet.update

    def counted(self: Fleet, epoch: Epoch, number: int) -> Tensor:
        losses = whole(self, epoch, number)
        sizes.append(len(losses))
        assert len(self.parameters) == len(self.optimiser.first) == len(losses)
        return losses

    monkeypatch.setattr(Fleet, "update", counted)
    trained, _ = train(pack("haem", hasty).tasks(), dtype=torch.float64)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1, "no model left early: the test needs other settings"
    for one, other in zip(trained, expected, strict=True):
        best, last = -1.0, 0
        for epoch, _, accuracy in other.curve[: one.epochs]:
            assert accuracy is not None
            if accuracy > best:
                best, last = accuracy, epoch
        assert (one.dev_accuracy, one.best_epoch) == (best, last)
        assert one.epochs == min(patient.epochs, last + hasty.patience)
        for (_, loss, accuracy), (_, other_loss, other_accuracy) in zip(one.curve, other.curve, strict=False):
            assert accuracy == other_accuracy
            assert loss == pytest.approx(other_loss, abs=1e-8)


def test_each_model_has_its_own_epochs_patience_and_looks(tmp_path: Path) -> None:
    lively = msgspec.structs.replace(SMALL, epochs=12)
    changes: list[dict[str, object]] = [
        {},
        {"epochs": 5, "step": 0.5},
        {"patience": 2, "dropout": 0.3},
        {"score_every": 4, "epochs": 9},
        {"score_from": 6, "feature_scale": 5.0},
    ]
    own, lesson = pack(seeds=[1]), pack().models[0].lesson
    models = tuple(Model(lesson, 1, msgspec.structs.replace(lively, **each)) for each in changes)
    many = replace(own, models=models)
    together, _ = train(many.tasks(), dtype=torch.float64)
    for one, model in zip(together, models, strict=True):
        (alone,), _ = train(replace(own, models=(model,)).tasks(), dtype=torch.float64)
        assert difference(one, alone) < 1e-8
        assert (one.dev_accuracy, one.best_epoch, one.epochs) == (alone.dev_accuracy, alone.best_epoch, alone.epochs)
        assert [score for *_, score in one.curve] == [score for *_, score in alone.curve]
    assert len({one.epochs for one in together}) > 2, "the models stop together: the test needs other settings"
    # Models that go on after others have left keep their own settings when a run is taken up again, too.
    expected, ended = run(many, tmp_path, seconds=1e9)[0], False
    (tmp_path / "broken").mkdir()
    while not ended:
        trained, ended = run(many, tmp_path / "broken", stop_after(17))
    assert all(map(same, trained, expected))


def test_nobody_is_scored_where_nobody_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []
    whole = Fleet.score
    monkeypatch.setattr(Fleet, "score", lambda self: scored.append(self.models[0].epoch) or whole(self))  # type: ignore[func-returns-value]
    lesson = pack().models[0].lesson
    often, seldom = (msgspec.structs.replace(SMALL, epochs=9, score_every=every) for every in (2, 3))
    train(Pack("p", "haem", (Model(lesson, 1, often), Model(lesson, 1, seldom))).tasks())
    assert scored == [2, 3, 4, 6, 8, 9]


@pytest.mark.parametrize(
    ("changes", "looked_at"),
    [({"score_every": 3}, [3, 6, 8]), ({"score_from": 4}, [5, 6, 7, 8]), ({"score_from": 4, "score_every": 3}, [7, 8])],
)
def test_when_dev_is_looked_at(changes: dict[str, int], looked_at: list[int]) -> None:
    settings: Settings = msgspec.structs.replace(SMALL, epochs=8, **changes)
    (trained,), _ = train(pack("haem", settings, [1]).tasks())
    assert [epoch for epoch, _, accuracy in trained.curve if accuracy is not None] == looked_at
    scores = {epoch: accuracy for epoch, _, accuracy in trained.curve if accuracy is not None}
    assert trained.dev_accuracy == max(scores.values())
    assert trained.best_epoch == min(epoch for epoch, accuracy in scores.items() if accuracy == trained.dev_accuracy)
