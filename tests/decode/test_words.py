"""Decoding by NumPy, and by torch where a system has no other decoder, gives what the slow systems give."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode import search
from reinflect.decode.search import ENDLESS_RUN, beam, greedy
from reinflect.decode.trace import ALTERNATIVES, TraceStep, follow
from reinflect.learn.scoring import TorchWords
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System, Words
from tests.decode.fleets import (
    CASES,
    ITEMS,
    a_fleet,
    added_up,
    always,
    both,
    endings,
    every,
    slow_beam,
    slow_greedy,
    small,
)
from tests.systems.slow_hacm import SlowHacm
from tests.systems.slow_soft import SlowSoft
from tests.systems.small_fleets import HACM, HAEM, Language, SmallFleet

SHORT = [item for item in ITEMS if len(item.lemma) < 6]
Decoder = Callable[..., Words]


def by_numpy(fleet: SmallFleet, number: int = 0, dtype: type = np.float64) -> Words:
    parameters: dict[str, Any] = {name: tensor.numpy().astype(dtype) for name, tensor in fleet.models[number].items()}
    for array in parameters.values():
        array.flags.writeable = False  # decoding changes no parameter
    assert fleet.system.words is not None
    return fleet.system.words(parameters, fleet.settings, fleet.languages[number].inventory)


def by_torch(fleet: SmallFleet, number: int = 0) -> Words:
    parameters = {name: tensor.numpy() for name, tensor in fleet.models[number].items()}
    return TorchWords(fleet.system, parameters, fleet.settings, fleet.languages[number].inventory)


BOTH_WAYS: tuple[Decoder, ...] = (by_numpy, by_torch)


def capped(monkeypatch: pytest.MonkeyPatch, cap: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(search, "most_actions", cap)


@every
def test_greedy_decoding_and_its_log_probabilities(
    system: System, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = written = 0
    for seed, number, items in ((1, 0, ITEMS), (2, 1, ITEMS[3:]), (3, 0, ITEMS), (5, 1, ITEMS[3:])):
        fleet = a_fleet(system, chosen, seed)
        forms, scores = zip(*(slow_greedy(fleet, number, item) for item in items), strict=True)
        for decoder, batch in product(BOTH_WAYS, (1, 3, 256) if seed == 1 else (256,)):
            monkeypatch.setattr(search, "BATCH", batch)
            predictions = greedy(decoder(fleet, number), items)
            assert tuple(predictions.forms) == forms
            assert predictions.log_probabilities == pytest.approx(scores, rel=1e-6)
        ended += sum(form is not None for form in forms)
        written += sum(form not in (None, "", item.lemma) for item, form in zip(items, forms, strict=True))
    # The test is void if these models write nothing.
    assert ended >= 10
    assert written >= 1


@every
def test_beam_search_at_every_width_and_batch_size(
    system: System, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    capped(monkeypatch, lambda lengths: lengths + 6)
    several = 0
    for seed, width, number, items in ((2, 2, 0, SHORT), (3, 3, 1, SHORT[3:]), (4, 2, 2, SHORT[:4])):
        fleet = a_fleet(system, chosen, seed)
        expected = [slow_beam(fleet, number, item, width, further=6) for item in items]
        several += sum(len(nbest) > 1 for nbest in expected)
        for decoder, batch in product(BOTH_WAYS, (1, 6, 256)):
            monkeypatch.setattr(search, "BATCH", batch)
            for nbest, slow in zip(beam(decoder(fleet, number), items, width, 100), expected, strict=True):
                assert [form for form, _ in nbest] == [form for form, _ in slow]
                assert [score for _, score in nbest] == pytest.approx([score for _, score in slow], rel=1e-6)
    assert several >= 3


@every
def test_a_wide_beam_is_exhaustive_search(system: System, chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    cap, width = 4, 300
    capped(monkeypatch, lambda lengths: np.full_like(lengths, cap))
    inventories = [Inventory(("a", "b"), ("V",)), Inventory(("b", "x"), ("N", "V")), Inventory((), ())]
    fleet = SmallFleet(system, chosen, [Language((), (), own) for own in inventories], 3, spread=0.7)
    items = [Item("ab", Bundle("V")), Item("b", Bundle("N")), Item("aЖ", Bundle("V")), Item("", Bundle(""))]
    added = 0
    for number in range(3):
        for item, nbest in zip(items, beam(by_numpy(fleet, number), items, width, 10_000), strict=True):
            ended = list(endings(fleet.machine(number, item.lemma, item.features), cap))
            assert len(ended) <= width
            assert {form: math.exp(score) for form, score in nbest} == pytest.approx(added_up(ended), rel=1e-6)
            assert [score for _, score in nbest] == sorted((score for _, score in nbest), reverse=True)
            assert sum(math.exp(score) for _, score in nbest) <= 1 + 1e-9
            added += len(ended) - len(nbest)
    assert (added > 0) == system.aligned  # several sequences for one form; soft attention has no such


@settings(max_examples=25)
@given(
    st.sampled_from(list(CASES)),
    st.lists(
        st.tuples(st.text(max_size=9) | st.text("aeghnb漢😀\u0301", max_size=9), st.text(max_size=6)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 6),
    st.integers(0, 500),
)
def test_any_unicode_any_features(case: str, words: list[tuple[str, str]], width: int, seed: int) -> None:
    fleet = a_fleet(*CASES[case], seed, models=1)
    items = [Item(lemma, Bundle(features)) for lemma, features in words]
    (forms, scores), ours = greedy(by_numpy(fleet), items), by_numpy(fleet, dtype=np.float32)
    assert list(forms) == [slow_greedy(fleet, 0, item)[0] for item in items]
    assert greedy(ours, items).log_probabilities == pytest.approx(scores, rel=1e-5, abs=1e-5)
    lists, theirs = beam(by_numpy(fleet), items, width, width), beam(by_torch(fleet), items, width, width)
    for nbest, other in zip(lists, theirs, strict=True):
        assert [form for form, _ in nbest] == [form for form, _ in other]
        assert len({form for form, _ in nbest}) == len(nbest) <= width
        assert sum(math.exp(score) for _, score in nbest) <= 1 + 1e-9
    assert beam(by_numpy(fleet), items, width, 2) == [nbest[:2] for nbest in lists]


@both
@pytest.mark.parametrize("decoder", BOTH_WAYS)
def test_a_model_that_never_ends_gives_no_form(system: System, decoder: Decoder) -> None:
    words = decoder(always(system, 3 if system is HAEM else 4))
    items = [Item("ab", Bundle("V")), Item("a" * 60, Bundle("V"))]
    assert greedy(words, items).forms == [None, None]
    assert beam(words, items, 1, 5) == [[], []]


@pytest.mark.parametrize("decoder", BOTH_WAYS)
def test_the_cap_does_not_depend_on_the_batch(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = always(HAEM, 0, after=2)  # COPY, until STOP is what is left
    words, long = decoder(fleet), "n" * 80
    assert greedy(words, [Item(long, Bundle("V"))]).forms == [long]
    items = [Item("gehen", Bundle("V")), Item("gehe", Bundle("V"))]
    capped(monkeypatch, lambda lengths: lengths + 1)
    assert greedy(words, items).forms == ["gehen", "gehe"]
    capped(monkeypatch, lambda lengths: lengths + (lengths > 4))
    assert greedy(words, items).forms == ["gehen", None]
    assert [len(nbest) for nbest in beam(words, items, 1, 2)] == [1, 0]


def test_hacm_never_predicts_the_beginning() -> None:
    """Not even where copying it has nearly all the mass."""
    fleet = a_fleet(HACM, small(HACM), models=1)
    fleet.models[0]["copy.bias"] -= 50.0
    for decoder in BOTH_WAYS:
        scores = decoder(fleet).start([Item("a", Bundle("V"))]).log_probabilities()
        assert scores[0, 1] == -np.inf
        assert scores.argmax() not in (0, 1)


def test_imitation_and_an_empty_list_are_decoded_too() -> None:
    fleet = a_fleet(HAEM, small(HAEM), models=1)
    twin = replace(SYSTEMS["imitation"], settings=HAEM.settings)
    assert twin.words is HAEM.words
    assert greedy(by_numpy(fleet), []) == ([], [])
    assert beam(by_numpy(fleet), [], 5, 5) == []
    empty = [Item("", Bundle("V")), Item("", Bundle(""))]
    assert greedy(by_numpy(fleet), empty).forms == [slow_greedy(fleet, 0, item)[0] for item in empty]


def traced(fleet: SmallFleet, item: Item, decoder: Decoder = by_numpy) -> tuple[tuple[TraceStep, ...], bool]:
    choices, begins = fleet.system.choices(fleet.languages[0].inventory), len(fleet.system.frame[0])
    _, steps, ended = follow(decoder(fleet), item, choices, begins)
    return steps, ended


@every
def test_a_trace_is_greedy_decoding_with_the_probabilities_of_the_slow_system(system: System, chosen: Settings) -> None:
    fleet = a_fleet(system, chosen, seed=1, models=1)
    for item, form in zip(ITEMS, greedy(by_numpy(fleet), ITEMS).forms, strict=True):
        steps, ended = traced(fleet, item)
        assert (steps[-1].form_so_far if ended else None) == form
        machine = fleet.machine(0, item.lemma, item.features)
        symbols = [*getattr(machine, "symbols", []), *getattr(machine, "actions", [])]
        so_far = ""
        for number, step in enumerate(steps):
            choices = {name: probability.item() for name, probability in machine.choices().items()}
            best = max(choices, key=lambda name: choices[name])
            likeliest = sorted(choices.values(), reverse=True)[1 : ALTERNATIVES + 1]
            assert step.probability == pytest.approx(choices[best], rel=1e-6)
            assert [share for _, share in step.alternatives] == pytest.approx(likeliest, rel=1e-6, abs=1e-12)
            assert all(choices[name] == pytest.approx(share) for name, share in step.alternatives)
            if step.gate is not None and not number:  # at <s>, which is never generated, all of it is copied
                assert step.gate == pytest.approx(1 - machine.probabilities()["<s>"].item())
            if isinstance(machine, SlowSoft):
                assert step.attention == pytest.approx(machine.alpha.tolist())
                assert step.position == int(machine.alpha.argmax()) - 1
            else:
                assert step.attention is None
                assert step.position == machine.i - isinstance(machine, SlowHacm)
            written = machine.do(best)
            so_far += written
            assert (step.written, step.form_so_far) == (written, so_far)
            assert (step.kind == "stop") == (best == machine.end) == (ended and number == len(steps) - 1)
            assert step.action == ("COPY" if step.kind == "copy" and best not in symbols else best)


@both
def test_a_trace_without_end_stops_where_decoding_gives_up(system: System) -> None:
    fleet, item = always(system, 3 if system is HAEM else 4), Item("ab", Bundle("V"))
    steps, ended = traced(fleet, item)
    assert not ended
    assert len(steps) == ENDLESS_RUN + len(by_numpy(fleet).start([item]).sources[0])


@pytest.mark.parametrize(("gate", "kind"), [(0.001, "copy"), (0.5, "copy"), (0.9, "write")])
def test_hacm_copies_where_more_is_copied_than_generated(gate: float, kind: str) -> None:
    """A model that first generates STEP or g, and after a STEP mixes generation in by the gate."""
    fleet = always(HACM, 3)
    model, letter = fleet.models[0], HACM.choices(fleet.languages[0].inventory).numbers(["g"])[0]
    model["output.bias"][3], model["output.bias"][letter] = 20.1, 20.0
    model["embedding"][1, 0] = 1.0  # <s>
    model["copy.previous"][0] = 100.0
    model["copy.bias"][:] = math.log(gate / (1 - gate))
    first, second = traced(fleet, Item("g", Bundle("")))[0][:2]
    assert (first.action, first.kind, first.position) == ("STEP", "step", -1)
    assert first.gate == pytest.approx(1.0)
    assert (second.action, second.kind, second.position) == ("g", kind, 0)
    assert second.gate == pytest.approx(gate)


def test_unknown_letters_are_copied_for_certain() -> None:
    fleet = a_fleet(HACM, small(HACM), models=1)
    fleet.models[0]["output.bias"][3] = 25.0  # STEP wherever it is free to
    steps, _ = traced(fleet, Item("Ж漢", Bundle("V")))
    copies = [(step.action, step.kind, step.position, step.written, step.probability, step.gate) for step in steps[1:3]]
    assert copies == [("COPY", "copy", 0, "Ж", 1.0, 0.0), ("COPY", "copy", 1, "漢", 1.0, 0.0)]
    assert steps[1].alternatives == ()
