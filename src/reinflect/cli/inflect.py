"""`reinflect inflect`: inflect words with a trained model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import columns_option, output_option, strategy_option
from reinflect.data.items import Columns, Item, check_lengths, read_items, write_items
from reinflect.errors import InputError, quoted
from reinflect.files import check_writable, write_text
from reinflect.text import nearest

if TYPE_CHECKING:
    from reinflect.inflector import Inflector

SHOWN = 10

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.model --seeds 1 --systems haem --alignments naive
  reinflect inflect verbs.model fliegen 'V;IND;PST;3;SG'
"""


@click.command("inflect", epilog=EXAMPLE)
@click.argument("model")
@click.argument("lemma", required=False)
@click.argument("features", required=False)
@click.option("--input", "source", metavar="FILE", help="Items to inflect; forms they have are not looked at.")
@output_option("the inflected items go")
@strategy_option(None, "Which members of MODEL vote, if not those chosen when it was trained")
@columns_option
def command(
    model: str,
    lemma: str | None,
    features: str | None,
    source: str | None,
    output: str,
    strategy: str | None,
    columns: Columns,
) -> None:
    """Inflect one LEMMA with its FEATURES, or all items of a file, by the vote of MODEL's members.

    Items come out in their order, with lemma and features as they were. Letters the model has never seen are kept as
    they are; features it has never seen are passed over, and named.
    """
    from reinflect.data.features import Bundle

    if (lemma is None) == (source is None) or (lemma is None) != (features is None):
        raise InputError(
            "found neither a lemma with its features nor --input"
            if source is None
            else "found both a lemma and --input",
            "give either LEMMA FEATURES (such as fliegen 'V;IND;PST;3;SG') or --input FILE",
        )
    if lemma == "":
        raise InputError("found an empty lemma", "give one with at least one letter")
    check_writable(output)
    if source is not None:
        items = read_items(source, columns, forms="optional")
    else:
        items = [Item(lemma or "", Bundle(features or ""))]
    check_lengths(items, source, "models take", "shorten it or take it out")

    from reinflect.inflector import Inflector

    inflector = Inflector.load(model)
    if strategy is not None:
        inflector = inflector.using(strategy)
    forms = inflector.inflect_many(items)
    if source is None:
        write_text(output, f"{forms[0]}\n")
    else:
        inflected = [Item(item.lemma, item.features, form) for item, form in zip(items, forms, strict=True)]
        write_items(output, inflected, columns)
    for note in _unknown_notes(inflector, items):
        click.echo(note, err=True)


def _unknown_notes(inflector: "Inflector", items: Sequence[Item]) -> list[str]:
    """One for each feature that no member knows, with the nearest that they do; no more than a screen can hold."""
    inventories = {member.inventory for member in inflector.members}
    known = {atom for inventory in inventories for atom in inventory.atoms}
    unknown = list(dict.fromkeys(atom for item in items for atom in item.features.atoms if atom not in known))
    otherwise = f"it knows {', '.join(sorted(known)[:SHOWN])}{', …' if len(known) > SHOWN else ''}"
    notes = [
        f"note: the model has never seen the feature {quoted(atom)}; {nearest(atom, known, otherwise)}"
        for atom in unknown[:SHOWN]
    ]
    if len(unknown) > SHOWN:
        notes.append(f"note: nor {len(unknown) - SHOWN} others")
    return notes
