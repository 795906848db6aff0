"""The inflector: members that vote, and what they answer."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.data.items import Item, Normalisation, normalised, records_of
from reinflect.data.lexicon import WordList
from reinflect.decode.search import WIDTH, Scored, beam, filtered, greedy, merged, one_blas_thread, shared_out
from reinflect.ensemble.confidence import Answer, Confidence, Evidence, WordEvidence, in_order, ranked
from reinflect.ensemble.strategies import NAMED_ENSEMBLE, Member, best_first, find_strategy
from reinflect.errors import InputError, UnseenWarning, nearest, quoted
from reinflect.files import Snapshot
from reinflect.inflector.card import Seen, Training, card_text
from reinflect.inflector.dictionary import Dictionary
from reinflect.inflector.file import Numbers, not_a_model, read_model, rounded, write_model
from reinflect.inflector.paradigm import Cell, Paradigm
from reinflect.systems import SYSTEMS

if TYPE_CHECKING:
    from reinflect.decode.trace import Trace

STORED = ("known_runs", "strategy", "choices", "confidences", "training", "labels", "normalisation", "cells", "words")
"""The fields of an inflector that a model file has under the same names."""
Query = Item | tuple[str, str]
"""An item, or a lemma with its features."""


class Vote(NamedTuple):
    """The form of each voter for an item, its log-probability, and the form that the strategy makes of them."""

    form: str
    forms: Sequence[str]
    log_probabilities: Sequence[float]


@dataclass(frozen=True, repr=False)
class Inflector(Seen):
    """Inflects lemmas by the vote of the members that its strategy chose when they were trained."""

    members: tuple[Member, ...]
    known_runs: Mapping[str, int]
    """Characters that the training words repeat four times or more; see `decode.forms`."""
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
    dictionary: Dictionary | None = None
    """Which cells are attested beside these, and the forms of those that the vote does not give."""
    keeps_marks: bool = field(default=False, compare=False)
    """Whether answers have the marks of the dictionary where the lemma is written without; see `with_marks`."""
    normalisation: Normalisation = "none"
    """How the training data was encoded; lemmas are brought into the same form before they are inflected."""
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
        if self.dictionary and name != self.strategy and len(self.members) > 1:
            raise InputError(f"the dictionary of this model is made for {self.strategy}", f"leave {quoted(name)} out")
        inflector = replace(self, strategy=name)
        inflector.voters  # noqa: B018 - raises if the strategy has none
        return inflector

    def with_words(self, words: WordList | Path | str) -> "Inflector":
        """This inflector with a word list as evidence for forms; it must have been trained with one, best the same."""
        if self.words is None:
            raise InputError("this model was trained without a word list", "train one with it: reinflect train --words")
        return replace(self, word_list=words if isinstance(words, WordList) else WordList.read(words))

    def with_marks(self) -> "Inflector":
        """This inflector with answers that keep the marks of its dictionary, such as the macrons of Latin."""
        return replace(self, keeps_marks=True)

    @property
    def voters(self) -> tuple[Member, ...]:
        """The members that vote, best first."""
        strategy, names = find_strategy(self.strategy), self.choices.get(self.strategy)
        named = {member.name: member for member in self.members}
        if names is None and (self.strategy in ("vote", "average") or NAMED_ENSEMBLE.fullmatch(self.strategy)):
            # The order of the vote of all says which members are the best.
            names = tuple(strategy.choose(self.choices.get("vote", tuple(named)), lambda _: 0.0))
        if not names:
            finding = f"none of this model's members votes in {self.strategy}"
            raise InputError(finding, "choose another strategy, such as vote")
        return tuple(named[name] for name in names)

    @property
    def card(self) -> dict[str, Any]:
        """A description of the model as plain data: what `reinflect info --json` prints."""
        voters, words = [member.name for member in self.voters], msgspec.to_builtins(self.words)
        return {
            "strategy": self.strategy,
            "voters": voters,
            "members": [{"name": m.name, **m.facts, "votes": m.name in voters} for m in self.members],
            "parameters": sum(array.size for member in self.members for array in member.parameters.values()),
            "attested": len(self.attested),
            **({"dictionary": self.dictionary.facts} if self.dictionary else {}),
            "training": msgspec.to_builtins(self.training),
            "confidence": msgspec.to_builtins(self.confidences.get(self.strategy)),
            **({"words": words} if words else {}),
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def inflect(self, lemma: str, features: str, *, attested: bool | None = None) -> str:
        """The form of a lemma; see `answers`.

        >>> inflector.inflect("sagen", "V;IND;PST;3;SG")
        'sagte'
        """
        return self.inflect_many([(lemma, features)], attested=attested)[0]

    def inflect_many(self, items: Sequence[Query], *, attested: bool | None = None) -> list[str]:
        """The forms of many lemmas; one call for all of them is far quicker than many calls."""
        queries = self._queries(items)
        if self.word_list or (self.dictionary if attested is None else attested):
            return [answer.form for answer in self.answers(queries, attested=attested)]
        return [vote.form for vote in self._votes(queries)]

    def answers(self, items: Sequence[Query], *, attested: bool | None = None) -> list[Answer]:
        """The forms of many lemmas, with confidences; with `attested`, attested forms beat predictions.

        By default they do if the model has a dictionary.
        """
        lists = self._ranked(self._queries(items), WIDTH if self.word_list else 0, attested)
        return [replace(best, variants=tuple(a.form for a in others if a.attested)) for best, *others in lists]

    def inflect_rows(self, rows: Any) -> Any:
        """Rows with lemma and features, completed by form and confidence: a list of dicts, or a pandas frame.

        >>> inflector.inflect_rows([{"lemma": "sagen", "features": "V;IND;PST;3;SG", "page": 7}])[0]["form"]
        'sagte'
        """
        records = records_of(rows, ("lemma", "features"))
        answers = self.answers([(row["lemma"], row["features"]) for row in records])
        if hasattr(rows, "assign"):
            return rows.assign(form=[best.form for best in answers], confidence=[best.confidence for best in answers])
        pairs = zip(records, answers, strict=True)
        return [{**row, "form": best.form, "confidence": best.confidence} for row, best in pairs]

    def paradigm(self, lemma: str, bundles: Sequence[str] | None = None) -> Paradigm:
        """The forms of a lemma for some bundles, or else for `usual_bundles`; attested forms beat predictions.

        >>> cells = inflector.paradigm("sagen", ["V;IND;PST;1;SG", "V;IND;PST;2;SG"])
        >>> [(cell.features, cell.answer.form) for cell in cells]
        [('V;IND;PST;1;SG', 'sagte'), ('V;IND;PST;2;SG', 'sagtest')]
        """
        bundles = self.usual_bundles(lemma) if bundles is None else bundles
        items = self._queries([(lemma, features) for features in bundles])
        cells = map(Cell, (item.features.spelling for item in items), self.answers(items, attested=True))
        return Paradigm(lemma, cells, self.labels, ordered=bool(self.cells))

    def nbest(self, lemma: str, features: str, n: int = 5) -> list[Answer]:
        """The likeliest forms of a lemma, each once; the first is that of `inflect`."""
        return self.nbest_many([(lemma, features)], n)[0]

    def nbest_many(self, items: Sequence[Query], n: int = 5, *, attested: bool | None = None) -> list[list[Answer]]:
        """The likeliest forms of many lemmas: the voted form, then the others by their confidence; at most n of each.

        Each voter searches by beam. The confidence of the first form is that of `answers`; the others share a part of
        the rest, as the right form may be in no list. Without confidences, forms with more votes come first, then the
        more probable. Attested forms come before predictions as in `answers`.
        """
        if n < 1:
            raise InputError(f"found n = {n}", "ask for one form or more")
        return [answers[:n] for answers in self._ranked(self._queries(items), max(n, WIDTH), attested)]

    def attested_forms(self, lemma: str, features: str) -> tuple[str, ...]:
        """The attested forms of a cell, whatever the order of the features; none if none is known."""
        forms = self.known_forms(lemma, Bundle(features))
        return tuple(self.inflect_many([Item(lemma, Bundle(features))])) if forms == () else forms or ()

    def _ranked(self, items: Sequence[Item], width: int, attested: bool | None) -> Iterator[list[Answer]]:
        """All forms of each item: first attested ones, then the voted form, then further ones by their confidence."""
        for item, (vote, lists) in zip(items, self.candidates(items, width), strict=True):
            seen, fitted = item.features.cell in self.seen_cells, self.confidences.get(self.strategy)
            evidence = ranked(vote.form, vote.forms, lists, seen)
            first = Evidence.of(vote.form, vote.forms, vote.log_probabilities, seen=seen)
            if self.words and self.word_list:
                evidence = self.words.weighed((item.lemma, item.features.spelling), evidence, self.word_list)
                first, fitted = next(iter(evidence.values())), self.words.confidence
            wanted = self.dictionary if attested is None else attested
            forms = self.known_forms(item.lemma, item.features) if wanted else None
            forms = (vote.form,) if forms == () else forms or ()
            kept = (Answer.of(form, Evidence.in_lists(form, vote.forms, lists, seen), attested=True) for form in forms)
            yield [*kept, *(answer for answer in in_order(evidence, first, fitted) if answer.form not in forms)]

    def candidates(self, items: Sequence[Item], width: int) -> Iterator[tuple[Vote, list[dict[str, float]]]]:
        """Of each item the vote, and of each voter its form and the others that a beam of this width finds."""
        voters, spelled = self.voters if width else (), self.spelled(items) if self.dictionary else items
        beams = shared_out(lambda member: beam(member.words, spelled, width, width), voters, len(items))
        for number, (item, vote) in enumerate(zip(items, self._votes(items), strict=True)):
            lists = [{form: score} for form, score in zip(vote.forms, vote.log_probabilities, strict=True)]
            for forms, nbest in zip(lists, (of_voter[number] for of_voter in beams), strict=False):
                others = filtered([form for form, _ in nbest], [spelled[number].lemma] * len(nbest), self.known_runs)
                others = [self.spelled_as(item.lemma, form) for form in others]
                # A narrow beam can lose the form of greedy decoding.
                forms |= merged(map(Scored, others, [score for _, score in nbest]), width)
            yield vote, lists

    def trace(self, lemma: str, features: str | Bundle, member: str | None = None) -> "Trace":
        """The actions of a member: of the one named, or of the best that predicts the form of `inflect`.

        >>> trace = inflector.trace("sagen", "V;IND;PST;3;SG")
        >>> trace.form, trace.steps[-1].kind, trace.steps[-1].form_so_far
        ('sagte', 'stop', 'sagte')
        """
        from reinflect.decode.trace import Trace, follow

        query = Item(lemma, features) if isinstance(features, Bundle) else (lemma, features)
        [item] = self.spelled(self._queries([query]))
        names = {model.name: model for model in self.members}
        if member is None:
            [vote] = self._votes([item])
            member = self.voters[vote.forms.index(vote.form)].name
        if member not in names:
            raise InputError(f"found the member {quoted(member)}", nearest(member, names, f"it has {', '.join(names)}"))
        model, system = names[member], SYSTEMS[names[member].system]
        with one_blas_thread():
            source, steps, ended = follow(model.words, item, system.choices(model.inventory), len(system.frame[0]))
        (form,) = filtered([steps[-1].form_so_far if ended else None], [item.lemma], self.known_runs)
        return Trace(model.name, model.system, item.lemma, item.features.spelling, form, source, steps)

    def member_forms(self, items: Sequence[Query]) -> list[list[str]]:
        """The forms of each member, in the order of `members`, also of those that do not vote."""
        return [forms for forms, _ in self.predictions(self.members, self._queries(items))]

    def _queries(self, queries: Sequence[Query]) -> list[Item]:
        """Queries as items. Those of lemma and features may have labels; warnings say what the model has not seen."""
        pairs = [query for query in queries if not isinstance(query, Item)]
        if not all(lemma for lemma, _ in pairs):
            raise InputError("found an empty lemma", "give one with at least one letter")
        bundles = {features: Bundle(self.features_of(features)) for _, features in pairs}
        for doubt in self.doubts(bundles.values()):
            warnings.warn(doubt, UnseenWarning, stacklevel=3)
        items = [query if isinstance(query, Item) else Item(query[0], bundles[query[1]]) for query in queries]
        for item in items if self.dictionary else ():
            self.check_part_of_speech(item.features, item.line)
        return normalised(items, self.normalisation)

    def _votes(self, items: Sequence[Item]) -> list[Vote]:
        forms, scores = zip(*self.predictions(self.voters, items), strict=True)
        ballots = zip(zip(*forms, strict=True), zip(*scores, strict=True), strict=True)
        return [Vote(find_strategy(self.strategy).combine(*ballot), *ballot) for ballot in ballots]

    def predictions(self, members: Sequence[Member], items: Sequence[Item]) -> list[tuple[list[str], list[float]]]:
        """Of each of some members the forms after the filter for repeats, and the log-probabilities before it."""
        items = normalised(items, self.normalisation)
        spelled = self.spelled(items) if self.dictionary else items
        decoded = shared_out(lambda member: greedy(member.words, spelled), members, len(items))
        kept = [(filtered(forms, [i.lemma for i in spelled], self.known_runs), scores) for forms, scores in decoded]
        if not self.dictionary:
            return kept
        return [([*map(self.spelled_as, (i.lemma for i in items), forms)], scores) for forms, scores in kept]

    def save(self, path: Path | str, *, half: bool = False, numbers: Numbers | None = None) -> None:
        """Write one file: all parameters, and everything else as JSON in its header.

        `numbers` sets the precision of parameters: single, half (as with `half`) or eighth, with 32, 16 or 8 bits each;
        8-bit numbers have one scale for each row. Smaller files predict other forms only rarely; see `rounded`.
        """
        about = {name: msgspec.to_builtins(getattr(self, name)) for name in STORED if name != "words" or self.words}
        about["attested"] = [(item.lemma, item.form, item.features.spelling) for item in self.attested]
        about |= {"card": card_text(self.card), **({"dictionary": self.dictionary} if self.dictionary else {})}
        write_model(path, self.members, about, numbers or ("half" if half else "single"))

    def rounded(self, numbers: Numbers) -> "Inflector":
        """This inflector as a file with these `numbers` gives it back, to measure what the file will predict."""
        return replace(self, members=tuple(rounded(member, numbers) for member in self.members))

    @classmethod
    def load(cls, path: Path | str) -> "Inflector":
        """Read a model file; nothing in it is ever executed. Later changes of the file do not change the inflector."""
        source = Snapshot.of(path)  # before it is read: a file that is replaced meanwhile counts as changed
        members, header, dictionary = read_model(path)
        bundle = cache(Bundle)  # thousands of items share a few hundred
        attested = tuple(Item(lemma, bundle(features), form) for lemma, form, features in header.attested)
        stored: dict[str, Any] = {name: getattr(header, name) for name in STORED}
        try:
            inflector = cls(tuple(members), attested=attested, dictionary=dictionary, source=source, **stored)
            return inflector.using(header.strategy)
        except InputError as error:
            raise not_a_model(path, error.found) from None
