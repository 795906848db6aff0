"""`reinflect info`: what a model file holds."""

import click

from reinflect.cli.models import ModelArgument, model_argument, model_example, model_options
from reinflect.cli.output import Output, output_options


@click.command("info", epilog=model_example("reinflect info verbs.reinflect"))
@model_argument
@output_options(json="Print one JSON object, with every setting and every count.")
@model_options()
def command(model: ModelArgument, output: Output) -> None:
    """Show the training data of MODEL, its accuracy, its members, and the features and characters it knows."""
    from reinflect.inflector.card import card_text

    card = model.inflector.card
    output.write(lambda: card_text(card), lambda: [card], indent=2)
