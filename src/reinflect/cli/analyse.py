"""`reinflect analyse`: which lemma and features a form could have."""

import click

from reinflect.cli import models
from reinflect.cli.options import columns_option, option, say, source_option, word
from reinflect.cli.output import Output, output_options
from reinflect.data.items import Columns
from reinflect.data.lemmas import Lexicon, read_lemmas
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table


@click.command("analyse", epilog=models.model_example("reinflect analyse verbs.reinflect flogst --lemmas verbs.tsv"))
@models.model_with_members
@click.argument("form", type=lambda argument: word(argument, "form"))
@source_option(
    "--lemmas FILE",
    "Lemmas to choose from, one on each line, or items, whose forms count as attested; the lemmas that MODEL keeps "
    "forms of are added.",
)
@option("--n most N", "Number of answers.", type=click.IntRange(min=1), default=5)
@output_options(json="Print a JSON object.")
@columns_option
def command(
    model: models.ModelArgument, form: str, lemmas: str | None, most: int, output: Output, columns: Columns
) -> None:
    """Say which lemma and features FORM could have, by the predictions of MODEL for known lemmas.

    MODEL was not trained to analyse: it inflects the lemmas that look most like FORM, and the answers are the cells for
    which it predicts FORM, each with the confidence of that prediction. Forms of other lemmas are not found.
    """
    from reinflect.inflector.analyse import analyse

    lexicon = Lexicon(()) if lemmas is None else read_lemmas(lemmas, columns, note=say)
    inflector = model.load(columns.labels)
    known = {*lexicon.lemmas, *(item.lemma for item in inflector.attested)}
    if not known:
        raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
    analyses = analyse(inflector, form, lexicon, most)
    nothing = f"note: the model predicts {quoted(form)} for no cell of the {len(known)} known lemmas"
    rows = []
    for analysis in analyses:
        features = inflector.labels.to_label(analysis.features)
        confidence = models.confidence_text(analysis.answer) if analysis.answer else "attested"
        rows.append((printable(analysis.lemma), printable(features), confidence))
    output.write(
        lambda: table(("lemma", "features", "confidence"), rows, sides=("left", "left", "right")) if rows else "",
        lambda: [{"form": form, "analyses": analyses}],
        indent=2,
        notes=[None if rows or output.json else nothing],
    )
