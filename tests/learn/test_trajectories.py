"""Systems that make their own trajectories: what is taken, and what is right, need not come from tapes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.layers.batches import Drawn
from reinflect.layers.parameters import Parameters
from reinflect.learn.fleet import Fleet, runs_of
from reinflect.learn.lesson import ModelSpec
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import DELETE_NUMBER, STOP_NUMBER, HaemSettings, bound
from reinflect.systems.haem.model import HaemBatch, trajectories
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import ACTIONS, System, Tapes
from reinflect.systems.tapes import Ragged
from tests.learn.tiny import lesson, small, updated
from tests.learn.trained import trained
from tests.systems.slow_haem import SlowHaem
from tests.systems.small_fleets import HAEM, SmallFleet, actions, tricky, with_settings

MOVES, REAL = "moves", "real"
SLACK = 5
"""How many actions more than it has an item is said to have at most."""


def relabelled(drawn: Drawn, *given: object) -> HaemBatch:
    """The static oracle's trajectories, its action the only one of a mask."""
    batch = trajectories(drawn, *given)  # type: ignore[arg-type]
    allowed = given[2]
    assert isinstance(allowed, Tensor)
    return replace(batch, right=F.one_hot(batch.right, allowed.shape[-1]).bool())


def without_actions(items: Sequence[Item], alignments: Sequence[Alignment], inventory: Inventory) -> Tapes:
    """The oracle's tapes under other names: a rollout would not have them, and knows only a bound of their length."""
    made = HAEM.tapes(items, alignments, inventory)
    moves = made.pop(ACTIONS)
    return {**made, MOVES: moves, REAL: Ragged(moves.values * 0 + 1, moves.lengths)}


def rolled_in(
    drawn: Drawn, parameters: Parameters, _settings: HaemSettings, allowed: Tensor, epochs: Tensor, keys: Tensor
) -> HaemBatch:
    """Trajectories whose number of actions is found on the way, in arrays as long as the bound."""
    own = dict(drawn.tapes)
    actions = own.pop(REAL).sum(dim=1)
    assert (actions <= drawn.bounds).all()
    assert len(parameters) == len(allowed) == len(epochs) == len(keys) == len(actions)
    of_actions = (MOVES, "attended", "lemma_left", "written_state", "deleted_state")
    for name in of_actions:
        assert own[name].shape[1] <= drawn.longest
        own[name] = F.pad(own[name], (0, 0, 0, drawn.longest - own[name].shape[1]))
    taken, keep = own.pop(MOVES), own.pop("keep").to(drawn.shares.dtype)
    weights = drawn.weights(actions.clamp(min=1)) * (actions > 0).unsqueeze(1)
    right = F.one_hot(taken, allowed.shape[-1]).bool()
    return HaemBatch(**drawn.lemmas, taken=taken, right=right, weights=weights, keep=keep, **own)


def with_learner(system: System, **changes: Any) -> System:
    return replace(system, learner=replace(system.equations, **changes))


MASKED = with_learner(HAEM, trajectories=relabelled)
EXACT = with_learner(replace(HAEM, tapes=without_actions), trajectories=rolled_in)
BOUNDED = replace(EXACT, bound=lambda item, alignment: bound(item, alignment) + SLACK)
ALL = {"masked": MASKED, "exact": EXACT, "bounded": BOUNDED}
every = pytest.mark.parametrize("name", ALL)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, system in ALL.items():
        monkeypatch.setitem(SYSTEMS._loaded, name, system)


@every
@pytest.mark.parametrize("mean", [False, True])
def test_the_same_trajectories_have_the_same_losses(name: str, mean: bool) -> None:
    chosen = with_settings(HAEM)
    static, own = (SmallFleet(system, chosen, tricky(HAEM), seed=7) for system in (HAEM, ALL[name]))
    expected, items = static.to_learn(mean=mean)
    batch, same_items = own.to_learn(mean=mean)
    assert items == same_items
    most = expected.weights.shape[1]
    assert batch.weights.shape[1] == most + (SLACK if name == "bounded" else 0)
    torch.testing.assert_close(batch.weights[:, :most], expected.weights)
    assert not batch.weights[:, most:].any()
    torch.testing.assert_close(
        own.losses(batch)[:, :most] * expected.weights, static.losses(expected) * expected.weights
    )


def test_without_a_tape_of_actions_their_number_is_bounded() -> None:
    german = lesson("german")
    for name, slack in (("exact", 0), ("bounded", SLACK)):
        (own,), (static,) = (runs_of([ModelSpec(german, system, small("haem"), 1)]) for system in (name, "haem"))
        found, expected = own.stages[0][0], static.stages[0][0]
        assert ACTIONS not in found.arrays
        assert found.bounds.tolist() == [length + slack for length in expected.bounds.tolist()]


@pytest.mark.parametrize(("name", "changes"), [("masked", {}), ("exact", {}), ("bounded", {"batch": 40})])
def test_the_same_trajectories_make_the_same_models(name: str, changes: dict[str, object]) -> None:
    """With looser bounds only where all items come at once: else they come in another order."""
    settings, german = small("haem", dropout=0.2, **changes), lesson("german")
    models, expected = (
        trained([ModelSpec(german, system, settings, seed) for seed in (1, 2)], dtype=torch.float64)[0]
        for system in (name, "haem")
    )
    for model, other in zip(models, expected, strict=True):
        assert [score for *_, score in model.curve] == [score for *_, score in other.curve]
        for part, tensor in model.parameters.items():
            torch.testing.assert_close(tensor, other.parameters[part], rtol=1e-9, atol=1e-9)


def test_what_is_taken_need_not_be_right() -> None:
    """A model that reads other actions than the right ones learns the right ones in the states that those lead to."""

    def wandering(drawn: Drawn, *given: object) -> HaemBatch:
        batch = relabelled(drawn, *given)
        wrong = torch.where(batch.taken == STOP_NUMBER, batch.taken, DELETE_NUMBER)
        return replace(batch, taken=wrong)

    fleet = SmallFleet(with_learner(HAEM, trajectories=wandering), with_settings(HAEM), tricky(HAEM), seed=7)
    static = SmallFleet(HAEM, with_settings(HAEM), tricky(HAEM), seed=7)
    batch, items = fleet.to_learn()
    losses = fleet.losses(batch)
    for number, row in enumerate(items):
        for place, item in enumerate(row):
            if item < 0:
                continue
            own = fleet.languages[number]
            machine = fleet.machine(number, own.items[item].lemma, own.items[item].features)
            assert isinstance(machine, SlowHaem)
            assert machine.a is not None
            for step, action in enumerate(actions(HAEM, own.alignments[item])):
                slow = -torch.log(machine.probabilities()[action])
                torch.testing.assert_close(losses[number, step, place], slow, rtol=1e-9, atol=1e-9)
                before = machine.a
                machine.a = None
                machine.do(action)
                machine.a = before
                machine.a.push(machine.action_embedding(action if action == "STOP" else "DELETE"))
    expected, _ = static.to_learn()
    assert (static.losses(expected) - losses).abs().max() > 1e-3


def test_models_act_by_the_parameters_and_keys_they_have() -> None:
    """What `trajectories` is given: the epochs behind each model, and keys that differ from update to update."""
    given: list[tuple[list[int], list[int]]] = []

    def noting(
        drawn: Drawn, parameters: Parameters, settings: HaemSettings, allowed: Tensor, epochs: Tensor, keys: Tensor
    ) -> HaemBatch:
        given.append((epochs.tolist(), keys.tolist()))
        with torch.no_grad():
            assert torch.isfinite(parameters.flat).all()
            assert system.equations.decoder(parameters, settings, allowed).end == STOP_NUMBER
        return trajectories(drawn, parameters, settings, allowed, epochs, keys)

    system: System = with_learner(HAEM, trajectories=noting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SYSTEMS._loaded, "noting", system)
        specs = [ModelSpec(lesson("greek"), "noting", small("haem"), seed) for seed in (1, 2)]
        own = updated(Fleet(specs), 2)
    updates = len(given) // 2
    assert len(own.runs) == 2
    assert [epochs for epochs, _ in given] == [[0, 0]] * updates + [[1, 1]] * updates
    assert len({tuple(keys) for _, keys in given}) == len(given)
    assert all(len(set(keys)) == 2 for _, keys in given)
