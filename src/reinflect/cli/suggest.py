"""`reinflect suggest`: which forms to ask a speaker for next; `reinflect analyse`: what a form could be."""

from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, option, say, source_option, word
from reinflect.cli.output import Output, output_options
from reinflect.data.corrections import read_further
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.suggest import Suggestion

EXAMPLE = models.model_example(
    "printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt",
    "reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5",
)
HEADER = ("lemma", "features", "prediction", "confidence")


@click.command("suggest", epilog=EXAMPLE)
@models.model_argument
@source_option("--lemmas FILE", "Lemmas, one on each line, or items; their forms are known.", required=True)
@option("--n most N", "Number of suggestions.", type=click.IntRange(min=1), default=20)
@models.bundles_option("The forms to choose from")
@source_option("--known FILE", "Items whose forms you already have, besides those that MODEL keeps.", multiple=True)
@option(
    "--spread/--no-spread",
    "Suggest many lemmas and bundles, or the hardest bundle for one lemma after another, from which models learn less.",
    default=True,
)
@output_options("the suggestions go: a table on the screen; in a file (tab-separated, .csv or .xlsx), items to fill in")
@models.model_options(*COLUMN_OPTIONS)
def command(
    model: models.ModelArgument,
    lemmas: str,
    most: int,
    bundles: str | None,
    known: tuple[str, ...],
    spread: bool,
    output: Output,
) -> None:
    """Suggest which forms to ask a speaker for: those with the lowest confidence of MODEL come first.

    The table on the screen has the model's prediction and its confidence. In a file the forms are empty: fill in what
    the speaker says, and give the file to reinflect train --add, which ignores lines without a form.
    """
    from reinflect.inflector.suggest import open_cells, ranked

    output.check()
    lexicon, inflector = model.read_lemmas(lemmas), model.inflector
    lexicon = lexicon.knowing(list(inflector.attested))
    for path in known:
        lexicon = lexicon.knowing(read_further(path, model.columns, inflector.bundles, forms="optional", note=say))
    wanted = model.bundles(bundles)
    parts = sorted({Bundle(bundle).word_class for bundle in wanted} - {""})
    if len(parts) > 1 and not lexicon.items:
        say(
            f"note: {source_name(lemmas)}: the part of speech of the lemmas ({', '.join(parts)}) is not known, so "
            "forms of all are suggested; choose some with --features, or name a file of items with --known"
        )
    suggestions = ranked(inflector, open_cells(lexicon, wanted), most, spread=spread, progress=_say_progress)
    if not suggestions:
        raise InputError("found no unknown forms to suggest", "give other lemmas, or more --features", path=lemmas)
    if output.plain:
        output.write_items((Item(cell.lemma, Bundle(cell.features)) for cell in suggestions), model.columns)
        return

    def shown(cell: "Suggestion") -> tuple[str, ...]:
        words = cell.lemma, inflector.labels.to_label(cell.features), cell.answer.form
        return *map(printable, words), models.confidence_text(cell.answer)

    def row(cell: "Suggestion") -> tuple[str | float, ...]:
        features = model.columns.labels.to_label(cell.features)
        return cell.lemma, "", features, cell.answer.form, models.confidence_cell(cell.answer)

    output.write(
        lambda: table(HEADER, [*map(shown, suggestions)], sides=("left", "left", "left", "right")),
        rows=lambda: (("lemma", "form", "features", "guess", "confidence"), [*map(row, suggestions)]),
    )


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"predicted {done} of {cells} forms")


@click.command("analyse", epilog=models.model_example("reinflect analyse verbs.reinflect flogst --lemmas verbs.tsv"))
@models.model_argument
@click.argument("form", type=lambda argument: word(argument, "form"))
@source_option(
    "--lemmas FILE",
    "Further lemmas to choose from, beside those that MODEL keeps forms of: one on each line, or items, whose forms "
    "count as attested.",
)
@option("--n most N", "Number of answers.", type=click.IntRange(min=1), default=5)
@output_options(json="Print a JSON object.")
@models.model_options(models.members_option, *COLUMN_OPTIONS)
def analyse(model: models.ModelArgument, form: str, lemmas: str | None, most: int, output: Output) -> None:
    """Say which lemma and features FORM could have, by the predictions of MODEL for known lemmas.

    MODEL was not trained to analyse: it inflects the lemmas that look most like FORM, and the answers are the cells for
    which it predicts FORM, each with the confidence of that prediction. Forms of other lemmas are not found.
    """
    from reinflect.inflector.analyse import analyse

    lexicon, inflector = model.read_lemmas(lemmas) if lemmas else Lexicon(()), model.inflector
    known = {*lexicon.lemmas, *(item.lemma for item in inflector.attested)}
    if not known:
        raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
    analyses = analyse(inflector, form, lexicon, most)
    rows = [
        (
            *map(printable, (analysis.lemma, inflector.labels.to_label(analysis.features))),
            models.confidence_text(analysis.answer) if analysis.answer else "attested",
        )
        for analysis in analyses
    ]
    nothing = f"note: the model predicts {quoted(form)} for no cell of the {len(known)} known lemmas"
    output.write(
        lambda: table(("lemma", "features", "confidence"), rows, sides=("left", "left", "right")) if rows else "",
        lambda: [{"form": form, "analyses": analyses}],
        indent=2,
        notes=[None if rows else nothing],
    )
