"""`reinflect analyse`: which lemma and features a form could have."""

import click

from reinflect.cli import models
from reinflect.cli.files import check_stdin_once, json_text, read_lexicon
from reinflect.cli.options import check_word, columns_option, option, say
from reinflect.data.items import Columns
from reinflect.data.lexicon import Lexicon
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table


@click.command("analyse", epilog=models.model_example("reinflect analyse verbs.reinflect flogst --lemmas verbs.tsv"))
@models.model_name
@click.argument("form")
@option(
    "--lemmas FILE",
    "The lemmas to choose from, one on each line, or items, whose forms count as attested. They are chosen from in "
    "addition to the lemmas that MODEL keeps forms of.",
)
@option("--n most N", "Number of answers.", type=click.IntRange(min=1), default=5)
@option("--json as_json", "Print a JSON object.")
@models.members_option
@columns_option
def command(
    model: str, form: str, lemmas: str | None, most: int, as_json: bool, strategy: str | None, columns: Columns
) -> None:
    """Say which lemma and features FORM could have, by the predictions of MODEL for known lemmas.

    This is no analyser that was trained to analyse: MODEL inflects the lemmas that look most like FORM, and the answers
    are the cells for which it predicts FORM, each with the confidence of that prediction. A form of a lemma that is not
    among the known ones is not found.
    """
    check_stdin_once(lemmas)
    check_word(form, "form")

    from reinflect.inflector.analyse import analyse

    lexicon = Lexicon(()) if lemmas is None else read_lexicon(lemmas, columns)
    inflector = models.load_inflector(model, strategy)
    known = {*lexicon.lemmas, *(item.lemma for item in inflector.attested)}
    if not known:
        raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
    found = analyse(inflector, form, lexicon, most)
    if as_json:
        answers = [{"lemma": own.lemma, "features": own.features, "answer": own.answer} for own in found]
        click.echo(json_text({"form": form, "analyses": answers}, indent=2), nl=False)
        return
    if not found:
        say(f"note: the model predicts {quoted(form)} for no cell of the {len(known)} known lemmas")
        return
    labels = columns.labels or inflector.labels
    rows = []
    for own in found:
        confidence = models.confidence_text(own.answer) if own.answer else "attested"
        rows.append((printable(own.lemma), printable(labels.to_label(own.features)), confidence))
    click.echo(table(("lemma", "features", "confidence"), rows, sides=("left", "left", "right")), nl=False)
