"""Beam search finds what a slow search, hypothesis by hypothesis, finds."""

import copy
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode import greedy
from reinflect.decode.beam import beam_all
from reinflect.decode.forms import ENDLESS_RUN, Scored, merged
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System
from tests.decode.test_greedy import ITEMS, a_fleet, always, both, decoder_of, every, small, stack_of
from tests.systems.slow_soft import SlowSoft
from tests.systems.small_fleets import HACM, HAEM, STATIC, Language, Slow, SmallFleet

Words = Sequence[Sequence[Item]]


def searched(
    fleet: SmallFleet, items: Words, width: int, n: int = 10_000, at_once: int = 256
) -> list[list[list[Scored]]]:
    return beam_all(decoder_of(fleet), stack_of(fleet, items), list(range(len(items))), width, n, at_once)


def tiny_fleet(system: System, chosen: Settings, seed: int) -> SmallFleet:
    """Two models that know two letters, and one that knows none."""
    inventories = [Inventory(("a", "b"), ("V",)), Inventory(("b", "x"), ("N", "V")), Inventory((), ())]
    return SmallFleet(system, chosen, [Language((), (), own) for own in inventories], seed, spread=0.7)


def endings(machine: Slow, most: int, form: str = "", score: float = 0.0) -> Iterator[Scored]:
    """Every sequence of at most `most` actions that ends, with the form it writes."""
    for action, probability in machine.choices().items():
        if most and probability > 0:
            after = copy.deepcopy(machine)
            written = form + after.do(action)
            total = score + math.log(probability)
            if action == machine.end:
                yield Scored(written, total)
            else:
                yield from endings(after, most - 1, written, total)


def added_up(found: Iterator[Scored]) -> dict[str, float]:
    probabilities: defaultdict[str, float] = defaultdict(float)
    for form, score in found:
        probabilities[form] += math.exp(score)
    return probabilities


@every
def test_a_wide_beam_is_exhaustive_search(system: System, chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    cap, width = 4, 300
    monkeypatch.setattr(greedy, "most_actions", lambda lengths: torch.full_like(lengths, cap))
    fleet = tiny_fleet(system, chosen, seed=3)
    items = [Item("ab", Bundle("V")), Item("b", Bundle("N")), Item("aЖ", Bundle("V")), Item("", Bundle(""))]
    added = 0
    for model, answers in enumerate(searched(fleet, [items] * 3, width=width)):
        for item, found in zip(items, answers, strict=True):
            ended = list(endings(fleet.machine(model, item.lemma, item.features), cap))
            assert len(ended) <= width
            expected = added_up(iter(ended))
            assert {form: math.exp(score) for form, score in found} == pytest.approx(expected, rel=1e-6)
            assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
            assert sum(math.exp(score) for _, score in found) <= 1 + 1e-9
            added += len(ended) - len(found)
    if system.aligned:  # several sequences for one form; soft attention has no such
        assert added > 0


def slow_beam(fleet: SmallFleet, model: int, item: Item, width: int) -> list[Scored]:
    """The search for one item as described in the module, hypothesis by hypothesis."""
    machine = fleet.machine(model, item.lemma, item.features)
    length = len(machine.source) if isinstance(machine, SlowSoft) else len(item.lemma) + 2 * (fleet.system is HACM)
    alive, aside = [(0.0, "", machine)], []
    for _ in range(int(greedy.most_actions(torch.tensor(length)))):
        tried = [
            (score + math.log(probability), form, machine, action)
            for score, form, machine in alive
            for action, probability in machine.choices().items()
            if probability > 0
        ]
        tried.sort(key=lambda one: -one[0])
        aside += [Scored(form, score) for score, form, machine, action in tried[:width] if action == machine.end]
        aside = sorted(aside, key=lambda one: -one.log_probability)[:width]
        alive = []
        for score, form, before, action in [one for one in tried if one[3] != machine.end][:width]:
            after = copy.deepcopy(before)
            written = form + after.do(action)
            if not (written and written.endswith(written[-1] * (ENDLESS_RUN + length))):
                alive.append((score, written, after))
        if not alive or (len(aside) == width and aside[-1].log_probability >= max(score for score, _, _ in alive)):
            break
    return sorted(
        (Scored(form, math.log(total)) for form, total in added_up(iter(aside)).items()),
        key=lambda one: -one.log_probability,
    )


@every
def test_beam_search_equals_the_slow_one_at_every_width_and_batch_size(
    system: System, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greedy, "most_actions", lambda lengths: lengths + 6)
    short = [item for item in ITEMS if len(item.lemma) < 6]
    items = [short, short[3:], short[:2]]
    several = 0
    for seed, width in ((2, 2), (3, 3), (4, 2)):
        fleet = a_fleet(system, chosen, seed)
        expected = [[slow_beam(fleet, model, item, width) for item in own] for model, own in enumerate(items)]
        several += sum(len(found) > 1 for own in expected for found in own)
        for at_once in (1, 3, 256):
            for own, answers in zip(expected, searched(fleet, items, width, at_once=at_once), strict=True):
                for one, other in zip(own, answers, strict=True):
                    assert [form for form, _ in one] == [form for form, _ in other]
                    assert [score for _, score in one] == pytest.approx([score for _, score in other], rel=1e-6)
    assert several >= 3


@every
def test_width_one_is_greedy(system: System, chosen: Settings) -> None:
    items = [ITEMS, ITEMS[3:], ITEMS[:2]]
    fleet = a_fleet(system, chosen, seed=2)
    expected = greedy.predict_all(decoder_of(fleet), stack_of(fleet, items), [0, 1, 2], 256)
    for at_once in (5, 256):
        for (forms, scores), answers in zip(expected, searched(fleet, items, 1, at_once=at_once), strict=True):
            assert [found[0].form if found else None for found in answers] == forms
            for found, score in zip(answers, scores, strict=True):
                assert not found or found[0].log_probability == pytest.approx(score, rel=1e-6)


@settings(max_examples=20)
@given(
    st.sampled_from(STATIC),
    st.lists(st.tuples(st.text(max_size=7), st.text(max_size=4)), min_size=1, max_size=3),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(0, 500),
)
def test_any_unicode_any_features(system: System, words: list[tuple[str, str]], width: int, n: int, seed: int) -> None:
    fleet = a_fleet(system, small(system), seed, models=1)
    items = [Item(lemma, Bundle(features)) for lemma, features in words]
    everything = searched(fleet, [items], width)[0]
    for found in everything:
        assert len(found) <= width
        assert len({form for form, _ in found}) == len(found)
        assert sum(math.exp(score) for _, score in found) <= 1 + 1e-9
    assert searched(fleet, [items], width, n)[0] == [found[:n] for found in everything]


@both
def test_a_model_that_never_ends_gives_no_form(system: System) -> None:
    fleet = always(system, 3 if system is HAEM else 4)
    items = [Item("ab", Bundle("V")), Item("a" * 60, Bundle("V"))]
    assert searched(fleet, [items], 1) == [[[], []]]


def test_actions_that_are_not_allowed_are_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """HAEM without letters can only copy and delete each of two letters, at any width."""
    monkeypatch.setattr(greedy, "most_actions", lambda lengths: lengths + 4)
    fleet = tiny_fleet(HAEM, small(HAEM), seed=1)
    items = [Item("xy", Bundle("V"))]
    found = searched(fleet, [[], [], items][2:] * 3, 50)[2][0]
    assert sorted(form for form, _ in found) == ["", "x", "xy", "y"]
    assert sum(math.exp(score) for _, score in found) == pytest.approx(1.0)


def test_probabilities_of_one_form_are_added() -> None:
    ways = [Scored("a", math.log(0.2)), Scored("b", math.log(0.3)), Scored("a", math.log(0.15)), Scored("c", -math.inf)]
    assert [(form, round(math.exp(score), 6)) for form, score in merged(ways, 5)] == [("a", 0.35), ("b", 0.3)]
    assert [form for form, _ in merged(ways, 1)] == ["a"]
    assert merged([Scored("a", -1e6), Scored("a", -1e6)], 1)[0].log_probability == pytest.approx(-1e6 + math.log(2))
    assert merged([], 3) == []
