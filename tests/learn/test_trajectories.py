"""Systems that make their own trajectories: what is taken, and what is right, need not come from tapes."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.layers.examples import Drawn
from reinflect.learn.fleet import Fleet
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import DELETE_NUMBER, STOP_NUMBER
from reinflect.systems.haem.model import HaemBatch
from reinflect.systems.system import System
from tests.learn.tiny import lesson, small, spec_for, updated
from tests.systems.slow_haem import SlowHaem
from tests.systems.small_fleets import HAEM, SmallFleet, actions, tricky, with_settings


def with_trajectories(trajectories: Any) -> System:
    return replace(HAEM, learner=replace(HAEM.equations, trajectories=trajectories))


def wandering(drawn: Drawn, *others: Any) -> HaemBatch:
    """Only DELETEs are taken until STOP; the static oracle's action is the only one of a mask of right ones."""
    batch = drawn.by_oracle(HaemBatch)
    right = F.one_hot(batch.right, others[2].shape[-1]).bool()
    return replace(batch, right=right, taken=torch.where(batch.taken == STOP_NUMBER, batch.taken, DELETE_NUMBER))


def test_a_model_learns_the_right_actions_in_the_states_that_other_actions_lead_to() -> None:
    fleet = SmallFleet(with_trajectories(wandering), with_settings(HAEM), tricky(HAEM), seed=7)
    batch, items = fleet.to_learn()
    losses = fleet.losses(batch)
    for number, row in enumerate(items):
        language = fleet.languages[number]
        for column, item in enumerate(row):
            if item < 0:
                continue
            machine = fleet.machine(number, language.items[item].lemma, language.items[item].features)
            assert isinstance(machine, SlowHaem)
            for step, action in enumerate(actions(HAEM, language.alignments[item])):
                slow = -torch.log(machine.probabilities()[action])
                torch.testing.assert_close(losses[number, step, column], slow, rtol=1e-9, atol=1e-9)
                history, machine.a = machine.a, None
                machine.do(action)
                assert history is not None
                machine.a = history
                history.push(machine.action_embedding(action if action == "STOP" else "DELETE"))
    static = SmallFleet(HAEM, with_settings(HAEM), tricky(HAEM), seed=7)
    assert (static.losses(static.to_learn()[0]) - losses).abs().max() > 1e-3


def test_models_act_by_the_parameters_and_keys_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `trajectories` takes: the epochs behind each model, and keys that differ from update to update."""
    calls: list[tuple[list[int], list[int]]] = []

    def noting(drawn: Drawn, parameters: Any, settings: Any, allowed: Tensor, epochs: Tensor, keys: Tensor) -> Any:
        calls.append((epochs.tolist(), keys.tolist()))
        with torch.no_grad():
            assert torch.isfinite(parameters.flat).all()
            assert HAEM.equations.decoder(parameters, settings, allowed).end == STOP_NUMBER
        return drawn.by_oracle(HaemBatch)

    monkeypatch.setitem(SYSTEMS._loaded, "noting", with_trajectories(noting))
    fleet = updated(Fleet([spec_for(lesson("greek"), "noting", small("haem"), seed) for seed in (1, 2)]), 2)
    updates = len(calls) // 2
    assert len(fleet.runs) == 2
    assert [epochs for epochs, _ in calls] == [[0, 0]] * updates + [[1, 1]] * updates
    assert len({tuple(keys) for _, keys in calls}) == len(calls)
    assert all(len(set(keys)) == 2 for _, keys in calls)
