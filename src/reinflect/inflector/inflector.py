"""The inflector: members that vote."""

import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from heapq import nsmallest
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from reinflect.data.corrections import Question, question
from reinflect.data.dimensions import Table, paradigms
from reinflect.data.features import Bundle
from reinflect.data.items import Item, Normalisation, normal, normalised, records_of
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.words import WordList
from reinflect.decode.forms import WIDTH, Scored, merged
from reinflect.decode.repeats import filtered, filtered_all
from reinflect.decode.word import beam_word, greedy_words
from reinflect.ensemble.confidence import Confidence, Evidence, ranked
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import NAMED_ENSEMBLE, best_first, find_strategy
from reinflect.ensemble.word_evidence import WordEvidence
from reinflect.errors import InputError, UnseenWarning, quoted
from reinflect.files import Snapshot
from reinflect.inflector.card import Training, card_text
from reinflect.inflector.file import Numbers, not_a_model, read_model, rounded, write_model
from reinflect.systems import SYSTEMS
from reinflect.text import close_names, nearest

if TYPE_CHECKING:
    import torch

    from reinflect.decode.traces import Trace
    from reinflect.systems.system import Word

DECIMALS = 4
"""Of confidences and log-probabilities; further digits depend on the other items of a batch."""
DOUBTS, NAMES = 5, 10
"""The most unknown features, or combinations, that are named one by one; and features that a sentence lists."""
STORED = ("known_runs", "strategy", "choices", "confidences", "training", "labels", "normalisation", "columns", "cells")
"""The fields of an inflector that a model file has under the same names."""
FEW_WORDS, BEFORE_TORCH = 4, 100
"""The most items, times members, that NumPy alone decodes, if their systems can be: it is quicker for up to four, and
for up to a hundred as long as torch is not imported, which takes seconds."""
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
    attested: bool = False
    """Whether a person gave the form: then it is no prediction and has no confidence."""
    variants: tuple[str, ...] = ()
    """Further attested forms of the same cell."""

    @property
    def text(self) -> str:
        """The form, and further attested ones as a field of a spreadsheet has them."""
        return " / ".join((self.form, *self.variants))


@dataclass(frozen=True)
class Cell:
    """A place in a paradigm."""

    features: str
    answer: Answer


class Paradigm(list[Cell]):
    """The cells of a lemma; notebooks show them as tables."""

    def __init__(self, lemma: str, cells: Iterable[Cell], labels: Labels = NO_LABELS, *, ordered: bool = False) -> None:
        super().__init__(cells)
        self.lemma, self.labels, self.ordered = lemma, labels, ordered

    def tables(self, labels: Labels | None = None) -> list[Table]:
        """The cells as tables: in their own order if they are `ordered`, or else by the order of the schema."""
        named = (self.labels if labels is None else labels).names
        return [*chain(*paradigms((cell.features for cell in self), named, ordered=self.ordered).values())]

    def _repr_html_(self) -> str:
        answers = {Bundle(cell.features).cell: cell.answer for cell in self}

        def shown(features: str | None) -> str:
            if features is None:
                return "<td></td>"
            answer = answers[Bundle(features).cell]
            sure = "" if answer.confidence is None else f" <small>{100 * answer.confidence:.0f} %</small>"
            sure = " <small>attested</small>" if answer.attested else sure
            return f"<td>{escape(answer.text)}{sure}</td>"

        def titles(names: Iterable[str]) -> str:
            return "".join(f"<th>{escape(self.labels.to_label(name))}</th>" for name in names)

        made = [f"<p><b>{escape(self.lemma)}</b></p>"]
        for table in self.tables():
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
    """Forms that a person gave: those of the training and dev items, unless they are left out of the model."""
    normalisation: Normalisation = "none"
    """How the training data was encoded; lemmas are brought into the same form before they are inflected."""
    columns: tuple[str, ...] = ()
    """The columns of the training file, in their order; empty if they are not known."""
    cells: tuple[str, ...] = ()
    """The bundles of a paradigm in the user's order; empty for the order of the training items."""
    words: WordEvidence | None = None
    """What was learnt about a word list in training."""
    word_list: WordList | None = field(default=None, compare=False)
    """The word list that is in use."""
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

    def with_words(self, words: WordList | Path | str) -> "Inflector":
        """This inflector with a word list as evidence for forms; it must have been trained with one, best the same."""
        if self.words is None:
            raise InputError("this model was trained without a word list", "train one with it: reinflect train --words")
        return replace(self, word_list=words if isinstance(words, WordList) else WordList.read(words))

    @property
    def voters(self) -> tuple[TrainedModel, ...]:
        """The members that vote, best first."""
        strategy, names = find_strategy(self.strategy), self.choices.get(self.strategy)
        named = {member.name: member for member in self.members}
        if names is None and (self.strategy in ("vote", "average") or NAMED_ENSEMBLE.fullmatch(self.strategy)):
            # The order of the vote of all says which members are the best.
            names = tuple(strategy.choose(self.choices.get("vote", tuple(named)), lambda _: 0.0))
        if not names:
            found = f"none of this model's members votes in {self.strategy}"
            raise InputError(found, "choose another strategy, such as vote")
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
            "attested": len(self.attested),
            "training": msgspec.to_builtins(self.training),
            "confidence": msgspec.to_builtins(self.confidences.get(self.strategy)),
            **({"words": msgspec.to_builtins(self.words)} if self.words else {}),
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        """The features that no member knows, each once, with the nearest known ones.

        >>> inflector.unknown_features("V;IND;PSTT;3;SG")
        [('PSTT', ['PST'])]
        """
        known = self.atoms
        unknown = dict.fromkeys(atom for atom in Bundle(features).among(known) if atom not in self._known_atoms)
        return [(atom, close_names(atom, known)) for atom in unknown]

    def features_of(self, text: str) -> str:
        """The features that a text names: a bundle, one of the model's labels in any case, or a bundle with labels."""
        return self.labels.to_features(self.labels.spelled(text, self._known_atoms))

    def nearest_bundles(self, features: str, n: int = 2) -> list[str]:
        """The bundles of training items most like a combination of known features that no item has; else none."""
        own = Bundle(features)
        if not self._is_new(own):
            return []
        near = nsmallest(n, self._seen, key=lambda cell: len(set(own.cell).symmetric_difference(cell)))
        return [self._seen[cell] for cell in near]

    def _is_new(self, bundle: Bundle) -> bool:
        return bool(bundle.atoms) and bundle.cell not in self._seen and self._known_atoms.issuperset(bundle.atoms)

    def doubts(self, bundles: Iterable[Bundle], labels: Labels | None = None) -> list[str]:
        """Sentences about what the model has not seen: features, and combinations of features that it knows."""
        named, known = self.labels if labels is None else labels, self._known_atoms
        asked = {bundle.cell: bundle for bundle in bundles}.values()
        names = [*known, *(label for label, _ in named.pairs)]
        otherwise = f"it knows {', '.join(sorted(known)[:NAMES])}{', …' if len(known) > NAMES else ''}"
        unknown = [*dict.fromkeys(atom for bundle in asked for atom in bundle.among(known) if atom not in known)]
        said = [
            f"the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}"
            for atom in unknown[:DOUBTS]
        ]
        if more := len(unknown[DOUBTS:]):
            said.append(f"the model has never seen {more} more feature{'s'[: more > 1]}")
        new = [own.spelling for own in asked if self._seen and self._is_new(own)]
        for own in new[:DOUBTS]:
            near = ", ".join(map(named.to_label, self.nearest_bundles(own)))
            said.append(f"no training form has the combination {quoted(named.to_label(own))}; nearest: {near}")
        return [*said, *([f"{more} more combinations are in no training form"] if (more := len(new[DOUBTS:])) else [])]

    @cached_property
    def _known_atoms(self) -> frozenset[str]:
        return frozenset(self.atoms)

    def attested_forms(self, lemma: str, features: str) -> tuple[str, ...]:
        """The forms that a person gave for a cell, whatever the order of the features; none if they are not kept.

        >>> inflector.attested_forms("sagen", "V;IND;PST;3;SG")
        ('sagte',)
        """
        return self._attested_forms.get((normal(lemma, self.normalisation), Bundle(features).cell), ())

    @cached_property
    def _attested_forms(self) -> dict[Question, tuple[str, ...]]:
        found: dict[Question, dict[str, None]] = {}
        for item in self.attested:
            found.setdefault(question(item), {})[item.form] = None
        return {cell: tuple(forms) for cell, forms in found.items()}

    def inflect(self, lemma: str, features: str) -> str:
        """The form that the model predicts for a lemma, whether or not one is attested.

        >>> inflector.inflect("sagen", "V;IND;PST;3;SG")
        'sagte'
        """
        return self.inflect_many([(lemma, features)])[0]

    def inflect_many(self, items: Sequence[Asked], device: "torch.device | str" = "cpu") -> list[str]:
        """The forms of many lemmas; one call for all of them is far quicker than many calls.

        >>> inflector.inflect_many([("sagen", "V;IND;PST;3;SG"), ("fragen", "V;IND;PST;3;SG")])
        ['sagte', 'fragte']
        """
        asked = self._asked(items)
        return [own.form for own in self.answers(asked, device)] if self.word_list else self._vote(asked, device).forms

    def answers(
        self, items: Sequence[Asked], device: "torch.device | str" = "cpu", *, attested: bool = False
    ) -> list[Answer]:
        """The forms of many lemmas, with confidences; with `attested`, forms that a person gave beat predictions.

        >>> (answer,) = inflector.answers([("sagen", "V;IND;PST;3;SG")])
        >>> answer.form, answer.votes, answer.voters
        ('sagte', 2, 2)
        """
        asked, found = self._asked(items), []
        known = self._attested_forms if attested else {}
        if self.word_list:
            lists = zip(asked, self.nbest_many(asked, 1, device, attested=attested), strict=True)
            return [replace(own[0], variants=known.get(question(item), ())[1:]) for item, own in lists]
        vote = self._vote(asked, device)
        for place, (item, form) in enumerate(zip(asked, vote.forms, strict=True)):
            first, *variants = known.get(question(item), (form,))
            answer = self.judged(first, item.features, *vote.of_item(place))
            found.append(_as_attested(answer, *variants) if question(item) in known else answer)
        return found

    def inflect_rows(self, rows: Any, device: "torch.device | str" = "cpu") -> Any:
        """Rows with lemma and features, completed by form and confidence: a list of dicts, or a pandas frame.

        >>> inflector.inflect_rows([{"lemma": "sagen", "features": "V;IND;PST;3;SG", "page": 7}])[0]["form"]
        'sagte'
        """
        records = records_of(rows, ("lemma", "features"))
        made = self.answers([(row["lemma"], row["features"]) for row in records], device)
        forms, sure = [own.form for own in made], [own.confidence for own in made]
        if hasattr(rows, "assign"):
            return rows.assign(form=forms, confidence=sure)
        return [{**row, "form": form, "confidence": own} for row, form, own in zip(records, forms, sure, strict=True)]

    def _vote(self, items: Sequence[Item], device: "torch.device | str") -> "_Vote":
        said = self.predictions(self.voters, items, device)
        strategy = find_strategy(self.strategy)
        return _Vote(said, strategy.combine_all([forms for forms, _ in said], [scores for _, scores in said]))

    def judged(self, form: str, features: Bundle, forms: Sequence[str], log_probabilities: Sequence[float]) -> Answer:
        """A form as an answer, given the form of each voter and its log-probability."""
        evidence = Evidence.of(form, forms, log_probabilities, seen=features.cell in self._seen)
        confidence = self.confidences.get(self.strategy)
        return _answer(form, evidence, None if confidence is None else confidence.of(evidence))

    @cached_property
    def _seen(self) -> dict[tuple[str, ...], str]:
        found: dict[tuple[str, ...], str] = {}
        for spelling in self.bundle_counts:
            found.setdefault(Bundle(spelling).cell, spelling)
        return found

    def paradigm(
        self, lemma: str, bundles: Sequence[str] | None = None, device: "torch.device | str" = "cpu"
    ) -> Paradigm:
        """The forms of a lemma for some bundles, or else for `usual_bundles`; attested forms beat predictions.

        >>> cells = inflector.paradigm("sagen", ["V;IND;PST;1;SG", "V;IND;PST;2;SG"])
        >>> [(cell.features, cell.answer.form) for cell in cells]
        [('V;IND;PST;1;SG', 'sagte'), ('V;IND;PST;2;SG', 'sagtest')]
        """
        items = self._asked([(lemma, own) for own in (self.usual_bundles() if bundles is None else bundles)])
        found = self.answers(items, device, attested=True)
        cells = [Cell(item.features.spelling, answer) for item, answer in zip(items, found, strict=True)]
        return Paradigm(lemma, cells, self.labels, ordered=bool(self.cells))

    def usual_bundles(self) -> list[str]:
        """The bundles of the training items, ordered by part of speech, of which the lemma may have any.

        Bundles that differ only in the order of their features count as one, in its commonest spelling. They are in
        the order of `cells`, then in that of the training items.
        """
        counts = self.bundle_counts
        best: dict[tuple[str, ...], str] = {}
        for spelling, count in counts.items():
            cell = Bundle(spelling).cell
            if cell not in best or count > counts[best[cell]]:
                best[cell] = spelling
        by_part: dict[str, list[str]] = {}
        first = [cell for own in self.cells if (cell := Bundle(own).cell) in best]
        for spelling in {cell: best[cell] for cell in (*first, *best)}.values():
            by_part.setdefault(Bundle(spelling).part_of_speech, []).append(spelling)
        return [spelling for own in by_part.values() for spelling in own]

    def nbest(self, lemma: str, features: str, n: int = 5) -> list[Answer]:
        """The likeliest forms of a lemma, each once; the first is that of `inflect`.

        >>> [answer.form for answer in inflector.nbest("sagen", "V;IND;PST;3;SG", n=2)][0]
        'sagte'
        """
        return self.nbest_many([(lemma, features)], n)[0]

    def nbest_many(
        self, items: Sequence[Asked], n: int = 5, device: "torch.device | str" = "cpu", *, attested: bool = False
    ) -> list[list[Answer]]:
        """The likeliest forms of many lemmas: the voted form, then the others by their confidence; at most n of each.

        With `attested`, forms that a person gave come before those that are predicted.

        Each voter searches by beam; a probability is the mean over the voters. The confidence of the first form is that
        of `answers`; the others share a part of the rest, as the right form may be in no list, and have at most that of
        the first. Without confidences, forms with more votes come first, then the more probable.
        """
        if n < 1:
            raise InputError(f"found n = {n}", "ask for one form or more")
        asked, found = self._asked(items), []
        for item, (form, forms, own, scores) in zip(asked, self.candidates(asked, max(n, WIDTH), device), strict=True):
            seen = item.features.cell in self._seen
            evidence = ranked(form, forms, own, seen=seen)
            first = self.judged(form, item.features, forms, scores).confidence
            if self.words and self.word_list:
                evidence = self.words.weighed((item.lemma, item.features.spelling), evidence, self.word_list)
                first = self.words.confidence.of(next(iter(evidence.values())))
            listed = self._alternatives(first, evidence)
            known = self._attested_forms.get(question(item), ()) if attested else ()
            given = [_answer(one, Evidence.in_lists(one, forms, own, seen=seen), None) for one in known]
            listed = [*map(_as_attested, given), *(answer for answer in listed if answer.form not in known)]
            found.append(listed[:n])
        return found

    def candidates(
        self, items: Sequence[Item], width: int, device: "torch.device | str" = "cpu"
    ) -> Iterator[tuple[str, list[str], list[dict[str, float]], list[float]]]:
        """Of each item the voted form; of each voter its form, its n-best list, and the log-probability of its form."""
        vote, lists = self._vote(items, device), self._lists(items, width, device) if items else []
        for place, form in enumerate(vote.forms):
            forms, scores = vote.of_item(place)
            # A narrow beam can lose the form that the same member decodes greedily.
            own = [{given: score} | dict(many[place]) for given, score, many in zip(forms, scores, lists, strict=True)]
            yield form, forms, own, scores

    def _alternatives(self, first: float | None, forms: Mapping[str, Evidence]) -> list[Answer]:
        """Ranked forms as answers: the first, whose confidence is given, then the others by confidence."""
        fitted, sure = self.confidences.get(self.strategy), [first] * len(forms)
        if self.words and self.word_list:
            fitted = self.words.confidence
        if fitted is not None and first is not None:
            sure[1:] = [min(first, own) for own in fitted.of_alternatives(first, list(forms.values())[1:])]
        found = [_answer(form, own, confidence) for (form, own), confidence in zip(forms.items(), sure, strict=True)]
        return [found[0], *sorted(found[1:], key=lambda answer: -(answer.confidence or 0.0))]

    def _lists(self, items: Sequence[Item], width: int, device: "torch.device | str") -> list[list[list[Scored]]]:
        """The likeliest forms of each item by each voter, filtered: those that a beam search finds."""
        known, items, voters = dict(self.known_runs), normalised(items, self.normalisation), self.voters
        if words := _words(voters, items, device):
            found = [[beam_word(word, width, width) for word in own] for own in words]
        else:
            from reinflect.decode.beam import beam_all
            from reinflect.ensemble.fleets import by_fleets, decoding

            found = by_fleets(
                voters, len(items), device, lambda fleet: beam_all(*decoding(fleet, items, device), width, width)
            )
        return [
            [
                merged([Scored(filtered(form, item.lemma, known), score) for form, score in forms], width)
                for item, forms in zip(items, own, strict=True)
            ]
            for own in found
        ]

    def trace(self, lemma: str, features: str | Bundle, member: str | None = None) -> "Trace":
        """The actions of a member: of the one named, or of the best that predicts the form of `inflect`.

        >>> trace = inflector.trace("sagen", "V;IND;PST;3;SG")
        >>> trace.form, trace.steps[-1].kind, trace.steps[-1].form_so_far
        ('sagte', 'stop', 'sagte')
        """
        from reinflect.decode.traces import Trace, follow, source_of
        from reinflect.ensemble.fleets import decoding
        from reinflect.layers.precision import one_thread

        lemma = normal(lemma, self.normalisation)
        [item] = [Item(lemma, features)] if isinstance(features, Bundle) else self._asked([(lemma, features)])
        named = {own.name: own for own in self.members}
        if member is not None and member not in named:
            raise InputError(f"found the member {quoted(member)}", nearest(member, named, f"it has {', '.join(named)}"))
        chosen = self._best_for(item) if member is None else named[member]
        decoder, stack, _ = decoding([chosen], [item], "cpu")
        with one_thread("cpu"):
            steps, ended = follow(decoder, stack, SYSTEMS[chosen.system].choices(chosen.inventory))
        form = filtered(steps[-1].form_so_far, lemma, dict(self.known_runs)) if ended else lemma
        return Trace(chosen.name, chosen.system, lemma, item.features.spelling, form, source_of(stack), steps)

    def _best_for(self, item: Item) -> TrainedModel:
        vote = self._vote([item], "cpu")
        pairs = zip(self.voters, vote.predictions, strict=True)
        return next(voter for voter, (forms, _) in pairs if forms == vote.forms)

    def member_forms(self, items: Sequence[Asked], device: "torch.device | str" = "cpu") -> list[list[str]]:
        """The forms of each member, in the order of `members`, also of those that do not vote."""
        return [forms for forms, _ in self.predictions(self.members, self._asked(items), device)]

    def _asked(self, asked: Sequence[Asked]) -> list[Item]:
        """Queries as items. Those of lemma and features may have labels; warnings say what the model has not seen."""
        typed = [one for one in asked if not isinstance(one, Item)]
        if not all(lemma for lemma, _ in typed):
            raise InputError("found an empty lemma", "give one with at least one letter")
        bundles = {features: Bundle(self.features_of(features)) for _, features in typed}
        for doubt in self.doubts(bundles.values()):
            warnings.warn(doubt, UnseenWarning, stacklevel=3)
        found = [one if isinstance(one, Item) else Item(one[0], bundles[one[1]]) for one in asked]
        return normalised(found, self.normalisation)

    def predictions(
        self, members: Sequence[TrainedModel], items: Sequence[Item], device: "torch.device | str" = "cpu"
    ) -> list[Forms]:
        """The predictions of some members: forms after the filter for repeats, log-probabilities before it."""
        if not items:
            return [([], []) for _ in members]
        items = normalised(items, self.normalisation)
        lemmas, known = [item.lemma for item in items], dict(self.known_runs)
        if words := _words(members, items, device):
            decoded = [greedy_words(own) for own in words]
        else:
            from reinflect.ensemble.fleets import by_fleets, decode

            decoded = by_fleets(members, len(items), device, lambda fleet: decode(fleet, items, device))
        return [(filtered_all(forms, lemmas, known), scores) for forms, scores in decoded]

    def save(self, path: Path | str, *, half: bool = False, numbers: Numbers | None = None) -> None:
        """Write one file: all parameters, and everything else as JSON in its header.

        `numbers` sets the precision of parameters: single, half (as with `half`) or eighth, with 32, 16 or 8 bits each;
        8-bit numbers have one scale for each row. Smaller files predict other forms only rarely; see `rounded`.
        """
        about = {name: msgspec.to_builtins(getattr(self, name)) for name in STORED}
        about |= {"words": msgspec.to_builtins(self.words)} if self.words else {}
        about["attested"] = [(item.lemma, item.form, item.features.spelling) for item in self.attested]
        about["card"] = card_text(self.card)
        write_model(path, self.members, about, numbers or ("half" if half else "single"))

    def rounded(self, numbers: Numbers) -> "Inflector":
        """This inflector as a file with these `numbers` gives it back, to measure what the file will predict."""
        return replace(self, members=tuple(rounded(member, numbers) for member in self.members))

    @classmethod
    def load(cls, path: Path | str) -> "Inflector":
        """Read a model file; nothing in it is ever executed. Later changes of the file do not change the inflector."""
        source = Snapshot.of(path)  # before it is read: a file that is replaced meanwhile counts as changed
        members, header = read_model(path)
        bundle = cache(Bundle)  # thousands of items share a few hundred
        attested = tuple(Item(lemma, bundle(features), form) for lemma, form, features in header.attested)
        stored: dict[str, Any] = {name: getattr(header, name) for name in (*STORED, "words")}
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


def _words(
    members: Sequence[TrainedModel], items: Sequence[Item], device: "torch.device | str"
) -> list[list["Word"]] | None:
    """Each item for each member, to decode without torch; None if there are too many, or a system cannot do it."""
    most = FEW_WORDS if "torch" in sys.modules else BEFORE_TORCH
    if len(members) * len(items) > most or str(device) != "cpu":
        return None
    made = [
        [word(member.parameters, member.settings, member.inventory, item) for item in items]
        for member in members
        if (word := SYSTEMS[member.system].word)
    ]
    return made if len(made) == len(members) else None


def _answer(form: str, evidence: Evidence, confidence: float | None) -> Answer:
    sure = None if confidence is None else round(confidence, DECIMALS)
    mean = round(evidence.log_mean, DECIMALS) if math.isfinite(evidence.log_mean) else None
    return Answer(form, sure, evidence.votes, evidence.voters, mean)


def _as_attested(answer: Answer, *variants: str) -> Answer:
    return replace(answer, confidence=None, attested=True, variants=variants)
