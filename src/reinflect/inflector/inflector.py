"""The inflector: members that vote."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import torch

from reinflect.data.dimensions import paradigms
from reinflect.data.features import Bundle
from reinflect.data.items import Item, records_of
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.decoding.beam import WIDTH, Scored, beam_all, merged
from reinflect.decoding.repeats import filtered, filtered_all
from reinflect.decoding.traces import Trace, follow, source_of
from reinflect.ensembles.confidence import Confidence, Evidence, ranked
from reinflect.ensembles.member import TrainedModel, by_fleets, decode, decoding
from reinflect.ensembles.strategies import NAMED_ENSEMBLE, best_first, find_strategy
from reinflect.errors import InputError, quoted
from reinflect.files import Snapshot
from reinflect.inflector.card import Training, card_text
from reinflect.inflector.model_file import Numbers, not_a_model, read_model, write_model
from reinflect.systems import SYSTEMS
from reinflect.systems.layers.precision import one_thread
from reinflect.text import close_names, nearest

DECIMALS = 4
"""Of confidences and log-probabilities; further digits depend on the other items of a batch."""
STORED = ("known_runs", "strategy", "choices", "confidences", "training", "labels", "normalisation", "columns", "cells")
"""The fields of an inflector that a model file has under the same names."""
Forms = tuple[list[str], list[float]]
"""The form of a member for each item, and its log-probability."""
Asked = Item | tuple[str, str]
"""A query: an item, or a lemma with its features."""


@dataclass(frozen=True)
class Answer:
    """A predicted form with its confidence."""

    form: str
    confidence: float | None
    """The probability that it is right; None if no confidence could be fitted (see `ensembles.confidence`)."""
    votes: int
    voters: int
    log_probability: float | None
    """The logarithm of the mean of the voters' probabilities; those that give another form count with 0."""


@dataclass(frozen=True)
class Cell:
    """A place in a paradigm."""

    features: str
    answer: Answer


class Paradigm(list[Cell]):
    """The cells of a lemma; notebooks show them as tables."""

    def __init__(self, lemma: str, cells: Iterable[Cell], labels: Labels = NO_LABELS) -> None:
        super().__init__(cells)
        self.lemma, self.labels = lemma, labels

    def _repr_html_(self) -> str:
        answers = {Bundle(cell.features).cell: cell.answer for cell in self}

        def shown(features: str | None) -> str:
            if features is None:
                return "<td></td>"
            answer = answers[Bundle(features).cell]
            sure = "" if answer.confidence is None else f" <small>{100 * answer.confidence:.0f} %</small>"
            return f"<td>{escape(answer.form)}{sure}</td>"

        def titles(names: Iterable[str]) -> str:
            return "".join(f"<th>{escape(self.labels.to_label(name))}</th>" for name in names)

        made = [f"<p><b>{escape(self.lemma)}</b></p>"]
        for table in chain.from_iterable(paradigms(cell.features for cell in self).values()):
            body = [f"<tr>{titles([row.title])}{''.join(map(shown, row.cells))}</tr>" for row in table.rows]
            made.append(f"<table><tr>{titles([table.title, *table.columns])}</tr>{''.join(body)}</table>")
        return "".join(made)


@dataclass(frozen=True, repr=False)
class Inflector:
    """Inflects lemmas by the vote of the members that its strategy chose when they were trained."""

    members: tuple[TrainedModel, ...]
    known_runs: Mapping[str, int]
    """Characters that the training words repeat four times or more; see `decoding.repeats`."""
    strategy: str = "vote"
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the voters, best first, by the name of the strategy: dev items decided them."""
    confidences: Mapping[str, Confidence] = field(default_factory=dict)
    """By the name of the strategy."""
    training: Training | None = None
    """The training data and its accuracy; None for an inflector that was assembled in memory."""
    labels: Labels = NO_LABELS
    """The user's own names for features."""
    attested: tuple[Item, ...] = ()
    """Forms that a person gave."""
    normalisation: Literal["none", "nfc", "nfd"] = "none"
    """The Unicode normalisation of the training data."""
    columns: tuple[str, ...] = ()
    """The columns of the training file, in their order; empty if they are not known."""
    cells: tuple[str, ...] = ()
    """The bundles of a paradigm in the user's order; empty for the order of the training items."""
    source: Snapshot | None = field(default=None, compare=False)
    """The file that it was loaded from."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(best_first(self.members)))

    def __repr__(self) -> str:
        """Such as `<Inflector from verbs.tsv: 100 forms, 12 of 20 members vote (run7), 61.2 % right>`."""
        about = self.training
        source = f" from {about.source}: {about.items:,} forms," if about else ":"
        right = f", {about.accuracy:.1f} % right" if about else ""
        return f"<Inflector{source} {len(self.voters)} of {len(self.members)} members vote ({self.strategy}){right}>"

    def using(self, name: str) -> "Inflector":
        """This inflector with another strategy: run1 … run7, vote, max, average, ensemble-N."""
        made = replace(self, strategy=name)
        made.voters  # noqa: B018 - raises if the strategy has none
        return made

    @property
    def voters(self) -> tuple[TrainedModel, ...]:
        """The members that vote, best first."""
        strategy, names = find_strategy(self.strategy), self.choices.get(self.strategy)
        named = {member.name: member for member in self.members}
        if names is None and (self.strategy in ("vote", "average") or NAMED_ENSEMBLE.fullmatch(self.strategy)):
            # The order of the vote of all says which members are the best.
            names = tuple(strategy.choose(self.choices.get("vote", tuple(named)), lambda _: 0.0))
        if not names:
            raise InputError(
                f"none of this model's members votes in {self.strategy}", "choose another strategy, such as vote"
            )
        return tuple(named[name] for name in names)

    @property
    def bundle_counts(self) -> dict[str, int]:
        """The bundles of the training items, as they are spelled there, with the number of their items."""
        return dict(self.training.bundles) if self.training else {}

    @property
    def bundles(self) -> tuple[str, ...]:
        """The bundles of the training items, in the order of the items."""
        return tuple(self.bundle_counts)

    @property
    def atoms(self) -> tuple[str, ...]:
        """All features that its members know."""
        return tuple(sorted({atom for member in self.members for atom in member.inventory.atoms}))

    @property
    def characters(self) -> tuple[str, ...]:
        """All characters that its members know; others are copied."""
        return tuple(sorted({character for member in self.members for character in member.inventory.characters}))

    @property
    def card(self) -> dict[str, Any]:
        """A description of the model: what `reinflect info --json` prints."""
        voters = [member.name for member in self.voters]
        return {
            "strategy": self.strategy,
            "voters": voters,
            "members": [{"name": own.name, **own.facts, "votes": own.name in voters} for own in self.members],
            "parameters": sum(array.size for member in self.members for array in member.parameters.values()),
            "training": msgspec.to_builtins(self.training),
            "confidence": msgspec.to_builtins(self.confidences.get(self.strategy)),
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        """The features that no member knows, each once, with the nearest known ones.

        >>> inflector.unknown_features("V;IND;PSTT;3;SG")
        [('PSTT', ['PST'])]
        """
        known = self.atoms
        unknown = dict.fromkeys(atom for atom in Bundle(features).among(known) if atom not in known)
        return [(atom, close_names(atom, known)) for atom in unknown]

    def inflect(self, lemma: str, features: str) -> str:
        """The form of a lemma.

        >>> inflector.inflect("sagen", "V;IND;PST;3;SG")
        'sagte'
        """
        return self.inflect_many([(lemma, features)])[0]

    def inflect_many(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[str]:
        """The forms of many lemmas; one call for all of them is far quicker than many calls.

        >>> inflector.inflect_many([("sagen", "V;IND;PST;3;SG"), ("fragen", "V;IND;PST;3;SG")])
        ['sagte', 'fragte']
        """
        return self._vote(_items(items), device).forms

    def answers(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[Answer]:
        """The forms of many lemmas, with confidences.

        >>> (answer,) = inflector.answers([("sagen", "V;IND;PST;3;SG")])
        >>> answer.form, answer.votes, answer.voters
        ('sagte', 2, 2)
        """
        asked = _items(items)
        vote = self._vote(asked, device)
        return [
            self.judged(form, item.features, *vote.of_item(place))
            for place, (item, form) in enumerate(zip(asked, vote.forms, strict=True))
        ]

    def inflect_rows(self, rows: Any, device: torch.device | str = "cpu") -> Any:
        """Rows with lemma and features, completed by form and confidence: a list of dicts, or a pandas frame.

        >>> inflector.inflect_rows([{"lemma": "sagen", "features": "V;IND;PST;3;SG", "page": 7}])[0]["form"]
        'sagte'
        """
        records = records_of(rows, ("lemma", "features"))
        asked = [(row["lemma"], self.labels.to_features(row["features"])) for row in records]
        made = self.answers(asked, device)
        forms, sure = [own.form for own in made], [own.confidence for own in made]
        if hasattr(rows, "assign"):
            return rows.assign(form=forms, confidence=sure)
        return [{**row, "form": form, "confidence": own} for row, form, own in zip(records, forms, sure, strict=True)]

    def _vote(self, items: Sequence[Item], device: torch.device | str) -> "_Vote":
        said = self.predictions(self.voters, items, device)
        strategy = find_strategy(self.strategy)
        return _Vote(said, strategy.combine_all([forms for forms, _ in said], [scores for _, scores in said]))

    def judged(self, form: str, features: Bundle, forms: Sequence[str], log_probabilities: Sequence[float]) -> Answer:
        """A form as an answer, given the form of each voter and its log-probability."""
        evidence = Evidence.of(form, forms, log_probabilities, seen=features.cell in self._seen)
        confidence = self.confidences.get(self.strategy)
        return _answer(form, evidence, None if confidence is None else confidence.of(evidence))

    @cached_property
    def _seen(self) -> frozenset[tuple[str, ...]]:
        return frozenset(Bundle(spelling).cell for spelling in self.bundle_counts)

    def paradigm(
        self, lemma: str, bundles: Sequence[str] | None = None, device: torch.device | str = "cpu"
    ) -> Paradigm:
        """The forms of a lemma for some bundles, or else for `usual_bundles`.

        >>> cells = inflector.paradigm("sagen", ["V;IND;PST;1;SG", "V;IND;PST;2;SG"])
        >>> [(cell.features, cell.answer.form) for cell in cells]
        [('V;IND;PST;1;SG', 'sagte'), ('V;IND;PST;2;SG', 'sagtest')]
        """
        chosen = self.usual_bundles() if bundles is None else list(bundles)
        found = self.answers([(lemma, features) for features in chosen], device)
        return Paradigm(lemma, map(Cell, chosen, found), self.labels)

    def usual_bundles(self) -> list[str]:
        """The bundles of the training items, ordered by part of speech, of which the lemma may have any.

        Bundles that differ only in the order of their features count as one, in its commonest spelling.
        """
        counts = self.bundle_counts
        best: dict[tuple[str, ...], str] = {}
        for spelling, count in counts.items():
            cell = Bundle(spelling).cell
            if cell not in best or count > counts[best[cell]]:
                best[cell] = spelling
        by_part: dict[str, list[str]] = {}
        for spelling in best.values():
            by_part.setdefault(Bundle(spelling).part_of_speech, []).append(spelling)
        return [spelling for own in by_part.values() for spelling in own]

    def nbest(self, lemma: str, features: str, n: int = 5) -> list[Answer]:
        """The likeliest forms of a lemma, each once; the first is that of `inflect`.

        >>> [answer.form for answer in inflector.nbest("sagen", "V;IND;PST;3;SG", n=2)][0]
        'sagte'
        """
        return self.nbest_many([(lemma, features)], n)[0]

    def nbest_many(self, items: Sequence[Asked], n: int = 5, device: torch.device | str = "cpu") -> list[list[Answer]]:
        """The likeliest forms of many lemmas: the voted form, then the others by their confidence; at most n of each.

        Each voter searches by beam; a probability is the mean over the voters. The confidence of the first form is that
        of `answers`; the others share a part of the rest, as the right form may be in no list. Without confidences,
        forms with more votes come first, then the more probable.
        """
        if n < 1:
            raise InputError(f"found n = {n}", "ask for one form or more")
        asked = _items(items)
        vote = self._vote(asked, device)
        lists = self._lists(asked, max(n, WIDTH), device) if asked else []
        found = []
        for place, (item, form) in enumerate(zip(asked, vote.forms, strict=True)):
            forms, scores = vote.of_item(place)
            # A narrow beam can lose the form that the same member decodes greedily.
            own = [{given: score} | dict(many[place]) for given, score, many in zip(forms, scores, lists, strict=True)]
            first = self.judged(form, item.features, forms, scores)
            evidence = ranked(form, forms, own, seen=item.features.cell in self._seen)
            found.append(self._alternatives(first.confidence, evidence)[:n])
        return found

    def _alternatives(self, first: float | None, forms: Mapping[str, Evidence]) -> list[Answer]:
        """Ranked forms as answers: the first, whose confidence is given, then the others by confidence."""
        fitted, sure = self.confidences.get(self.strategy), [first] * len(forms)
        if fitted is not None and first is not None:
            sure[1:] = fitted.of_alternatives(first, list(forms.values())[1:])
        found = [_answer(form, own, confidence) for (form, own), confidence in zip(forms.items(), sure, strict=True)]
        return [found[0], *sorted(found[1:], key=lambda answer: -(answer.confidence or 0.0))]

    def _lists(self, items: Sequence[Item], width: int, device: torch.device | str) -> list[list[list[Scored]]]:
        """The likeliest forms of each item by each voter, filtered: those that a beam search finds."""
        known = dict(self.known_runs)
        found = by_fleets(self.voters, device, lambda fleet: beam_all(*decoding(fleet, items, device), width, width))
        return [
            [
                merged([Scored(filtered(form, item.lemma, known), score) for form, score in forms], width)
                for item, forms in zip(items, own, strict=True)
            ]
            for own in found
        ]

    def trace(self, lemma: str, features: str, member: str | None = None) -> Trace:
        """The actions of a member: of the one named, or of the best that predicts the form of `inflect`.

        >>> trace = inflector.trace("sagen", "V;IND;PST;3;SG")
        >>> trace.form, trace.steps[-1].kind, trace.steps[-1].form_so_far
        ('sagte', 'stop', 'sagte')
        """
        item = Item(lemma, Bundle(features))
        chosen = self._best_for(item) if member is None else self._named(member)
        decoder, stack, _ = decoding([chosen], [item], "cpu")
        with one_thread("cpu"):
            steps, ended = follow(decoder, stack, SYSTEMS[chosen.system].choices(chosen.inventory))
        form = filtered(steps[-1].form_so_far, lemma, dict(self.known_runs)) if ended else lemma
        return Trace(chosen.name, chosen.system, lemma, features, form, source_of(stack), steps)

    def _best_for(self, item: Item) -> TrainedModel:
        vote = self._vote([item], "cpu")
        pairs = zip(self.voters, vote.predictions, strict=True)
        return next(voter for voter, (forms, _) in pairs if forms == vote.forms)

    def _named(self, name: str) -> TrainedModel:
        named = {member.name: member for member in self.members}
        if name not in named:
            raise InputError(f"found the member {quoted(name)}", nearest(name, named, f"it has {', '.join(named)}"))
        return named[name]

    def member_forms(self, items: Sequence[Asked], device: torch.device | str = "cpu") -> list[list[str]]:
        """The forms of each member, in the order of `members`, also of those that do not vote."""
        return [forms for forms, _ in self.predictions(self.members, _items(items), device)]

    def predictions(
        self, members: Sequence[TrainedModel], items: Sequence[Item], device: torch.device | str = "cpu"
    ) -> list[Forms]:
        """The predictions of some members: forms after the filter for repeats, log-probabilities before it."""
        if not items:
            return [([], []) for _ in members]
        lemmas, known = [item.lemma for item in items], dict(self.known_runs)
        decoded = by_fleets(members, device, lambda fleet: decode(fleet, items, device))
        return [(filtered_all(forms, lemmas, known), scores) for forms, scores in decoded]

    def save(self, path: Path | str, *, half: bool = False, numbers: Numbers | None = None) -> None:
        """Write one file: all parameters, and everything else as JSON in its header.

        `numbers` sets the precision of parameters: single, half (as with `half`) or eighth, with 32, 16 or 8 bits each.
        Smaller files predict other forms only rarely.
        """
        about = {name: msgspec.to_builtins(getattr(self, name)) for name in STORED}
        about["attested"] = [(item.lemma, item.form, item.features.spelling) for item in self.attested]
        about["card"] = card_text(self.card)
        write_model(path, self.members, about, numbers or ("half" if half else "single"))

    @classmethod
    def load(cls, path: Path | str) -> "Inflector":
        """Read a model file; nothing in it is ever executed. Later changes of the file do not change the inflector."""
        source = Snapshot.of(path)  # before it is read: a file that is replaced meanwhile counts as changed
        members, header = read_model(path)
        attested = tuple(Item(lemma, Bundle(features), form) for lemma, form, features in header.attested)
        stored: dict[str, Any] = {name: getattr(header, name) for name in STORED}
        try:
            return cls(tuple(members), attested=attested, source=source, **stored).using(header.strategy)
        except InputError as error:
            raise not_a_model(path, error.found) from None


class _Vote(NamedTuple):
    """The predictions of the voters, and the forms that the strategy makes of them."""

    predictions: list[Forms]
    forms: list[str]

    def of_item(self, place: int) -> tuple[list[str], list[float]]:
        """The form of each voter for one item, and its log-probability."""
        return [forms[place] for forms, _ in self.predictions], [scores[place] for _, scores in self.predictions]


def _answer(form: str, evidence: Evidence, confidence: float | None) -> Answer:
    return Answer(
        form=form,
        confidence=None if confidence is None else round(confidence, DECIMALS),
        votes=evidence.votes,
        voters=evidence.voters,
        log_probability=round(evidence.log_mean, DECIMALS) if math.isfinite(evidence.log_mean) else None,
    )


def _items(asked: Sequence[Asked]) -> list[Item]:
    return [item if isinstance(item, Item) else Item(item[0], Bundle(item[1])) for item in asked]
