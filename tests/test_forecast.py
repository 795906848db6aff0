"""A forecast: lines through accuracies at shares of the items, and their intervals."""

import math
from pathlib import Path

import numpy as np
import pytest

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError, StoppedError
from reinflect.forecast import SLOPE, Forecast, Outcomes, outcomes, share_specs, small_plan
from reinflect.run.watch import Resources
from reinflect.systems.kind import Wish
from tests.test_train import Listener

ITEMS = [Item(word, Bundle("V;PST"), word + "te") for word in (f"{a}{b}" for a in "abcdef" for b in "klmno")]
TINY = ("hidden=6", "embedding=5", "history_hidden=4")


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
    steep, usual = (100 / (1 + math.exp(-rise * math.log(4))) for rise in (slope, SLOPE))
    assert min(steep, usual) - 1 < beyond.accuracy < max(steep, usual) + 1
    assert abs(beyond.accuracy - (steep + usual) / 2) < abs(steep - usual) / 4 + 1
    assert beyond.low < beyond.accuracy < beyond.high


def test_the_interval_is_wider_with_fewer_cells_and_further_away() -> None:
    near, far = on_a_line(100).expected([80, 800])
    (sure,) = on_a_line(10_000).expected([80])
    assert sure.high - sure.low < near.high - near.low < far.high - far.low
    assert on_a_line(100).expected([80, 800]) == (near, far)


@pytest.mark.parametrize("right", [True, False])
def test_few_cells_have_the_slope_of_other_languages(right: bool) -> None:
    """All right, or none: the fit is still a line that rises, within 0 and 100."""
    near, far = Outcomes([5.0, 10.0, 20.0], np.full((3, 10), right), np.arange(10) % 5).expected([20, 2000])
    assert 0 <= near.low <= near.accuracy < far.accuracy <= far.high <= 100


def test_shares_are_nested_and_leave_the_fold_out() -> None:
    plan = small_plan(Wish(["haem-naive"], preset="low"), 1)
    shares = share_specs([*ITEMS, Item("ak", Bundle("V;PST"), "akta")], plan)
    for quarter, half, whole in zip(*shares.values(), strict=True):
        parts = [{question(item) for item in spec.lesson.train} for spec in (quarter, half, whole)]
        assert parts[0] < parts[1] < parts[2]
        assert [len(part) for part in parts] == [6, 12, 24]
        assert parts[2].isdisjoint(question(item) for item in whole.lesson.dev)
        assert quarter.lesson.dev == half.lesson.dev == whole.lesson.dev


def forecast(out: Path, epochs: int, seeds: int, resources: Resources) -> Outcomes:
    plan = small_plan(Wish(["haem-naive"], preset="low", changes=[*TINY, f"epochs={epochs}"], seeds=seeds), 30)
    assert (plan.settings["haem"].epochs, plan.settings["haem"].batch, plan.strategy) == (epochs, 4, "average")
    return outcomes(ITEMS, share_specs(ITEMS, plan), plan.strategy, out, resources)


def test_models_are_scored_on_every_fold_and_nothing_is_left(tmp_path: Path) -> None:
    scored = forecast(tmp_path / "forecast.json", 1, 5, Resources())
    assert scored.right.shape == (3, 30)
    assert sorted(scored.folds.tolist()) == [fold for fold in range(5) for _ in range(6)]
    assert [measured.items for measured in scored.measured] == [6, 12, 24]
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_forecast_is_resumed(tmp_path: Path) -> None:
    checks = iter(range(10_000))
    with pytest.raises(StoppedError, match="the same command resumes the forecast"):
        forecast(tmp_path / "f.json", 3, 2, Resources(enough=lambda: next(checks) > 12))
    begun = {path.name for path in (tmp_path / "f.json.state").iterdir()}
    assert any(name.endswith((".checkpoint", ".pack.xz")) for name in begun)
    listener = Listener()
    again = forecast(tmp_path / "f.json", 3, 2, Resources(watcher=listener))
    assert any("resuming an earlier training" in note for note in listener.notes)
    fresh = forecast(tmp_path / "g.json", 3, 2, Resources())
    assert (again.right == fresh.right).all()
    assert again.measured == fresh.measured


def test_another_file_is_refused(tmp_path: Path) -> None:
    for text in ("[]", "{}", "no", '{"source": "x"}'):
        (tmp_path / "f.json").write_text(text)
        with pytest.raises(InputError, match="not a forecast of reinflect; make one with"):
            Forecast.read(tmp_path / "f.json")
