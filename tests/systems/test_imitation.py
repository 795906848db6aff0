"""HAEM by imitation: the expert, the trajectories, which need not come from tapes, and what is learnt from them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.layers.examples import Drawn, Trajectory
from reinflect.learn.fleet import Fleet
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE, STOP_NUMBER
from reinflect.systems.haem.model import HaemBatch
from reinflect.systems.imitation import bound
from reinflect.systems.imitation.roll_in import Expert, batch_of
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System
from tests.learn.tiny import lesson, small, spec_for, updated
from tests.systems.slow_haem import SlowHaem
from tests.systems.small_fleets import HAEM, SmallFleet, actions, tricky, with_settings

IMITATION = SYSTEMS["imitation"]
ALPHABET = "ab"


def strings(longest: int) -> Iterator[str]:
    for length in range(longest + 1):
        yield from map("".join, product(ALPHABET, repeat=length))


@cache
def distance(one: str, other: str) -> int:
    """Characters to insert and delete; none is replaced."""
    if not one or not other:
        return len(one) + len(other)
    same = distance(one[1:], other[1:]) if one[0] == other[0] else len(one) + len(other)
    return min(same, distance(one[1:], other) + 1, distance(one, other[1:]) + 1)


@cache
def best_end(lemma: str, written: str, form: str, writes_left: int) -> tuple[int, int]:
    """The least distance of a whole form that can be reached, and the least cost to reach one at that distance."""
    return min(total for _, total in choices(lemma, written, form, writes_left))


@cache
def choices(lemma: str, written: str, form: str, writes_left: int) -> list[tuple[str, tuple[int, int]]]:
    """Every action, with the best end that it leads to."""
    found = []

    def lead(action: str, cost: int, *state: str | int) -> None:
        far, rest = best_end(*state)
        found.append((action, (far, rest + cost)))

    if lemma:
        lead("COPY", 0, lemma[1:], written + lemma[0], form, writes_left)
        lead("DELETE", 1, lemma[1:], written, form, writes_left)
    else:
        found.append(("STOP", (distance(written, form), 0)))
    if writes_left:
        for character in ALPHABET:
            lead(character, 1, lemma, written + character, form, writes_left - 1)
    return found


def numbers(text: str, length: int) -> list[int]:
    return [ALPHABET.index(character) + FIRST_CHARACTER for character in text] + [0] * (length - len(text))


def spelled(right: Sequence[bool]) -> set[str]:
    names = {COPY_NUMBER: "COPY", DELETE_NUMBER: "DELETE", STOP_NUMBER: "STOP"}
    names |= {FIRST_WRITE + number: character for number, character in enumerate(ALPHABET)}
    return {names[number] for number, own in enumerate(right) if own}


def test_the_expert_knows_the_actions_that_a_search_finds() -> None:
    """All lemmas, forms and beginnings of up to three characters, in one batch of items with other lengths."""
    cases = [
        (lemma, position, written, form)
        for lemma in strings(3)
        for position in range(len(lemma) + 1)
        for written in strings(3)
        for form in strings(3)
    ]
    lemmas = torch.tensor([numbers(lemma, 3) for lemma, *_ in cases]).T.unsqueeze(0)
    forms = torch.tensor([numbers(form, 4) for *_, form in cases]).T.unsqueeze(0)
    lengths = torch.tensor([[len(lemma) for lemma, *_ in cases]])
    expert = Expert(lemmas, lengths, forms)
    for place in range(3):
        characters = torch.tensor([[numbers(written, 3)[place] for _, _, written, _ in cases]])
        expert.write(torch.where(characters > 0, characters, -1))
    positions = torch.tensor([[position for _, position, *_ in cases]])
    attended = torch.tensor([[numbers(lemma, 4)[position] for lemma, position, *_ in cases]])
    found = expert.right(positions, attended, FIRST_WRITE + len(ALPHABET))[0]
    for (lemma, position, written, form), right in zip(cases, found.tolist(), strict=True):
        known = choices(lemma[position:], written, form, 4)
        best = min(total for _, total in known)
        assert spelled(right) == {action for action, total in known if total == best}, (lemma, position, written, form)


def small_fleet(**changes: object) -> SmallFleet:
    """With languages whose characters are all known, as those of training items are."""
    languages = []
    for own in tricky(HAEM):
        characters = {character for item in own.items for character in item.lemma + item.form}
        languages.append(replace(own, inventory=Inventory(tuple(sorted(characters)), own.inventory.atoms)))
    return SmallFleet(IMITATION, with_settings(IMITATION, **changes), languages, seed=3)


def test_the_static_oracle_taken_throughout_gives_the_losses_and_gradients_of_haem() -> None:
    settings = with_settings(HAEM)
    haem = SmallFleet(HAEM, settings, tricky(HAEM), seed=3)
    batch, _ = haem.to_learn()
    drawn, _ = haem.drawn()
    outputs = haem.parameters.sizes["actions"]
    # Padding has action 0, but `batch_of` sees STOP there.
    taken = torch.where(batch.weights > 0, batch.taken, STOP_NUMBER)
    right = F.one_hot(taken, outputs).bool()
    own = batch_of(drawn, taken, right, drawn.bounds)
    for name in ("attended", "lemma_left", "written_state", "deleted_state"):
        torch.testing.assert_close(
            getattr(own, name) * (batch.weights > 0), getattr(batch, name) * (batch.weights > 0), check_dtype=False
        )

    def slopes(of: Trajectory) -> tuple[Tensor, Tensor]:
        haem.parameters.watch()
        losses = HAEM.equations.losses(haem.parameters, of, settings, haem.allowed, None) * of.weights
        haem.parameters.derive(losses.sum())
        return losses.detach(), haem.parameters.flat_gradient().clone()

    for found, expected in zip(slopes(own), slopes(batch), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("roll_in", [1e8, 12.0, 1.0])
def test_trajectories_are_what_an_expert_and_the_model_do_together(roll_in: float) -> None:
    fleet, alone = small_fleet(roll_in=roll_in), roll_in > 100
    batch, items = fleet.to_learn(epochs=30)
    drawn, _ = fleet.drawn()
    wrong = 0
    for model, own in enumerate(fleet.languages):
        vocabulary = IMITATION.choices(own.inventory)
        for column, number in enumerate(items[model]):
            if number < 0:
                assert not batch.weights[model, :, column].any()
                continue
            item = own.items[number]
            steps = int((batch.weights[model, :, column] > 0).sum())
            taken = [vocabulary.symbols[action] for action in batch.taken[model, :steps, column].tolist()]
            assert "STOP" not in taken[:-1]
            assert taken[-1] == "STOP" or steps == drawn.bounds[model, column]
            position, written = 0, ""
            for step, action in enumerate(taken):
                assert batch.attended[model, step, column] == (position + 1 if position < len(item.lemma) else 0)
                assert batch.written_state[model, step, column] == len(written)
                right = batch.right[model, step, column]
                assert right.any()
                wrong += not right[batch.taken[model, step, column]]
                written += item.lemma[position] if action == "COPY" else action if len(action) == 1 else ""
                position += action in ("COPY", "DELETE")
            if alone:
                assert written == item.form
    assert bool(wrong) != alone


def test_a_bound_has_room_for_a_cheapest_trajectory_and_four_mistakes() -> None:
    for lemma, form in product(strings(3), strings(3)):
        common = (len(lemma) + len(form) - distance(lemma, form)) // 2
        cheapest = len(lemma) + len(form) - common + 1
        assert bound(Item(lemma, Bundle("V"), form), ()) == cheapest + 4


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
