"""`reinflect suggest`: which forms to ask a speaker for next."""

import click

from reinflect.cli import models
from reinflect.cli.options import columns_option, option, say, source_option
from reinflect.cli.output import Output, output_options
from reinflect.data.corrections import read_further
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item
from reinflect.data.lemmas import part_of, read_lemmas
from reinflect.data.sheet_files import kind_of_sheet
from reinflect.errors import InputError, printable, source_name
from reinflect.files import STANDARD
from reinflect.text import table

EXAMPLE = models.model_example(
    "printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt",
    "reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5",
)


@click.command("suggest", epilog=EXAMPLE)
@models.model_argument
@source_option("--lemmas FILE", "Lemmas, one on each line, or items; their forms are known.", required=True)
@option("--n most N", "Number of suggestions.", type=click.IntRange(min=1), default=20)
@models.bundles_option("The forms to choose from")
@source_option("--known FILE", "Items whose forms you already have, besides those that MODEL keeps.", multiple=True)
@option(
    "--spread/--no-spread",
    "Whether lemmas and features suggested before come after others. Without spreading, the hardest bundle is "
    "suggested for one lemma after another, and models learn less from that.",
    default=True,
)
@output_options("the suggestions go: a table on the screen; in a file (tab-separated, .csv or .xlsx), items to fill in")
@columns_option
def command(
    model: models.ModelArgument,
    lemmas: str,
    most: int,
    bundles_file: str | None,
    known: tuple[str, ...],
    spread: bool,
    output: Output,
    columns: Columns,
) -> None:
    """Suggest which forms to ask a speaker for: those with the lowest confidence of MODEL come first.

    The table on the screen has the model's prediction and its confidence. In a file the forms are empty: fill in what
    the speaker says, and give the file to reinflect train --add, which ignores lines without a form.
    """
    output.check()
    lexicon = read_lemmas(lemmas, columns, note=say)

    from reinflect.inflector.suggestions import open_cells, ranked

    inflector = model.load(columns.labels)
    lexicon = lexicon.knowing(list(inflector.attested))
    for path in known:
        lexicon = lexicon.knowing(read_further(path, columns, inflector.bundles, forms="optional", note=say))
    bundles = models.bundles_of(inflector, bundles_file)
    parts = sorted({part for bundle in bundles if (part := part_of(Bundle(bundle)))})
    if len(parts) > 1 and not lexicon.items:
        say(
            f"note: {source_name(lemmas)}: the part of speech of the lemmas ({', '.join(parts)}) is not known, so "
            "forms of all are suggested; choose some with --features, or name a file of items with --known"
        )
    suggestions = ranked(inflector, open_cells(lexicon, bundles), most, spread=spread, asked=_say_progress)
    if not suggestions:
        raise InputError("found no unknown forms to suggest", "give other lemmas, or more --features", path=lemmas)
    if output.path != STANDARD and not kind_of_sheet(output.path):
        output.write_items((Item(cell.lemma, Bundle(cell.features)) for cell in suggestions), columns)
        return
    shown = [
        (
            *map(printable, (cell.lemma, inflector.labels.to_label(cell.features), cell.answer.form)),
            models.confidence_text(cell.answer),
        )
        for cell in suggestions
    ]
    output.write(
        lambda: table(("lemma", "features", "prediction", "confidence"), shown, sides=("left",) * 3 + ("right",)),
        rows=lambda: [  # without labels of the model, as the file will be read again
            {
                "lemma": cell.lemma,
                "form": "",
                "features": columns.labels.to_label(cell.features),
                "guess": cell.answer.form,
                "confidence": models.confidence_cell(cell.answer),
            }
            for cell in suggestions
        ],
    )


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"predicted {done} of {cells} forms")
