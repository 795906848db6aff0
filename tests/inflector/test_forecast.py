"""A forecast: lines through accuracies at shares of the items, and their intervals."""

import math
from pathlib import Path

import numpy as np
import pytest

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError, StoppedError
from reinflect.inflector.forecast import SLOPE, Forecast, Outcomes, outcomes, planned, small
from reinflect.inflector.train import Plan
from reinflect.run.resources import Resources, Watcher
from reinflect.settings import changed
from reinflect.systems.symbols import load_preset

ITEMS = [Item(word, Bundle("V;PST"), word + "te") for word in (f"{a}{b}" for a in "abcdef" for b in "klmno")]
TINY = ("epochs=1", "hidden=6", "embedding=5", "history_hidden=4")


def on_a_line(cells: int, slope: float = SLOPE) -> Outcomes:
    """Accuracies whose log odds are on a line, 0 at 80 items."""
    sizes = [20.0, 40.0, 80.0]
    shares = [1 / (1 + math.exp(-slope * math.log(size / 80))) for size in sizes]
    right = np.array([np.arange(cells) < share * cells for share in shares])
    order = np.random.Generator(np.random.PCG64(1)).permutation(cells)
    return Outcomes(sizes, right[:, order], np.arange(cells) % 5)


@pytest.mark.parametrize("slope", [0.4, SLOPE, 1.2])
def test_a_line_is_continued(slope: float) -> None:
    """Between the measured numbers as it is; further on, its slope is nearer to that of other languages."""
    inside, beyond = on_a_line(10_000, slope).expected([57, 320])
    assert inside.accuracy == pytest.approx(100 / (1 + math.exp(-slope * math.log(57 / 80))), abs=1.5)
    own, usual = (100 / (1 + math.exp(-rise * math.log(4))) for rise in (slope, SLOPE))
    assert min(own, usual) - 1 < beyond.accuracy < max(own, usual) + 1
    assert abs(beyond.accuracy - (own + usual) / 2) < abs(own - usual) / 4 + 1
    assert beyond.low < beyond.accuracy < beyond.high


def test_the_interval_is_wider_with_fewer_cells_and_further_away() -> None:
    near, far = on_a_line(100).expected([80, 800])
    (sure,) = on_a_line(10_000).expected([80])
    assert sure.high - sure.low < near.high - near.low < far.high - far.low
    assert on_a_line(100).expected([80, 800]) == (near, far)


def test_few_cells_have_the_slope_of_other_languages() -> None:
    """All right, or none: the fit is still a line that rises, within 0 and 100."""
    for right in (True, False):
        one, other = Outcomes([5.0, 10.0, 20.0], np.full((3, 10), right), np.arange(10) % 5).expected([20, 2000])
        assert 0 <= one.low <= one.accuracy < other.accuracy <= other.high <= 100


def test_shares_are_nested_and_leave_the_fold_out() -> None:
    plan = Plan(settings=load_preset("low", ["haem"]), systems=["haem"], alignments=["naive"], seeds=5)
    _, specs = planned([*ITEMS, Item("ak", Bundle("V;PST"), "akta")], plan)
    for quarter, half, whole in zip(*specs.values(), strict=True):
        parts = [{question(item) for item in spec.lesson.train} for spec in (quarter, half, whole)]
        assert parts[0] < parts[1] < parts[2]
        assert [len(part) for part in parts] == [6, 12, 24]
        assert parts[2].isdisjoint(question(item) for item in whole.lesson.dev)
        assert quarter.lesson.dev == half.lesson.dev == whole.lesson.dev


def test_models_are_scored_on_every_fold_and_nothing_is_left(tmp_path: Path) -> None:
    settings = changed(load_preset("low", ["haem"]), small("low", TINY))
    assert {own.epochs for own in settings.values()} == {1}
    plan = Plan(settings=settings, systems=["haem"], alignments=["naive"], seeds=5, strategy="average")
    made = outcomes(ITEMS, plan, tmp_path / "forecast.json", Resources(), "words")
    assert made.right.shape == (3, 30)
    assert sorted(made.folds.tolist()) == [fold for fold in range(5) for _ in range(6)]
    assert [one.items for one in made.measured] == [6, 12, 24]
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_forecast_is_resumed(tmp_path: Path) -> None:
    settings = changed(load_preset("low", ["haem"]), small("low", (*TINY, "epochs=3")))
    plan = Plan(settings=settings, systems=["haem"], alignments=["naive"], seeds=2)
    checks = iter(range(10_000))
    with pytest.raises(StoppedError, match="the same command resumes the forecast"):
        outcomes(ITEMS, plan, tmp_path / "f.json", Resources(enough=lambda: next(checks) > 12), "words")
    begun = {path.name for path in (tmp_path / "f.json.state").iterdir()}
    assert any(name.endswith((".checkpoint", ".pack.xz")) for name in begun)
    notes = list[str]()

    class Noting(Watcher):
        def note(self, text: str) -> None:
            notes.append(text)

    again = outcomes(ITEMS, plan, tmp_path / "f.json", Resources(watcher=Noting()), "words")
    assert any("resuming an earlier training" in note for note in notes)
    fresh = outcomes(ITEMS, plan, tmp_path / "g.json", Resources(), "words")
    assert (again.right == fresh.right).all()
    assert again.measured == fresh.measured


def test_another_file_is_refused(tmp_path: Path) -> None:
    for text in ("[]", "{}", "no", '{"source": "x"}'):
        (tmp_path / "f.json").write_text(text)
        with pytest.raises(InputError, match="not a forecast of reinflect; make one with"):
            Forecast.read(tmp_path / "f.json")
