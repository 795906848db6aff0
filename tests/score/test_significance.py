"""The bootstrap equals resampling item by item, and its verdicts are right."""

import numpy as np
import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.score import Evaluation, MacroEvaluation, evaluate
from reinflect.score.significance import FEWEST, compare, resampled_differences


def system(right: list[bool], name: str = "gold") -> Evaluation:
    gold = [Item(f"lemma{i}", Bundle("V"), "form") for i in range(len(right))]
    predicted = [Item(f"lemma{i}", Bundle("V"), "form" if correct else "wrong") for i, correct in enumerate(right)]
    return evaluate(gold, predicted, name=name)


def systems(won: int, lost: int, same: int) -> tuple[Evaluation, Evaluation]:
    ours = [True] * won + [False] * lost + [True] * same
    others = [False] * won + [True] * lost + [True] * same
    return system(ours), system(others)


def test_resampling_equals_drawing_items_one_by_one() -> None:
    languages = [(30, 12, 100), (3, 4, 20), (50, 0, 50)]
    drawn = np.random.default_rng(7)
    slow = np.zeros(20_000)
    for won, lost, items in languages:
        outcomes = np.array([1] * won + [-1] * lost + [0] * (items - won - lost))
        slow += outcomes[drawn.integers(items, size=(20_000, items))].mean(axis=1) * 100 / len(languages)
    fast = resampled_differences(languages)
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.1)
    assert fast.std() == pytest.approx(slow.std(), abs=0.1)
    quantiles = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(fast, quantiles) == pytest.approx(np.quantile(slow, quantiles), abs=0.5)


def test_a_clear_difference_is_real_whoever_is_named_first() -> None:
    ours, others = systems(won=150, lost=50, same=800)
    compared, swapped = compare(ours, others), compare(others, ours)
    assert compared.difference == -swapped.difference == 10
    # The spread of a mean of outcomes +1, -1 and 0: the normal interval is close for a thousand items.
    spread = 100 * ((0.2 - 0.1**2) / 1000) ** 0.5
    assert (compared.low, compared.high) == pytest.approx((10 - 1.96 * spread, 10 + 1.96 * spread), abs=0.3)
    assert compared.real
    assert "real: a is better" in compared.verdict("a", "b")
    assert swapped.high < 0
    assert "real: b is better" in swapped.verdict("a", "b")


def test_a_small_difference_may_be_chance_and_the_same_predictions_do_not_differ() -> None:
    small, same = compare(*systems(won=52, lost=50, same=898)), compare(*systems(won=0, lost=0, same=10))
    assert small.difference == pytest.approx(0.2)
    assert small.low < 0 < small.high
    assert small.p_value > 0.5
    assert not small.real
    assert "may be chance" in small.verdict("a", "b")
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    assert "no difference" in same.verdict("a", "b")


def test_few_differing_items_allow_no_verdict() -> None:
    """Items that are all won stay won in every resample, so the p-value alone would claim too much."""
    few, enough = compare(*systems(FEWEST - 1, 0, 0)), compare(*systems(FEWEST, 0, 0))
    assert few.p_value < 0.05
    assert not few.real
    assert "Too few items to compare" in few.verdict("a", "b")
    assert enough.real


def test_languages_have_equal_weights() -> None:
    """Ten items won in a small language outweigh twenty lost in a large one."""
    pairs = zip(systems(won=10, lost=0, same=10), systems(won=0, lost=20, same=980), strict=True)
    compared = compare(*(MacroEvaluation("gold", {"small": small, "large": large}) for small, large in pairs))
    assert compared.difference == 24
    assert (compared.won, compared.lost) == (10, 20)
    assert compared.real
