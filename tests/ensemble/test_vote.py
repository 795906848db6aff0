"""Votes, and who has one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import (
    RUNS,
    STRATEGIES,
    Trained,
    Voter,
    average,
    choices,
    choose,
    combined,
    comparable,
    dev_accuracy,
    find_strategy,
    vote,
    vote_all,
)
from reinflect.errors import InputError
from reinflect.systems.kind import PAPERS, default_strategy

BUNDLE = Bundle("V")
DEV = [Item(f"a{number}", BUNDLE, f"a{number}x") for number in range(4)]
KINDS = ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart", "soft")


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=9))
def test_most_votes_win_and_ties_go_to_the_best_member_among_the_tied(forms: list[str]) -> None:
    most = max(forms.count(form) for form in forms)
    assert vote(forms) == next(form for form in forms if forms.count(form) == most)


def test_votes_are_taken_item_by_item() -> None:
    assert vote_all([["a", "x"], ["b", "y"], ["b", "x"]]) == ["b", "x"]
    assert vote_all([[], []]) == []


def test_a_sure_member_outweighs_two_that_are_not() -> None:
    assert average(["a", "b", "b"], [math.log(0.9), math.log(0.3), math.log(0.4)]) == "a"
    assert average(["a", "b", "b"], [math.log(0.6), math.log(0.3), math.log(0.4)]) == "b"
    assert average(["a", "b"], [0.0, 0.0]) == "a"
    together = find_strategy("average").combine_all([["a", "x"], ["b", "y"]], [[-1.0, -3.0], [-2.0, -2.0]])
    assert together == ["a", "y"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-5, 0)), min_size=1, max_size=9))
def test_the_mean_probability_of_anything(said: list[tuple[str, float]]) -> None:
    forms, scores = [form for form, _ in said], [score for _, score in said]
    means = {form: math.fsum(math.exp(s) for f, s in said if f == form) / len(said) for form in forms}
    assert means[average(forms, scores)] == pytest.approx(max(means.values()))


@dataclass(frozen=True)
class Model:
    kind: str
    seed: int
    dev_accuracy: float

    @property
    def system(self) -> str:
        return self.kind.partition("-")[0]


def test_the_runs_keep_to_the_papers_systems() -> None:
    """Beside published figures nothing changes when a further system is trained."""
    papers = [Model(kind, seed, 50.0 - seed) for kind in KINDS for seed in (1, 2, 3)]
    others = [Model("other-naive", seed, 90.0) for seed in (1, 2, 3)]

    def prefers_others(some: Sequence[Model]) -> float:
        return 100.0 if any(one.system == "other" for one in some) else float(len(some))

    for run in RUNS:
        chosen = choose(run, [*papers, *others], prefers_others)
        assert chosen == choose(run, papers, prefers_others), run.name
        assert chosen, run.name
        assert choose(run, others, prefers_others) == [], run.name
    for name, most in (("vote", 18), ("average", 15), ("ensemble-4", 4), ("ensemble-16", 16)):
        chosen = choose(find_strategy(name), [*papers, *others], prefers_others)
        assert (chosen[:3], len(chosen)) == (others, most), name
    assert choose(find_strategy("max"), [*papers, *others], prefers_others) == others


def test_unless_another_is_chosen_all_trained_systems_vote() -> None:
    trained = {"run7": (["hacm", "haem"], ["soft"], PAPERS), "ensemble-15": (["other"], [*PAPERS, "other"])}
    for name, systems in ((name, systems) for name, sets in trained.items() for systems in sets):
        assert default_strategy(systems) == name
        assert all(map(find_strategy(name).may_vote, systems))


def slow_best(members: Sequence[Model]) -> list[Model]:
    """Best first by repeated looking."""
    left, ordered = list(members), []
    while left:
        best = left[0]
        for member in left[1:]:
            if member.dev_accuracy > best.dev_accuracy:
                best = member
            elif member.dev_accuracy == best.dev_accuracy:
                places = [(KINDS.index(one.kind), one.seed) for one in (member, best)]
                best = member if places[0] < places[1] else best
        left.remove(best)
        ordered.append(best)
    return ordered


def slow_runs(members: Sequence[Model], accuracy: dict[frozenset[Model], float]) -> dict[str, list[Model]]:
    """The seven runs written out, one by one."""

    def of(*kinds: str) -> list[Model]:
        return slow_best([member for member in members if member.kind in kinds])

    def greatest(candidates: list[list[Model]]) -> list[Model]:
        best: list[Model] = []
        for candidate in candidates:
            if candidate and (not best or accuracy[frozenset(candidate)] > accuracy[frozenset(best)]):
                best = candidate
        return best

    runs = {
        "run1": greatest([of("hacm-naive"), of("hacm-smart")]),
        "run2": of("hacm-naive", "hacm-smart")[:7],
        "run3": greatest([of("haem-naive"), of("haem-smart")]),
        "run4": of("haem-naive", "haem-smart")[:7],
        "run5": greatest([of(kind) for kind in KINDS]),
        "run6": of(*KINDS)[:15],
    }
    return runs | {"run7": greatest([runs["run5"], runs["run6"]])}


models = st.builds(Model, st.sampled_from(KINDS), st.integers(1, 5), st.sampled_from([10.0, 20.0, 30.0]))


@given(st.lists(models, unique_by=lambda model: (model.kind, model.seed), max_size=25), st.randoms())
def test_the_runs_are_those_written_out(members: list[Model], chance: Random) -> None:
    accuracies: dict[frozenset[Model], float] = {}

    class Lazily(dict[frozenset[Model], float]):
        def __missing__(self, some: frozenset[Model]) -> float:
            # Few different figures, so that there are ties; the same for the same members.
            return accuracies.setdefault(some, chance.choice([40.0, 50.0]))

    accuracy = Lazily()
    slow = slow_runs(members, accuracy)
    assert [run.name for run in RUNS] == list(slow)
    for run in RUNS:
        assert choose(run, members, lambda some: accuracy[frozenset(some)]) == slow[run.name], run.name


@pytest.mark.parametrize("name", ["", "run8", "ensemble", "ensemble-0", "ensemble-", "ensemble--3", "Vote"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"there is no strategy '{name}'; (strategies: run1, run2, |did you mean )"):
        find_strategy(name)


def voter(kind: str, seed: int, *forms: str, dev: Sequence[Item] = DEV) -> Voter:
    return scored(kind, seed, dev, forms, [-1.0] * len(forms))


def scored(kind: str, seed: int, dev: Sequence[Item], forms: Sequence[str | None], scores: Sequence[float]) -> Voter:
    """A voter that predicts these forms, none of which the filter for repeats changes."""
    system, _, alignment = kind.partition("-")
    said = Predictions(list(forms), list(scores))
    facts: dict[str, Any] = {"system": system, "alignment": alignment or "none", "seed": seed, "dev_accuracy": 0.0}
    model = Trained(key="", best_epoch=0, usable=True, dev=said, **facts)
    return Voter.of(model, dev, {})


def test_a_vote_can_be_better_than_all_its_members() -> None:
    voters = [
        voter("hacm-naive", 1, "a0x", "a1x", "no", "no"),
        voter("hacm-naive", 2, "a0x", "ne", "a2x", "ne"),
        voter("hacm-naive", 3, "na", "a1x", "a2x", "na"),
        voter("haem-smart", 1, "a0x", "a1x", "nu", "nu"),
    ]
    assert [one.dev_accuracy for one in voters] == [50.0] * 4
    chosen = choices(voters, ["ensemble-2"])
    assert [one.seed for one in chosen["run7"]] == [1, 2, 3]
    assert dev_accuracy(find_strategy("vote"), chosen["run1"]) == 75.0
    assert [one.kind for one in chosen["run3"]] == ["haem-smart"]
    assert chosen["ensemble-2"] == voters[:2]
    assert set(chosen) == {*STRATEGIES, "ensemble-2"}
    assert "run1" not in choices(voters[3:])


def test_of_several_lines_for_a_cell_the_last_counts() -> None:
    dev = [Item("a", BUNDLE, "x"), Item("a", BUNDLE, "y")]
    assert [voter("hacm-naive", 1, "y", form, dev=dev).dev_accuracy for form in ("x", "y")] == [0.0, 100.0]
    assert combined(find_strategy("vote"), [voter("hacm-naive", 1, "x", "y", dev=dev)]) == {("a", "V"): "y"}


def test_members_with_other_dev_items_are_compared_by_what_others_do_with_these() -> None:
    easy, hard = DEV[:2], DEV[2:]
    voters = [
        voter("hacm-naive", 1, "a0x", "a1x", dev=easy),
        voter("haem-naive", 1, "a0x", "a1x", dev=easy),
        voter("hacm-naive", 2, "a2x", "no", dev=hard),
        voter("haem-naive", 2, "no", "no", dev=hard),
    ]
    assert [one.dev_accuracy for one in comparable(voters)] == [0.0, 0.0, 25.0, -25.0]
    chosen = choices(voters, ["ensemble-3"])
    assert [voter.name for voter in chosen["ensemble-3"]] == ["hacm-naive-2", "hacm-naive-1", "haem-naive-1"]
    # On each item those vote that were asked it.
    assert dev_accuracy(find_strategy("vote"), chosen["run1"]) == 75.0
    assert comparable(voters[:2]) == voters[:2]
