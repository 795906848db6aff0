"""Options, notes and confidences of the commands that use a trained model."""

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from reinflect.cli.options import Command, option, say, strategy_option
from reinflect.data.features import Bundle
from reinflect.errors import UnseenWarning, quoted

if TYPE_CHECKING:
    from reinflect.data.labels import Labels
    from reinflect.inflector.inflector import Answer, Inflector

ATTESTED = "✓"

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

    warnings.simplefilter("ignore", UnseenWarning)  # `say_doubts` says it in notes
    inflector = Inflector.load(path)
    return inflector if strategy is None else inflector.using(strategy)


def say_doubts(inflector: "Inflector", bundles: Iterable[Bundle], labels: "Labels") -> None:
    """Name the features, and combinations of them, that the model has not seen."""
    say(*(f"note: {doubt}" for doubt in inflector.doubts(bundles, labels)))


def features_named(inflector: "Inflector", labels: "Labels", text: str) -> str:
    """The features of a label or bundle, with a note if a label is spelled in another case."""
    spelled = labels.spelled(text, inflector.atoms)
    if spelled != text:
        say(f"note: {quoted(text)} is read as {quoted(spelled)}, as your label is spelled")
    return labels.to_features(spelled)


def confidence_text(answer: "Answer") -> str:
    """The confidence in per cent; the share of votes where the model has no confidences; a mark if it is attested."""
    if answer.attested:
        return ATTESTED
    if answer.confidence is None:
        return f"{answer.votes}/{answer.voters}"
    return f"{100 * answer.confidence:.0f} %"


def confidence_cell(answer: "Answer") -> str | float:
    """The confidence for a spreadsheet: a word if the form is attested, empty where the model has no confidence."""
    if answer.attested:
        return "attested"
    return "" if answer.confidence is None else round(answer.confidence, 3)
