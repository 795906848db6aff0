"""A fleet is its members."""

import msgspec
import pytest
import torch

from reinflect.settings import Settings
from reinflect.training.fleet import Fleet
from tests.training.tiny import SMALL, fleet, task, updated

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


def settings(kind: str) -> Settings:
    return msgspec.structs.replace(SMALL, **KINDS[kind])


def difference(one: Fleet, number: int, other: Fleet, place: int) -> float:
    """The largest, over all parameters of a model in two fleets."""
    for own, column in ((one, number), (other, place)):
        own.snapshot([column])
    left, right = one.trained(number), other.trained(place)
    assert left.keys() == right.keys()
    return max(float((left[name] - right[name]).abs().max()) for name in left)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_a_model_trains_in_any_fleet_as_it_does_alone(system: str, kind: str) -> None:
    tasks = {name: task(name, system, settings(kind)) for name in LANGUAGES}
    work = [(tasks["german"], 1), (tasks["greek"], 2), (tasks["turkish"], 1), (tasks["german"], 7)]
    together = updated(fleet(*work, dtype=torch.float64), 2)
    turned = updated(fleet(*reversed(work), dtype=torch.float64), 2)
    for number, (own, seed) in enumerate(work):
        alone = updated(fleet((own, seed), dtype=torch.float64), 2)
        fresh = fleet((own, seed), dtype=torch.float64)
        assert difference(alone, 0, fresh, 0) > 1e-3, "nothing was learnt, so nothing is compared"
        assert difference(together, number, alone, 0) < 1e-8
        assert difference(turned, len(work) - 1 - number, alone, 0) < 1e-8


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_seeds_matter(system: str) -> None:
    own = task("greek", system)
    both = updated(fleet((own, 1), (own, 2)), 1)
    assert difference(both, 0, both, 1) > 1e-3


@pytest.mark.parametrize("system", ["hacm", "haem"])
def test_the_same_fleet_twice_is_the_same_to_the_bit(system: str) -> None:
    own = settings("dropout")
    work = [(task(name, system, own, "smart"), seed) for name in LANGUAGES for seed in (1, 2)]
    once, again = (updated(fleet(*work), 2) for _ in range(2))
    assert torch.equal(once.parameters.flat, again.parameters.flat)
    assert once.score() == again.score()


def test_accuracies_are_those_of_each_model_alone() -> None:
    work = [(task(name, "haem"), 1) for name in LANGUAGES]
    together = updated(fleet(*work, dtype=torch.float64), 12)
    alone = [updated(fleet(own, dtype=torch.float64), 12).score()[0] for own in work]
    assert together.score() == alone
    assert max(alone) > 0


def test_a_fleet_has_one_system_and_one_set_of_settings() -> None:
    with pytest.raises(ValueError, match="one system"):
        fleet((task("greek", "haem"), 1), (task("greek", "hacm"), 1))
    with pytest.raises(ValueError, match="one set of settings"):
        fleet((task("greek", "haem"), 1), (task("greek", "haem", settings("coupled")), 1))
