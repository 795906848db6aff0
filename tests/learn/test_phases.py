"""Phases: other items to learn from before the real ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import torch

from reinflect.align.pairs import Naive
from reinflect.data.items import Item
from reinflect.learn.fleet import NEXT_SEED, Fleet
from reinflect.learn.lesson import Lesson, ModelSpec, Phase
from reinflect.run.packs import Pack
from reinflect.settings import Settings
from tests.learn.test_loop import check_stops, run
from tests.learn.tiny import lesson, small, spec_for, updated
from tests.learn.trained import best_of, difference, spoil, trained

PLAIN: dict[str, object] = {}
CHANGES: dict[str, object] = {
    "step": 0.4,
    "schedule": "inverse-sqrt",
    "warmup": 5,
    "dropout": 0.3,
    "loss": "sum",
    "clip": 2.0,
}


def phase(name: str, epochs: int, changes: Mapping[str, object] = PLAIN, count: int = 7) -> Phase:
    """Lemmas to copy, of a language's own characters and features."""
    items = tuple(Item(item.lemma, item.features, item.lemma) for item in lesson(name).train[:count])
    return Phase(items, tuple(Naive().align([(item.lemma, item.form) for item in items])), epochs, changes)


def with_phases(name: str, *phases: Phase) -> Lesson:
    return replace(lesson(name), phases=phases)


def spec(own: Lesson, system: str = "haem", settings: Settings | None = None, seed: int = 1) -> ModelSpec:
    return spec_for(own, system, settings or small(system, dropout=0.2), seed)


def in_the_place_of(real: Lesson, own: Phase) -> Lesson:
    """A lesson whose real items are those of a phase, for models of the same sizes."""
    made = replace(real, train=own.items, alignments=own.alignments, phases=())
    vars(made)["inventory"] = real.inventory
    return made


def by_hand(own: ModelSpec) -> Fleet:
    """A model carried from fleet to fleet, each of which has the items of one phase."""
    stages = [
        (in_the_place_of(own.lesson, each), msgspec.structs.replace(own.settings, epochs=each.epochs, **each.changes))
        for each in own.lesson.phases
    ]
    stages.append((replace(own.lesson, phases=()), own.settings))
    before: Fleet | None = None
    for part, settings in stages:
        now = Fleet([replace(own, lesson=part, settings=settings)])
        if before is not None:
            with torch.no_grad():
                now.parameters.flat.copy_(before.parameters.flat)
            for name in ("first", "second", "updates"):
                setattr(now.optimiser, name, getattr(before.optimiser, name))
            now.runs[0].epoch = before.runs[0].epoch
        before = updated(now, settings.epochs)
    assert before is not None
    return before


@pytest.mark.parametrize("system", ["hacm", "haem", "soft"])
def test_the_items_and_settings_of_each_phase_come_in_turn(system: str, tmp_path: Path) -> None:
    own = spec(with_phases("german", phase("german", 2, CHANGES), phase("german", 1, count=4)), system)
    (found,), finished = trained([own], log=tmp_path / "log")
    assert finished
    expected = by_hand(own)
    assert found.last is not None
    assert torch.equal(found.last, expected.parameters.flat[0])
    plain, _ = trained([replace(own, lesson=lesson("german"))])
    assert difference(found, plain[0]) > 1e-3
    assert found.epochs == 2 + 1 + own.settings.epochs
    assert (found.progress.stage, found.progress.stage_start) == (2, 3)
    assert [epoch for epoch, _, _ in found.curve] == list(range(1, found.epochs + 1))
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, found.epochs + 1))


def test_a_model_that_does_not_get_better_goes_on_to_its_next_phase() -> None:
    own = spec(with_phases("german", phase("german", 40, {"patience": 2})), settings=small("haem", epochs=6))
    (found,), _ = trained([own])
    _, best = best_of(found.curve[: found.progress.stage_start])
    assert found.progress.stage == 1
    assert found.progress.stage_start == best + 2 < 40, "the phase ran to its end: the test needs other settings"
    assert found.epochs == found.progress.stage_start + 6


def test_patience_begins_anew_with_the_real_items() -> None:
    """The best of the first phase is long past when the second begins, which has its own time all the same."""
    own = spec(with_phases("german", phase("german", 9)), settings=small("haem", epochs=20, patience=3, step=1e-6))
    (found,), _ = trained([own])
    assert found.progress.stage_start <= 4
    assert found.best_epoch == 1
    assert found.epochs == found.progress.stage_start + 3


def test_scores_are_counted_from_the_beginning_of_a_phase() -> None:
    looks = {"score_from": 2, "score_every": 2}
    own = spec(with_phases("german", phase("german", 3, looks)), settings=small("haem", epochs=6, score_every=4))
    (found,), _ = trained([own])
    assert [epoch for epoch, _, accuracy in found.curve if accuracy is not None] == [3, 3 + 4, 3 + 6]


def test_a_run_that_is_stopped_in_any_phase_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    own = Pack("p", tuple(spec(with_phases("german", phase("german", 3, CHANGES)), seed=seed) for seed in (1, 2)))
    models, _ = run(own, tmp_path / "plain")
    assert {model.progress.stage for model in models} == {1}
    check_stops(own, tmp_path, models, 5, fewest=3)


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_models_in_different_phases_train_in_one_fleet_as_they_do_alone(system: str) -> None:
    lessons = [
        with_phases("german", phase("german", 1, CHANGES)),
        with_phases("greek", phase("greek", 3, count=3), phase("greek", 1, {"step": 0.2}, count=2)),
        lesson("german"),
        with_phases("turkish", phase("turkish", 30, {"patience": 1})),
    ]
    specs = [spec(own, system, small(system, epochs=4, dropout=0.2), seed) for seed, own in enumerate(lessons, 1)]
    together, _ = trained(specs, dtype=torch.float64)
    for own, found in zip(specs, together, strict=True):
        (alone,), _ = trained([own], dtype=torch.float64)
        assert difference(found, alone) < 1e-8
        assert (found.epochs, found.best_epoch, found.dev_accuracy) == (
            (alone.epochs, alone.best_epoch, alone.dev_accuracy)
        )
        assert found.progress.state() | {"curve": 0, "loss": 0} == alone.progress.state() | {"curve": 0, "loss": 0}
    assert len({found.progress.stage_start for found in together}) > 2


def test_a_model_that_diverges_starts_again_with_its_first_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    own = with_phases("german", phase("german", 2, CHANGES))
    spoil(monkeypatch, {2}, epoch_number=3)
    found, _ = trained([spec(own, seed=seed) for seed in (1, 2)], dtype=torch.float64)
    monkeypatch.undo()
    assert (found[1].progress.seed, found[1].model.restarts, found[1].epochs) == (2 + NEXT_SEED, 1, 5)
    for seed, one in ((1, found[0]), (2 + NEXT_SEED, found[1])):
        (alone,), _ = trained([spec(own, seed=seed)], dtype=torch.float64)
        assert difference(one, alone) < 1e-8


def test_settings_of_a_phase_that_would_change_the_model_are_refused() -> None:
    with pytest.raises(ValueError, match="not alike"):
        Fleet([spec(with_phases("german", phase("german", 2, {"batch": 3})))])
