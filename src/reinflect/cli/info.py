"""`reinflect info`: what a model file says of itself."""

import click

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  reinflect info verbs.reinflect
"""


@click.command("info", epilog=EXAMPLE)
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every setting and every count.")
def command(model: str, as_json: bool) -> None:
    """Show what MODEL learnt from, how good it is, who votes in it, and what features and letters it knows."""
    from reinflect.inflector.card import card_text
    from reinflect.inflector.inflector import Inflector

    card = Inflector.load(model).card
    if as_json:
        import json

        click.echo(json.dumps(card, ensure_ascii=False, indent=2))
    else:
        click.echo(card_text(card), nl=False)
