"""What a model file says of itself: what it learnt from, how good it is, and what to bear in mind."""

import hashlib
import math
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version as version_of
from textwrap import wrap
from typing import Any

import msgspec

from reinflect import __version__
from reinflect.data.items import Item
from reinflect.errors import printable
from reinflect.text import visible

WIDTH = 100
SHOWN = 8
OLDER = "Not recorded: the file was made by an older version."


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """How a model came about."""

    source: str
    """The name of the training file, or what else the items came from."""
    items: int
    lemmas: int
    fingerprint: str
    """Two models with the same one learnt from the same items in the same order; see `fingerprint`."""
    bundles: dict[str, int]
    """The features that the training items have together, as they spell them, and how many items have them."""
    dev_items: int
    """0 where there was no dev file, and each model held out some of the training items."""
    dev_fingerprint: str | None
    accuracy: float
    """Of the vote, in per cent: on dev items, or on items that the voters had held out."""
    scored: int
    """How many cells that is of."""
    interrupted: bool
    """Whether it was stopped early, and the models are the best so far."""
    date: str
    versions: dict[str, str]

    def __post_init__(self) -> None:
        if not math.isfinite(self.accuracy):
            raise ValueError("the accuracy of its vote is no number")

    @property
    def held_out(self) -> bool:
        return self.dev_items == 0


def told(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    *,
    source: str,
    accuracy: float,
    scored: int,
    interrupted: bool,
) -> Training:
    """What is to be said of models that were trained just now."""
    return Training(
        source=source,
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
    )


def fingerprint(items: Sequence[Item]) -> str:
    """The SHA-256 of the items as a file of lemma, form and features, each line with a line feed."""
    mark = hashlib.sha256()
    for item in items:
        mark.update(f"{item.lemma}\t{item.form}\t{item.features.spelling}\n".encode("utf-8", "surrogatepass"))
    return mark.hexdigest()


def _today() -> str:
    """The day, or that of SOURCE_DATE_EPOCH, by which programs that make the same file twice agree on one."""
    told_seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(told_seconds), UTC) if told_seconds.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()


def card_text(card: Mapping[str, Any]) -> str:
    """A card for people, of one for programs (`Inflector.card`)."""
    training, confidence = card["training"], card["confidence"]
    parts = [
        _opening(card),
        _part("What it learnt from", _learnt(training) if training else [OLDER]),
        _part("How good it is", _quality(training, confidence) if training else [OLDER]),
        _part("Its models, with their accuracy on dev or held-out items", _members(card["members"])),
        _part("What it knows", _known(card)),
        _part("To bear in mind", _beware(confidence is not None)),
    ]
    return "\n".join(parts)


def _opening(card: Mapping[str, Any]) -> str:
    training = card["training"]
    made = f" of {training['date']}, by reinflect {training['versions'].get('reinflect', '?')}" if training else ""
    models, voters = len(card["members"]), len(card["voters"])
    vote = f"{voters} vote{'s' if voters == 1 else ''} ({card['strategy']})"
    many = "one model" if models == 1 else f"{models} models, of which {vote}"
    return _part(
        f"A model{made}",
        ["It inflects words: a lemma and features in, a form out.", f"In it: {many}; {card['parameters']:,} numbers."],
    )


def _part(title: str, lines: Sequence[str]) -> str:
    wrapped = [
        row
        for line in lines
        for row in wrap(printable(line), WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    ]
    return "\n".join([printable(title), *wrapped]) + "\n"


def _learnt(training: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{_many(training['items'], 'form')} of {_many(training['lemmas'], 'lemma')}, from {training['source']} "
        f"(SHA-256 {training['fingerprint'][:12]}…)"
    ]
    if training["dev_items"]:
        lines.append(f"The best state of each model was chosen by {_many(training['dev_items'], 'dev item')}.")
    else:
        lines.append("There was no dev file: each seed held out a fifth of the forms, and chose its state by them.")
    if training["interrupted"]:
        lines.append("The training was interrupted; these are the best models until then.")
    return lines


def _quality(training: Mapping[str, Any], confidence: Mapping[str, Any] | None) -> list[str]:
    asked = "dev items" if training["dev_items"] else "held-out forms (an estimate)"
    fitted = (
        f"Confidences were fitted on {_many(confidence['items'], 'form')} of these."
        if confidence
        else "There are no confidences: there were too few forms to fit them on."
    )
    return [f"{training['accuracy']:.1f} % of {training['scored']} {asked} right to the letter, by vote.", fitted]


def _members(members: Sequence[Mapping[str, Any]]) -> list[str]:
    silent = any(not member["votes"] for member in members)
    return [
        f"{member['name']} {member['dev_accuracy']:.2f}{' (votes)' if silent and member['votes'] else ''}"
        for member in members
    ]


def _known(card: Mapping[str, Any]) -> list[str]:
    lines = [f"Features: {', '.join(card['atoms'])}", f"Letters: {' '.join(map(visible, card['characters']))}"]
    if card["training"]:
        counts = Counter(card["training"]["bundles"])
        some = ", ".join(f"{bundle or '(none)'} ({count})" for bundle, count in counts.most_common(SHOWN))
        more = ", …" if len(counts) > SHOWN else ""
        lines.append(f"Features seen together, {_many(len(counts), 'combination')} (and how often): {some}{more}")
    return lines


def _beware(sure: bool) -> list[str]:
    return [
        "It is made for words like those it learnt from; for others it guesses. Check what matters.",
        "Letters it has never seen are copied; features it has never seen are passed over, and named.",
        "A confidence is how often such answers were right on the forms it was fitted on; other words may be harder."
        if sure
        else "It cannot say how likely a form is right.",
    ]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
