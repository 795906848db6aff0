"""Many predictions to one: votes, and who takes part in them.

Every strategy of §5 comes down to a choice of members, made once by what they and their votes do on dev items; the
members chosen then vote on everything they are asked.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import NamedTuple, Protocol, TypeVar

from reinflect.data.items import Item
from reinflect.errors import InputError, quoted
from reinflect.evaluation.cells import Cell, right_forms
from reinflect.evaluation.scores import DECIMALS

UNALIGNED = "none"
"""The alignment of a system that needs none."""
DEFAULT = "run7"
NAMED_ENSEMBLE = re.compile(r"ensemble-([1-9][0-9]{0,3})")


class Member(Protocol):
    """What a strategy goes by."""

    @property
    def kind(self) -> str:
        """System and alignment; see `kind_of`."""
        ...

    @property
    def seed(self) -> int: ...

    @property
    def dev_accuracy(self) -> float: ...


Form = TypeVar("Form", str, str | None)
"""None is an output that came to no end."""
AnyMember = TypeVar("AnyMember", bound=Member)
Accuracy = Callable[[Sequence[AnyMember]], float]
"""The dev accuracy of the vote of some members, which come best first."""


def kind_of(system: str, alignment: str) -> str:
    """Such as `hacm-naive`: models that differ in their seed only are of one kind."""
    return system if alignment == UNALIGNED else f"{system}-{alignment}"


def vote(forms: Sequence[Form]) -> Form:
    """E(·) of §5: the form that most members give. Members come best first; among tied forms the best member's wins.

    A majority vote over whole strings, not over actions.
    """
    # Nearly always the best member's form has half of the votes, and then no other has more.
    if 2 * forms.count(forms[0]) >= len(forms):
        return forms[0]
    # In the order of the members, of which max takes the first of equals: the form of the best among the tied.
    return max(dict.fromkeys(forms), key=forms.count)


def vote_all(members: Sequence[Sequence[Form]]) -> list[Form]:
    """The vote of members on many items. *Shape:* a list of forms per member, best member first"""
    return [vote(forms) for forms in zip(*members, strict=True)]


def average(forms: Sequence[str], log_probabilities: Sequence[float]) -> str:
    """The form with the largest mean probability, where each member gives one form and how probable it finds it.

    Members have different actions, so probabilities of whole forms are averaged; a member counts with nothing for
    forms other than its own, which it was not asked about. Among equals the best member's wins, as in a vote.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for form, log_probability in zip(forms, log_probabilities, strict=True):
        weights[form] += math.exp(log_probability)
    return max(weights, key=lambda form: weights[form])


def average_all(members: Sequence[Sequence[str]], log_probabilities: Sequence[Sequence[float]]) -> list[str]:
    """The same for many items. *Shape:* a list of forms and one of log-probabilities per member, best member first"""
    asked = zip(zip(*members, strict=True), zip(*log_probabilities, strict=True), strict=True)
    return [average(forms, probabilities) for forms, probabilities in asked]


class Ranked(NamedTuple):
    """A form in a list of the likeliest."""

    form: str
    votes: int
    """How many members give it as their own."""
    log_mean: float
    """The logarithm of the mean of the members' probabilities; 0 is that of one whose list does not have it."""
    log_best: float
    """That of the member who finds it the most probable."""


def ranked(first: str, forms: Sequence[str], lists: Sequence[Mapping[str, float]]) -> list[Ranked]:
    """The lists of several members as one, each form once: that with more votes first, then the more probable.

    `first` is what they say together and stays what it is, by whatever strategy. Each member has a form that it gives
    as its own, and a list of forms with their log-probabilities, in which that form is too.
    """
    found = []
    for form in dict.fromkeys(chain([first], forms, *lists)):
        scores = [own[form] for own in lists if form in own]
        best = max(scores)
        share = sum(math.exp(score - best) for score in scores) / len(lists)
        found.append(Ranked(form, forms.count(form), best + math.log(share), best))
    return sorted(found, key=lambda one: (one.form != first, -one.votes, -one.log_mean))


@dataclass(frozen=True)
class Best:
    """ENSEMBLE_n: at most so many members vote, those with the best dev accuracy; without a number, all."""

    most: int | None = None


@dataclass(frozen=True)
class Max:
    """MAX: the candidate whose vote has the best dev accuracy. The candidates are other runs, or else E of each kind.

    Among equals the one that is earlier in the table: HACM before HAEM, naive before smart.
    """

    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A line of the paper's table of runs."""

    name: str
    title: str
    systems: tuple[str, ...] | None
    """Whose models may take part; None for those of all systems, a soft-attention one among them."""
    strategy: Best | Max
    averaged: bool = False
    """Whether the forms' probabilities are averaged instead of counting votes."""

    def combine(self, forms: Sequence[Sequence[str]], log_probabilities: Sequence[Sequence[float]]) -> list[str]:
        """One form for each item, of what each of the chosen members says. *Shape:* a list per member, best first"""
        return average_all(forms, log_probabilities) if self.averaged else vote_all(forms)


RUNS = (
    Run("run1", "Run 1", ("hacm",), Max()),
    Run("run2", "Run 2", ("hacm",), Best(7)),
    Run("run3", "Run 3", ("haem",), Max()),
    Run("run4", "Run 4", ("haem",), Best(7)),
    Run("run5", "Run 5", None, Max()),
    Run("run6", "Run 6", None, Best(15)),
    Run("run7", "Run 7", None, Max(("run5", "run6"))),
)
OTHERS = (
    Run("vote", "vote of all", None, Best()),
    Run("max", "best kind", None, Max()),
    Run("average", "mean probability of the best 15", None, Best(15), averaged=True),
)
STRATEGIES: Mapping[str, Run] = {run.name: run for run in (*RUNS, *OTHERS)}


def strategy(name: str) -> Run:
    """A strategy by its name: one of the table, or `ensemble-N` for any N."""
    numbered = NAMED_ENSEMBLE.fullmatch(name)
    if numbered:
        return Run(name, f"the best {numbered[1]}", None, Best(int(numbered[1])))
    if name not in STRATEGIES:
        raise InputError(
            f"found the strategy {quoted(name)}",
            f"choose run1 to run7, vote, max, average, or ensemble-N for the N best models (the default is {DEFAULT})",
        )
    return STRATEGIES[name]


def best_first(members: Iterable[AnyMember]) -> list[AnyMember]:
    """By dev accuracy; among equals HACM before HAEM, naive before smart, the lower seed."""
    return sorted(members, key=lambda member: (-member.dev_accuracy, member.kind, member.seed))


def choose(run: Run, members: Iterable[AnyMember], accuracy: Accuracy[AnyMember]) -> list[AnyMember]:
    """The members that vote in a run, best first; none where no member may take part in it."""
    # The alphabet happens to have the kinds in the order of the table: HACM, HAEM, soft; naive, smart.
    pool = [m for m in best_first(members) if run.systems is None or m.kind.partition("-")[0] in run.systems]
    if isinstance(run.strategy, Best):
        return pool[: run.strategy.most]
    if run.strategy.of:
        candidates = [choose(STRATEGIES[name], pool, accuracy) for name in run.strategy.of]
    else:
        candidates = [[m for m in pool if m.kind == kind] for kind in sorted({m.kind for m in pool})]
    if len({tuple(map(id, candidate)) for candidate in candidates}) <= 1:
        return candidates[0] if candidates else []
    return max(candidates, key=accuracy)


@dataclass(frozen=True, eq=False)
class Voter:
    """A member with what it says of its own dev items, and what is right."""

    kind: str
    seed: int
    dev_accuracy: float
    said: Mapping[Cell, tuple[str, float]]
    """Form and log-probability; of several lines for one cell the last counts, as everywhere."""
    gold: Mapping[Cell, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        kind: str,
        seed: int,
        dev: Sequence[Item],
        forms: Sequence[str],
        log_probabilities: Sequence[float],
        gold: Mapping[Cell, tuple[str, ...]] | None = None,
    ) -> "Voter":
        """`gold` is what is right of the dev items, where that is known; many voters have it in common."""
        said = {
            (item.lemma, item.features.spelling): (form, score)
            for item, form, score in zip(dev, forms, log_probabilities, strict=True)
        }
        gold = right_forms(dev, "last") if gold is None else gold
        return cls(kind, seed, _accuracy(gold, {cell: form for cell, (form, _) in said.items()}), said, gold)


def combined(run: Run, voters: Sequence[Voter]) -> dict[Cell, str]:
    """What voters, best first, say together of each dev cell; only those take part that were asked it."""
    asked: defaultdict[Cell, list[tuple[str, float]]] = defaultdict(list)
    for voter in voters:
        for cell, answer in voter.said.items():
            asked[cell].append(answer)
    if run.averaged:
        return {cell: average([form for form, _ in said], [score for _, score in said]) for cell, said in asked.items()}
    return {cell: vote([form for form, _ in said]) for cell, said in asked.items()}


def dev_accuracy(run: Run, voters: Sequence[Voter]) -> float:
    """Of what voters say together, on all that any of them was asked."""
    gold = {cell: forms for voter in voters for cell, forms in voter.gold.items()}
    return _accuracy(gold, combined(run, voters))


def comparable(voters: Sequence[Voter]) -> list[Voter]:
    """Voters whose accuracies can be compared: the same ones where all have the same dev items.

    Else accuracies depend on whose items were the easier ones, so each becomes the difference from the mean of those
    that had the same.
    """
    if all(voter.gold.keys() == voters[0].gold.keys() for voter in voters):
        return list(voters)
    groups: defaultdict[frozenset[Cell], list[Voter]] = defaultdict(list)
    for voter in voters:
        groups[frozenset(voter.gold)].append(voter)
    means = {cells: fmean(voter.dev_accuracy for voter in group) for cells, group in groups.items()}
    return [
        replace(voter, dev_accuracy=round(voter.dev_accuracy - means[frozenset(voter.gold)], DECIMALS))
        for voter in voters
    ]


def choices(voters: Sequence[Voter], more: Iterable[str] = ()) -> dict[str, list[Voter]]:
    """Who votes, best first, by the name of the strategy: those of the table in which anyone has a vote, and more."""
    fair, plain = comparable(voters), strategy("vote")
    runs = [*STRATEGIES.values(), *(strategy(name) for name in more)]
    known: dict[tuple[int, ...], float] = {}  # the runs have candidates in common

    def accuracy(some: Sequence[Voter]) -> float:
        mark = tuple(map(id, some))
        if mark not in known:
            known[mark] = dev_accuracy(plain, some)
        return known[mark]

    chosen = {run.name: choose(run, fair, accuracy) for run in runs}
    return {name: some for name, some in chosen.items() if some}


def _accuracy(gold: Mapping[Cell, tuple[str, ...]], forms: Mapping[Cell, str]) -> float:
    return round(100 * sum(forms.get(cell) in right for cell, right in gold.items()) / max(1, len(gold)), DECIMALS)
