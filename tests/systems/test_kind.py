"""Kinds, and the plan of a wish: what the number of items decides, and what the user may."""

from collections.abc import Mapping
from typing import Any

import pytest

import reinflect
from reinflect.errors import InputError
from reinflect.learn.augment import MadeUp
from reinflect.systems.kind import DEEP, Kind, Wish, grid_plan, make_plan
from tests.learn.tiny import language


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("haem-naive", Kind("haem", "naive")),
        (" soft ", Kind("soft")),
        ("soft+made-up", Kind("soft", label="made-up", augment=("made-up",))),
        ("hacm-smart+made-up", Kind("hacm", "smart", "made-up", ("made-up",))),
    ],
)
def test_a_kind_has_a_name(name: str, kind: Kind) -> None:
    assert Kind.parse(name) == kind
    assert str(kind) == name.strip()


PAPER = ["hacm-naive", "hacm-smart", "haem-naive", "haem-smart"]


@pytest.mark.parametrize(
    ("items", "wish", "kinds", "strategy"),
    [
        (319, {}, PAPER, "run7"),
        (320, {}, ["hacm-smart", "soft", "soft+made-up"], "run7"),
        (3200, {}, ["hacm-smart", "haem-smart", "soft"], "run7"),
        (3200, {"preset": "low"}, PAPER, "run7"),
        (3200, {"preset": "paper-low"}, PAPER, "run7"),
        (3200, {"starts": ["finnish"]}, PAPER, "run7"),
        (3200, {"kinds": ["imitation", "soft", "soft"]}, ["imitation", "soft"], "ensemble-15"),
        (3200, {"kinds": ["soft"], "starts": ["finnish"], "strategy": "vote"}, ["soft"], "vote"),
        (3200, {"systems": ["soft", "haem"]}, ["soft", "haem-naive", "haem-smart"], "run7"),
        (3200, {"alignments": ["smart"]}, ["hacm-smart", "haem-smart"], "run7"),
        (3200, {"augment": ["made-up"], "systems": ["soft"]}, ["soft"], "run7"),
    ],
)
def test_the_number_of_items_decides_unless_the_user_does(
    items: int, wish: Mapping[str, Any], kinds: list[str], strategy: str
) -> None:
    plan = make_plan(Wish(seeds=3, **wish), items)
    assert {str(kind): seeds for kind, seeds in plan.kinds.items()} == dict.fromkeys(kinds, 3)
    assert {kind.augment for kind in plan.kinds} <= {("made-up",) if "augment" in wish else (), ("made-up",)}
    assert plan.strategy == strategy


def test_settings_are_those_of_everything_that_is_trained() -> None:
    medium = make_plan(Wish(), 1000).settings
    assert list(medium) == ["hacm", "soft", "smart", "made-up"]
    assert (medium["soft"].encoder_layers, medium["made-up"]) == (2, MadeUp(repeats=1, epochs=7))
    changes = ["epochs=9", "made-up.epochs=8", "smart.sweeps=5", "soft.encoder_layers=1"]
    changed = make_plan(Wish(changes=changes), 1000).settings
    assert (changed["soft"].epochs, changed["soft"].encoder_layers, changed["hacm"].epochs) == (9, 1, 9)
    assert (changed["made-up"].epochs, changed["smart"].sweeps) == (8, 5), "epochs=9 is for systems"
    unchanged = make_plan(Wish(["soft+made-up"], preset="medium"), 1).settings
    assert (unchanged["soft"].encoder_layers, unchanged["made-up"]) == (1, MadeUp())
    with pytest.raises(InputError, match=r"'naive\.sweeps=5'; change a setting of hacm, soft, smart, made-up"):
        make_plan(Wish(changes=["naive.sweeps=5"]), 1000)


def test_a_grid_has_its_own_seeds_and_changes_for_each_kind() -> None:
    grid = {Kind("haem", "smart"): {"low": 5}, DEEP: {"medium": 3, "high": 2}, Kind("soft"): {"high": 1}}
    plan = grid_plan(grid, "high", ["soft.encoder_layers=1", "haem.hidden=7"])
    assert plan.kinds == {DEEP: 2, Kind("soft"): 1}
    assert (plan.settings["haem"].hidden, plan.first_seed) == (7, 1), "a change is for all settings of a benchmark"
    assert [plan.settings_for(kind).encoder_layers for kind in plan.kinds] == [2, 1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["soft", "haem"]}, "found the kind 'haem' without an alignment; write haem-naive or haem-smart"),
        ({"kinds": ["soft-naive"]}, "found the kind 'soft-naive'; soft learns from no alignment: write soft"),
        ({"kinds": ["haem-naive", ""]}, "there is no system ''"),
        ({"kinds": ["heam-naive"]}, "there is no system 'heam'; did you mean haem"),
        ({"kinds": ["haem-naiv"]}, "there is no aligner 'naiv'; did you mean naive"),
        ({"kinds": ["haem-naive+mad-up"]}, "there is no augmentation 'mad-up'; did you mean made-up"),
        ({"kinds": ["soft"], "systems": ["soft"]}, "found kinds beside systems, alignments or augmentations"),
        ({"seeds": 0}, "found 0 seeds"),
        ({"systems": "h"}, "there is no system 'h'; systems: hacm, haem, soft"),
        ({"systems": ["foo"]}, "there is no system 'foo'; systems: hacm, haem, soft"),
        ({"alignments": ["foo"]}, "there is no aligner 'foo'; aligners: naive, smart"),
        ({"augment": ["foo"]}, "there is no augmentation 'foo'"),
        ({"preset": "paper-lo"}, "did you mean paper-low"),
        ({"strategy": "run1", "systems": ["haem"]}, "only models of hacm vote; train that system too"),
        ({"strategy": "run8"}, "there is no strategy 'run8'"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_in_python_as_in_the_command(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reinflect.train(language("german"), **options)
