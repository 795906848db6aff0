"""Decoding in batches equals what the slow systems do, one item at a time."""

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode import greedy
from reinflect.decode.forms import ENDLESS_RUN, LEAST_ACTIONS
from reinflect.layers.batches import Lemmas
from reinflect.layers.examples import Examples, Stack
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Decoder, System
from tests.systems.slow_haem import SlowHaem
from tests.systems.slow_soft import SlowSoft
from tests.systems.small_fleets import (
    HACM,
    HAEM,
    SOFT,
    STATIC,
    Language,
    SmallFleet,
    actions,
    language,
    naive,
    settings_of,
)

SMALL = {
    "embedding": 3,
    "hidden": 5,
    "history_hidden": 4,
    "feature_scale": 1.0,
    "attention": 4,
}


def small(system: System, **changes: object) -> Settings:
    return settings_of(system, **SMALL, **changes)


both = pytest.mark.parametrize("system", STATIC, ids=lambda system: system.name)
every = pytest.mark.parametrize(
    ("system", "chosen"),
    [
        (HACM, small(HACM)),
        (HACM, small(HACM, copy_mixture=False, cell="coupled")),
        (HAEM, small(HAEM)),
        (HAEM, small(HAEM, history=False, deletions=False, features="embedded")),
        (HAEM, small(HAEM, tied=True, cell="coupled")),
        (SOFT, small(SOFT)),
        (SOFT, small(SOFT, features="counts", cell="coupled")),
        (SOFT, small(SOFT, encoder_layers=2)),
    ],
    ids=["hacm", "hacm-plain", "haem", "haem-basic", "haem-tied", "soft", "soft-counts", "soft-deeper"],
)

LEMMAS = [
    "gehen",
    "a",
    "Äpfel",
    "",
    "laufen 漢字",
    "ge\u0301hen",
    "xyz",
    "😀😀😀😀",
    "nnnnn",
    "b" * 45,
    "*_<s>",
    "sagen",
]
ITEMS = [Item(lemma, Bundle(("V;PST", "N", "", "V;?;?")[k % 4])) for k, lemma in enumerate(LEMMAS)]


def a_fleet(system: System, chosen: Settings, seed: int = 5, models: int = 3) -> SmallFleet:
    """Models with different alphabets that end some words and not others."""
    alphabets = ["aeghnlufs", "ab*_<>sn", "äeglnpfx", "ghn"]
    atoms = ["V;PST", "N", "A;N;PST;V", "V"]
    none = ((), (), Inventory((), ()))
    languages = [
        Language(*none[:2], Inventory(tuple(sorted(alphabets[k % 4])), tuple(sorted(atoms[k % 4].split(";")))))
        for k in range(models)
    ]
    fleet = SmallFleet(system, chosen, languages, seed, spread=0.9)
    for model in fleet.models:
        bias = model["output.bias"]
        if system is HACM:
            bias[2] += 1.0  # </s>
            bias[3] += 2.0  # STEP
        elif system is SOFT:
            bias[2] += 2.0  # </s>
        else:
            bias[:3] += torch.tensor([4.0, 3.5, 6.0])  # COPY, DELETE, STOP
    fleet.refresh()
    return fleet


def stack_of(fleet: SmallFleet, items: Sequence[Sequence[Item]]) -> Stack:
    files = [
        Examples.to_inflect(fleet.system, own, language.inventory, fleet.settings)
        for own, language in zip(items, fleet.languages, strict=True)
    ]
    return Stack(files, dtype=fleet.dtype)


def decoder_of(fleet: SmallFleet) -> Decoder:
    return fleet.system.equations.decoder(fleet.parameters, fleet.settings, fleet.allowed)


def fast_forms(fleet: SmallFleet, items: Sequence[Sequence[Item]], at_once: int) -> list[list[str | None]]:
    files = list(range(len(fleet.languages)))
    return [list(own.forms) for own in greedy.predict_all(decoder_of(fleet), stack_of(fleet, items), files, at_once)]


def slow_form(fleet: SmallFleet, number: int, item: Item) -> str | None:
    return slow_answer(fleet, number, item)[0]


def slow_answer(fleet: SmallFleet, number: int, item: Item) -> tuple[str | None, float]:
    """The most probable action at every step, until the end or the cap; and the log-probability of all actions."""
    machine = fleet.machine(number, item.lemma, item.features)
    length = len(machine.source) if isinstance(machine, SlowSoft) else len(item.lemma) + 2 * (fleet.system is HACM)
    form, probable = "", 0.0
    for _ in range(max(LEAST_ACTIONS, 4 * length + 50)):
        choices = machine.choices()
        action = max(choices, key=lambda name: choices[name].item())
        probable += math.log(choices[action].item())
        form += machine.do(action)
        if action == machine.end:
            return form, probable
        if form.endswith(form[-1:] * (ENDLESS_RUN + length)) and form:
            break
    return None, probable


@every
def test_greedy_decoding_equals_the_slow_one(system: System, chosen: Settings) -> None:
    items = [ITEMS, ITEMS[3:], ITEMS[:2]]
    ended = written = 0
    for seed in (1, 2, 3, 4):
        fleet = a_fleet(system, chosen, seed)
        expected = [[slow_form(fleet, number, item) for item in own] for number, own in enumerate(items)]
        for at_once in (1, 3, 256):
            assert fast_forms(fleet, items, at_once) == expected
        answers = list(zip(chain(*items), chain(*expected), strict=True))
        ended += sum(form is not None for _, form in answers)
        written += sum(form not in (None, "", item.lemma) for item, form in answers)
    # The test is void if these models write nothing.
    assert ended >= 10
    assert written >= 3


@every
def test_log_probabilities_are_those_of_all_actions(system: System, chosen: Settings) -> None:
    items = [ITEMS, ITEMS[3:], ITEMS[:2]]
    fleet = a_fleet(system, chosen, 1)
    for at_once in (1, 3, 256):
        answers = greedy.predict_all(decoder_of(fleet), stack_of(fleet, items), [0, 1, 2], at_once)
        for number, (own, (forms, probable)) in enumerate(zip(items, answers, strict=True)):
            slow = [slow_answer(fleet, number, item) for item in own]
            assert forms == [form for form, _ in slow]
            assert probable == pytest.approx([score for _, score in slow], rel=1e-6)


@settings(max_examples=25)
@given(
    st.sampled_from(STATIC),
    st.lists(st.tuples(st.text(max_size=9), st.text(max_size=6)), min_size=1, max_size=3),
    st.integers(0, 500),
)
def test_any_unicode_any_features(system: System, words: list[tuple[str, str]], seed: int) -> None:
    fleet = a_fleet(system, small(system), seed, models=1)
    items = [Item(lemma, Bundle(features)) for lemma, features in words]
    assert fast_forms(fleet, [items], 256) == [[slow_form(fleet, 0, item) for item in items]]


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
        decoder = decoder_of(fleet)
        numbers = system.choices(own.inventory)
        lemmas, _ = stack_of(fleet, [own.items]).to_inflect(
            torch.tensor([0]), torch.tensor([[place]]), {"symbols": 9, "reversed": 9, "literals": 9, "gold": 9}
        )
        state, form = decoder.start(lemmas), ""
        for t, action in enumerate(actions(system, alignment)):
            scores, state = decoder.log_probabilities(state)
            number = numbers.number(action)
            torch.testing.assert_close(-scores[0, 0, number], losses[0, t, place], rtol=1e-10, atol=1e-10)
            written, state = decoder.advance(state, torch.tensor([[number]]))
            form += "" if written.item() < 0 else stack_of(fleet, [own.items]).files[0].spellings[int(written)]
        assert form == own.items[place].form


def one_lemma(fleet: SmallFleet, lemma: str) -> tuple[Lemmas, tuple[str, ...]]:
    stack = stack_of(fleet, [[Item(lemma, Bundle("V"))]])
    longest = {name: int(lengths.max()) for name, lengths in stack.files[0].lengths.items()}
    return stack.to_inflect(torch.tensor([0]), torch.tensor([[0]]), longest)[0], stack.files[0].spellings


def test_hacm_copies_what_it_does_not_know_and_steps_on() -> None:
    fleet = a_fleet(HACM, small(HACM), models=1)
    lemmas, spellings = one_lemma(fleet, "Ж漢")
    decoder = HACM.equations.decoder(fleet.parameters, fleet.settings, fleet.allowed)
    state = decoder.start(lemmas)
    _, state = decoder.log_probabilities(state)
    _, state = decoder.advance(state, torch.tensor([[3]]))  # STEP to Ж
    for position, character in [(1, "Ж"), (2, "漢")]:
        assert state.position.item() == position
        scores, state = decoder.log_probabilities(state)
        assert scores.exp()[0, 0].tolist() == [1.0] + [0.0] * (scores.shape[-1] - 1)
        written, state = decoder.advance(state, scores.argmax(dim=-1))
        assert spellings[int(written)] == character
        assert state.previous.item() == 3  # STEP
    assert state.position.item() == 3
    scores, state = decoder.log_probabilities(state)
    assert scores[0, 0, 0] < -100  # at </s>, nothing unknown is left to copy
    for _ in range(2):  # a STEP at </s> stays there
        _, state = decoder.advance(state, torch.tensor([[3]]))
        assert state.position.item() == 3


def test_hacm_never_predicts_the_beginning() -> None:
    """Not even where copying it has nearly all the mass."""
    fleet = a_fleet(HACM, small(HACM), models=1)
    fleet.models[0]["copy.bias"] -= 50.0
    fleet.refresh()
    decoder = decoder_of(fleet)
    scores, _ = decoder.log_probabilities(decoder.start(one_lemma(fleet, "a")[0]))
    assert scores[0, 0, 1] == -torch.inf
    assert scores.argmax() not in (0, 1)


def test_hacm_without_the_mixture_has_no_rule_for_the_unknown() -> None:
    fleet = a_fleet(HACM, small(HACM, copy_mixture=False), models=1)
    decoder = decoder_of(fleet)
    state = decoder.start(one_lemma(fleet, "Ж")[0])
    _, state = decoder.log_probabilities(state)
    _, state = decoder.advance(state, torch.tensor([[3]]))
    scores, _ = decoder.log_probabilities(state)
    assert scores[0, 0, :2].exp().tolist() == [0.0, 0.0]
    assert scores.exp().sum().item() == pytest.approx(1.0)


def test_haem_can_copy_or_delete_what_it_does_not_know_but_not_write_it() -> None:
    fleet = a_fleet(HAEM, small(HAEM), models=1)
    lemmas, spellings = one_lemma(fleet, "Ж漢")
    decoder = HAEM.equations.decoder(fleet.parameters, fleet.settings, fleet.allowed)
    state = decoder.start(lemmas)
    scores, state = decoder.log_probabilities(state)
    assert scores.shape[-1] == 3 + len(fleet.languages[0].inventory.characters)
    assert scores.exp()[0, 0, 2] == 0.0  # no STOP while characters are left
    written, copied = decoder.advance(state, torch.tensor([[0]]))
    assert spellings[int(written)] == "Ж"
    torch.testing.assert_close(copied.written.shown[0, 0], slow_reader(fleet, "Ж"))
    written, deleted = decoder.advance(copied, torch.tensor([[1]]))
    assert written.item() == -1
    torch.testing.assert_close(deleted.written.shown, copied.written.shown)
    scores, _ = decoder.log_probabilities(deleted)
    assert scores.exp()[0, 0, :2].tolist() == [0.0, 0.0]  # the lemma is used up


def slow_reader(fleet: SmallFleet, character: str) -> torch.Tensor:
    """LSTM^y after one copied character."""
    machine = fleet.machine(0, character, Bundle("V"))
    machine.do("COPY")
    assert isinstance(machine, SlowHaem)
    return machine.y.h


def near(form: str | None, number: int) -> str:
    """The form, a longer one, a shorter one, or a different one."""
    own = form or ""
    return [own, own + "n", own[:-1], "gehen", own, own + "Ж"][number % 6]


@both
def test_counting_right_forms_equals_comparing_whole_outputs(system: System) -> None:
    fleet = a_fleet(system, small(system))
    asked = [ITEMS, ITEMS[3:], ITEMS[:2]]
    predicted = fast_forms(fleet, asked, 256)
    gold = [
        [
            Item(item.lemma, item.features, near(form, k + m))
            for k, (item, form) in enumerate(zip(own, forms, strict=True))
        ]
        for m, (own, forms) in enumerate(zip(asked, predicted, strict=True))
    ]
    right = [
        sum(item.form == form for item, form in zip(own, forms, strict=True))
        for own, forms in zip(gold, predicted, strict=True)
    ]
    expected = [100 * count / len(own) for count, own in zip(right, gold, strict=True)]
    assert 0 < sum(right) < sum(map(len, gold))
    for at_once in (1, 3, 256):
        found = greedy.accuracies(decoder_of(fleet), stack_of(fleet, gold), [0, 1, 2], at_once)
        assert found == pytest.approx(expected)


@both
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_stragglers_are_decoded_again_to_the_same_forms(
    system: System, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, asked = a_fleet(system, small(system)), [ITEMS, ITEMS[3:], ITEMS[:2]]
    expected = fast_forms(fleet, asked, 1)  # one item at a time has none
    gold = [
        [Item(item.lemma, item.features, form or "") for item, form in zip(own, forms, strict=True)]
        for own, forms in zip(asked, expected, strict=True)
    ]
    monkeypatch.setattr(greedy, "STRAGGLERS", share)
    whole, several = greedy._Rounds.leave, list[bool]()

    def leave(rounds: greedy._Rounds, items: NDArray[np.int64], left: NDArray[np.bool_]) -> None:
        several.append(bool(left.any()))
        whole(rounds, items, left)

    monkeypatch.setattr(greedy._Rounds, "leave", leave)
    assert fast_forms(fleet, asked, 8) == expected
    if share in (0.0, 1.0):
        assert any(several) == (share == 1.0)
    ended = [sum(form is not None for form in forms) for forms in expected]
    found = greedy.accuracies(decoder_of(fleet), stack_of(fleet, gold), [0, 1, 2], 8)
    assert found == pytest.approx([100 * many / len(own) for many, own in zip(ended, asked, strict=True)])


def always(system: System, action: int) -> SmallFleet:
    """A model that prefers one action, and after that copying."""
    fleet = a_fleet(system, small(system), models=1)
    model = fleet.models[0]
    for tensor in model.values():
        tensor.zero_()
    model["output.bias"][action] = 20.0
    model["output.bias"][0] = 10.0
    if system is HACM:
        model["copy.bias"] += 50.0  # generate
    fleet.refresh()
    return fleet


@both
def test_a_model_that_never_ends_gives_no_form(system: System) -> None:
    write = 3 if system is HAEM else 4
    fleet = always(system, write)
    items = [Item("ab", Bundle("V")), Item("a" * 60, Bundle("V"))]
    assert fast_forms(fleet, [items], 256) == [[None, None]]


def test_the_cap_does_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short lemma does not get more actions in a batch with a long one."""
    monkeypatch.setattr(greedy, "LEAST_ACTIONS", 3)
    caps = greedy.most_actions(torch.tensor([[0, 1, 200]]))
    assert caps.tolist() == [[50, 54, 850]]
    monkeypatch.undo()
    assert greedy.most_actions(torch.tensor([[0, 25, 90]])).tolist() == [[150, 150, 410]]
    monkeypatch.setattr(greedy, "most_actions", lambda lengths: lengths + 1)
    fleet = always(HAEM, 0)  # COPY, until STOP is what is left
    model = fleet.models[0]
    model["output.bias"][2] = 30.0
    fleet.refresh()
    items = [Item("gehen", Bundle("V")), Item("gehe", Bundle("V"))]
    assert fast_forms(fleet, [items], 256) == [["gehen", "gehe"]]
    monkeypatch.setattr(greedy, "most_actions", lambda lengths: lengths + (lengths > 4))
    assert fast_forms(fleet, [items], 256) == [["gehen", None]]
    gold = [Item(item.lemma, item.features, item.lemma) for item in items]
    assert greedy.accuracies(decoder_of(fleet), stack_of(fleet, [gold]), [0]) == [50.0]


def test_a_lemma_that_is_one_long_run_is_copied_whole() -> None:
    fleet = always(HAEM, 0)
    fleet.models[0]["output.bias"][2] = 30.0
    fleet.refresh()
    assert fast_forms(fleet, [[Item("n" * 80, Bundle("V"))]], 256) == [["n" * 80]]
