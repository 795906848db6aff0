"""Models that start from another: rows of the same names are taken over, the others start as usual."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor

from reinflect.ensemble.strategies import Member
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from tests.learn.tiny import language, lesson, small, spec_for
from tests.learn.trained import difference, spoil, trained


def some_german() -> Lesson:
    """Fewer letters and features than German has."""
    items = [item for item in language("german") if "PTCP" not in item.features.spelling and "k" not in item.lemma]
    whole = lesson("german")
    pairs = [pair for pair in zip(whole.train, whole.alignments, strict=True) if pair[0] in items]
    return replace(whole, train=tuple(item for item, _ in pairs), alignments=tuple(own for _, own in pairs))


def earlier(system: str, settings: Settings | None = None, seed: int = 5) -> Member:
    (model,), _ = trained([spec_for(some_german(), system, settings or small(system), seed)])
    return model.member


def first_numbers(spec: ModelSpec) -> dict[str, Tensor]:
    return Fleet([spec]).trained(0)


def check(spec: ModelSpec) -> tuple[int, int]:
    """Look at every number: where does it come from? How many are taken over, and how many are not."""
    assert spec.start is not None
    system = SYSTEMS[spec.system]
    own = system.names(spec.lesson.inventory, spec.settings)
    others = system.names(spec.start.inventory, spec.start.settings)
    fresh, found = first_numbers(replace(spec, start=None)), first_numbers(spec)
    taken = left = 0
    for name, shape in system.shapes(spec.settings).items():
        other = spec.start.parameters.get(name)
        fits = other is not None and all(
            isinstance(size, str) or other.shape[place] == size for place, size in enumerate(shape.sizes)
        )
        for place in product(*(range(size) for size in found[name].shape)):
            there = [
                at
                if not isinstance(size, str)
                else others[size].index(own[size][at])
                if own[size][at] in others[size]
                else -1
                for at, size in zip(place, shape.sizes, strict=True)
            ]
            if fits and -1 not in there:
                assert other is not None
                assert found[name][place] == other[tuple(there)], (name, place)
                taken += 1
            else:
                assert found[name][place] == fresh[name][place], (name, place)
                left += 1
    return taken, left


@pytest.mark.parametrize("features", ["set", "embedded"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_rows_of_the_same_names_are_taken_over(system: str, features: str) -> None:
    settings = small(system, features=features)
    taken, left = check(spec_for(lesson("german"), system, settings, 1, earlier(system, settings)))
    assert taken > left > 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_letters_that_a_model_no_longer_has_are_left_behind(system: str) -> None:
    (model,), _ = trained([spec_for(lesson("german"), system, small(system), 5)])
    taken, left = check(spec_for(some_german(), system, small(system), 1, model.member))
    assert taken > 0
    assert left == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_parameters_of_another_size_stay_as_they_are(system: str) -> None:
    start = earlier(system, small(system, hidden=7))
    spec = spec_for(lesson("german"), system, small(system), 1, start)
    assert min(check(spec)) > 0


def test_each_model_of_a_fleet_has_its_own_start() -> None:
    specs = [spec_for(lesson("german"), "haem", small("haem"), 1, earlier("haem", seed=seed)) for seed in (5, 6)]
    specs.append(spec_for(lesson("turkish"), "haem", small("haem"), 1))
    together = Fleet(specs)
    for number, spec in enumerate(specs):
        alone = first_numbers(spec)
        assert all(torch.equal(tensor, alone[name]) for name, tensor in together.trained(number).items())


def test_a_model_that_diverges_starts_from_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    start = earlier("haem")
    spec = spec_for(lesson("german"), "haem", small("haem"), 2, start)
    spoil(monkeypatch, {2}, epoch_number=1)
    (found,), _ = trained([spec], dtype=torch.float64)
    monkeypatch.undo()
    (alone,), _ = trained([replace(spec, seed=found.progress.seed)], dtype=torch.float64)
    assert found.model.restarts == 1
    assert difference(found, alone) < 1e-8


def test_a_start_changes_the_digest() -> None:
    one, other = earlier("haem"), earlier("haem", seed=6)
    spec = spec_for(lesson("german"), "haem", small("haem"), 1)
    digests = {replace(spec, start=start).digest for start in (None, one, other)}
    assert len(digests) == 3
    assert replace(spec, start=one).digest == replace(spec, start=earlier("haem")).digest
    # It does not matter how good the other was.
    assert replace(spec, start=replace(one, dev_accuracy=1.0, seed=9)).digest == replace(spec, start=one).digest
