"""`reinflect baseline`: inflect with the shared task's rule system."""

import click

from reinflect.cli.options import columns_option, example, say, source_option
from reinflect.cli.output import Output, output_options
from reinflect.data.items import Columns, Item, read_items, swapped_columns_note, variants_note
from reinflect.errors import source_name

EXAMPLE = example(
    "printf 'lachen\\tlachte\\tV;PST\\nsagen\\tsagte\\tV;PST\\n' > train.tsv",
    "printf 'fragen\\t\\tV;PST\\n' | reinflect baseline --train train.tsv --input -",
)


@click.command("baseline", epilog=EXAMPLE)
@source_option("--train FILE", "Items with their forms, to learn from.", required=True)
@source_option("--input file FILE", "Items to inflect; their forms are ignored.", required=True)
@output_options("the inflected items go", wide=True)
@columns_option
def command(train: str, file: str, output: Output, columns: Columns) -> None:
    """Learn rules for prefixes and suffixes from one file, and inflect the lemmas of another with them.

    This is the rule system of the CoNLL–SIGMORPHON 2017 shared task. It takes seconds and has no settings: compare
    other models with it. Files are tab-separated or spreadsheets; - is standard input. The output has the items in
    their order. A lemma stays uninflected if its features, in the same spelling, are not in the training file.
    """
    from reinflect.score.baseline import Baseline

    output.check(replaces="table")
    examples = read_items(train, columns, note=say)
    items = read_items(file, columns, forms="ignored", note=say)
    baseline = Baseline.learn(examples, path=train)
    inflected = [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in items]
    notes = [swapped_columns_note(examples, train, columns), variants_note(examples, train)]
    if unknown := sum(not baseline.knows(item.features) for item in items):
        counts = f"the features of {unknown} of {len(items)} items are not in the training file"
        notes.append(f"note: {source_name(file)}: {counts}; their lemmas stay uninflected")
    output.write_items(inflected, columns, notes)
