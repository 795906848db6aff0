"""Progress of a training: lines in files and pipes, bars on a terminal."""

import json
import sys
from pathlib import Path

import pytest

from reinflect.run import watch as progress
from reinflect.run.watch import Bars, Epochs, Lines, Progress, spell_seconds

NAN = float("nan")


def read(log: Path, *lines: tuple[str, int, float | None], epochs: int = 9) -> Epochs:
    """What the lines of a log say; the last one is still being written."""
    texts = [json.dumps({"model": model, "epoch": epoch, "best": best}) for model, epoch, best in lines]
    log.write_text("".join(f"{text}\n" for text in texts) + '{"model": "x", "ep')
    epochs_read = Epochs(log, epochs)
    epochs_read.read_on()
    return epochs_read


def test_progress_is_read_from_a_log_as_it_grows(tmp_path: Path) -> None:
    log = tmp_path / "log"
    pack = read(log, ("a-1", 1, None), ("a-2", 1, 20.0))
    assert (pack.epoch, pack.mean_best) == (1, 20.0)
    log.write_text(log.read_text().partition('{"model": "x"')[0] + '{"model": "a-1", "epoch": 2, "best": 40.0}\n')
    pack.read_on()
    assert (pack.epoch, pack.mean_best) == (2, 30.0)
    missing = Epochs(tmp_path / "none", 9)
    missing.read_on()
    assert missing.epoch == 0


@pytest.mark.parametrize(
    ("seconds", "spelled"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_spell_seconds(seconds: float, spelled: str) -> None:
    assert spell_seconds(seconds) == spelled


def test_lines_are_printed_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    shown, pack = Lines(), read(tmp_path / "log", ("a-1", 3, 50.0))
    for now in (100.0, 104.9, 105.0, 109.9, 110.0):
        shown.progress(Progress(5, 11, {"a": pack}, 0.5, 165 - now if now > 105 else NAN))
    shown.finished("a", 12.0, 50.0, Progress(7, 11, {}, 0.8, 12.0))
    shown.finished("b", 20.0, NAN, Progress(11, 11, {}, 1.0, 0.0))
    assert capsys.readouterr().err.splitlines() == [
        "a: epoch 3 of 9, mean best accuracy 50.0 %",
        "5 of 11 models trained",
        "a: epoch 3 of 9, mean best accuracy 50.0 %",
        "5 of 11 models trained; at most 55 s left",
        "a: trained in 12 s, mean best accuracy 50.0 %; 7 of 11 models trained; at most 12 s left",
        "b: trained in 20 s; 11 of 11 models trained",
    ]


def test_bars_are_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.display() as shown:
        assert isinstance(shown, Bars)
        shown.working("aligning (smart)", 1, 2)
        shown.bars.refresh()
        shown.working("aligning (smart)", 2, 2)
        shown.note("[a note] is not markup")
        shown.progress(Progress(0, 2, {"a": read(tmp_path / "log", ("a-1", 3, 50.0))}, 0.3, NAN))
        shown.progress(Progress(2, 2, {}, 1.0, 0.0))
        assert [task.description for task in shown.bars.tasks] == ["all packs"]
    written = capsys.readouterr().err
    assert "[a note] is not markup" in written
    assert "aligning (smart)" in written
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress.display() as shown:
        assert isinstance(shown, Lines)
