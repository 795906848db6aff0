"""Options, notes and confidences of the commands that use a trained model."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from reinflect.cli.options import Command, option, say, strategy_option
from reinflect.data.features import Bundle
from reinflect.errors import quoted
from reinflect.text import nearest

if TYPE_CHECKING:
    from reinflect.data.labels import Labels
    from reinflect.inflector.inflector import Answer, Inflector

MAX_NOTES = 5
MAX_NAMES = 10

members_option = strategy_option("Which members of MODEL vote, instead of those chosen in training")


def model_example(*lines: str) -> str:
    """The end of the help of a command whose example needs a model."""
    train = "reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive"
    commands = ["reinflect data show german-verbs --split train-low > verbs.tsv", train, *lines]
    return "\n  ".join(["\b\nExample (the first two lines train a model in about a minute):", *commands])


def bundles_option(what: str) -> Callable[[Command], Command]:
    return option(
        "--features bundles_file FILE",
        f"{what}: the features of one form on each line, such as V;IND;PST;3;SG. Without this option, all bundles "
        "that MODEL was trained on.",
    )


def load_inflector(path: str, strategy: str | None = None) -> "Inflector":
    from reinflect.inflector.inflector import Inflector

    inflector = Inflector.load(path)
    return inflector if strategy is None else inflector.using(strategy)


def say_unknown_features(inflector: "Inflector", bundles: Iterable[Bundle], labels: "Labels") -> None:
    """Name the features that no member knows, each with the nearest known name, which may be one of the labels."""
    known = frozenset(inflector.atoms)
    unknown = list(dict.fromkeys(atom for bundle in bundles for atom in bundle.among(known) if atom not in known))
    names = [*known, *(label for label, _ in labels.pairs)]
    otherwise = f"it knows {', '.join(sorted(known)[:MAX_NAMES])}{', …' if len(known) > MAX_NAMES else ''}"
    for atom in unknown[:MAX_NOTES]:
        say(f"note: the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}")
    if more := len(unknown[MAX_NOTES:]):
        say(f"note: the model has never seen {more} more feature{'s'[: more > 1]}")


def confidence_text(answer: "Answer") -> str:
    """The confidence in per cent; the share of votes where the model has no confidences."""
    if answer.confidence is None:
        return f"{answer.votes}/{answer.voters}"
    return f"{100 * answer.confidence:.0f} %"


def confidence_cell(answer: "Answer") -> str | float:
    """The confidence for a spreadsheet: empty where the model has none."""
    return "" if answer.confidence is None else round(answer.confidence, 3)
