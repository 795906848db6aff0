"""What a checkpoint is taken for."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

from reinflect.training.checkpoint import Checkpoint, fingerprint
from reinflect.training.fleet import Fleet, Progress
from reinflect.training.lesson import Pack, Split
from tests.training.tiny import pack


def fleet_of(own: Pack) -> Fleet:
    return Fleet([Progress(task, seed) for task, seed in own.tasks()])


def with_lesson(own: Pack, **changes: object) -> Pack:
    lesson = replace(own.models[0].lesson, **changes)  # type: ignore[arg-type]
    return replace(own, models=tuple(replace(model, lesson=lesson) for model in own.models))


def with_split(own: Pack, change: Callable[[Split], Split]) -> Pack:
    return with_lesson(own, split=change(own.models[0].lesson.split))


def with_settings(own: Pack, numbers: Iterable[int], **changes: object) -> Pack:
    models = list(own.models)
    for number in numbers:
        settings = msgspec.structs.replace(models[number].settings, **changes)
        models[number] = replace(models[number], settings=settings)
    return replace(own, models=tuple(models))


CHANGES: dict[str, Callable[[Pack], Pack]] = {
    "name": lambda own: replace(own, name="other"),
    "system": lambda own: replace(own, system="hacm"),
    "settings": lambda own: with_settings(own, range(3), clip=4.0),
    "one model's settings": lambda own: with_settings(own, [1], clip=4.0),
    "seeds": lambda own: replace(own, models=own.models[:2]),
    "order": lambda own: replace(own, models=own.models[::-1]),
    "label": lambda own: with_lesson(own, label="greek-low"),
    "alignment": lambda own: with_lesson(own, alignment="smart"),
    "alignments": lambda own: with_lesson(own, alignments=own.models[0].lesson.alignments[::-1]),
    "items": lambda own: with_split(
        own, lambda split: Split((replace(split.train[0], form="x"), *split.train[1:]), split.dev)
    ),
    "dev": lambda own: with_split(own, lambda split: Split(split.train, split.dev[:-1])),
    "which are dev": lambda own: with_split(own, lambda split: Split((*split.train, split.dev[0]), split.dev[1:])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_the_outcome_is_in_the_fingerprint(change: str) -> None:
    assert fingerprint(CHANGES[change](pack())) != fingerprint(pack())


def test_the_same_work_has_the_same_fingerprint() -> None:
    assert fingerprint(pack()) == fingerprint(pack())
    lines = with_split(pack(), lambda split: Split(tuple(replace(item, line=9) for item in split.train), split.dev))
    assert fingerprint(lines) == fingerprint(pack()), "a line's number decides nothing"


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path / "state", "mark")
    fleet = fleet_of(pack())
    checkpoint.save(fleet, 3, fleet.no_losses(), 7)
    return checkpoint


def test_what_is_found(saved: Checkpoint, tmp_path: Path) -> None:
    assert saved.find() == "begun"
    assert Checkpoint(tmp_path / "none", "mark").find() == "nothing"
    assert Checkpoint(saved.path, "another").find() == "other"
    fleet = fleet_of(pack())
    for model in fleet.models:
        model.finished = True
    fleet.drop_finished()
    saved.save(fleet, 0, fleet.no_losses(), 0)
    assert saved.find() == "finished"


def test_a_fingerprint_is_made_when_it_is_needed(saved: Checkpoint, tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> str:
        made.append("mark")
        return "mark"

    Checkpoint(tmp_path / "none", make).load(fleet_of(pack()))
    assert not made
    again = Checkpoint(saved.path, make)
    assert again.find() == "begun"
    assert again.load(fleet_of(pack()))
    assert made == ["mark"]


def test_another_run_is_not_taken_up(saved: Checkpoint) -> None:
    assert Checkpoint(saved.path, "another").load(fleet_of(pack())) is None
    resumed = saved.load(fleet_of(pack()))
    assert resumed
    assert (resumed.update, resumed.log_size) == (3, 7)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"no tensors", b"cut"])
def test_a_damaged_file_is_not_taken_up(saved: Checkpoint, content: bytes) -> None:
    saved.path.write_bytes(saved.path.read_bytes()[:-10] if content == b"cut" else content)
    assert saved.find() == "other"
    assert saved.load(fleet_of(pack())) is None


def test_the_time_of_earlier_runs_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    fleet = fleet_of(pack())
    first = Checkpoint(tmp_path / "state", "mark")
    now = 130.0
    first.save(fleet, 0, fleet.no_losses(), 0)
    second = Checkpoint(tmp_path / "state", "mark")
    assert second.seconds == 0
    now = 135.0
    second.load(fleet)
    assert second.seconds == 30 + 5


def test_a_checkpoint_is_due_after_its_time(tmp_path: Path) -> None:
    assert Checkpoint(tmp_path / "state", "mark", 0.0).due
    assert not Checkpoint(tmp_path / "state", "mark", 1e6).due


CUTS: dict[str, Callable[[dict[str, Any], dict[str, torch.Tensor]], object]] = {
    "no models": lambda state, _: state.pop("models"),
    "a model less": lambda state, _: state["models"].pop(),
    "a model that is a word": lambda state, _: state["models"].__setitem__(0, "haem"),
    "a model without a seed": lambda state, _: state["models"][0].pop("seed"),
    "nobody knows who runs": lambda state, _: state.update(running=["a"]),
    "more run than there are": lambda state, _: state.update(running=[0, 1, 2, 3]),
    "one runs twice": lambda state, _: state.update(running=[0, 1, 1]),
    "all that run have finished": lambda state, _: [model.update(finished=True) for model in state["models"]],
    "no parameters": lambda _, tensors: tensors.pop("flat"),
    "parameters in a line": lambda _, tensors: tensors.update(flat=tensors["flat"].reshape(-1)),
    "parameters of other kinds": lambda _, tensors: tensors.update(first=tensors["first"].to(torch.float64)),
    "losses of fewer models": lambda _, tensors: tensors.update(losses=tensors["losses"][:-1].clone()),
    "something more": lambda _, tensors: tensors.update(third=tensors["first"].clone()),
}


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_not_whole_is_not_taken_up(saved: Checkpoint, cut: str) -> None:
    with safe_open(saved.path, framework="pt") as file:
        state = json.loads(file.metadata()["state"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    CUTS[cut](state, tensors)
    saved.path.write_bytes(save(tensors, metadata={"state": json.dumps(state)}))
    fleet, fresh = fleet_of(pack()), fleet_of(pack())
    assert saved.load(fleet) is None
    assert torch.equal(fleet.parameters.flat, fresh.parameters.flat)
    assert [vars(model) | {"task": None} for model in fleet.models] == [
        vars(model) | {"task": None} for model in fresh.models
    ]
