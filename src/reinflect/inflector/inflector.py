"""The trained thing: members that vote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import torch

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.decoding.beam import WIDTH, Scored, beam_all, merged
from reinflect.decoding.repeats import filtered
from reinflect.decoding.traces import Trace, follow, source_of
from reinflect.ensembles.confidence import Confidence, Evidence
from reinflect.ensembles.member import Member, decode, decoding, fleets
from reinflect.ensembles.vote import Best, Ranked, Run, best_first, ranked, strategy
from reinflect.errors import InputError, quoted
from reinflect.inflector.card import Training, card_text
from reinflect.inflector.model_file import not_a_model, read_model, write_model
from reinflect.systems.layers.threads import one_thread
from reinflect.text import close_names, nearest

DECIMALS = 4
"""Of confidences and log-probabilities; what follows depends on what else is asked at the same time."""
Asked = Item | tuple[str, str]
"""What can be asked for: an item, or a lemma with its features."""


@dataclass(frozen=True)
class Answer:
    """A form, and how sure its inflector is of it."""

    form: str
    confidence: float | None
    """How likely it is right, from 0 to 1; None where nothing could be fitted (see `ensembles.confidence`)."""
    votes: int
    voters: int
    log_probability: float | None
    """The logarithm of the mean of the voters' probabilities; those that give another form count with 0."""


@dataclass(frozen=True)
class Cell:
    """A place in a paradigm."""

    features: str
    answer: Answer


@dataclass(frozen=True)
class Inflector:
    """Inflects lemmas by the vote of its members, or of those that its strategy chose when they had been trained."""

    members: tuple[Member, ...]
    known_runs: Mapping[str, int]
    """Characters that the training words repeat four times or more; see `decoding.repeats`."""
    strategy: str = "vote"
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Who votes, best first: the names of members by the name of the strategy. What dev items decide is kept here."""
    confidences: Mapping[str, Confidence] = field(default_factory=dict)
    """By the name of the strategy."""
    training: Training | None = None
    """What it learnt from; files of older versions do not say."""
    labels: Labels = NO_LABELS
    """The names that its user has for features."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(best_first(self.members)))

    def using(self, name: str) -> "Inflector":
        """The same members with another strategy: run1 … run7, vote, max, average, ensemble-N."""
        made = replace(self, strategy=name)
        made._voters()
        return made

    @property
    def voters(self) -> tuple[Member, ...]:
        """The members whose vote counts, best first."""
        return tuple(self.members[number] for number in self._voters()[1])

    def _voters(self) -> tuple[Run, list[int]]:
        run, names = strategy(self.strategy), self.choices.get(self.strategy)
        numbers = {member.name: number for number, member in enumerate(self.members)}
        if names is None and run.systems is None and isinstance(run.strategy, Best):
            everyone = self.choices.get("vote", tuple(numbers))
            names = everyone[: run.strategy.most]
        if not names:
            raise InputError(
                f"none of this model's members votes in {self.strategy}", "choose another strategy, such as vote"
            )
        return run, [numbers[name] for name in names]

    @property
    def bundle_counts(self) -> dict[str, int]:
        """The features seen together in training, as they are spelled there, and in how many items."""
        return dict(self.training.bundles) if self.training else {}

    @property
    def bundles(self) -> tuple[str, ...]:
        """The features seen together in training, in the order they were first seen in."""
        return tuple(self.bundle_counts)

    @property
    def atoms(self) -> tuple[str, ...]:
        """All features its members know."""
        return tuple(sorted({atom for member in self.members for atom in member.inventory.atoms}))

    @property
    def characters(self) -> tuple[str, ...]:
        """All characters its members know; others are copied."""
        return tuple(sorted({character for member in self.members for character in member.inventory.characters}))

    @property
    def card(self) -> dict[str, Any]:
        """All there is to say of it, as `reinflect info --json` does."""
        voters, confidence = {member.name for member in self.voters}, self.confidences.get(self.strategy)
        return {
            "strategy": self.strategy,
            "voters": [member.name for member in self.voters],
            "members": [
                {
                    "name": member.name,
                    "system": member.system.name,
                    "alignment": member.alignment,
                    "seed": member.seed,
                    "dev_accuracy": member.dev_accuracy,
                    "votes": member.name in voters,
                    "settings": msgspec.to_builtins(member.settings),
                }
                for member in self.members
            ],
            "parameters": sum(tensor.numel() for member in self.members for tensor in member.parameters.values()),
            "training": msgspec.to_builtins(self.training),
            "confidence": msgspec.to_builtins(confidence),
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        """The features that no member knows, each once, with the nearest that they do.

        >>> inflector.unknown_features("V;IND;PSTT;3;SG")
        [('PSTT', ['PST'])]
        """
        known = self.atoms
        unknown = dict.fromkeys(atom for atom in Bundle(features).atoms if atom not in known)
        return [(atom, close_names(atom, known)) for atom in unknown]

    def inflect(self, lemma: str, features: str) -> str:
        """The form of a lemma.

        >>> inflector.inflect("sagen", "V;IND;PST;3;SG")
        'sagte'
        """
        return self.inflect_many([(lemma, features)])[0]

    def inflect_many(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[str]:
        """The forms of many; asking for them together is far quicker than one by one.

        >>> inflector.inflect_many([("sagen", "V;IND;PST;3;SG"), ("fragen", "V;IND;PST;3;SG")])
        ['sagte', 'fragte']
        """
        run, numbers = self._voters()
        answers = self._answers(numbers, _items(items), device)
        return run.combine([forms for forms, _ in answers], [scores for _, scores in answers])

    def answers(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[Answer]:
        """The same, and how sure it is of them.

        >>> (answer,) = inflector.answers([("sagen", "V;IND;PST;3;SG")])
        >>> answer.form, answer.votes, answer.voters
        ('sagte', 2, 2)
        """
        run, numbers = self._voters()
        asked = _items(items)
        said = self._answers(numbers, asked, device)
        voted = run.combine([forms for forms, _ in said], [scores for _, scores in said])
        found = []
        for place, (item, form) in enumerate(zip(asked, voted, strict=True)):
            forms, scores = [forms[place] for forms, _ in said], [scores[place] for _, scores in said]
            found.append(self.judged(form, item.features, forms, scores))
        return found

    def judged(self, form: str, features: Bundle, forms: Sequence[str], log_probabilities: Sequence[float]) -> Answer:
        """A form as an answer, given what each voter says and how probable it finds that."""
        evidence = Evidence.of(form, forms, log_probabilities, seen=features.cell in self._seen)
        confidence = self.confidences.get(self.strategy)
        return Answer(
            form=form,
            confidence=None if confidence is None else round(confidence.of(evidence), DECIMALS),
            votes=evidence.votes,
            voters=evidence.voters,
            log_probability=round(evidence.log_mean, DECIMALS) if evidence.votes else None,
        )

    @cached_property
    def _seen(self) -> frozenset[tuple[str, ...]]:
        return frozenset(Bundle(spelling).cell for spelling in self.bundle_counts)

    def paradigm(
        self, lemma: str, bundles: Sequence[str] | None = None, device: torch.device | str = "cpu"
    ) -> list[Cell]:
        """The forms of a lemma for each of some bundles of features: those given, or all seen in training.

        The latter by part of speech: whether the lemma is a noun or a verb, nobody can tell the inflector. Two
        bundles that differ in the order of their features only count as one, spelled in the commoner way.

        >>> cells = inflector.paradigm("sagen", ["V;IND;PST;1;SG", "V;IND;PST;2;SG"])
        >>> [(cell.features, cell.answer.form) for cell in cells]
        [('V;IND;PST;1;SG', 'sagte'), ('V;IND;PST;2;SG', 'sagtest')]
        """
        chosen = self.usual_bundles() if bundles is None else list(bundles)
        found = self.answers([(lemma, features) for features in chosen], device)
        return [Cell(features, answer) for features, answer in zip(chosen, found, strict=True)]

    def usual_bundles(self) -> list[str]:
        """Those of a paradigm, unless others are asked for."""
        counts = self.bundle_counts
        if not counts:
            raise InputError(
                "this model does not say which features it has seen together, as it was made by an older version",
                "say which forms you want, or train it again",
            )
        best: dict[tuple[str, ...], str] = {}
        for spelling, count in counts.items():
            cell = Bundle(spelling).cell
            if cell not in best or count > counts[best[cell]]:
                best[cell] = spelling
        parts = list(dict.fromkeys(Bundle(spelling).part_of_speech for spelling in best.values()))
        return sorted(best.values(), key=lambda spelling: parts.index(Bundle(spelling).part_of_speech))

    def nbest(self, lemma: str, features: str, n: int = 5) -> list[Answer]:
        """The likeliest forms of a lemma, each once; the first is what `inflect` gives.

        >>> [answer.form for answer in inflector.nbest("sagen", "V;IND;PST;3;SG", n=2)][0]
        'sagte'
        """
        return self.nbest_many([(lemma, features)], n)[0]

    def nbest_many(self, items: Sequence[Asked], n: int = 5, device: torch.device | str = "cpu") -> list[list[Answer]]:
        """The same for many: after the first, those that it is surer of; fewer than n where no more is found.

        Probabilities are means over the voters, of all that a beam search of each came upon. The confidence of the
        first is that of `answers`; the others share a part of what it leaves, as a form that was not found may be right
        as well. Where there is no confidence, forms with more votes come first, then the more probable.
        """
        if n < 1:
            raise InputError(f"found n = {n}", "ask for one form or more")
        run, numbers = self._voters()
        asked = _items(items)
        said = self._answers(numbers, asked, device)
        voted = run.combine([forms for forms, _ in said], [scores for _, scores in said])
        lists = self._lists(numbers, asked, max(n, WIDTH), device)
        found = []
        for place, (item, form) in enumerate(zip(asked, voted, strict=True)):
            forms, scores = [forms[place] for forms, _ in said], [scores[place] for _, scores in said]
            # What a member gives as its own need not be in its list: a search with room for few can lose it.
            own = [{given: score} | dict(many[place]) for given, score, many in zip(forms, scores, lists, strict=True)]
            first = self.judged(form, item.features, forms, scores)
            found.append(self._alternatives(first, ranked(form, forms, own), item.features)[:n])
        return found

    def _alternatives(self, first: Answer, forms: Sequence[Ranked], features: Bundle) -> list[Answer]:
        """A ranked list as answers, the surest first; the first of all is known."""
        fitted, seen = self.confidences.get(self.strategy), features.cell in self._seen
        sure: list[float | None] = [None] * len(forms)
        if fitted is not None and first.confidence is not None:
            others = [Evidence(one.votes, first.voters, one.log_mean, one.log_best, seen) for one in forms[1:]]
            alternatives = fitted.of_alternatives(first.confidence, others)
            sure = [first.confidence, *(round(own, DECIMALS) for own in alternatives)]
        found = [
            Answer(one.form, confidence, one.votes, first.voters, round(one.log_mean, DECIMALS))
            for one, confidence in zip(forms, sure, strict=True)
        ]
        return [found[0], *sorted(found[1:], key=lambda answer: -(answer.confidence or 0.0))]

    def _lists(
        self, numbers: Sequence[int], items: Sequence[Item], width: int, device: torch.device | str
    ) -> list[list[list[Scored]]]:
        """The likeliest forms of each item by some members, filtered: what a search of that width finds."""
        lists: dict[int, list[list[Scored]]] = {number: [] for number in numbers}
        known = dict(self.known_runs)
        for fleet in fleets(self.members, numbers) if items else ():
            with one_thread(device):
                found = beam_all(*decoding([self.members[number] for number in fleet], items, device), width, width)
            for number, own in zip(fleet, found, strict=True):
                lists[number] = [
                    merged([Scored(filtered(form, item.lemma, known), score) for form, score in forms], width)
                    for item, forms in zip(items, own, strict=True)
                ]
        return [lists[number] for number in numbers]

    def trace(self, lemma: str, features: str, member: str | None = None) -> Trace:
        """How a member makes the form, action by action: the best of those that give what `inflect` does, or one named.

        >>> trace = inflector.trace("sagen", "V;IND;PST;3;SG")
        >>> trace.form, trace.steps[-1].kind, trace.steps[-1].form_so_far
        ('sagte', 'stop', 'sagte')
        """
        item = Item(lemma, Bundle(features))
        chosen = self._best_for(item) if member is None else self._named(member)
        decoder, stack, _ = decoding([chosen], [item], "cpu")
        with one_thread("cpu"):
            steps, ended = follow(decoder, stack, chosen.system.choices(chosen.inventory))
        form = filtered(steps[-1].form_so_far, lemma, dict(self.known_runs)) if ended else lemma
        return Trace(chosen.name, chosen.system.name, lemma, features, form, source_of(stack), steps)

    def _best_for(self, item: Item) -> Member:
        run, numbers = self._voters()
        said = self._answers(numbers, [item], "cpu")
        (voted,) = run.combine([forms for forms, _ in said], [scores for _, scores in said])
        return next(self.members[number] for number, (forms, _) in zip(numbers, said, strict=True) if forms == [voted])

    def _named(self, name: str) -> Member:
        named = {member.name: member for member in self.members}
        if name not in named:
            raise InputError(f"found the member {quoted(name)}", nearest(name, named, f"it has {', '.join(named)}"))
        return named[name]

    def member_forms(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[list[str]]:
        """What each member says, in the order of `members`, whoever votes."""
        return [forms for forms, _ in self.member_answers(items, device)]

    def member_answers(
        self, items: Sequence[Asked], device: torch.device | str = "cpu"
    ) -> list[tuple[list[str], list[float]]]:
        """The same, with the log-probabilities each member gives to its forms."""
        return self._answers(range(len(self.members)), _items(items), device)

    def _answers(
        self, numbers: Sequence[int], items: Sequence[Item], device: torch.device | str
    ) -> list[tuple[list[str], list[float]]]:
        """The forms of some members, filtered, and their log-probabilities before that."""
        said: dict[int, tuple[list[str], list[float]]] = {number: ([], []) for number in numbers}
        known = dict(self.known_runs)
        for fleet in fleets(self.members, numbers) if items else ():
            with one_thread(device):
                decoded = decode([self.members[number] for number in fleet], items, device)
            for number, (raw, scores) in zip(fleet, decoded, strict=True):
                forms = [
                    item.lemma if form is None else filtered(form, item.lemma, known)
                    for item, form in zip(items, raw, strict=True)
                ]
                said[number] = forms, scores
        return [said[number] for number in numbers]

    def save(self, path: Path | str, *, half: bool = False) -> None:
        """One file: all parameters, and everything else as JSON in its header.

        With `half`, parameters are kept in half precision: the file is half as large, and forms are hardly ever
        others.
        """
        about = {
            "known_runs": dict(self.known_runs),
            "strategy": self.strategy,
            "choices": {name: list(members) for name, members in self.choices.items()},
            "confidences": msgspec.to_builtins(self.confidences),
            "training": msgspec.to_builtins(self.training),
            "labels": msgspec.to_builtins(self.labels),
            "card": card_text(self.card),
        }
        write_model(path, self.members, about, half=half)

    @classmethod
    def load(cls, path: Path | str) -> "Inflector":
        """Read a model file; nothing in it is ever executed."""
        members, said = read_model(path)
        try:
            return cls(
                tuple(members), said.known_runs, "vote", said.choices, said.confidences, said.training, said.labels
            ).using(said.strategy)
        except InputError as error:
            raise not_a_model(path, error.found) from None


def _items(asked: Sequence[Asked]) -> list[Item]:
    return [item if isinstance(item, Item) else Item(item[0], Bundle(item[1])) for item in asked]
