"""`reinflect analyse`: which lemma and features a form could have."""

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, option, source_option, word
from reinflect.cli.output import Output, output_options
from reinflect.data.lexicon import Lexicon
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table


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
def command(model: models.ModelArgument, form: str, lemmas: str | None, most: int, output: Output) -> None:
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
