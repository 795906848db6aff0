"""`reinflect models`: list the pocket models; also what all commands that use a trained model share."""

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import Command, example, option, say, strategy_option
from reinflect.data.features import Bundle
from reinflect.data.labels import Labels
from reinflect.errors import InputError, UnseenWarning, printable, quoted
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.answers import Answer
    from reinflect.inflector.inflector import Inflector

ATTESTED = "✓"

members_option = strategy_option("Which members of MODEL vote, instead of those chosen in training")


def model_example(*lines: str) -> str:
    """The end of the help of a command whose example needs a model."""
    train = "reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive"
    about = "two lines train a model; MODEL may be a language: reinflect models"
    return example("reinflect data show german-verbs --split train-low > verbs.tsv", train, *lines, about=about)


def model_file(name: str) -> str:
    """The type of arguments and options that are models: the file of each, where a language is named too."""
    from reinflect.inflector.pocket import find_model

    return name and str(find_model(name, lambda note: say(f"note: {note}")))


model_name = click.argument("model", type=model_file)


def bundles_option(what: str) -> Callable[[Command], Command]:
    return option(
        "--features bundles_file FILE",
        f"{what}: the features of one form on each line, such as V;IND;PST;3;SG. Without this option, all bundles "
        "that MODEL was trained on.",
    )


def load_inflector(path: str, strategy: str | None = None) -> "Inflector":
    from reinflect.inflector.pocket import load

    warnings.simplefilter("ignore", UnseenWarning)  # `say_doubts` says it in notes
    inflector = load(Path(path))
    return inflector if strategy is None else inflector.using(strategy)


def say_doubts(inflector: "Inflector", bundles: Iterable[Bundle], labels: Labels) -> None:
    """Name the features, and combinations of them, that the model has not seen."""
    say(*(f"note: {doubt}" for doubt in inflector.doubts(bundles, labels)))


def features_named(inflector: "Inflector", labels: Labels, text: str) -> str:
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


@click.command("models", epilog=example("reinflect models"))
def command() -> None:
    """List the pocket models: small models of many languages, with their accuracy on items they did not learn from.

    Every command takes a language where it asks for MODEL: reinflect inflect finnish talo 'N;IN+ESS;PL'. A name with a
    slash or an ending is a file of your own (./finnish, finnish.reinflect). The models are a distribution of their own,
    reinflect-models; or the variable REINFLECT_MODELS names a folder of such models.
    """
    from reinflect.inflector.pocket import INSTALL, models_folder, read_index

    folder = models_folder()
    index = {} if folder is None else read_index(folder)
    if not index:
        raise InputError("no pocket models are installed", f"install them: {INSTALL}")
    rows = [(name, f"{own.accuracy:.2f}", f"{own.size / 1e3:.0f} KB", own.date) for name, own in index.items()]
    click.echo(table(("language", "accuracy", "size", "date"), rows, sides=("left", "right", "right", "left")))
    size = sum(own.size for own in index.values()) / 1e6
    click.echo(f"{len(index)} pocket models, {size:.1f} MB, in {printable(str(folder))}")
