"""A fleet is its members."""

import msgspec
import pytest
import torch

from reinflect.learn.fleet import Fleet
from reinflect.settings import Settings
from tests.learn.tiny import SMALL, lesson, small, spec_for, updated

LANGUAGES = ("german", "greek", "turkish")
KINDS: dict[str, dict[str, object]] = {
    "plain": {},
    "coupled": {"cell": "coupled"},
    "embedded features": {"features": "embedded"},
    "counts, sum": {"features": "counts", "loss": "sum"},
    "dropout": {"dropout": 0.4, "dropout_on": ("encoder", "written", "deleted", "history", "state")},
    "plain dropout": {"dropout": 0.4, "dropout_kind": "plain", "cell": "coupled"},
    "adam": {"optimiser": "adam", "step": 0.01, "rho": 0.999, "epsilon": 1e-8},
    "uneven batches": {"batch": 5},
    "tied, no copy": {"tied": True, "copy_mixture": False, "history": False, "deletions": False},
}


def settings(system: str, kind: str) -> Settings:
    return small(system, roll_in=2.0, **KINDS[kind])


def difference(one: Fleet, number: int, other: Fleet, place: int) -> float:
    """The largest, over all parameters of a model in two fleets."""
    for own, column in ((one, number), (other, place)):
        own.snapshot([column])
    left, right = one.trained(number), other.trained(place)
    assert left.keys() == right.keys()
    return max(float((left[name] - right[name]).abs().max()) for name in left)


CASES = [
    *((system, kind) for system in ("hacm", "haem") for kind in KINDS),
    *((system, kind) for system in ("soft", "imitation") for kind in ("plain", "plain dropout", "counts, sum")),
]


@pytest.mark.parametrize(("system", "kind"), CASES)
def test_a_model_trains_in_any_fleet_as_it_does_alone(system: str, kind: str) -> None:
    seeds = [("german", 1), ("greek", 2), ("turkish", 1), ("german", 7)]
    work = [spec_for(lesson(name), system, settings(system, kind), seed) for name, seed in seeds]
    together = updated(Fleet(work, dtype=torch.float64), 2)
    turned = updated(Fleet(work[::-1], dtype=torch.float64), 2)
    for number, own in enumerate(work):
        alone = updated(Fleet([own], dtype=torch.float64), 2)
        fresh = Fleet([own], dtype=torch.float64)
        assert difference(alone, 0, fresh, 0) > 1e-3, "nothing was learnt, so nothing is compared"
        assert difference(together, number, alone, 0) < 1e-8
        assert difference(turned, len(work) - 1 - number, alone, 0) < 1e-8


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_the_same_fleet_twice_is_the_same_to_the_bit(system: str) -> None:
    own = settings(system, "dropout")
    work = [spec_for(lesson(name, "smart"), system, own, seed) for name in LANGUAGES for seed in (1, 2)]
    once, again = (updated(Fleet(work), 2) for _ in range(2))
    assert torch.equal(once.parameters.flat, again.parameters.flat)
    assert once.score() == again.score()


VARIANTS: tuple[dict[str, object], ...] = (
    {},
    {"feature_scale": 7.3, "dropout": 0.6, "clip": 0.2},
    {"step": 0.3, "rho": 0.8, "epsilon": 1e-4, "loss": "sum"},
    {"dropout": 0.2, "step": 0.1, "clip": 0.01},
)


@pytest.mark.parametrize("kind", ["plain", "plain dropout", "embedded features", "adam"])
@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_models_of_one_fleet_have_settings_of_their_own(system: str, kind: str) -> None:
    variants = [msgspec.structs.replace(settings(system, kind), **changes) for changes in VARIANTS]
    work = [spec_for(lesson(name), system, own) for own in variants for name in ("german", "greek")]
    together = updated(Fleet(work, dtype=torch.float64), 2)
    alone = [updated(Fleet([one], dtype=torch.float64), 2) for one in work]
    for number, own in enumerate(alone):
        assert difference(together, number, own, 0) < 1e-8
        if number >= 2:
            assert difference(together, number, alone[number % 2], 0) > 1e-3, "the settings made no difference"
    assert together.score() == [own.score()[0] for own in alone]


def test_models_that_see_the_same_arrays_share_them() -> None:
    own = lesson("greek")
    variants = [msgspec.structs.replace(SMALL, **changes) for changes in VARIANTS]
    specs = [spec_for(own, "haem", settings, seed) for settings in variants for seed in (1, 2)]
    made = Fleet(specs)
    assert made.files == [0, 0, 1, 1, 0, 0, 0, 0]
    assert len(made.train.files) == len(made.dev.files) == 2
    assert [model.settings for model in made.runs] == [spec.settings for spec in specs]


def test_there_is_no_dropout_where_no_model_has_any() -> None:
    own = lesson("greek")
    made = Fleet([spec_for(own, settings=small("haem", dropout=0.3)), spec_for(own)])
    assert made.dropout is not None
    made.runs[0].finished = True
    made.drop_finished()
    assert made.dropout is None


def test_a_fleet_has_one_system_and_like_settings() -> None:
    own = lesson("greek")
    for other in (spec_for(own, "hacm"), spec_for(own, settings=settings("haem", "coupled"))):
        with pytest.raises(ValueError, match="not alike"):
            Fleet([spec_for(own), other])
