"""Progress of a training: time left, lines in files and pipes, bars on a terminal."""

import math
import sys

import pytest

from reinflect.cli import progress
from reinflect.cli.progress import Bars, Display, Lines, spell_seconds
from reinflect.run.train_pack import Standing


def standing(pack: str, seconds: float, left: float, *, best: float = math.nan, models: int = 2) -> Standing:
    return Standing(pack, models, models if left else 0, 3, 9, best, seconds, left)


def test_the_time_left_is_the_longest_pack_or_the_total_per_worker() -> None:
    shown = Display()
    shown.begin(["a", "b", "c", "d"], workers=2)
    assert shown.seconds_left() == 0
    shown.standing(standing("a", 10, 30))
    assert shown.seconds_left() == (30 + 3 * 40) / 2
    shown.standing(standing("b", 10, 10))
    assert shown.seconds_left() == (30 + 10 + 2 * (40 + 20) / 2) / 2
    for done in "bcd":
        shown.standing(standing(done, 20, 0))
    assert shown.seconds_left() == 30
    assert shown.finished() == 3


@pytest.mark.parametrize("kind", [Display, Lines, Bars])
def test_a_pack_split_in_two_is_not_counted(kind: type[Display]) -> None:
    shown = kind()
    shown.begin(["a", "b"], workers=1)
    shown.standing(standing("a", 10, 30, best=50.0))
    shown.begin(["aa", "ab", "b"], workers=1)
    assert math.isnan(shown.mean_best())
    shown.standing(standing("aa", 10, 0, best=20.0))
    shown.standing(standing("ab", 10, 0, best=40.0))
    assert (shown.mean_best(), shown.finished(), shown.seconds_left()) == (30, 2, 10)


def test_packs_that_have_not_begun_are_estimated_by_their_weights() -> None:
    shown = Display()
    assert shown.models_text() == ""
    shown.expect(5, 11, {"a": 1.0, "b": 1.0, "c": 10.0})
    shown.begin(["a", "b", "c"], workers=1)
    assert shown.models_text() == "5 of 11 models trained"
    shown.standing(standing("a", 10, 0))
    assert shown.seconds_left() == 10 + 100
    assert shown.models_text() == "7 of 11 models trained"


def test_the_mean_is_over_scored_models() -> None:
    shown = Display()
    assert math.isnan(shown.mean_best())
    shown.standing(standing("a", 1, 1, best=40.0, models=1))
    shown.standing(standing("b", 1, 1, best=70.0, models=2))
    shown.standing(standing("c", 1, 1, models=5))
    assert shown.mean_best() == 60


@pytest.mark.parametrize(
    ("seconds", "spelled"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_spell_seconds(seconds: float, spelled: str) -> None:
    assert spell_seconds(seconds) == spelled


def test_lines_are_printed_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    shown = Lines()
    shown.begin(["a", "b"], workers=1)
    for now in (100.0, 104.9, 105.0, 109.9, 110.0):
        shown.standing(standing("a", now - 100, 30, best=50.0))
    shown.standing(standing("a", 12, 0, best=50.0))
    shown.standing(standing("b", 20, 0))
    assert capsys.readouterr().err.splitlines() == [
        "a: epoch 3 of 9, 2 of 2 models running, mean best accuracy 50.0 %; at most 1 min 5 s left",
        "a: epoch 3 of 9, 2 of 2 models running, mean best accuracy 50.0 %; at most 1 min 10 s left",
        "a: trained in 12 s, mean best accuracy 50.0 %; at most 12 s left",
        "b: trained in 20 s",
    ]


def test_bars_are_for_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.display() as shown:
        assert isinstance(shown, Bars)
        shown.begin(["a"], workers=1)
        shown.working("aligning (smart)", 1, 2)
        shown.note("[a note] is not markup")
        shown.standing(standing("a", 1, 1, best=50.0))
        shown.standing(standing("a", 2, 0, best=50.0))
    written = capsys.readouterr().err
    assert "[a note] is not markup" in written
    assert "aligning (smart)" in written
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress.display() as shown:
        assert isinstance(shown, Lines)
