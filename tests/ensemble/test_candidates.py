"""The probabilities that models give to any form."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from reinflect.data.items import Item
from reinflect.decode.greedy import predict_all
from reinflect.decode.traces import follow
from reinflect.ensemble import candidates
from reinflect.ensemble.candidates import Questions, log_probabilities
from reinflect.ensemble.fleets import decoding
from reinflect.ensemble.member import TrainedModel
from reinflect.learn import loop
from reinflect.systems import SYSTEMS
from tests.learn.tiny import lesson, small, spec_for
from tests.systems.slow_haem import SlowHaem
from tests.systems.small_fleets import HAEM, STATIC, Language, SmallFleet, actions, language, naive

WORDS = {
    "one": ["aba ab", "aba abab", "b aa", "abab ba", "a a", "abab abab"],
    "two": ["cde edc", "ce cde", "deed", "d deeed"],
}


def fleet(system: str, **changes: object) -> SmallFleet:
    own = SYSTEMS[system]
    languages = []
    for words in WORDS.values():
        pairs = [(word.split()[0], word.split()[-1]) for word in words]
        bundles = ["V;X", "V;Y", "N"] * 2
        aligned = [(naive(*pair), bundle) for pair, bundle in zip(pairs, bundles, strict=False)]
        languages.append(language(own if own in STATIC else HAEM, aligned, "N;V;X;Y"))
    return SmallFleet(own, small(system, **changes), languages, seed=3, dtype=torch.float32)


def models_of(own: SmallFleet) -> list[TrainedModel]:
    return [
        TrainedModel(
            system=own.system.name,
            alignment="naive",
            seed=number,
            settings=own.settings,
            inventory=its.inventory,
            dev_accuracy=0.0,
            parameters={name: tensor.numpy() for name, tensor in parameters.items()},
        )
        for number, (its, parameters) in enumerate(zip(own.languages, own.models, strict=True))
    ]


def questions(own: Language) -> Questions:
    return own.items, own.alignments


@pytest.mark.parametrize("system", [system.name for system in STATIC])
@pytest.mark.parametrize("limit", [1, 1 << 24])
def test_a_static_oracle_s_actions_taken_one_by_one(system: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with label smoothing, which is no part of a probability, and in batches of one item."""
    monkeypatch.setitem(candidates.NUMBERS_AT_ONCE, "cpu", limit)
    smoothed = {"label_smoothing": 0.2} if system == "soft" else {}
    own = fleet(system, **smoothed)
    found = log_probabilities(models_of(own), [questions(its) for its in own.languages], [0, 1])
    for number, its in enumerate(own.languages):
        slow = [-float(sum(own.slow_losses(number, item))) for item in range(len(its.items))]
        np.testing.assert_allclose(found[number], slow, rtol=1e-4)


@cache
def cost(lemma: str, form: str) -> int:
    """The fewest DELETE and WRITE actions."""
    if not lemma or not form:
        return len(lemma) + len(form)
    ways = [1 + cost(lemma[1:], form), 1 + cost(lemma, form[1:])]
    return min(ways + [cost(lemma[1:], form[1:])] * (lemma[0] == form[0]))


def right_actions(lemma: str, form: str) -> list[str]:
    least = cost(lemma, form)
    found = ["COPY"] * (bool(lemma and form and lemma[0] == form[0]) and cost(lemma[1:], form[1:]) == least)
    found += ["DELETE"] * (bool(lemma) and 1 + cost(lemma[1:], form) == least)
    found += [form[:1]] * (bool(form) and 1 + cost(lemma, form[1:]) == least)
    return found or ["STOP"]


def all_right(taken: Sequence[str], lemma: str, form: str) -> bool:
    for action in taken:
        if action not in right_actions(lemma, form):
            return False
        lemma, form = lemma[action in ("COPY", "DELETE") :], form[action != "DELETE" :]
    return True


def best_right_actions(machine: SlowHaem, lemma: str, form: str) -> float:
    total = 0.0
    while True:
        chances = machine.probabilities()
        action = max(right_actions(lemma, form), key=lambda one: float(chances[one]))
        total += float(torch.log(chances[action]))
        machine.do(action)
        if action == "STOP":
            return total
        lemma, form = lemma[action in ("COPY", "DELETE") :], form[action != "DELETE" :]


def test_by_imitation_the_best_right_actions_taken_one_by_one() -> None:
    own = fleet("imitation", roll_in=2.0)
    found = log_probabilities(models_of(own), [questions(its) for its in own.languages], [0, 1])
    for number, its in enumerate(own.languages):
        weights = {name: tensor.double() for name, tensor in own.models[number].items()}
        slow = [
            best_right_actions(
                SlowHaem(weights, own.settings, its.inventory, item.lemma, item.features),  # type: ignore[arg-type]
                item.lemma,
                item.form,
            )
            for item in its.items
        ]
        np.testing.assert_allclose(found[number], slow, rtol=1e-4)


def test_models_that_share_a_file_are_scored_each_by_its_own_parameters() -> None:
    own = fleet("haem")
    one, two = models_of(own)
    other = {name: array * np.float32(0.5) for name, array in one.parameters.items()}
    files = [questions(its) for its in own.languages]
    twice = [one, two, replace(one, parameters=other)]
    found = log_probabilities(twice, files, [0, 1, 0])
    alone = [log_probabilities([model], [files[file]], [0])[0] for model, file in zip(twice, [0, 1, 0], strict=True)]
    for together, by_itself in zip(found, alone, strict=True):
        np.testing.assert_allclose(together, by_itself, rtol=1e-5)
    assert not np.allclose(found[0], found[2])


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_a_model_s_own_form_has_the_probability_that_it_had_in_decoding(system: str) -> None:
    """Where the model's actions are the oracle's; with one that learns by imitation, any right ones."""
    own, taught = SYSTEMS[system], lesson("german")
    changes = {"step": 0.01, "optimiser": "adam"} if system == "soft" else {}
    settings = small(system, hidden=24, epochs=12, **changes)
    (model,), _ = loop.train([spec_for(taught, system, settings, 1)])
    told = 0
    for item in taught.train:
        decoder, stack, files = decoding([model], [item], "cpu")
        (forms, (score,)), *_ = predict_all(decoder, stack, files)
        steps, ended = follow(decoder, stack, own.choices(model.inventory))
        if ended and forms[0] is not None:
            alignment = naive(item.lemma, forms[0])
            (found,) = log_probabilities([model], [([Item(item.lemma, item.features, forms[0])], [alignment])], [0])
            taken = [step.action for step in steps]
            if all_right(taken, item.lemma, forms[0]) if own not in STATIC else taken == actions(own, alignment):
                assert found[0] == pytest.approx(score, abs=1e-3)
                told += 1
    assert told >= 5
