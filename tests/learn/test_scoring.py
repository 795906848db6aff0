"""Decoding a fleet in training equals what the slow systems do, one item at a time."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.layers.examples import Examples, Stack
from reinflect.learn import scoring
from reinflect.settings import Settings
from reinflect.systems.system import Decoder, System
from tests.decode.fleets import ITEMS, a_fleet, always, both, every, slow_greedy, small
from tests.systems.small_fleets import HAEM, SmallFleet, actions, language, naive

LISTS = (ITEMS, ITEMS[3:], ITEMS[:2])
"""The items of each model of a fleet."""


def stack_of(fleet: SmallFleet, lists: Sequence[Sequence[Item]]) -> Stack:
    files = [
        Examples.to_inflect(fleet.system, items, own.inventory, fleet.settings)
        for items, own in zip(lists, fleet.languages, strict=True)
    ]
    return Stack(files, dtype=fleet.dtype)


def decoder_of(fleet: SmallFleet) -> Decoder:
    return fleet.system.equations.decoder(fleet.parameters, fleet.settings, fleet.allowed)


def forms_of(fleet: SmallFleet, lists: Sequence[Sequence[Item]], at_once: int) -> list[list[str | None]]:
    files = list(range(len(fleet.languages)))
    predictions = scoring.predict_all(decoder_of(fleet), stack_of(fleet, lists), files, at_once)
    return [forms for forms, _ in predictions]


def accuracies(fleet: SmallFleet, lists: Sequence[Sequence[Item]], at_once: int | None = None) -> list[float]:
    return scoring.accuracies(decoder_of(fleet), stack_of(fleet, lists), list(range(len(lists))), at_once)


@every
def test_a_fleet_predicts_what_its_slow_models_do(system: System, chosen: Settings) -> None:
    fleet = a_fleet(system, chosen, seed=1)
    for at_once in (1, 3, 256):
        predictions = scoring.predict_all(decoder_of(fleet), stack_of(fleet, LISTS), [0, 1, 2], at_once)
        for number, (items, (forms, scores)) in enumerate(zip(LISTS, predictions, strict=True)):
            slow = [slow_greedy(fleet, number, item) for item in items]
            assert forms == [form for form, _ in slow]
            assert scores == pytest.approx([score for _, score in slow], rel=1e-6)


@every
def test_step_by_step_is_teacher_forcing(system: System, chosen: Settings) -> None:
    """Along the oracle's actions, the decoder gives the probabilities that training sees."""
    words = [
        (naive("gehen", "ging"), "V;PST"),
        ((("", "g"), ("", "e"), *naive("sagen", "sagt")), "V"),
        (naive("a", "a"), "N"),
        (naive("ab", ""), ""),
    ]
    own = language(system, words, "V;PST;N")
    fleet = SmallFleet(system, chosen, [own], seed=4)
    batch, _ = fleet.to_learn()
    losses = fleet.losses(batch)
    for place, alignment in enumerate(own.alignments):
        decoder, numbers = decoder_of(fleet), system.choices(own.inventory)
        stack = stack_of(fleet, [own.items])
        lengths = dict.fromkeys(("symbols", "reversed", "literals", "gold"), 9)
        lemmas, _ = stack.to_inflect(torch.tensor([0]), torch.tensor([[place]]), lengths)
        state, form = decoder.start(lemmas), ""
        for t, action in enumerate(actions(system, alignment)):
            scores, state = decoder.log_probabilities(state)
            number = numbers.numbers([action])[0]
            torch.testing.assert_close(-scores[0, 0, number], losses[0, t, place], rtol=1e-10, atol=1e-10)
            written, state = decoder.advance(state, torch.tensor([[number]]))
            form += "" if written.item() < 0 else stack.files[0].spellings[int(written)]
        assert form == own.items[place].form


def near(form: str | None, number: int) -> str:
    """The form, a longer one, a shorter one, or a different one."""
    ended = form or ""
    return [ended, ended + "n", ended[:-1], "gehen", ended, ended + "Ж"][number % 6]


@both
def test_counting_right_forms_equals_comparing_whole_outputs(system: System) -> None:
    fleet = a_fleet(system, small(system))
    predicted = forms_of(fleet, LISTS, 256)
    gold = [
        [Item(item.lemma, item.features, near(form, k + m)) for k, (item, form) in enumerate(pairs)]
        for m, pairs in enumerate(zip(*own, strict=True) for own in zip(LISTS, predicted, strict=True))
    ]
    right = [
        sum(item.form == form for item, form in zip(items, forms, strict=True))
        for items, forms in zip(gold, predicted, strict=True)
    ]
    assert 0 < sum(right) < sum(map(len, gold))
    for at_once in (1, 3, 256):
        expected = [100 * count / len(items) for count, items in zip(right, gold, strict=True)]
        assert accuracies(fleet, gold, at_once) == pytest.approx(expected)


@both
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_stragglers_are_decoded_again_to_the_same_forms(
    system: System, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = a_fleet(system, small(system))
    expected = forms_of(fleet, LISTS, 1)  # one item at a time has none
    gold = [
        [Item(item.lemma, item.features, form or "") for item, form in zip(items, forms, strict=True)]
        for items, forms in zip(LISTS, expected, strict=True)
    ]
    monkeypatch.setattr(scoring, "STRAGGLERS", share)
    whole, several = scoring._add_left, list[bool]()

    def add_left(left: Sequence[list[int]], items: NDArray[np.int64], unfinished: Tensor, leave: int) -> None:
        several.append(leave > 0 and bool(unfinished.any()))
        whole(left, items, unfinished, leave)

    monkeypatch.setattr(scoring, "_add_left", add_left)
    assert forms_of(fleet, LISTS, 8) == expected
    if share in (0.0, 1.0):
        assert any(several) == (share == 1.0)
    ended = [sum(form is not None for form in forms) for forms in expected]
    rights = [100 * many / len(items) for many, items in zip(ended, LISTS, strict=True)]
    assert accuracies(fleet, gold, 8) == pytest.approx(rights)


@both
def test_a_model_that_never_ends_gives_no_form(system: System) -> None:
    fleet = always(system, 3 if system is HAEM else 4)
    assert forms_of(fleet, [[Item("ab", Bundle("V")), Item("a" * 60, Bundle("V"))]], 256) == [[None, None]]


def test_the_cap_does_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short lemma does not get more actions in a batch with a long one."""
    assert scoring.most_actions(torch.tensor([[0, 25, 90]])).tolist() == [[150, 150, 410]]
    fleet = always(HAEM, 0, after=2)  # COPY, until STOP is what is left
    assert forms_of(fleet, [[Item("n" * 80, Bundle("V"))]], 256) == [["n" * 80]]
    items = [Item("gehen", Bundle("V")), Item("gehe", Bundle("V"))]
    monkeypatch.setattr(scoring, "most_actions", lambda lengths: lengths + 1)
    assert forms_of(fleet, [items], 256) == [["gehen", "gehe"]]
    monkeypatch.setattr(scoring, "most_actions", lambda lengths: lengths + (lengths > 4))
    assert forms_of(fleet, [items], 256) == [["gehen", None]]
    assert accuracies(fleet, [[Item(item.lemma, item.features, item.lemma) for item in items]]) == [50.0]
