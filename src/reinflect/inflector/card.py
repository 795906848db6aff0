"""The card of a model: its training data, its accuracy, and its limits."""

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from reinflect import __version__
from reinflect.data.items import Item
from reinflect.ensemble.strategies import DEFAULT
from reinflect.errors import printable
from reinflect.text import visible

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector

WIDTH = 100
BUNDLES = 8
"""The most bundles that a card names."""
FITTED = "A confidence is the share of such predictions that were right when it was fitted"


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


def describe(inflector: "Inflector") -> dict[str, Any]:
    """A description of a model as plain data."""
    voters = [member.name for member in inflector.voters]
    return {
        "strategy": inflector.strategy,
        "voters": voters,
        "members": [{"name": m.name, **m.facts, "votes": m.name in voters} for m in inflector.members],
        "parameters": sum(array.size for member in inflector.members for array in member.parameters.values()),
        "attested": len(inflector.attested),
        "training": msgspec.to_builtins(inflector.training),
        "confidence": msgspec.to_builtins(inflector.confidences.get(inflector.strategy)),
        **({"words": msgspec.to_builtins(inflector.words)} if inflector.words else {}),
        "atoms": list(inflector.atoms),
        "characters": list(inflector.characters),
    }


def card_text(card: Mapping[str, Any], further: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text of a card (`describe`) with `further` parts; without a record of the training it is shorter."""
    training, confidence, words = card["training"], card["confidence"], card.get("words")
    members, voters = card["members"], len(card["voters"])
    strategy = "" if card["strategy"] == DEFAULT else f" ({card['strategy']})"
    vote = f"{len(members)} models, of which {voters} vote{'s' if voters == 1 else ''}{strategy}"
    attested = f"; {_many(card['attested'], 'attested form')}" if card.get("attested") else ""
    votes = [" (votes)" if member["votes"] and voters < len(members) else "" for member in members]
    parts = {
        f"A model of {training['date']}, by reinflect {training['versions'].get('reinflect', '?')}"
        if training
        else "A model": [
            "It inflects words: a lemma and features in, a form out.",
            f"In it: {vote if len(members) > 1 else 'one model'}; {card['parameters']:,} numbers{attested}.",
        ],
        "Training data": _about_data(training) if training else (),
        "Accuracy": _about_accuracy(training, confidence) if training else (),
        "Word list (used only where it is given again)": _about_words(words) if training and words else (),
        "Its models, with their accuracy on dev or held-out items": [
            f"{member['name']} {member['dev_accuracy']:.2f}{vote}" for member, vote in zip(members, votes, strict=True)
        ],
        "What it knows": [
            f"Features: {', '.join(card['atoms'])}",
            f"Characters: {' '.join(map(visible, card['characters']))}",
            *([_about_bundles(training["bundles"])] if training else ()),
        ],
        "Limits": [
            "It is made for words like those of its training data; for others it guesses. Check what matters.",
            "Characters it has never seen are copied; features it has never seen are ignored, and named.",
            f"{FITTED}; other words may be harder." if confidence else "It cannot say how likely a form is right.",
        ],
        **(further or {}),
    }
    layout = TextWrapper(WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    rows = {title: [row for line in lines for row in layout.wrap(printable(line))] for title, lines in parts.items()}
    return "\n".join("\n".join([printable(title), *wrapped]) + "\n" for title, wrapped in rows.items() if wrapped)


def _about_data(training: Mapping[str, Any]) -> Iterator[str]:
    forms, lemmas = _many(training["items"], "form"), _many(training["lemmas"], "lemma")
    yield f"{forms} of {lemmas}, from {training['source']} (SHA-256 {training['fingerprint'][:12]}…)"
    if training["dev_items"]:
        yield f"The best version of each model was picked by {_many(training['dev_items'], 'dev item')}."
    else:
        yield "There was no dev file: each seed held out a fifth of the forms to pick the best version by."
    if training["starts"]:
        starts = (f"{name} (SHA-256 of its numbers {digest[:12]}…)" for digest, name in training["starts"].items())
        yield f"Models with “+from” in their names started from {', '.join(starts)}."
    if training["interrupted"]:
        yield "The training was interrupted; these are the best models until then."


def _about_accuracy(training: Mapping[str, Any], confidence: Mapping[str, Any] | None) -> Iterator[str]:
    items = "dev items" if training["dev_items"] else "held-out forms (an estimate)"
    yield f"{training['accuracy']:.1f} % of {training['scored']} {items} right to the character, by vote."
    fitted = confidence and f"Confidences were fitted on {_many(confidence['items'], 'form')} of these."
    yield fitted or "There are no confidences: there were too few forms to fit them on."


def _about_words(words: Mapping[str, Any]) -> Iterator[str]:
    right, wrong = (f"{100 * share:.0f} %" for share in words["overall"][0])
    yield f"{words['name']}: {_many(words['words'], 'word')} (SHA-256 {words['digest']}…)"
    yield (
        f"About {right} of right forms and {wrong} of wrong candidates occur in it; with it, "
        f"{words['accuracy']:.1f} % of {words['confidence']['items']} forms were right."
    )


def _about_bundles(counts: Mapping[str, int]) -> str:
    commonest = [f"{bundle or '(none)'} ({count})" for bundle, count in Counter(counts).most_common(BUNDLES)]
    more = ", …" if len(counts) > BUNDLES else ""
    return f"Bundles: {_many(len(counts), 'bundle')} in the training items: {', '.join(commonest)}{more}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
