"""Confidences of votes are measured on items that had no part in them."""

from statistics import fmean

from reinflect.paper.calibration import measured
from tests.paper.made_up import corpus, result

ITEMS = 200


def said(own_right: int) -> list[str]:
    """The first so many forms right, the others each model's own."""
    return [f"a{number}x" if number < own_right else f"a{number}-{own_right}" for number in range(ITEMS)]


def test_items_on_which_all_agree_are_surer() -> None:
    own = corpus(items=ITEMS)
    models = [result(own, "hacm-naive", seed, dev=said(100 + seed), test=[""] * 3) for seed in (1, 2, 3)]
    found = measured(own, models)
    assert len(found) == ITEMS
    sure, unsure = ([confidence for confidence, right in found if right is good] for good in (True, False))
    assert fmean(sure) > 0.9
    assert fmean(unsure) < 0.1
    assert abs(fmean(right for _, right in found) - 0.515) < 0.011  # the better of the three decides, by half


def test_what_is_confidently_wrong_is_found_out() -> None:
    own = corpus(items=ITEMS)
    wrong = [f"a{number}{'x' if number % 2 else 'y'}" for number in range(ITEMS)]
    found = measured(own, [result(own, "haem-smart", seed, dev=wrong, test=[""] * 3) for seed in (1, 2)])
    assert all(0.35 < confidence < 0.65 for confidence, _ in found)


def test_too_few_items_are_not_measured() -> None:
    own = corpus(items=30)
    assert measured(own, [result(own, right=15)]) == []
