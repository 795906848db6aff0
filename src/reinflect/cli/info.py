"""`reinflect info`: what a model file holds."""

import click

from reinflect.cli.files import json_text
from reinflect.cli.models import load_inflector, model_example, model_name
from reinflect.cli.options import option


@click.command("info", epilog=model_example("reinflect info verbs.reinflect"))
@model_name
@option("--json as_json", "Print one JSON object, with every setting and every count.")
def command(model: str, as_json: bool) -> None:
    """Show the training data of MODEL, its accuracy, its members, and the features and characters it knows."""
    from reinflect.inflector.card import card_text

    card = load_inflector(model).card
    click.echo(json_text(card, indent=2) if as_json else card_text(card), nl=False)
