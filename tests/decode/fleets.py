"""Small fleets that end some words and not others, items to inflect, and what the slow systems make of them."""

import copy
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial

import pytest
import torch

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import ENDLESS_RUN, LEAST_ACTIONS, Scored
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System
from tests.systems.slow_soft import SlowSoft
from tests.systems.small_fleets import HACM, HAEM, SOFT, Language, Slow, SmallFleet, with_settings

small = partial(with_settings, feature_scale=1.0)

CASES = {
    "hacm": (HACM, small(HACM)),
    "hacm-embedded": (HACM, small(HACM, features="embedded")),
    "hacm-plain": (HACM, small(HACM, copy_mixture=False, cell="coupled")),
    "haem": (HAEM, small(HAEM)),
    "haem-coupled": (HAEM, small(HAEM, cell="coupled", features="counts", feature_scale=3.0)),
    "haem-basic": (HAEM, small(HAEM, history=False, deletions=False, features="embedded")),
    "haem-tied": (HAEM, small(HAEM, tied=True, cell="coupled", deletions=False)),
    "soft": (SOFT, small(SOFT)),
    "soft-counts": (SOFT, small(SOFT, features="counts", cell="coupled")),
    "soft-deeper": (SOFT, small(SOFT, encoder_layers=2)),
}
both = pytest.mark.parametrize("system", [HACM, HAEM, SOFT], ids=lambda system: system.name)
every = pytest.mark.parametrize(("system", "chosen"), CASES.values(), ids=CASES)

LEMMAS = ["gehen", "a", "Äpfel", "", "laufen 漢字", "ge\u0301hen", "xyz", "😀" * 4, "n" * 5, "b" * 45, "*_<s>", "sagen"]
ITEMS = [Item(lemma, Bundle(("V;PST", "N", "", "V;?;?")[k % 4])) for k, lemma in enumerate(LEMMAS)]


def a_fleet(system: System, chosen: Settings, seed: int = 5, models: int = 3) -> SmallFleet:
    """Models with different alphabets that end some words and not others."""
    alphabets, atoms = ["aeghnlufs", "ab*_<>sn", "äeglnpfx", "ghn"], ["V;PST", "N", "A;N;PST;V", "V"]
    inventories = [
        Inventory(tuple(sorted(alphabets[k % 4])), tuple(sorted(atoms[k % 4].split(";")))) for k in range(models)
    ]
    fleet = SmallFleet(system, chosen, [Language((), (), inventory) for inventory in inventories], seed, spread=0.9)
    favoured = {"hacm": (0, 0, 1.0, 2.0), "soft": (0, 0, 2.0, 0)}.get(system.name, (4.0, 3.5, 6.0, 0))
    for model in fleet.models:
        model["output.bias"][:4] += torch.tensor(favoured)  # `</s>` and STEP; COPY, DELETE and STOP
    fleet.refresh()
    return fleet


def always(system: System, action: int, after: int = 0) -> SmallFleet:
    """A model that prefers one action, and after that another: copying."""
    fleet = a_fleet(system, small(system), models=1)
    model = fleet.models[0]
    for tensor in model.values():
        tensor.zero_()
    model["output.bias"][action] = 20.0
    model["output.bias"][after] = 10.0
    if system is HACM:
        model["copy.bias"] += 50.0  # generate
    fleet.refresh()
    return fleet


def _length(machine: Slow, item: Item) -> int:
    return len(machine.source) if isinstance(machine, SlowSoft) else len(item.lemma) + 2 * (machine.end == "</s>")


def slow_greedy(fleet: SmallFleet, number: int, item: Item) -> tuple[str | None, float]:
    """The most probable action at every step, until the end or the cap; and the log-probability of all actions."""
    machine = fleet.machine(number, item.lemma, item.features)
    form, score, length = "", 0.0, _length(machine, item)
    for _ in range(max(LEAST_ACTIONS, 4 * length + 50)):
        choices = machine.choices()
        action = max(choices, key=lambda name: choices[name].item())
        score += math.log(choices[action].item())
        form += machine.do(action)
        if action == machine.end:
            return form, score
        if form and form.endswith(form[-1] * (ENDLESS_RUN + length)):
            break
    return None, score


def slow_beam(fleet: SmallFleet, number: int, item: Item, width: int, further: int) -> list[Scored]:
    """The search for one item as its docstring describes it, hypothesis by hypothesis; `further`: actions at most."""
    machine = fleet.machine(number, item.lemma, item.features)
    alive, aside = [(0.0, "", machine)], list[Scored]()
    for _ in range(_length(machine, item) + further):
        tried = [
            (score + math.log(probability), form, before, action)
            for score, form, before in alive
            for action, probability in before.choices().items()
            if probability > 0
        ]
        tried.sort(key=lambda way: -way[0])
        aside += [Scored(form, score) for score, form, _, action in tried[:width] if action == machine.end]
        aside = sorted(aside, key=lambda scored: -scored.log_probability)[:width]
        alive = []
        for score, form, before, action in [way for way in tried if way[3] != machine.end][:width]:
            after = copy.deepcopy(before)
            alive.append((score, form + after.do(action), after))
        if not alive or (len(aside) == width and aside[-1].log_probability >= max(score for score, _, _ in alive)):
            break
    totals = {form: math.log(total) for form, total in added_up(aside).items()}
    return sorted((Scored(*scored) for scored in totals.items()), key=lambda scored: -scored.log_probability)


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


def added_up(hypotheses: Iterable[Scored]) -> dict[str, float]:
    probabilities: defaultdict[str, float] = defaultdict(float)
    for form, score in hypotheses:
        probabilities[form] += math.exp(score)
    return probabilities
