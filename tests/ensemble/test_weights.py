"""Weights of member kinds, learnt from dev items."""

import numpy as np
import pytest

from reinflect.ensemble import weights as module
from reinflect.ensemble.strategies import vote_all
from reinflect.ensemble.weights import Ballots, cross_fitted, fit

KINDS = ["a", "b", "b", "a", "c"]


Strings = list[list[str]]


def answers(items: int, rates: list[float], seed: int = 1) -> tuple[Strings, list[list[float]], Strings]:
    """Members that are right at these rates, else one of three wrong forms; and the right forms."""
    chance = np.random.default_rng(seed)
    forms = [
        ["right" if chance.random() < rate else f"wrong{chance.integers(3)}" for _ in range(items)] for rate in rates
    ]
    return forms, [[-0.5] * items for _ in rates], [["right"]] * items


def accuracy(forms: list[str]) -> float:
    return sum(form == "right" for form in forms) / len(forms)


def test_ballots_count_members_and_probabilities_by_kind() -> None:
    forms = [["x"], ["y"], ["x"], ["x"], ["z"]]
    scores = [[np.log(own)] for own in (0.5, 0.2, 0.4, 0.3, 0.9)]
    ballots = Ballots.of(KINDS, (forms, scores))
    assert ballots.forms == [["x", "y", "z"]]
    expected = [[1.0, 0.5, 0.0, 0.4, 0.2, 0.0], [0.0, 0.5, 0.0, 0.0, 0.1, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.9]]
    np.testing.assert_allclose(ballots.numbers[0, :, :6], expected)
    assert not ballots.numbers[0, :, 6:].any()
    assert ballots.right([["y", "q"]]).tolist() == [[False, True, False]]


def test_without_items_to_learn_from_it_is_the_plain_vote() -> None:
    forms, scores, _ = answers(200, [0.3] * 5)
    ballots = Ballots.of(KINDS, (forms, scores))
    nothing = fit(KINDS, ballots, np.zeros(ballots.numbers.shape[:2], dtype=bool), [True] * 200)
    assert ballots.named(nothing.best(ballots, [True] * 200)) == vote_all(forms)


def test_a_good_kind_outweighs_a_majority() -> None:
    kinds, rates = ["a", "b", "b", "b", "c"], [0.9, 0.3, 0.3, 0.3, 0.3]
    forms, scores, gold = answers(400, rates)
    ballots = Ballots.of(kinds, (forms, scores))
    learnt = fit(kinds, ballots, ballots.right(gold), [True] * 400)
    kept, kept_scores, _ = answers(400, rates, seed=2)
    others = Ballots.of(kinds, (kept, kept_scores))
    assert accuracy(others.named(learnt.best(others, [True] * 400))) > accuracy(vote_all(kept)) + 0.1


def test_a_fit_ends_where_no_weight_could_gain() -> None:
    """A minority is right about every item: whole steps of Newton's method go too far, and back, without end."""
    kinds = [*(kind for kind in "abcd" for _ in range(5)), *"efgh"]
    forms = [["wrong" if kind in "abcd" else "right"] * 20 for kind in kinds]
    ballots = Ballots.of(kinds, (forms, [[-0.5] * 20] * len(kinds))).only((0, 1), 8)
    usual = np.array([5.0] * 4 + [1.0] * 4 + [0.0] * 8)

    def loss(weights: np.ndarray) -> float:
        wrong, right = (ballots.numbers @ weights).T
        return float(np.logaddexp(0, wrong - right).sum() + module.PULL / 2 * ((weights - usual) ** 2).sum())

    found = module._fitted(ballots, ballots.right([["right"]] * 20), np.ones(20, dtype=bool), usual)
    for step in (*np.eye(16), *-np.eye(16)):
        assert loss(found + 0.05 * step) > loss(found)
    assert loss(found) < loss(usual) / 5


def test_seen_and_unseen_bundles_have_weights_of_their_own() -> None:
    """Kind a is good at seen bundles, kind b at others."""
    half = 300
    one, two = answers(half, [0.9, 0.2, 0.2, 0.9, 0.2])[0], answers(half, [0.2, 0.9, 0.9, 0.2, 0.2], seed=3)[0]
    forms = [[*own, *other] for own, other in zip(one, two, strict=True)]
    seen = [True] * half + [False] * half
    ballots = Ballots.of(KINDS, (forms, [[-0.5] * 2 * half] * 5))
    gold = [["right"]] * 2 * half
    apart = fit(KINDS, ballots, ballots.right(gold), seen)
    together = fit(KINDS, ballots, ballots.right(gold), [True] * 2 * half)
    assert apart.seen[0] > apart.unseen[0]
    assert apart.seen[1] < apart.unseen[1]
    found = [ballots.named(own.best(ballots, its)) for own, its in ((apart, seen), (together, [True] * 2 * half))]
    assert accuracy(found[0]) > accuracy(found[1]) + 0.05


def test_probabilities_count() -> None:
    """Members that know when they are right."""
    forms, _, gold = answers(400, [0.5, 0.5, 0.5])
    scores = [[-0.1 if form == "right" else -2.0 for form in own] for own in forms]
    ballots = Ballots.of(["a", "b", "c"], (forms, scores))
    learnt = fit(["a", "b", "c"], ballots, ballots.right(gold), [False] * 400)
    assert accuracy(ballots.named(learnt.best(ballots, [False] * 400))) > accuracy(vote_all(forms)) + 0.1


def splits(ballots: Ballots) -> dict[str, Ballots]:
    return {"dev": ballots, "test": ballots}


def all_seen(items: int) -> dict[str, list[bool]]:
    return {"dev": [True] * items, "test": [True] * items}


def test_an_item_is_judged_by_weights_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    forms, scores, gold = answers(60, [0.6, 0.4, 0.4, 0.6, 0.4])
    lemmas = [f"lemma{number // 2}" for number in range(60)]
    ballots = splits(Ballots.of(KINDS, (forms, scores)))
    learnt_from: list[set[str]] = []

    def seeing(kinds, own, right, seen):  # type: ignore[no-untyped-def]
        learnt_from.append({lemmas[place] for place in np.flatnonzero(right.any(axis=1))})
        return fit(kinds, own, right, seen)

    monkeypatch.setattr(module, "fit", seeing)
    before = cross_fitted(KINDS, ballots, gold, all_seen(60), lemmas)
    assert set(before) == {"vote", "weights", "best"}  # nobody has scored the candidates
    usable = max(learnt_from, key=len)
    left_out = [usable - own for own in learnt_from if own]
    pairs = module.FOLDS * (module.FOLDS - 1) // 2
    assert len(left_out) == 1 + module.FOLDS + pairs
    assert sum(map(len, left_out)) == len(usable) + 2 * len(usable) * pairs // module.FOLDS
    # An item whose right form changes is judged as before; so is the best way to judge it.
    for place in range(0, 60, 7):
        changed = [["other"] if lemmas[number] == lemmas[place] else own for number, own in enumerate(gold)]
        after = cross_fitted(KINDS, ballots, changed, all_seen(60), lemmas)
        assert [own["dev"][place] for own in after.values()] == [own["dev"][place] for own in before.values()]


def test_the_best_way_is_chosen_without_the_items_it_is_judged_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty ways that choose by chance: the one with the most right forms is no better than the others elsewhere."""
    items, chance = 400, np.random.default_rng(5)
    lemmas = [f"lemma{number}" for number in range(items)]
    ballots = Ballots([["right", "wrong"]] * items, chance.normal(size=(items, 2, 40)))
    monkeypatch.setattr(module, "WAYS", {str(group): (group,) for group in range(40)})
    found = cross_fitted(["a"], splits(ballots), [["right"]] * items, all_seen(items), lemmas)
    ways = {name: accuracy(own["dev"]) for name, own in found.items() if name != "best"}
    winner = max(ways, key=lambda name: ways[name])
    assert ways[winner] > 0.53
    assert accuracy(found["best"]["dev"]) < ways[winner] - 0.02
    assert found["best"]["test"] == found[winner]["test"]


def test_the_best_way_is_another_one_for_unseen_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    items, chance = 200, np.random.default_rng(7)
    numbers = chance.normal(size=(items, 2, 2))
    numbers[:100, :, 0] = numbers[100:, :, 1] = [5.0, -5.0]  # the first way knows the seen ones, the second the others
    monkeypatch.setattr(module, "WAYS", {"a": (0,), "b": (1,)})
    seen = [True] * 100 + [False] * 100
    ballots, lemmas = Ballots([["right", "wrong"]] * items, numbers), [f"lemma{number}" for number in range(items)]
    found = cross_fitted(["k"], splits(ballots), [["right"]] * items, {"dev": seen, "test": seen}, lemmas)
    assert max(accuracy(found[way]["dev"]) for way in ("a", "b")) < 0.9
    assert found["best"] == {"dev": ["right"] * items, "test": ["right"] * items}


def test_scored_candidates_count() -> None:
    """Votes are no better than chance; members know better when they are shown both forms."""
    items, chance = 300, np.random.default_rng(2)
    forms = [[str(chance.choice(["right", "wrong"])) for _ in range(items)] for _ in range(4)]
    forms[0], forms[1] = ["right"] * items, ["wrong"] * items  # both are candidates
    scores = np.full((4, 2 * items), -3.0) + chance.normal(size=(4, 2 * items))
    scores[:, ::2] += 3
    scores[:, :40] = np.nan  # of the first 20 items
    scores[2, 100] = -1000.0
    kinds = ["a", "a", "b", "b"]
    ballots = Ballots.of(kinds, (forms, [[-1.0] * items] * 4), ([["right", "wrong"]] * items, scores))
    assert ballots.numbers[50, 0, 5] == pytest.approx((-20 + scores[3, 100]) / 2 / 20)
    assert ballots.numbers[50, 0, 7] == pytest.approx((-6 + max(scores[3, 100], -6)) / 2 / 6)
    assert ballots.numbers[50, 1, 6] == pytest.approx(np.maximum(scores[:2, 101], -6).mean() / 6)
    assert not ballots.numbers[:20, :, 4:].any()
    lemmas = [f"lemma{number}" for number in range(items)]
    found = cross_fitted(kinds, splits(ballots), [["right"]] * items, all_seen(items), lemmas)
    assert accuracy(found["scores"]["dev"]) > accuracy(found["weights"]["dev"]) + 0.2
    assert found["best"] == found["scores"]
