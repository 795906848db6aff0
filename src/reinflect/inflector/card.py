"""What a model has seen in training, what it has not, and its card: training data, accuracy, limits."""

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from textwrap import TextWrapper
from typing import Annotated, Any

import msgspec

from reinflect import __version__
from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item, Normalisation, grouped, normal
from reinflect.ensemble.strategies import DEFAULT, Member
from reinflect.errors import InputError, close_names, counted, nearest, printable, quoted
from reinflect.inflector.dictionary import Dictionary
from reinflect.text import visible

DOUBTS, NAMES = 5, 10
"""The most unknown features, or combinations, that are named one by one; and features that a sentence lists."""


class Seen:
    """The part of an inflector that knows what it was trained on."""

    members: tuple[Member, ...]
    training: "Training | None"
    labels: Labels
    attested: tuple[Item, ...]
    dictionary: Dictionary | None
    keeps_marks: bool
    normalisation: Normalisation
    cells: tuple[str, ...]

    @property
    def bundle_counts(self) -> dict[str, int]:
        """The bundles in their order, as they are spelled, with a number: of lemmas of the dictionary, or of items."""
        return dict(self.dictionary.counts if self.dictionary else self.training.bundles if self.training else {})

    @property
    def bundles(self) -> tuple[str, ...]:
        return self.dictionary.bundles if self.dictionary else tuple(self.bundle_counts)

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """All features that its members know."""
        return tuple(sorted({atom for member in self.members for atom in member.inventory.atoms}))

    @property
    def characters(self) -> tuple[str, ...]:
        """All characters that its members know; others are copied."""
        return tuple(sorted({character for member in self.members for character in member.inventory.characters}))

    @cached_property
    def seen_cells(self) -> Mapping[tuple[str, ...], Sequence[str]]:
        """The combinations of features of the training items, each with its spellings."""
        bundles = self.dictionary.bundles if self.dictionary else self.bundle_counts
        return grouped(bundles, lambda spelling: Bundle(spelling).cell)

    def usual_bundles(self, lemma: str = "") -> list[str]:
        """The bundles, ordered by part of speech; of a lemma in the dictionary, those of its parts of speech.

        Bundles that differ only in the order of their features count as one, in its commonest spelling. They are in
        the order of `cells`, then in that of the training items.
        """
        seen, counts = self.seen_cells, self.bundle_counts
        order = dict.fromkeys((*(Bundle(spelling).cell for spelling in self.cells), *seen))
        usual = [max(seen[cell], key=counts.__getitem__) for cell in order if cell in seen]
        cells = self.dictionary.bundles_of(normal(lemma, self.normalisation)) if self.dictionary else ()
        if parts := {bundle.word_class for bundle in cells}:
            usual = [spelling for spelling in usual if Bundle(spelling).word_class in ("", *parts)]
        return [*chain(*grouped(usual, lambda spelling: Bundle(spelling).part_of_speech).values())]

    def known_forms(self, lemma: str, bundle: Bundle) -> tuple[str, ...] | None:
        """The forms that a person gave for a cell, or else those of the dictionary; None if it is not attested.

        None of them if it is attested in the dictionary with the form that the vote gives.
        """
        lemma = normal(lemma, self.normalisation)
        if items := self._attested.get((lemma, bundle.cell)):
            return tuple(dict.fromkeys(item.form for item in items))
        forms = self.dictionary.forms(lemma, bundle) if self.dictionary else None
        return None if forms is None else tuple(dict.fromkeys(self.spelled_as(lemma, form) for form in forms))

    def spelled(self, items: Sequence[Item]) -> Sequence[Item]:
        """Items with their lemmas as the dictionary writes them; the model has learnt these."""
        if (dictionary := self.dictionary) is None:
            return items
        return [
            replace(item, lemma=dictionary.spelled(item.lemma, item.features))
            if dictionary.marks or item.lemma[:1].isupper()
            else item
            for item in items
        ]

    def spelled_as(self, lemma: str, form: str) -> str:
        """A form with the lemma's capital, if the dictionary has none; and without marks, if the lemma has none."""
        if (dictionary := self.dictionary) is None:
            return form
        if lemma[:1].isupper() and dictionary.spelled(lemma, Bundle(""))[:1].islower():
            form = form[:1].upper() + form[1:]
        if self.keeps_marks or not dictionary.marks or dictionary.is_marked(lemma):
            return form
        return normal(dictionary.unmarked(form), self.normalisation)

    def check_part_of_speech(self, bundle: Bundle, line: int = 0) -> None:
        """Refuse what the dictionary has no bundle of: the model has not learnt it."""
        if self.lacks(bundle):
            parts = sorted({Bundle(spelling).word_class for spelling in self.bundles} - {""})
            problem = f"found {quoted(bundle.spelling)}, but the model has no {bundle.word_class}"
            raise InputError(problem, f"choose from {', '.join(parts)}", line=line or None)

    def lacks(self, bundle: Bundle) -> bool:
        """Whether the dictionary has no bundle of its part of speech."""
        parts = self.dictionary.parts_of_speech if self.dictionary else ()
        return any(parts) and bundle.word_class not in ("", *parts)

    @cached_property
    def _attested(self) -> Mapping[tuple[str, tuple[str, ...]], Sequence[Item]]:
        return grouped(self.attested, lambda item: (item.lemma, item.features.cell))

    def features_of(self, text: str) -> str:
        """The features that a text names: a bundle, one of the model's labels in any case, or a bundle with labels."""
        features = self.labels.to_features(self.labels.spelled(text, self.atoms))
        self.check_part_of_speech(Bundle(features))
        return features

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        """The features that no member knows, each once, with the nearest known ones."""
        return [(atom, close_names(atom, self.atoms)) for atom in self._unknown([Bundle(features)])]

    def _unknown(self, bundles: Iterable[Bundle]) -> list[str]:
        atoms = frozenset(self.atoms)
        return [*dict.fromkeys(atom for bundle in bundles for atom in bundle.among(atoms) if atom not in atoms)]

    def nearest_bundles(self, features: str) -> list[str]:
        """The two bundles of training items most like a combination of known features that no item has; else none."""
        bundle = Bundle(features)
        cells = self.seen_cells if self._is_new(bundle) else ()
        near = nsmallest(2, cells, key=lambda cell: len(set(bundle.cell).symmetric_difference(cell)))
        return [self.seen_cells[cell][0] for cell in near]

    def _is_new(self, bundle: Bundle) -> bool:
        return bool(bundle.atoms) and bundle.cell not in self.seen_cells and set(bundle.atoms) <= set(self.atoms)

    def doubts(self, bundles: Iterable[Bundle]) -> list[str]:
        """Sentences about what the model has not seen: features, and combinations of features that it knows."""
        distinct, to_label = {bundle.cell: bundle for bundle in bundles}.values(), self.labels.to_label
        unknown, names = self._unknown(distinct), [*self.atoms, *(label for label, _ in self.labels.pairs)]
        otherwise = f"it knows {', '.join(self.atoms[:NAMES])}{', …' if len(self.atoms) > NAMES else ''}"
        sentences = [
            f"the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}"
            for atom in unknown[:DOUBTS]
        ]
        if more := len(unknown[DOUBTS:]):
            sentences.append(f"the model has never seen {counted(more, 'more feature')}")
        new = [bundle.spelling for bundle in distinct if self.seen_cells and self._is_new(bundle)]
        for spelling in new[:DOUBTS]:
            near = ", ".join(map(to_label, self.nearest_bundles(spelling)))
            sentences.append(f"no training form has the combination {quoted(to_label(spelling))}; nearest: {near}")
        if more := len(new[DOUBTS:]):
            sentences.append(f"{more} more combinations are in no training form")
        return sentences


WIDTH = 100
BUNDLES = 8
"""The most bundles that a card names."""
FITTED = "A confidence is the share of such predictions that were right when it was fitted"
UNFITTED = "It cannot say how likely a form is right."
HELD_OUT = "There was no dev file: each seed held out a fifth of the forms to pick the best version by."


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """The training of a model."""

    source: str
    """The name of the training file, or another origin of the items."""
    items: int
    lemmas: int
    fingerprint: str
    """Of the training items in their order; see `fingerprint`."""
    bundles: dict[str, int]
    """The number of training items of each bundle, by its spelling."""
    dev_items: int
    """0 without a dev file: then each model held out some of the training items."""
    dev_fingerprint: str | None
    accuracy: Annotated[float, msgspec.Meta(ge=0, le=100)]
    """Of the vote, in per cent: on dev items, or on items that the voters had held out."""
    scored: int
    """The number of cells that the accuracy is measured on."""
    interrupted: bool
    """Whether the training was stopped early, and the models are the best so far."""
    date: str
    versions: dict[str, str]
    starts: dict[str, str] = {}
    """The names of the models that some members started from, by their fingerprints."""

    @property
    def held_out(self) -> bool:
        return self.dev_items == 0


def describe_training(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    *,
    source: str,
    accuracy: float,
    scored: int,
    interrupted: bool,
    starts: Mapping[str, str] | None = None,
) -> Training:
    """The record of a training that ends now."""
    from importlib.metadata import version as version_of

    # The date may be that of SOURCE_DATE_EPOCH, the convention for files that are the same when made again.
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdecimal() else datetime.now(UTC)
    return Training(
        source=source.encode("utf-8", "backslashreplace").decode(),  # a file name can have any bytes
        items=len(train_items),
        lemmas=len({item.lemma for item in train_items}),
        fingerprint=fingerprint(train_items),
        bundles=dict(Counter(item.features.spelling for item in train_items)),
        dev_items=len(dev_items or ()),
        dev_fingerprint=fingerprint(dev_items) if dev_items else None,
        accuracy=accuracy,
        scored=scored,
        interrupted=interrupted,
        date=now.date().isoformat(),
        versions={"reinflect": __version__, "python": platform.python_version(), "torch": version_of("torch")},
        starts=dict(starts or {}),
    )


def fingerprint(items: Sequence[Item]) -> str:
    """The SHA-256 of the items as a file of lemma, form and features, each line with a line feed."""
    lines = (f"{item.lemma}\t{item.form}\t{item.features.spelling}\n" for item in items)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def card_text(card: Mapping[str, Any], further: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text of a card (`Inflector.card`) with `further` parts; without a record of the training it is shorter."""
    training, members, voters = card["training"], card["members"], len(card["voters"])
    strategy = "" if card["strategy"] == DEFAULT else f" ({card['strategy']})"
    vote = f"{len(members)} models, of which {voters} vote{'s' if voters == 1 else ''}{strategy}"
    attested = f"; {_many(card['attested'], 'attested form')}" if card.get("attested") else ""
    votes = [" (votes)" if member["votes"] and voters < len(members) else "" for member in members]
    origin = training and f" of {training['date']}, by reinflect {training['versions'].get('reinflect', '?')}"
    parts = {
        f"A model{origin or ''}": [
            "It inflects words: a lemma and features in, a form out.",
            f"In it: {vote if len(members) > 1 else 'one model'}; {card['parameters']:,} numbers{attested}.",
        ],
        **(_about_dictionary(card["dictionary"]) if "dictionary" in card else {}),
        **(_about_training(training, card["confidence"], card.get("words")) if training else {}),
        "Its models, with their accuracy on dev or held-out items": [
            f"{member['name']} {member['dev_accuracy']:.2f}{vote}" for member, vote in zip(members, votes, strict=True)
        ],
        "What it knows": [
            f"Features: {', '.join(card['atoms'])}",
            f"Characters: {' '.join(map(visible, card['characters']))}",
            _about_bundles(training["bundles"]) if training else "",
        ],
        "Limits": [
            "It is made for words like those of its training data; for others it guesses. Check what matters.",
            "Characters it has never seen are copied; features it has never seen are ignored, and named.",
            f"{FITTED}; other words may be harder." if card["confidence"] else UNFITTED,
        ],
        **(further or {}),
    }
    layout = TextWrapper(WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    rows = {title: [row for line in lines for row in layout.wrap(printable(line))] for title, lines in parts.items()}
    return "\n".join("\n".join([printable(title), *wrapped]) + "\n" for title, wrapped in rows.items() if wrapped)


def _about_training(training: Any, confidence: Any, words: Any) -> dict[str, list[str]]:
    """The parts of a card about the training of a model, its accuracy, and its word list; empty lines are left out."""
    forms, lemmas, dev = _many(training["items"], "form"), _many(training["lemmas"], "lemma"), training["dev_items"]
    starts = ", ".join(f"{name} (SHA-256 of its numbers {digest[:12]}…)" for digest, name in training["starts"].items())
    picked = f"The best version of each model was picked by {_many(dev, 'dev item')}." if dev else HELD_OUT
    items = "dev items" if dev else "held-out forms (an estimate)"
    fitted = confidence and f"Confidences were fitted on {_many(confidence['items'], 'form')} of these."
    parts = {
        "Training data": [
            f"{forms} of {lemmas}, from {training['source']} (SHA-256 {training['fingerprint'][:12]}…)",
            picked,
            f"Models with “+from” in their names started from {starts}." if starts else "",
            "The training was interrupted; these are the best models until then." if training["interrupted"] else "",
        ],
        "Accuracy": [
            f"{training['accuracy']:.1f} % of {training['scored']} {items} right to the character, by vote.",
            fitted or "There are no confidences: there were too few forms to fit them on.",
        ],
    }
    if words:
        right, wrong = (f"{100 * share:.0f} %" for share in words["overall"][0])
        parts["Word list (used only where it is given again)"] = [
            f"{words['name']}: {_many(words['words'], 'word')} (SHA-256 {words['digest']}…)",
            f"About {right} of right forms and {wrong} of wrong candidates occur in it; with it, "
            f"{words['accuracy']:.1f} % of {words['confidence']['items']} forms were right.",
        ]
    return parts


def _about_dictionary(facts: Mapping[str, Any]) -> dict[str, list[str]]:
    sizes = {"All": (facts["lemmas"], facts["cells"]), **facts["parts"]}
    lines = [f"{part or '(none)'}: {_many(n, 'lemma')}, {_many(k, 'attested cell')}" for part, (n, k) in sizes.items()]
    return {"Dictionary": [*lines, facts["credit"]]}


def _about_bundles(counts: Mapping[str, int]) -> str:
    commonest = [f"{bundle or '(none)'} ({count})" for bundle, count in Counter(counts).most_common(BUNDLES)]
    more = ", …" if len(counts) > BUNDLES else ""
    return f"Bundles: {_many(len(counts), 'bundle')} in the training items: {', '.join(commonest)}{more}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
