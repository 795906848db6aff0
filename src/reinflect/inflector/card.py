"""The card of a model: its training data, its accuracy, and its limits."""

import hashlib
import math
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

import msgspec

from reinflect import __version__
from reinflect.data.items import Item
from reinflect.ensemble.strategies import DEFAULT
from reinflect.errors import printable
from reinflect.text import visible

WIDTH = 100
SHOWN = 8


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
    accuracy: float
    """Of the vote, in per cent: on dev items, or on items that the voters had held out."""
    scored: int
    """The number of cells that the accuracy is measured on."""
    interrupted: bool
    """Whether the training was stopped early, and the models are the best so far."""
    date: str
    versions: dict[str, str]
    starts: dict[str, str] = {}
    """The names of the models that some members started from, by their fingerprints."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.accuracy):
            raise ValueError("the accuracy of its vote is not a number")

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
        date=_today(),
        versions={"reinflect": __version__, "python": platform.python_version(), "torch": version_of("torch")},
        starts=dict(starts or {}),
    )


def fingerprint(items: Sequence[Item]) -> str:
    """The SHA-256 of the items as a file of lemma, form and features, each line with a line feed."""
    mark = hashlib.sha256()
    for item in items:
        mark.update(f"{item.lemma}\t{item.form}\t{item.features.spelling}\n".encode("utf-8", "surrogatepass"))
    return mark.hexdigest()


def _today() -> str:
    """The date, or that of SOURCE_DATE_EPOCH, the convention for files that are the same when made again."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()


def card_text(card: Mapping[str, Any], further: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text of a card (`Inflector.card`) with `further` parts; without a record of the training it is shorter."""
    training, confidence, members = card["training"], card["confidence"], card["members"]
    voters, some_vote = len(card["voters"]), any(not member["votes"] for member in members)
    named = "" if card["strategy"] == DEFAULT else f" ({card['strategy']})"
    vote = f"{voters} vote{'s' if voters == 1 else ''}{named}"
    many = "one model" if len(members) == 1 else f"{len(members)} models, of which {vote}"
    sure = (
        "A confidence is the share of such predictions that were right when it was fitted; other words may be harder."
        if confidence
        else "It cannot say how likely a form is right."
    )
    attested = f"; {_many(card['attested'], 'attested form')}" if card.get("attested") else ""
    title, known = "A model", [f"Features: {', '.join(card['atoms'])}"]
    known.append(f"Characters: {' '.join(map(visible, card['characters']))}")
    about_training = {}
    if training:
        title += f" of {training['date']}, by reinflect {training['versions'].get('reinflect', '?')}"
        about_training = {"Training data": _data(training), "Accuracy": _accuracy(training, confidence)}
        if words := card.get("words"):
            right, wrong = (f"{100 * share:.0f} %" for share in words["overall"][0])
            about_training["Word list (used only where it is given again)"] = [
                f"{words['name']}: {_many(words['words'], 'word')} (SHA-256 {words['digest']}…)",
                f"About {right} of right forms and {wrong} of wrong candidates occur in it; with it, "
                f"{words['accuracy']:.1f} % of {words['confidence']['items']} forms were right.",
            ]
        counts = Counter(training["bundles"])
        some = ", ".join(f"{bundle or '(none)'} ({count})" for bundle, count in counts.most_common(SHOWN))
        more = ", …" if len(counts) > SHOWN else ""
        known.append(f"Bundles: {_many(len(counts), 'bundle')} in the training items: {some}{more}")
    parts = {
        title: [
            "It inflects words: a lemma and features in, a form out.",
            f"In it: {many}; {card['parameters']:,} numbers{attested}.",
        ],
        **about_training,
        "Its models, with their accuracy on dev or held-out items": [
            f"{member['name']} {member['dev_accuracy']:.2f}{' (votes)' if some_vote and member['votes'] else ''}"
            for member in members
        ],
        "What it knows": known,
        "Limits": [
            "It is made for words like those of its training data; for others it guesses. Check what matters.",
            "Characters it has never seen are copied; features it has never seen are ignored, and named.",
            sure,
        ],
        **(further or {}),
    }
    return "\n".join(_part(heading, lines) for heading, lines in parts.items())


def _part(title: str, lines: Sequence[str]) -> str:
    wrapped = [
        row
        for line in lines
        for row in wrap(printable(line), WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    ]
    return "\n".join([printable(title), *wrapped]) + "\n"


def _data(training: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{_many(training['items'], 'form')} of {_many(training['lemmas'], 'lemma')}, from {training['source']} "
        f"(SHA-256 {training['fingerprint'][:12]}…)"
    ]
    if training["dev_items"]:
        lines.append(f"The best version of each model was picked by {_many(training['dev_items'], 'dev item')}.")
    else:
        lines.append("There was no dev file: each seed held out a fifth of the forms to pick the best version by.")
    if training["starts"]:
        starts = ", ".join(f"{name} (SHA-256 of its numbers {mark[:12]}…)" for mark, name in training["starts"].items())
        lines.append(f"Models with “+from” in their names started from {starts}.")
    if training["interrupted"]:
        lines.append("The training was interrupted; these are the best models until then.")
    return lines


def _accuracy(training: Mapping[str, Any], confidence: Mapping[str, Any] | None) -> list[str]:
    asked = "dev items" if training["dev_items"] else "held-out forms (an estimate)"
    fitted = "There are no confidences: there were too few forms to fit them on."
    if confidence:
        fitted = f"Confidences were fitted on {_many(confidence['items'], 'form')} of these."
    return [f"{training['accuracy']:.1f} % of {training['scored']} {asked} right to the character, by vote.", fitted]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
