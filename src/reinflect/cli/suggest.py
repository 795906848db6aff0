"""`reinflect suggest`: which forms to ask a speaker for next; `reinflect analyse`: what a form could be."""

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, option, say, source_option, word
from reinflect.cli.output import Output, output_options
from reinflect.data.corrections import read_further
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.text import Side, table

EXAMPLE = models.model_example(
    "printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt", "reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5"
)
SIDES: tuple[Side, ...] = ("left", "left", "left", "right")


@click.command("suggest", epilog=EXAMPLE)
@models.model_argument
@source_option("--lemmas FILE", "Lemmas, one on each line, or items; their forms are known.", required=True)
@option("--n most N", "Number of suggestions.", type=click.IntRange(min=1), default=20)
@models.bundles_option
@source_option("--known files FILE", "Items whose forms you have, besides those that MODEL keeps.", multiple=True)
@option("--spread/--no-spread", "Spread suggestions over lemmas and bundles: models learn more so.", default=True)
@output_options("the suggestions go: a table on the screen; in a file (tab-separated, .csv or .xlsx), items to fill in")
@models.model_options(*COLUMN_OPTIONS)
def command(
    model: models.ModelArgument,
    lemmas: str,
    most: int,
    bundles: str | None,
    files: tuple[str, ...],
    spread: bool,
    output: Output,
) -> None:
    """Suggest which forms to ask a speaker for: those with the lowest confidence of MODEL come first.

    The table on the screen has the model's prediction and its confidence. In a file the forms are empty: fill in what
    the speaker says, and give the file to reinflect train --add, which ignores lines without a form.
    """
    from reinflect.inflector.analyse import open_cells, ranked

    output.check()
    lexicon, inflector = model.read_lemmas(lemmas), model.inflector
    lexicon = lexicon.knowing(list(inflector.attested))
    for path in files:
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

    label, sheet_label = inflector.labels.to_label, model.columns.labels.to_label
    lines, rows = [], []
    for cell in suggestions:
        words = map(printable, (cell.lemma, label(cell.features), cell.answer.form))
        lines.append((*words, models.confidence_text(cell.answer)))
        sure = models.confidence_cell(cell.answer)
        rows.append((cell.lemma, "", sheet_label(cell.features), cell.answer.form, sure))
    header = ("lemma", "features", "prediction", "confidence")
    output.write(
        lambda: table(header, lines, sides=SIDES),
        rows=lambda: (("lemma", "form", "features", "guess", "confidence"), rows),
    )


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"predicted {done} of {cells} forms")


@click.command("analyse", epilog=models.model_example("reinflect analyse verbs.reinflect flogst --lemmas verbs.tsv"))
@models.model_argument
@click.argument("form", type=lambda argument: word(argument, "form"))
@source_option("--lemmas FILE", "Further lemmas to choose from: one on each line, or items, whose forms are attested.")
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
    names = {*lexicon.lemmas, *(item.lemma for item in inflector.attested)}
    if not names:
        raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
    analyses = analyse(inflector, form, lexicon, most)
    rows = []
    for analysis in analyses:
        words = map(printable, (analysis.lemma, inflector.labels.to_label(analysis.features)))
        rows.append((*words, models.confidence_text(analysis.answer) if analysis.answer else "attested"))
    nothing = f"note: the model predicts {quoted(form)} for no cell of the {len(names)} known lemmas"
    output.write(
        lambda: table(("lemma", "features", "confidence"), rows, sides=("left", "left", "right")) if rows else "",
        lambda: [{"form": form, "analyses": analyses}],
        indent=2,
        notes=[None if rows else nothing],
    )
