"""`reinflect baseline`: inflect with the shared task's rule system."""

import click

from reinflect.cli.files import check_output, check_stdin_once, say_written
from reinflect.cli.options import columns_option, option, output_option, say, wide_option
from reinflect.data.items import Columns, Item, read_items, swapped_columns_note, variants_note, write_items
from reinflect.errors import source_name
from reinflect.score.baseline import Baseline

EXAMPLE = """\b
Example:
  printf 'lachen\\tlachte\\tV;PST\\nsagen\\tsagte\\tV;PST\\n' > train.tsv
  printf 'fragen\\t\\tV;PST\\n' | reinflect baseline --train train.tsv --input -
"""


@click.command("baseline", epilog=EXAMPLE)
@option("--train FILE", "Items with their forms, to learn from.", required=True)
@option("--input source FILE", "Items to inflect; their forms are ignored.", required=True)
@output_option("the inflected items go")
@wide_option
@columns_option
def command(train: str, source: str, output: str, wide: bool, columns: Columns) -> None:
    """Learn rules for prefixes and suffixes from one file, and inflect the lemmas of another with them.

    This is the rule system of the CoNLL–SIGMORPHON 2017 shared task. It takes seconds and has no settings: compare
    other models with it. Files are tab-separated or spreadsheets; - is standard input. The output has the items in
    their order, with lemma and features unchanged. A lemma stays uninflected if its features, in exactly the same
    spelling, are not in the training file.
    """
    check_stdin_once(train, source)
    check_output(output, [train, source], again="table")
    examples = read_items(train, columns, note=say)
    items = read_items(source, columns, forms="ignored", note=say)
    baseline = Baseline.learn(examples, path=train)
    inflected = [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in items]
    write_items(output, inflected, columns, wide=wide)
    say(swapped_columns_note(examples, train, columns), variants_note(examples, train))
    if unknown := sum(not baseline.knows(item.features) for item in items):
        say(
            f"note: {source_name(source)}: the features of {unknown} of {len(items)} items are not in the training "
            "file; their lemmas stay uninflected"
        )
    say_written(output)
