"""`reinflect baseline`: inflect with the shared task's rule system."""

import click

from reinflect.cli.options import check_output, columns_option, output_option, say, wide_option
from reinflect.data.items import Columns, Item, read_items, swapped_columns_note, variants_note, write_items
from reinflect.errors import InputError, source_name
from reinflect.files import STANDARD

EXAMPLE = """\b
Example:
  printf 'lachen\\tlachte\\tV;PST\\nsagen\\tsagte\\tV;PST\\n' > train.tsv
  printf 'fragen\\t\\tV;PST\\n' | reinflect baseline --train train.tsv --input -
"""


@click.command("baseline", epilog=EXAMPLE)
@click.option("--train", metavar="FILE", required=True, help="Items with their forms, to learn from.")
@click.option(
    "--input", "source", metavar="FILE", required=True, help="Items to inflect; forms they have are not looked at."
)
@output_option("the inflected items go")
@wide_option
@columns_option
def command(train: str, source: str, output: str, wide: bool, columns: Columns) -> None:
    """Learn rules for endings and beginnings from one file, and inflect the lemmas of another with them.

    This is the rule system of the CoNLL–SIGMORPHON 2017 shared task. It takes seconds and needs no tuning: a measure
    for what other models add. Files are tab-separated or spreadsheets, and - is standard input. The items come out in
    their order, with lemma and features as they were; a lemma whose features, spelled just so, are not in the training
    file comes out unchanged.
    """
    from reinflect.baseline import Baseline

    if train == source == STANDARD:
        raise InputError("found - (standard input) for both --train and --input", "give - for one of them at most")
    check_output(output, [train, source])
    examples = read_items(train, columns, note=say)
    items = read_items(source, columns, forms="optional", note=say)
    baseline = Baseline.learn(examples, path=train)
    inflected = [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in items]
    write_items(output, inflected, columns, wide=wide)
    unknown = sum(not baseline.knows(item.features) for item in items)
    notes = [
        swapped_columns_note(examples, train, columns),
        variants_note(examples, train),
        _unknown_note(unknown, len(items), source),
    ]
    for note in filter(None, notes):
        click.echo(note, err=True)


def _unknown_note(unknown: int, total: int, source: str) -> str | None:
    if not unknown:
        return None
    return (
        f"note: {source_name(source)}: the features of {unknown} of {total} items are not in the training file; "
        "their lemmas are given unchanged"
    )
