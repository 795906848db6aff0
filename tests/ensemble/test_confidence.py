"""Confidence: what votes and probabilities are worth, and whether it can be trusted."""

import math
import random

import msgspec
import numpy as np
import pytest
from bench.calibration import equal_bins
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.confidence import (
    ALTERNATIVE,
    LEAST_ITEMS,
    PULL,
    USUAL,
    Bin,
    Confidence,
    Evidence,
    bins,
    calibration_error,
    fit,
    in_order,
    judged_cells,
)
from reinflect.ensemble.strategies import find_strategy
from tests.ensemble.test_vote import scored

Votes = list[tuple[str, float]]
LOG_PROBABILITIES = st.floats(-1e4, 0)
SAID = st.lists(st.tuples(st.sampled_from(["a", "b", "ab"]), LOG_PROBABILITIES), min_size=1, max_size=8)


def test_the_evidence_for_a_form() -> None:
    found = Evidence.of("ging", ["ging", "gehte", "ging"], [math.log(0.5), math.log(0.9), math.log(0.1)], seen=True)
    assert (found.votes, found.voters, found.seen) == (2, 3, True)
    assert found.log_mean == pytest.approx(math.log(0.6 / 3))
    assert found.log_best == pytest.approx(math.log(0.5))
    assert Evidence.of("x", ["y"], [-1.0], seen=False)[:4] == (0, 1, -math.inf, -math.inf)


@given(SAID, st.booleans())
def test_any_evidence_gives_numbers_and_a_confidence(said: Votes, seen: bool) -> None:
    forms, scores = [form for form, _ in said], [score for _, score in said]
    for form in ("a", "b", "c"):
        evidence = Evidence.of(form, forms, scores, seen=seen)
        assert all(map(math.isfinite, evidence.numbers))
        assert evidence.votes == forms.count(form)
        assert 0 < Confidence(USUAL, 100).of(evidence) < 1
        if evidence.votes and max(scores) > -700:
            plain = sum(math.exp(score) for own, score in said if own == form) / len(forms)
            assert math.exp(evidence.log_mean) == pytest.approx(plain, abs=1e-12)


def test_more_votes_and_surer_voters_make_it_surer() -> None:
    usual = Confidence(USUAL, 100)

    def sure(votes: int, voters: int, probability: float, *, seen: bool = True) -> float:
        forms = ["a"] * votes + ["b"] * (voters - votes)
        return usual.of(Evidence.of("a", forms, [math.log(probability)] * voters, seen=seen))

    assert sure(5, 5, 0.9) > sure(4, 5, 0.9) > sure(1, 5, 0.9)
    assert sure(5, 5, 0.9) > sure(5, 5, 0.5)
    assert sure(15, 15, 0.9) > sure(3, 3, 0.9)
    assert sure(5, 5, 0.9) > sure(5, 5, 0.9, seen=False)


@given(st.lists(st.tuples(SAID, st.booleans()), min_size=1, max_size=8), st.floats(-30, 30))
def test_alternatives_share_a_part_of_what_is_left(said: list[tuple[Votes, bool]], bias: float) -> None:
    """Of what the first form leaves."""
    fitted = Confidence((bias, *USUAL[1:]), 100)
    first, *others = (Evidence.of("a", *map(list, zip(*votes, strict=True)), seen=seen) for votes, seen in said)
    answers = in_order({str(number): evidence for number, evidence in enumerate([first, *others])}, first, fitted)
    sure, *alternatives = [answer.confidence or 0.0 for answer in answers]
    alone = sorted((fitted.of(evidence) for evidence in others), reverse=True)  # the better the evidence, the surer
    rounding = 1e-4
    assert answers[0].form == "0"
    assert sure == pytest.approx(fitted.of(first), abs=rounding)
    assert sum(alternatives) <= ALTERNATIVE * (1 - sure) + rounding * len(others)
    for shared, single in zip(alternatives, alone, strict=True):
        assert 0 <= shared <= min(sure, ALTERNATIVE * single + rounding)  # less than a first form with this evidence
        if sum(alone) < 1 - sure:
            assert shared == pytest.approx(min(sure, ALTERNATIVE * single), abs=rounding)


def drawn(count: int, weights: tuple[float, ...], seed: int = 1) -> tuple[list[Evidence], list[bool]]:
    """Evidence of all kinds, right as often as the weights say."""
    chance, true = random.Random(seed), Confidence(weights, 0)
    evidence = []
    for _ in range(count):
        forms = ["a"] * chance.randint(1, 10)
        scores = [math.log(chance.uniform(0.01, 0.99)) for _ in range(10)]
        evidence.append(Evidence.of("a", forms + ["b"] * (10 - len(forms)), scores, seen=chance.random() < 0.5))
    return evidence, [chance.random() < true.of(one) for one in evidence]


OTHER = (-0.2, 0.1, 0.6, 0.5, 1.5)


@pytest.mark.parametrize(("count", "pull"), [(LEAST_ITEMS, 1.0), (100, 1.0), (100, 10.0), (400, 1.0)])
def test_fitting_is_what_a_general_optimiser_finds(count: int, pull: float) -> None:
    evidence, right = drawn(count, OTHER)
    numbers, target = np.array([one.numbers for one in evidence]), np.array(right, dtype=float)
    signs = 2 * target - 1

    def cost(weights: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
        misfit = np.logaddexp(0, -signs * (numbers @ weights)).sum()
        return float(misfit + 0.5 * pull * (np.array(PULL) * (weights - np.array(USUAL)) ** 2).sum())

    best = minimize(cost, np.zeros(5), tol=1e-12).x
    fitted = fit(evidence, right, pull=pull)
    assert fitted is not None
    assert fitted.weights == pytest.approx(best, abs=1e-3)
    assert fitted.items == count


def test_what_was_fitted_can_be_trusted_on_other_items() -> None:
    found = fit(*drawn(4000, OTHER))
    assert found is not None
    evidence, right = drawn(4000, OTHER, seed=2)
    fitted, usual = ([*zip(map(sure.of, evidence), right, strict=True)] for sure in (found, Confidence(USUAL, 0)))
    assert max(calibration_error(bins(fitted)), calibration_error(equal_bins(fitted))) < 0.03
    assert calibration_error(bins(usual)) > 0.1  # so there was something to fit


@pytest.mark.parametrize("right", [True, False])
def test_where_all_is_right_or_wrong_it_is_sure_but_finite(right: bool) -> None:
    evidence, _ = drawn(50, USUAL)
    found = fit(evidence, [right] * 50)
    assert found is not None
    assert all((found.of(one) > 0.5) == right for one in evidence)


def test_of_too_few_items_there_is_none() -> None:
    evidence, right = drawn(LEAST_ITEMS, USUAL)
    assert fit(evidence[1:], right[1:]) is None
    assert fit([], []) is None
    assert fit(evidence, right) is not None


@pytest.mark.parametrize("weights", [[], [1.0], [1.0] * 6, ["a"] * 5, None])
def test_weights_that_cannot_be(weights: object) -> None:
    with pytest.raises((msgspec.ValidationError, ValueError)):
        msgspec.convert({"weights": weights, "items": 3}, Confidence)
    with pytest.raises(ValueError, match="confidence"):
        Confidence((math.nan,) * 5, 3)


def test_bins_by_hand() -> None:
    forms = [(0.05, False), (0.05, True), (0.62, True), (0.68, False), (1.0, True)]
    assert bins(forms) == list(map(pytest.approx, [Bin(2, 0.05, 0.5), Bin(2, 0.65, 0.5), Bin(1, 1.0, 1.0)]))
    assert calibration_error(bins(forms)) == pytest.approx((2 * 0.45 + 2 * 0.15) / 5)
    assert equal_bins(forms, 2) == list(map(pytest.approx, [Bin(3, 0.24, 2 / 3), Bin(2, 0.84, 0.5)]))
    assert bins([]) == equal_bins([]) == []
    assert calibration_error([]) == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 12))
def test_bins_have_every_item_once(forms: list[tuple[float, bool]], count: int) -> None:
    for diagram in (bins(forms, count), equal_bins(forms, count)):
        assert sum(part.items for part in diagram) == len(forms)
        assert sum(part.items * part.accuracy for part in diagram) == pytest.approx(sum(right for _, right in forms))
        assert sum(part.items * part.confidence for part in diagram) == pytest.approx(sum(sure for sure, _ in forms))
        assert 0 <= calibration_error(diagram) <= 1 + 1e-9
        assert len(diagram) <= count
    sizes = [part.items for part in equal_bins(forms, count)]
    assert max(sizes) - min(sizes) <= 1


def test_only_those_judge_a_cell_that_were_asked_it() -> None:
    ab, cd = Item("ab", Bundle("V"), "abb"), Item("cd", Bundle("N;PL"), "cdd")
    one = scored("haem-naive", 1, [ab], ["abb"], [-0.5])
    two = scored("haem-naive", 2, [ab, cd], ["ab", "cd"], [-1.0, -2.0])
    evidence, right = judged_cells(find_strategy("vote"), [one, two], {("cd", "N;PL")})
    assert evidence == [
        Evidence.of("abb", ["abb", "ab"], [-0.5, -1.0], seen=False),
        Evidence.of("cd", ["cd"], [-2.0], seen=True),
    ]
    assert right == [True, False]
    averaged, _ = judged_cells(find_strategy("average"), [two, one], set())
    assert averaged[0].votes == 1
    assert averaged[0].log_best == -0.5  # the surer one, though it comes last
