"""`reinflect suggest`: which forms to ask a speaker for next."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.files import check_output, check_stdin_once, read_bundles, read_lexicon, say_written
from reinflect.cli.options import columns_option, option, output_option, say
from reinflect.data.corrections import read_further
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, write_items
from reinflect.data.labels import Labels
from reinflect.data.sheet_file import kind_of_sheet, write_rows
from reinflect.errors import InputError, printable, source_name
from reinflect.files import STANDARD
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.suggest import Suggestion

EXAMPLE = models.model_example(
    "printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt",
    "reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5",
)


@click.command("suggest", epilog=EXAMPLE)
@models.model_name
@option("--lemmas FILE", "Lemmas, one on each line, or items; their forms are known.", required=True)
@option("--n most N", "Number of suggestions.", type=click.IntRange(min=1), default=20)
@models.bundles_option("The forms to choose from")
@option("--known FILE", "Items whose forms you already have, besides those that MODEL keeps.", multiple=True)
@option(
    "--spread/--no-spread",
    "Whether lemmas and features suggested before come after others. Without spreading, the hardest bundle is "
    "suggested for one lemma after another, and models learn less from that.",
    default=True,
)
@output_option("the suggestions go: a table on the screen; in a file (tab-separated, .csv or .xlsx), items to fill in")
@columns_option
def command(
    model: str,
    lemmas: str,
    most: int,
    bundles_file: str | None,
    known: tuple[str, ...],
    spread: bool,
    output: str,
    columns: Columns,
) -> None:
    """Suggest which forms to ask a speaker for: those with the lowest confidence of MODEL come first.

    The table on the screen has the model's prediction and its confidence. In a file the forms are empty: fill in what
    the speaker says, and give the file to reinflect train --add, which ignores lines without a form.
    """
    check_stdin_once(lemmas, bundles_file, *known)
    check_output(output, [model, lemmas, bundles_file, *known])
    lexicon = read_lexicon(lemmas, columns)

    from reinflect.inflector.suggest import open_cells, ranked

    inflector = models.load_inflector(model)
    lexicon = lexicon.knowing(list(inflector.attested))
    for path in known:
        lexicon = lexicon.knowing(read_further(path, columns, inflector.bundles, forms="optional", note=say))
    labels = columns.labels or inflector.labels
    to_features = partial(models.features_named, inflector, labels)
    bundles = inflector.usual_bundles() if bundles_file is None else read_bundles(bundles_file, to_features)
    parts = sorted({part for bundle in bundles if (part := Bundle(bundle).word_class)})
    if len(parts) > 1 and not lexicon.items:
        say(
            f"note: {source_name(lemmas)}: the part of speech of the lemmas ({', '.join(parts)}) is not known, so "
            "forms of all are suggested; choose some with --features, or name a file of items with --known"
        )
    found = ranked(inflector, open_cells(lexicon, bundles), most, spread=spread, progress=_say_progress)
    if not found:
        raise InputError("found no unknown forms to suggest", "give other lemmas, or more --features", path=lemmas)
    _write(output, found, columns, labels)
    say_written(output)


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"predicted {done} of {cells} forms")


def _write(output: str, found: "Sequence[Suggestion]", columns: Columns, labels: Labels) -> None:
    """The screen shows the model's own labels; a file, which will be read again, only those of --labels."""
    if output == STANDARD:
        rows = []
        for one in found:
            shown = map(printable, (one.lemma, labels.to_label(one.features), one.answer.form))
            rows.append((*shown, models.confidence_text(one.answer)))
        header = ("lemma", "features", "prediction", "confidence")
        click.echo(table(header, rows, sides=("left", "left", "left", "right")), nl=False)
    elif kind_of_sheet(output):
        label = columns.labels.to_label
        cells = [
            [one.lemma, "", label(one.features), one.answer.form, models.confidence_cell(one.answer)] for one in found
        ]
        write_rows(output, ("lemma", "form", "features", "guess", "confidence"), cells)
    else:
        write_items(output, [Item(one.lemma, Bundle(one.features)) for one in found], columns)
