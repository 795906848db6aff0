"""Epochs: early stopping, restarts, going on after a stop."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch
from torch import Tensor

from reinflect.learn.fleet import NEXT_SEED, Epoch, Fleet
from reinflect.learn.loop import MOST_RESTARTS, Checkpoint
from reinflect.run.driver import train_specs
from reinflect.run.packs import Pack
from reinflect.run.store import Store
from reinflect.run.watch import Resources
from reinflect.settings import Settings
from tests.learn.tiny import SMALL, lesson, pack, small, spec_for
from tests.learn.trained import Trained, best_of, difference, same, spoil, stop_after, trained


def longer(system: str) -> Settings:
    return small(system, epochs=12, dropout=0.2)


LONGER = longer("haem")


def run(
    own: Pack, folder: Path, stop: Callable[[], bool] = lambda: False, seconds: float = 1e9
) -> tuple[list[Trained], bool]:
    folder.mkdir(exist_ok=True)
    checkpoint = Checkpoint(folder / "checkpoint", own.fingerprint, seconds)
    return trained(own.specs, checkpoint=checkpoint, log=folder / "log", stop=stop)


def check_stops(own: Pack, folder: Path, expected: list[Trained], updates: int, fewest: int = 2) -> None:
    """A run that is stopped again and again ends as the one that was not, whose log is in `plain`."""
    stops, ended = 0, False
    while not ended:
        models, ended = run(own, folder / "broken", stop_after(updates))
        stops += 1
    assert stops > fewest
    assert all(map(same, models, expected))
    assert (folder / "broken/log").read_bytes() == (folder / "plain/log").read_bytes()


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_a_run_that_is_stopped_again_and_again_ends_as_if_it_had_not_been(system: str, tmp_path: Path) -> None:
    own = pack(system, longer(system))
    expected, ended = run(own, tmp_path / "plain")
    assert ended
    check_stops(own, tmp_path, expected, 17, fewest=5)


class Killed(BaseException):
    """As good as a power cut: nothing of ours sees it coming or cleans up."""


def test_a_run_that_dies_goes_on_from_its_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = pack("haem", LONGER)
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
            found, _ = run(own, tmp_path / "broken", seconds=0)
            break
        except Killed:
            deaths += 1
    assert deaths > 2
    assert all(map(same, found, expected))
    assert (tmp_path / "broken/log").read_bytes() == (tmp_path / "plain/log").read_bytes()


def test_a_finished_run_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, folder = pack(), Store.beside(tmp_path / "model")
    with folder.held():
        expected = train_specs(own.specs, folder, Resources())
        assert expected.finished
        models = folder.get(own.specs)
        numbers = {spec.digest: folder.member(spec, models[spec.digest]).fingerprint for spec in own.specs}
        monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
        again = train_specs(own.specs, folder, Resources())
        assert again.finished
        for spec in own.specs:
            assert folder.member(spec, models[spec.digest]).fingerprint == numbers[spec.digest]
        assert folder.get(own.specs) == models


def test_a_stop_gives_the_best_so_far(tmp_path: Path) -> None:
    own = pack("haem", LONGER)
    per_epoch = -(-len(own.specs[0].lesson.train) // LONGER.batch)
    found, ended = run(own, tmp_path, stop_after(3 * per_epoch + 2))
    assert not ended
    short = msgspec.structs.replace(LONGER, epochs=3)
    expected, _ = trained(pack("haem", short).specs)
    for one, other in zip(found, expected, strict=True):
        assert one.model.usable
        assert one.dev_accuracy == other.dev_accuracy
        assert all(torch.equal(one.parameters[name], other.parameters[name]) for name in one.parameters)


def test_a_stop_before_the_first_score_gives_models_as_they_stand(tmp_path: Path) -> None:
    found, _ = run(pack(), tmp_path, stop_after(2))
    assert [(one.model.usable, one.dev_accuracy) for one in found] == [(True, -1.0)] * 3
    at_once, _ = trained(pack().specs, stop=lambda: True)
    assert not any(one.model.usable for one in at_once)
    name = next(iter(found[0].parameters))
    assert not torch.equal(found[0].parameters[name], at_once[0].parameters[name])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_a_model_that_diverges_starts_again_and_disturbs_nobody(
    system: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = msgspec.structs.replace(longer(system), epochs=6)
    expected, _ = trained(pack(system, settings).specs, dtype=dtype)
    spoil(monkeypatch, {2})
    found, _ = trained(pack(system, settings).specs, dtype=dtype, log=tmp_path / "log")
    monkeypatch.undo()
    assert (found[1].progress.seed, found[1].model.restarts, found[1].epochs) == (2 + NEXT_SEED, 1, settings.epochs)
    assert [one.model.restarts for one in found] == [0, 1, 0]
    # The restarted one is at other items than the others, so that batches are padded, and sums rounded, differently.
    close = 1e-8 if dtype == torch.float64 else 1e-3
    for number in (0, 2):
        assert found[number].curve[:3] == expected[number].curve[:3]
        assert difference(found[number], expected[number]) < close
        assert found[number].dev_accuracy == expected[number].dev_accuracy
    (alone,), _ = trained(pack(system, settings, [2 + NEXT_SEED]).specs, dtype=dtype)
    assert difference(found[1], alone) < close
    lines = [json.loads(line, parse_constant=pytest.fail) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines if line["model"] == f"{system}-naive-2"] == [1, 2, 3]


def test_a_model_that_always_diverges_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    always = {2 + NEXT_SEED * restart for restart in range(MOST_RESTARTS + 1)}
    spoil(monkeypatch, always, epoch_number=0)
    found, ended = trained(pack().specs)
    assert ended
    assert [one.model.usable for one in found] == [True, False, True]
    assert all(tensor.isfinite().all() for tensor in found[0].parameters.values())


def test_a_restart_is_taken_up_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, {2})
    expected, _ = run(pack("haem", LONGER), tmp_path / "plain")
    monkeypatch.undo()
    spoil(monkeypatch, {2})
    check_stops(pack("haem", LONGER), tmp_path, expected, 23)


def test_models_that_have_finished_leave_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    patient = msgspec.structs.replace(SMALL, epochs=30)
    hasty = msgspec.structs.replace(patient, patience=3)
    expected, _ = trained(pack("haem", patient).specs, dtype=torch.float64)
    sizes: list[int] = []
    whole = Fleet.update

    def counted(self: Fleet, epoch: Epoch, number: int) -> Tensor:
        losses = whole(self, epoch, number)
        sizes.append(len(losses))
        assert len(self.parameters) == len(self.optimiser.first) == len(losses)
        return losses

    monkeypatch.setattr(Fleet, "update", counted)
    found, _ = trained(pack("haem", hasty).specs, dtype=torch.float64)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1, "no model left early: the test needs other settings"
    for one, other in zip(found, expected, strict=True):
        assert (one.dev_accuracy, one.best_epoch) == best_of(other.curve[: one.epochs])
        assert one.epochs == min(patient.epochs, one.best_epoch + hasty.patience)
        for (_, loss, accuracy), (_, other_loss, other_accuracy) in zip(one.curve, other.curve, strict=False):
            assert accuracy == other_accuracy
            assert loss == pytest.approx(other_loss, abs=1e-8)


@pytest.mark.parametrize(
    ("changes", "looked_at"),
    [({"score_every": 3}, [3, 6, 8]), ({"score_from": 4}, [5, 6, 7, 8]), ({"score_from": 4, "score_every": 3}, [7, 8])],
)
def test_when_dev_is_looked_at(changes: dict[str, int], looked_at: list[int]) -> None:
    settings: Settings = msgspec.structs.replace(SMALL, epochs=8, **changes)
    (found,), _ = trained(pack("haem", settings, [1]).specs)
    assert [epoch for epoch, _, accuracy in found.curve if accuracy is not None] == looked_at
    assert (found.dev_accuracy, found.best_epoch) == best_of(found.curve)


EPOCHS: list[dict[str, object]] = [
    {},
    {"epochs": 5, "step": 0.5},
    {"patience": 2, "dropout": 0.3},
    {"score_every": 4, "epochs": 9},
    {"score_from": 6, "feature_scale": 5.0},
]
SCHEDULES: list[dict[str, object]] = [
    {},
    {"warmup": 12},
    {"schedule": "inverse-sqrt", "warmup": 8},
    {"schedule": "linear", "decay": 35, "epochs": 4},
    {"schedule": "cosine", "warmup": 15, "decay": 48},
]


@pytest.mark.parametrize(
    ("settings", "changes", "updates"),
    [
        (small("haem", epochs=12), EPOCHS, 17),
        (small("haem", epochs=5, step=0.5), SCHEDULES, 11),
        (small("haem", epochs=5, step=0.01, optimiser="adam"), SCHEDULES, 11),
    ],
    ids=["epochs", "schedules", "schedules of Adam"],
)
def test_each_model_of_a_pack_has_its_own_settings_also_after_a_stop(
    settings: Settings, changes: list[dict[str, object]], updates: int, tmp_path: Path
) -> None:
    german = lesson("german")
    many = Pack("p", tuple(spec_for(german, "haem", msgspec.structs.replace(settings, **each), 1) for each in changes))
    together, _ = trained(many.specs, dtype=torch.float64)
    for one, spec in zip(together, many.specs, strict=True):
        (alone,), _ = trained([spec], dtype=torch.float64)
        assert difference(one, alone) < 1e-8
        assert (one.dev_accuracy, one.best_epoch, one.epochs) == (alone.dev_accuracy, alone.best_epoch, alone.epochs)
        assert [score for *_, score in one.curve] == [score for *_, score in alone.curve]
        assert one is together[0] or difference(one, together[0]) > 1e-5 or one.epochs != together[0].epochs
    assert len({one.epochs for one in together}) > 1, "the models stop together: the test needs other settings"
    check_stops(many, tmp_path, run(many, tmp_path / "plain")[0], updates)
