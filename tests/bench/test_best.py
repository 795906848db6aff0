"""Weights of member kinds, probabilities of any form, and the program that combines both."""

import json
import lzma
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bench.best import WITHOUT, Work, weigh
from bench.candidates import ENDING, LEAST, Questions, log_probabilities, read_pool
from bench.weights import Ballots, cross_fitted, fit
from click.testing import Result

from bench import best, candidates, weights
from reinflect.align.smart import Smart
from reinflect.data.items import Item
from reinflect.ensemble.strategies import Member, vote_all
from reinflect.inflector.inflector import Inflector
from reinflect.paper.combine import combine
from reinflect.paper.corpora import read_corpora
from reinflect.paper.grid import QUICK
from reinflect.systems import SYSTEMS
from tests.learn.tiny import small
from tests.paper.made_up import corpus, everyone, kinds, result
from tests.systems.slow_haem import SlowHaem
from tests.systems.small_fleets import HAEM, STATIC, SmallFleet, language, naive
from tests.systems.test_imitation import distance

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


def fitted_twice(kinds: list[str], ballots: Ballots) -> dict[str, dict[str, list[str]]]:
    items, splits = len(ballots.forms), ("dev", "test")
    seen, lemmas = dict.fromkeys(splits, [True] * items), [f"lemma{number}" for number in range(items)]
    return cross_fitted(kinds, dict.fromkeys(splits, ballots), [["right"]] * items, seen, lemmas)


def test_ballots_count_members_and_probabilities_by_kind() -> None:
    scores = [[np.log(probability)] for probability in (0.5, 0.2, 0.4, 0.3, 0.9)]
    ballots = Ballots.of(KINDS, ([["x"], ["y"], ["x"], ["x"], ["z"]], scores))
    assert ballots.forms == [["x", "y", "z"]]
    expected = [[1.0, 0.5, 0.0, 0.4, 0.2, 0.0], [0.0, 0.5, 0.0, 0.0, 0.1, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.9]]
    np.testing.assert_allclose(ballots.numbers[0, :, :6], expected)
    assert not ballots.numbers[0, :, 6:].any()
    assert ballots.right([["y", "q"]]).tolist() == [[False, True, False]]


def test_a_good_kind_outweighs_a_majority_and_without_items_the_vote_is_plain() -> None:
    kinds, rates = ["a", "b", "b", "b", "c"], [0.9, 0.3, 0.3, 0.3, 0.3]
    forms, scores, gold = answers(400, rates)
    ballots = Ballots.of(kinds, (forms, scores))
    learnt = fit(kinds, ballots, ballots.right(gold), [True] * 400)
    others, other_scores, _ = answers(400, rates, seed=2)
    other = Ballots.of(kinds, (others, other_scores))
    assert accuracy(other.named(learnt.best(other, [True] * 400))) > accuracy(vote_all(others)) + 0.1
    nothing = fit(kinds, ballots, np.zeros(ballots.numbers.shape[:2], dtype=bool), [True] * 400)
    assert ballots.named(nothing.best(ballots, [True] * 400)) == vote_all(forms)


def test_a_fit_ends_where_no_weight_could_gain() -> None:
    """A minority is right about every item: whole steps of Newton's method go too far, and back, without end."""
    kinds = [*(kind for kind in "abcd" for _ in range(5)), *"efgh"]
    forms = [["wrong" if kind in "abcd" else "right"] * 20 for kind in kinds]
    ballots = Ballots.of(kinds, (forms, [[-0.5] * 20] * len(kinds))).only((0, 1), 8)
    usual = np.array([5.0] * 4 + [1.0] * 4 + [0.0] * 8)

    def loss(vector: np.ndarray) -> float:
        wrong, right = (ballots.numbers @ vector).T
        return float(np.logaddexp(0, wrong - right).sum() + weights.PULL / 2 * ((vector - usual) ** 2).sum())

    fitted = weights._fitted(ballots, ballots.right([["right"]] * 20), np.ones(20, dtype=bool), usual)
    assert all(loss(fitted + 0.05 * step) > loss(fitted) for step in (*np.eye(16), *-np.eye(16)))
    assert loss(fitted) < loss(usual) / 5


def test_seen_and_unseen_bundles_have_weights_of_their_own() -> None:
    """Kind a is good at seen bundles, kind b at others."""
    halves = answers(300, [0.9, 0.2, 0.2, 0.9, 0.2])[0], answers(300, [0.2, 0.9, 0.9, 0.2, 0.2], seed=3)[0]
    forms, seen = [[*seen, *unseen] for seen, unseen in zip(*halves, strict=True)], [True] * 300 + [False] * 300
    ballots = Ballots.of(KINDS, (forms, [[-0.5] * 600] * 5))
    right = ballots.right([["right"]] * 600)
    apart, together = fit(KINDS, ballots, right, seen), fit(KINDS, ballots, right, [True] * 600)
    assert apart.seen[0] > apart.unseen[0]
    assert apart.seen[1] < apart.unseen[1]
    common = accuracy(ballots.named(together.best(ballots, [True] * 600)))
    assert accuracy(ballots.named(apart.best(ballots, seen))) > common + 0.05


def test_an_item_is_judged_by_weights_of_others() -> None:
    forms, scores, gold = answers(60, [0.6, 0.4, 0.4, 0.6, 0.4])
    lemmas, seen = [f"lemma{number // 2}" for number in range(60)], {split: [True] * 60 for split in ("dev", "test")}
    ballots = dict.fromkeys(("dev", "test"), Ballots.of(KINDS, (forms, scores)))
    before = cross_fitted(KINDS, ballots, gold, seen, lemmas)
    assert set(before) == {"vote", "weights", "best"}  # nobody has scored the candidates
    # An item whose right form changes is judged as before; so is the best way to judge it.
    for place in range(0, 60, 7):
        changed = [["other"] if lemma == lemmas[place] else right for lemma, right in zip(lemmas, gold, strict=True)]
        after = cross_fitted(KINDS, ballots, changed, seen, lemmas)
        assert [way["dev"][place] for way in after.values()] == [way["dev"][place] for way in before.values()]


def test_the_best_way_is_chosen_without_the_items_it_is_judged_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty ways that choose by chance: the one with the most right forms is no better than the others elsewhere."""
    ballots = Ballots([["right", "wrong"]] * 400, np.random.default_rng(5).normal(size=(400, 2, 40)))
    monkeypatch.setattr(weights, "WAYS", {str(group): (group,) for group in range(40)})
    forms = fitted_twice(["a"], ballots)
    ways = {name: accuracy(by_split["dev"]) for name, by_split in forms.items() if name != "best"}
    winner = max(ways, key=lambda name: ways[name])
    assert ways[winner] > 0.53
    assert accuracy(forms["best"]["dev"]) < ways[winner] - 0.02
    assert forms["best"]["test"] == forms[winner]["test"]


def test_scored_candidates_count() -> None:
    """Votes are no better than chance; members know better when they are shown both forms."""
    chance = np.random.default_rng(2)
    forms = [[str(chance.choice(["right", "wrong"])) for _ in range(300)] for _ in range(4)]
    forms[0], forms[1] = ["right"] * 300, ["wrong"] * 300  # both are candidates
    scores = np.full((4, 600), -3.0) + chance.normal(size=(4, 600))
    scores[:, ::2] += 3
    scores[:, :40] = np.nan  # of the first 20 items
    scores[2, 100] = -1000.0
    ballots = Ballots.of(["a", "a", "b", "b"], (forms, [[-1.0] * 300] * 4), ([["right", "wrong"]] * 300, scores))
    assert ballots.numbers[50, 0, 5] == pytest.approx((-20 + scores[3, 100]) / 2 / 20)
    assert ballots.numbers[50, 1, 6] == pytest.approx(np.maximum(scores[:2, 101], -6).mean() / 6)
    assert not ballots.numbers[:20, :, 4:].any()
    ways = fitted_twice(["a", "a", "b", "b"], ballots)
    assert accuracy(ways["scores"]["dev"]) > accuracy(ways["weights"]["dev"]) + 0.2
    assert ways["best"] == ways["scores"]


def test_models_set_apart_and_rules_have_a_weight_and_no_part_in_the_runs() -> None:
    bare, right = corpus(items=6), dict.fromkeys(("hacm-naive", "hacm-smart", "haem-naive", "haem-smart"), 0)
    models = everyone(bare, QUICK, right)
    rules = weigh(Work(bare, models, (), Path("none")), leave_out=True)
    baseline = combine(bare, kinds(QUICK), models).forms["baseline"]
    assert rules["best"] == rules["weights"] == baseline
    assert rules["vote"] == rules[f"{WITHOUT}rules"] != baseline
    assert {name for name in rules if name.startswith(WITHOUT)} == {f"{WITHOUT}{kind}" for kind in (*right, "rules")}
    left_out = best.complete([*models, result(corpus("greek"))])
    assert list(left_out) == [("german", "low")], "Greek has one model of eight"


def fleet(system: str, **changes: object) -> SmallFleet:
    languages = []
    for words in (["aba ab", "aba abab", "b aa", "abab ba", "a a", "abab abab"], ["cde edc", "ce cde", "deed"]):
        pairs = [(word.split()[0], word.split()[-1]) for word in words]
        bundles = ["V;X", "V;Y", "N"] * 2
        aligned = [(naive(*pair), bundle) for pair, bundle in zip(pairs, bundles, strict=False)]
        alignable = SYSTEMS[system] if SYSTEMS[system] in STATIC else HAEM
        languages.append(language(alignable, aligned, "N;V;X;Y"))
    return SmallFleet(SYSTEMS[system], small(system, **changes), languages, seed=3, dtype=torch.float32)


def as_arrays(parameters: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in parameters.items()}


def scores_of(random: SmallFleet) -> list[np.ndarray]:
    facts: dict[str, Any] = {"system": random.system.name, "alignment": "naive", "seed": 1, "dev_accuracy": 0.0}
    models = [
        Member(**facts, settings=random.settings, inventory=own.inventory, parameters=parameters)
        for own, parameters in zip(random.languages, map(as_arrays, random.models), strict=True)
    ]
    files: list[Questions] = [(own.items, own.alignments) for own in random.languages]
    return log_probabilities(models, files, [0, 1])


@pytest.mark.parametrize("system", [system.name for system in STATIC])
@pytest.mark.parametrize("limit", [1, 1 << 24])
def test_a_static_oracle_s_actions_taken_one_by_one(system: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with label smoothing, which is no part of a probability, and in batches of one item."""
    monkeypatch.setitem(candidates.NUMBERS_AT_ONCE, "cpu", limit)
    random = fleet(system, **({"label_smoothing": 0.2} if system == "soft" else {}))
    for number, (own, scores) in enumerate(zip(random.languages, scores_of(random), strict=True)):
        slow = [-float(sum(random.slow_losses(number, item))) for item in range(len(own.items))]
        np.testing.assert_allclose(scores, slow, rtol=1e-4)


def right_actions(lemma: str, form: str) -> list[str]:
    least = distance(lemma, form)
    actions = ["COPY"] * (bool(lemma and form and lemma[0] == form[0]) and distance(lemma[1:], form[1:]) == least)
    actions += ["DELETE"] * (bool(lemma) and 1 + distance(lemma[1:], form) == least)
    actions += [form[:1]] * (bool(form) and 1 + distance(lemma, form[1:]) == least)
    return actions or ["STOP"]


def best_right_actions(machine: SlowHaem, lemma: str, form: str) -> float:
    total, action = 0.0, ""
    while action != "STOP":
        chances = machine.probabilities()
        action = max(right_actions(lemma, form), key=lambda name: float(chances[name]))
        total += float(torch.log(chances[action]))
        machine.do(action)
        lemma, form = lemma[action in ("COPY", "DELETE") :], form[action != "DELETE" :]
    return total


def test_by_imitation_the_best_right_actions_taken_one_by_one() -> None:
    random = fleet("imitation", roll_in=2.0)
    for own, parameters, scores in zip(random.languages, random.models, scores_of(random), strict=True):
        double = {name: tensor.double() for name, tensor in parameters.items()}
        machines = [SlowHaem(double, random.settings, own.inventory, i.lemma, i.features) for i in own.items]  # type: ignore[arg-type]
        slow = [best_right_actions(m, i.lemma, i.form) for m, i in zip(machines, own.items, strict=True)]
        np.testing.assert_allclose(scores, slow, rtol=1e-4)


TINY = "embedding=5 hidden=6 history_hidden=4 epochs=4 patience=60 score_from=0 score_every=2".split()


def test_the_program_weighs_a_benchmark_and_scores_its_candidates(
    two_languages: Path,
    tmp_path: Path,
    reinflect: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, changes = tmp_path / "out", [word for change in TINY for word in ("--set", change)]
    command = ["benchmark", "--data", two_languages, "--out", out, "--grid", "quick", "--settings", "low", *changes]
    assert reinflect(*command, "--device", "cpu", "--workers", 1, "--save-models").exit_code == 0
    monkeypatch.setattr("sys.argv", ["best", str(out), "--data", str(two_languages), "--gold", str(two_languages)])
    best.main()
    plain = json.loads((out / "best.json").read_text(encoding="utf-8"))
    assert set(plain["test"]["low"]) == {"vote", "weights", "best"}
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert plain["dev"]["low"]["vote"] == results["dev"]["low"]["vote"]
    sys.argv += ["--candidates", "--leave-out"]
    best.main()
    assert "german-low: candidates scored (1 of 2)" in capsys.readouterr().out
    page = (out / "best.md").read_text(encoding="utf-8")
    assert "| low     | hacm-naive |" in page
    assert "| all, weighed by kind, with each model's probability of each candidate |" in page
    assert (out / "predictions" / "low" / "best" / "turkish-test").is_file()
    path = next((out / "packs").glob(f"german*{ENDING}"))
    check_pool(path, out / "models" / "low" / "german.reinflect", two_languages)
    content = path.read_bytes()
    for damaged in (content[:-5], lzma.compress(b"not MessagePack")):
        path.write_bytes(damaged)
        assert read_pool(path) is None
    best.main()
    assert path.read_bytes() == content
    assert "(1 of 1)" in capsys.readouterr().out, "those of Turkish are kept"
    monkeypatch.setattr("sys.argv", ["best", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        best.main()


def check_pool(path: Path, model: Path, data: Path) -> None:
    """Every model scores the forms of all, aligned by what the aligner learnt from the training items."""
    pool, ([german], _) = read_pool(path), read_corpora(data, ["german"], ["low"])
    assert pool is not None
    assert len(pool.models) == 8
    asked = zip(german.asked, pool.candidates["test"], strict=True)
    items = [Item(item.lemma, item.features, form) for item, forms in asked for form in forms]
    train, pairs = ([(item.lemma, item.form) for item in part] for part in (german.train, items))
    alignments = Smart().align_more(train, Smart().align(train), pairs)
    smart = [member for member in Inflector.load(model).members if member.kind == "haem-smart"]
    expected = [log_probabilities([member], [(items, alignments)], [0])[0] for member in smart]
    known = np.array([set(item.lemma) <= set(german.inventory.characters) for item in items])
    assert 0 < known.sum() < len(items)
    assert np.isnan(pool.scores["test"][:, ~known]).all()
    for scores in expected:
        matches = np.isclose(pool.scores["test"], np.maximum(scores, LEAST), rtol=2e-3, atol=2e-3)
        assert matches[:, known].all(axis=1).any()
