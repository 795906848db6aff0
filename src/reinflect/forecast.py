"""A forecast: how many forms a model will get right once it has learnt from more of them.

For each fold of the items, small models learn from a quarter, a half and all of the items outside it, and inflect those
in it. The log odds of a right form grow with the logarithm of the number of items, nearly in a straight line, which is
fitted with the slope of other languages as a prior. The interval is that of lines fitted to cells drawn at random,
folds first, with a slope that changes at random outside the measured range.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.assemble import voters_of
from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.ensemble.strategies import best_first, combined, find_strategy
from reinflect.errors import InputError, ReinflectError, StoppedError
from reinflect.files import read_bytes
from reinflect.learn.lesson import Lesson, ModelSpec, lessons_of, specs
from reinflect.settings import key, preset_for
from reinflect.systems.kind import PAPER_SYSTEMS, Plan, Wish, make_plan

if TYPE_CHECKING:
    from reinflect.run.watch import Resources

SHARES = {"quarter": 0.25, "half": 0.5, "all": 1.0}
"""Of the items outside a fold."""
SMALL: Mapping[str, Sequence[str]] = {
    "low": ("hidden=60", "embedding=50", "batch=4", "step=2", "epochs=30"),
    "medium": ("hidden=60", "embedding=50", "batch=4", "step=2", "epochs=20"),
    "high": ("hidden=100", "batch=8", "step=2", "epochs=10"),
}
"""Changes to presets that make models small and quick, with updates enough for a quarter of the items."""
SLOPE, SPREAD = 0.77, 0.3
"""Of the line, from 100 to 1,000 items: mean and standard deviation over the 52 languages of results/paper."""
DRIFT = 0.3
"""The standard deviation of the change of slope beyond the measured range; chosen by `python -m bench.forecast`."""
TAILS = (10, 90)
"""The percentiles of the interval: the truth is to be in it four times out of five."""
DRAWS, CURVE = 1000, 25
"""Fitted lines of an interval; points of the curve that a report draws."""

Numbers = NDArray[np.float64]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class Measured(msgspec.Struct, frozen=True):
    """The accuracy of models that learnt from this number of items, and the number of held-out cells."""

    items: Count
    accuracy: Percent
    scored: Count


class Expected(msgspec.Struct, frozen=True):
    """The accuracy to expect of models that learn from this number of items, with an interval."""

    items: Count
    low: Percent
    accuracy: Percent
    high: Percent

    def __str__(self) -> str:
        return f"With {self.items:,} forms expect {self.low:.0f} to {self.high:.0f} % right"


class Forecast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured, and what to expect; its file is JSON with these fields."""

    source: str
    items: int
    models: tuple[str, ...]
    """Their kinds: for each share of each fold there is one model of each kind."""
    measured: tuple[Measured, ...]
    expected: tuple[Expected, ...]
    """For the user's numbers of forms."""
    curve: tuple[Expected, ...] = ()
    """For numbers between the smallest and the largest, to draw."""

    @classmethod
    def read(cls, path: Path | str) -> "Forecast":
        try:
            return msgspec.json.decode(read_bytes(path), type=cls)
        except (ValueError, RecursionError):
            remedy = "make one with: reinflect forecast --train FILE --out FORECAST.json"
            raise InputError("not a forecast of reinflect", remedy, path=path) from None


@dataclass(frozen=True)
class Outcomes:
    """The held-out cells that models of each share have right."""

    sizes: Sequence[float]
    """The mean number of items of each share."""
    right: NDArray[np.bool_]
    """*Shape:* a row for each share, a column for each cell."""
    folds: NDArray[np.int64]
    """The fold of each cell."""

    @property
    def measured(self) -> tuple[Measured, ...]:
        shares = zip(self.sizes, self.right, strict=True)
        return tuple(Measured(round(size), round(100 * float(row.mean()), 2), len(row)) for size, row in shares)

    def forecast(self, numbers: Sequence[int], source: str, items: int, kinds: Sequence[str]) -> Forecast:
        sizes = sorted({round(size) for size in np.geomspace(self.sizes[0], max(*numbers, items), CURVE)})
        return Forecast(source, items, tuple(kinds), self.measured, self.expected(numbers), self.expected(sizes))

    def expected(self, numbers: Sequence[int]) -> tuple[Expected, ...]:
        random = np.random.Generator(np.random.PCG64(key("forecast", "draws")))
        cells = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        drawn = [self.right]  # the line of the expectation; all others make the interval
        for _ in range(DRAWS):
            folds = [cells[fold] for fold in random.integers(len(cells), size=len(cells))]
            drawn.append(self.right[:, np.concatenate([random.choice(fold, len(fold)) for fold in folds])])
        right = np.array([draw.sum(axis=1) for draw in drawn], np.float64)
        scored = np.array([[draw.shape[1]] for draw in drawn], np.float64)
        logs, drifts = np.log(self.sizes), random.normal(0, DRIFT, DRAWS)
        levels, slopes, further = _lines(logs - logs[-1], right, scored)
        expected = []
        for items, distance in zip(numbers, np.log(numbers) - logs[-1], strict=True):
            odds = levels + (slopes if distance < 0 else further) * distance
            odds[1:] += drifts * max(0.0, distance)
            share = 100 / (1 + np.exp(-odds))
            low, high = np.percentile(share[1:], TAILS)
            expected.append(Expected(items, *(round(float(figure), 2) for figure in (low, share[0], high))))
        return tuple(expected)


def _lines(x: Numbers, right: Numbers, scored: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Level at x = 0 of the log odds, slope, and slope further on, by weighted least squares. *Shape:* a row a line

    However many cells there are, the slope further on is that of the line only up to `DRIFT`: nearer to the prior.
    """
    right, wrong, prior = right + 0.5, scored - right + 0.5, SPREAD**-2
    odds, weights = np.log(right / wrong), right * wrong / (scored + 1)
    mean_x, mean_y = (np.average(np.broadcast_to(axis, odds.shape), axis=1, weights=weights) for axis in (x, odds))
    apart = x - mean_x[:, np.newaxis]
    precision = (weights * apart**2).sum(axis=1)
    measured = (weights * apart * odds).sum(axis=1) / precision
    slopes, further = (
        (sure * measured + prior * SLOPE) / (sure + prior) for sure in (precision, 1 / (1 / precision + DRIFT**2))
    )
    return mean_y - slopes * mean_x, slopes, further


def small_plan(wish: Wish, items: int) -> Plan:
    """The plan of a wish with small models, scored at their end only, so that no held-out form picks their version."""
    preset = preset_for(items) if wish.preset == "auto" else wish.preset
    systems = wish.systems or (None if wish.kinds else PAPER_SYSTEMS)
    changes = [*SMALL.get(preset, ()), *wish.changes, "score_from=4000"]
    # Of two models with different forms, a vote would be that of the first.
    small = msgspec.structs.replace(wish, systems=systems, preset=preset, changes=changes, strategy="average")
    return make_plan(small, items)


def share_specs(items: Sequence[Item], plan: Plan, source: Path | str = "training data") -> dict[str, list[ModelSpec]]:
    """The models of a plan for each share of the items. The cells of a share are among those of any larger one."""

    def with_share(lesson: Lesson, name: str) -> Lesson:
        cells = sorted({question(item) for item in lesson.train})
        order = np.random.Generator(np.random.PCG64(key("forecast", lesson.fold or 0))).permutation(len(cells))
        chosen = {cells[cell] for cell in order[: max(1, round(SHARES[name] * len(cells)))].tolist()}
        return replace(lesson, train=tuple(item for item in lesson.train if question(item) in chosen), setting=name)

    lessons = lessons_of(items, None, max(plan.kinds.values()), source)
    return {name: specs(plan, [with_share(lesson, name) for lesson in lessons]) for name in SHARES}


def outcomes(
    items: Sequence[Item], shares: Mapping[str, Sequence[ModelSpec]], strategy: str, out: Path, resources: "Resources"
) -> Outcomes:
    """Train the models of each share. A later call resumes an interrupted one from the folder `OUT.state`."""
    from reinflect.run.driver import train_specs
    from reinflect.run.store import Store

    model_specs = [spec for share in shares.values() for spec in share]
    with replace(Store.beside(out), kept_numbers=None).held() as store:
        execution = train_specs(model_specs, store, resources)
        if execution.failed:
            raise ReinflectError(execution.failed)
        if not execution.finished:
            raise StoppedError("stopped before all models were trained; the same command resumes the forecast")
        trained = store.get(model_specs)
        store.remove()
    folds = {
        (item.lemma, item.features.spelling): spec.lesson.fold for spec in shares["all"] for item in spec.lesson.dev
    }
    right = []
    for share in shares.values():
        voters = best_first(voters_of([trained[spec.digest] for spec in share], items, None))
        gold = {cell: forms for voter in voters for cell, forms in voter.gold.items()}
        forms = combined(find_strategy(strategy), voters)
        right.append([forms.get(cell) in gold.get(cell, ()) for cell in folds])
    sizes = [fmean(len(spec.lesson.train) for spec in share) for share in shares.values()]
    return Outcomes(sizes, np.array(right), np.array([*folds.values()]))
