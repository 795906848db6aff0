"""Trained models, and strategies: which of them vote, and how their predictions are combined.

Every strategy of §5 is a choice of members, made once by the predictions of members and votes for dev items; the chosen
members then vote on all items. Other packages add strategies by entry points in the group `reinflect.strategies`.
"""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from pkgutil import resolve_name
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.decode.search import Predictions, filtered
from reinflect.errors import InputError, nearest, quoted
from reinflect.score.scores import DECIMALS, Cell, right_forms
from reinflect.settings import Registry, Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import PAPERS, UNALIGNED
from reinflect.systems.symbols import Inventory

if TYPE_CHECKING:
    from reinflect.systems.system import Words

TORCH_WORDS = "reinflect.learn.scoring:TorchWords"
NOTHING_PREDICTED = Predictions([], [])
Numbers = Mapping[str, NDArray[np.float32]]
"""The parameters of one model, by their names."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """What names a trained model, and how well it did."""

    system: str
    alignment: str
    variant: str = ""
    """What sets models apart from others of their system and alignment: settings, augmentation, or a start."""
    seed: int
    """The seed of its spec; a model that diverged was trained with another."""
    fold: int | None = None
    restarts: int = 0
    dev_accuracy: float
    """Of a `Trained`, before the filter for repeats; of a `Member` in a model file, after it."""

    @property
    def kind(self) -> str:
        """Such as `hacm-naive`, or `hacm-naive+made-up`: models that differ only in their seed are of one kind."""
        aligned = self.system if self.alignment == UNALIGNED else f"{self.system}-{self.alignment}"
        return f"{aligned}+{self.variant}" if self.variant else aligned

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"

    @property
    def facts(self) -> dict[str, Any]:
        """What model files and cards store of it."""
        return {each.name: getattr(self, each.name) for each in fields(Named)}


@dataclass(frozen=True, kw_only=True)
class Trained(Named):
    """What training made of a spec, without the numbers: a pack file is a list of these."""

    key: str
    """The digest of its spec."""
    language: str = ""
    setting: str = ""
    best_epoch: int
    usable: bool
    """False if it diverged every time, or was stopped before it had learnt anything."""
    dev: Predictions = NOTHING_PREDICTED
    """For its dev items, before the filter for repeats."""
    asked: Predictions = NOTHING_PREDICTED


@dataclass(frozen=True, kw_only=True)
class Member(Named):
    """A trained model that inflects: what a model file holds."""

    settings: Settings
    inventory: Inventory
    parameters: Numbers = field(repr=False)

    @property
    def facts(self) -> dict[str, Any]:
        return super().facts | {"settings": msgspec.to_builtins(self.settings)}

    @property
    def words(self) -> "Words":
        """Its decoder, by NumPy; that of another package's system may need torch."""
        system, model = SYSTEMS[self.system], (self.parameters, self.settings, self.inventory)
        words: Words = system.words(*model) if system.words else resolve_name(TORCH_WORDS)(system, *model)
        return words

    def with_predictions(self, dev: Predictions) -> Trained:
        """Its record, with predictions for dev items before the filter for repeats."""
        return Trained(key=self.name, best_epoch=0, usable=True, dev=dev, **super().facts)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of its parameters, and of the symbols that their rows stand for."""
        digest = hashlib.sha256(repr((self.system, self.inventory)).encode("utf-8", "surrogatepass"))
        for name in sorted(self.parameters):
            digest.update(name.encode() + np.ascontiguousarray(self.parameters[name]).tobytes())
        return digest.hexdigest()


DEFAULT = "run7"
NAMED_ENSEMBLE = re.compile(r"ensemble-([1-9][0-9]{0,3})")
Form = TypeVar("Form", str, str | None)
"""None if decoding did not end."""
AnyMember = TypeVar("AnyMember", bound=Any)
"""A `Trained` or a `Voter`: it has system, kind, seed and dev_accuracy."""
Accuracy = Callable[[Sequence[Any]], float]
"""The dev accuracy of the vote of some members, which come best first."""
Choose = Callable[[Sequence[Any], Accuracy], Sequence[Any]]
"""The members that vote, best first, of all members, best first."""
Gold = Mapping[Cell, tuple[str, ...]]
"""The right forms of dev cells."""


def vote(forms: Sequence[Form]) -> Form:
    """E(·) of §5: the form that most members give. Members come best first; among tied forms the best member's wins.

    A majority vote over whole strings, not over actions.
    """
    if 2 * forms.count(forms[0]) >= len(forms):  # nearly always, and then no other form has more votes
        return forms[0]
    return max(dict.fromkeys(forms), key=forms.count)  # the first of equals


def vote_all(members: Sequence[Sequence[Form]]) -> list[Form]:
    """The vote of members on many items. *Shape:* a list of forms per member, best member first"""
    return list(map(vote, zip(*members, strict=True)))


def average(forms: Sequence[str], log_probabilities: Sequence[float]) -> str:
    """The form with the largest mean probability; among equals the best member's.

    Members have different actions, so that probabilities of whole forms are averaged; a member counts with 0 for forms
    other than its own.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for form, log_probability in zip(forms, log_probabilities, strict=True):
        weights[form] += math.exp(log_probability)
    return max(weights, key=weights.__getitem__)


def best(most: int | None = None) -> Choose:
    """ENSEMBLE_n: at most this number of members, those with the best dev accuracy; without a number, all."""
    return lambda members, _: members[:most]


def best_kind(members: Sequence[Any], accuracy: Accuracy) -> Sequence[Any]:
    """MAX: all members of the kind whose vote E has the best dev accuracy; among equals the first by the alphabet.

    That is the order of the paper's table: HACM, HAEM, soft attention; naive, smart.
    """
    kinds = sorted({member.kind for member in members})
    return max(([m for m in members if m.kind == kind] for kind in kinds), key=accuracy, default=[])


def best_of(*names: str) -> Choose:
    """MAX of other strategies; among equals the first."""
    return lambda members, accuracy: max((STRATEGIES[name].choose(members, accuracy) for name in names), key=accuracy)


@dataclass(frozen=True)
class Strategy:
    """A choice of members, and a way to combine their predictions."""

    name: str
    title: str
    choose: Choose
    systems: tuple[str, ...] | None = None
    """The systems whose members may vote; None for all."""
    combine: Callable[[Sequence[str], Sequence[float]], str] = lambda forms, _: vote(forms)
    """One of the members' forms, by these and their log-probabilities, the best member's first."""

    def may_vote(self, system: str) -> bool:
        return self.systems is None or system in self.systems

    def combine_all(self, forms: Sequence[Sequence[str]], log_probabilities: Sequence[Sequence[float]]) -> list[str]:
        """One form for each item. *Shape:* a list per member, best first"""
        return list(map(self.combine, zip(*forms, strict=True), zip(*log_probabilities, strict=True)))


RUNS = (
    Strategy("run1", "Run 1", best_kind, ("hacm",)),
    Strategy("run2", "Run 2", best(7), ("hacm",)),
    Strategy("run3", "Run 3", best_kind, ("haem",)),
    Strategy("run4", "Run 4", best(7), ("haem",)),
    Strategy("run5", "Run 5", best_kind, PAPERS),
    Strategy("run6", "Run 6", best(15), PAPERS),
    Strategy("run7", "Run 7", best_of("run5", "run6"), PAPERS),
)
OTHERS = (
    Strategy("vote", "vote of all", best()),
    Strategy("max", "best kind", best_kind),
    Strategy("average", "mean probability of the best 15", best(15), combine=average),
)
STRATEGIES: Registry[Strategy] = Registry("strategy", {strategy.name: strategy for strategy in (*RUNS, *OTHERS)})


def find_strategy(name: str) -> Strategy:
    """A strategy by its name: one of the registry, or `ensemble-N` for any N."""
    if numbered := NAMED_ENSEMBLE.fullmatch(name):
        return Strategy(name, f"the best {numbered[1]}", best(int(numbered[1])))
    if name not in STRATEGIES:
        names = f"strategies: {', '.join(STRATEGIES)}, or ensemble-N for the N best models (default: {DEFAULT})"
        raise InputError(f"there is no strategy {quoted(name)}", nearest(name, STRATEGIES, names))
    return STRATEGIES[name]


def best_first(members: Iterable[AnyMember]) -> list[AnyMember]:
    """By dev accuracy; among equals HACM before HAEM, naive before smart, the lower seed."""
    return sorted(members, key=lambda member: (-member.dev_accuracy, member.kind, member.seed))


def choose(strategy: Strategy, members: Iterable[AnyMember], accuracy: Accuracy) -> list[AnyMember]:
    """The members that vote, best first; empty if no member may vote."""
    return list(strategy.choose([m for m in best_first(members) if strategy.may_vote(m.system)], accuracy))


@dataclass(frozen=True, eq=False, kw_only=True)
class Voter(Named):
    """A trained model with its predictions for its own dev cells, filtered, and the right forms."""

    model: Trained
    predictions: Mapping[Cell, tuple[str, float]]
    """Form and log-probability; of several lines for one cell the last counts."""
    gold: Gold

    @classmethod
    def of(cls, model: Trained, dev: Sequence[Item], runs: Mapping[str, int], gold: Gold | None = None) -> "Voter":
        """`runs` are those of `filtered`; `gold` is computed unless the caller has it for many voters."""
        cells = [(item.lemma, item.features.spelling) for item in dev]
        forms = filtered(model.dev.forms, [lemma for lemma, _ in cells], runs)
        predictions = dict(zip(cells, zip(forms, model.dev.log_probabilities, strict=True), strict=True))
        gold = right_forms(dev, "last") if gold is None else gold
        accuracy = _accuracy(gold, {cell: form for cell, (form, _) in predictions.items()})
        return cls(**model.facts | {"dev_accuracy": accuracy}, model=model, predictions=predictions, gold=gold)


def ballots(voters: Sequence[Voter]) -> dict[Cell, tuple[list[str], list[float]]]:
    """Forms and log-probabilities of voters, best first, for each dev cell; only voters with the cell vote on it."""
    cast: defaultdict[Cell, tuple[list[str], list[float]]] = defaultdict(lambda: ([], []))
    for voter in voters:
        for cell, (form, score) in voter.predictions.items():
            cast[cell][0].append(form)
            cast[cell][1].append(score)
    return cast


def combined(strategy: Strategy, voters: Sequence[Voter]) -> dict[Cell, str]:
    """The combined predictions of voters, best first, for each dev cell."""
    return {cell: strategy.combine(*ballot) for cell, ballot in ballots(voters).items()}


def dev_accuracy(strategy: Strategy, voters: Sequence[Voter]) -> float:
    """The accuracy of the combined predictions, on the dev cells of all voters."""
    gold = {cell: forms for voter in voters for cell, forms in voter.gold.items()}
    return _accuracy(gold, combined(strategy, voters))


def comparable(voters: Sequence[Voter]) -> list[Voter]:
    """Voters with comparable accuracies: unchanged if all have the same dev cells.

    Otherwise some have easier cells, so each accuracy becomes the difference from the mean of voters with those cells.
    """
    if all(voter.gold.keys() == voters[0].gold.keys() for voter in voters):
        return list(voters)
    accuracies: defaultdict[frozenset[Cell], list[float]] = defaultdict(list)
    for voter in voters:
        accuracies[frozenset(voter.gold)].append(voter.dev_accuracy)
    apart = [voter.dev_accuracy - fmean(accuracies[frozenset(voter.gold)]) for voter in voters]
    return [replace(voter, dev_accuracy=round(gap, DECIMALS)) for voter, gap in zip(voters, apart, strict=True)]


def choices(voters: Sequence[Voter], more: Iterable[str] = ()) -> dict[str, list[Voter]]:
    """The voters, best first, by strategy: all strategies of the registry and `more`, except those without voters."""
    fair, strategies = comparable(voters), [*STRATEGIES.values(), *map(find_strategy, more)]
    accuracy = cache(partial(dev_accuracy, STRATEGIES["vote"]))  # strategies have candidates in common
    chosen = {strategy.name: choose(strategy, fair, lambda some: accuracy(tuple(some))) for strategy in strategies}
    return {name: some for name, some in chosen.items() if some}


def _accuracy(gold: Gold, forms: Mapping[Cell, str]) -> float:
    return round(100 * sum(forms.get(cell) in right for cell, right in gold.items()) / max(1, len(gold)), DECIMALS)
