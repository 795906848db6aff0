"""What a checkpoint is taken for."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.data.items import Item
from reinflect.learn.checkpoint import Checkpoint, fingerprint_of
from reinflect.learn.lesson import Lesson
from reinflect.run.packs import Pack
from tests.learn.tiny import fleet_of, pack


def with_lesson(own: Pack, **changes: object) -> Pack:
    lesson = replace(own.specs[0].lesson, **changes)  # type: ignore[arg-type]
    return replace(own, specs=tuple(replace(spec, lesson=lesson) for spec in own.specs))


def with_items(own: Pack, change: Callable[[Lesson], tuple[tuple[Item, ...], tuple[Item, ...]]]) -> Pack:
    train, dev = change(own.specs[0].lesson)
    return with_lesson(own, train=train, dev=dev)


def with_settings(own: Pack, numbers: Iterable[int], **changes: object) -> Pack:
    specs = list(own.specs)
    for number in numbers:
        settings = msgspec.structs.replace(specs[number].settings, **changes)
        specs[number] = replace(specs[number], settings=settings)
    return replace(own, specs=tuple(specs))


CHANGES: dict[str, Callable[[Pack], Pack]] = {
    "system": lambda own: replace(own, specs=tuple(replace(spec, system="hacm") for spec in own.specs)),
    "settings": lambda own: with_settings(own, range(3), clip=4.0),
    "one model's settings": lambda own: with_settings(own, [1], clip=4.0),
    "seeds": lambda own: replace(own, specs=own.specs[:2]),
    "order": lambda own: replace(own, specs=own.specs[::-1]),
    "language": lambda own: with_lesson(own, language="greek"),
    "setting": lambda own: with_lesson(own, setting="low"),
    "alignment": lambda own: with_lesson(own, alignment="smart"),
    "how it is aligned": lambda own: with_lesson(own, recipe="smart(sweeps=3)"),
    "items": lambda own: with_items(
        own, lambda lesson: ((replace(lesson.train[0], form="x"), *lesson.train[1:]), lesson.dev)
    ),
    "dev": lambda own: with_items(own, lambda lesson: (lesson.train, lesson.dev[:-1])),
    "which are dev": lambda own: with_items(own, lambda lesson: ((*lesson.train, lesson.dev[0]), lesson.dev[1:])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_the_outcome_is_in_the_fingerprint(change: str) -> None:
    assert CHANGES[change](pack()).fingerprint != pack().fingerprint


def test_the_same_work_has_the_same_fingerprint() -> None:
    assert pack().fingerprint == pack().fingerprint
    lines = with_items(pack(), lambda lesson: (tuple(replace(item, line=9) for item in lesson.train), lesson.dev))
    assert lines.fingerprint == pack().fingerprint, "a line's number decides nothing"


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path / "state", "mark")
    fleet = fleet_of(pack())
    checkpoint.save(fleet, 3, fleet.no_losses(), 7)
    return checkpoint


def test_what_is_found(saved: Checkpoint, tmp_path: Path) -> None:
    assert fingerprint_of(saved.path) == saved.fingerprint
    assert fingerprint_of(tmp_path / "none") is None


def test_a_finished_run_has_nothing_to_resume(saved: Checkpoint) -> None:
    fleet = fleet_of(pack())
    for model in fleet.runs:
        model.finished = True
    fleet.drop_finished()
    saved.save(fleet, 0, fleet.no_losses(), 0)
    assert saved.load(fleet_of(pack())) is None


def test_another_run_is_not_taken_up(saved: Checkpoint) -> None:
    assert Checkpoint(saved.path, "another").load(fleet_of(pack())) is None
    resumed = saved.load(fleet_of(pack()))
    assert resumed
    assert (resumed.update, resumed.log_size) == (3, 7)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"no tensors", b"cut"])
def test_a_damaged_file_is_not_taken_up(saved: Checkpoint, content: bytes) -> None:
    saved.path.write_bytes(saved.path.read_bytes()[:-10] if content == b"cut" else content)
    assert fingerprint_of(saved.path) is None
    assert saved.load(fleet_of(pack())) is None


def test_a_single_wrong_bit_is_noticed(saved: Checkpoint) -> None:
    """In a number, the file would be as valid as before."""
    whole = saved.path.read_bytes()
    for place in (len(whole) - 1, len(whole) // 2, whole.index(b'\\"update\\": 3') + 12):
        saved.path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert fingerprint_of(saved.path) is None
        assert saved.load(fleet_of(pack())) is None
    saved.path.write_bytes(whole)
    assert fingerprint_of(saved.path) == saved.fingerprint


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
