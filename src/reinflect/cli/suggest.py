"""`reinflect suggest`: the forms worth asking for next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import check_output, columns_option, output_option, say
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, check_lengths, read_items, write_items
from reinflect.data.sheet_files import kind_of_sheet, write_rows
from reinflect.errors import InputError, printable, source_name
from reinflect.files import STANDARD

if TYPE_CHECKING:
    from reinflect.data.labels import Labels
    from reinflect.data.lemmas import Lexicon
    from reinflect.inflector.inflector import Answer
    from reinflect.inflector.suggestions import Suggestion

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt
  reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5
"""
HEADER = ("lemma", "form", "features", "guess", "confidence")


@click.command("suggest", epilog=EXAMPLE)
@click.argument("model")
@click.option(
    "--lemmas",
    metavar="FILE",
    required=True,
    help="Lemmas to ask forms of, one a line, or a file of items or a spreadsheet: forms it has are known.",
)
@click.option("--n", "many", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="How many.")
@click.option(
    "--features",
    "wanted",
    metavar="FILE",
    help="The forms to choose from: features such as V;IND;PST;3;SG, one form a line. Without it, all that MODEL has "
    "seen in training.",
)
@click.option(
    "--known",
    metavar="FILE",
    multiple=True,
    help="Items whose forms you have already, such as the training file: they are not suggested. May be repeated.",
)
@click.option(
    "--spread/--no-spread",
    default=True,
    show_default=True,
    help="Whether lemmas and features that were suggested already stand back behind others. Without that, the one cell "
    "that is hardest comes with one lemma after the other, from which less is learnt.",
)
@output_option("they go, ready to be filled in, unless it is the screen: tab-separated, or a spreadsheet (.csv, .xlsx)")
@columns_option
def command(
    model: str,
    lemmas: str,
    many: int,
    wanted: str | None,
    known: tuple[str, ...],
    spread: bool,
    output: str,
    columns: Columns,
) -> None:
    """Suggest which forms to ask a speaker for: those that MODEL is least sure of come first.

    On the screen there is a table with what the model would say and how sure it is of it. In a file the forms are left
    empty; fill in what you learn, and give it to reinflect train --add. Lines that stay empty do no harm.
    """
    from reinflect.cli.paradigm import read_bundles
    from reinflect.data.lemmas import read_lemmas

    if [lemmas, wanted, *known].count(STANDARD) > 1:
        raise InputError("found - (standard input) for more than one file", "give - for one of them at most")
    check_output(output, [model, lemmas, wanted, *known])
    lexicon = read_lemmas(lemmas, columns, note=say)
    check_lengths([Item(lemma, Bundle("")) for lemma in lexicon.lemmas], lemmas, "models take", "take it out")
    for path in known:
        lexicon = lexicon.knowing(read_items(path, columns, forms="optional", note=say))

    from reinflect.inflector.inflector import Inflector
    from reinflect.inflector.suggestions import open_cells, ranked

    inflector = Inflector.load(model)
    labels = columns.labels or inflector.labels
    bundles = inflector.usual_bundles() if wanted is None else read_bundles(wanted, labels)
    for note in _notes(lexicon, bundles, lemmas):
        say(note)
    found = ranked(inflector, open_cells(lexicon, bundles), many, spread=spread, asked=_say_progress)
    if not found:
        raise InputError("found no form that is not known yet", "give other lemmas, or more --features", path=lemmas)
    _write(output, found, columns, labels)


def _notes(lexicon: "Lexicon", bundles: Sequence[str], path: str) -> list[str]:
    from reinflect.data.lemmas import part_of

    parts = sorted({part for bundle in bundles if (part := part_of(Bundle(bundle)))})
    if len(parts) < 2 or lexicon.items:
        return []
    return [
        f"note: {source_name(path)}: the lemmas do not say which of {', '.join(parts)} they are, and are asked for the "
        "forms of all; choose with --features, or name a file of items with --known"
    ]


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"{done} of {cells} forms looked at")


def _write(output: str, found: "Sequence[Suggestion]", columns: Columns, labels: "Labels") -> None:
    """A table for the eye has the model's own labels; a file only those asked for, as it will be read again."""
    from reinflect.evaluation.tables import table

    if output == STANDARD:
        rows = [
            (
                printable(one.lemma),
                printable(labels.to_label(one.features)),
                printable(one.answer.form),
                _sure(one.answer),
            )
            for one in found
        ]
        click.echo(
            table(("lemma", "features", "guess", "sure"), rows, sides=("left", "left", "left", "right")), nl=False
        )
    elif kind_of_sheet(output):
        write_rows(output, HEADER, [_row(one, columns.labels) for one in found])
    else:
        write_items(output, [Item(one.lemma, Bundle(one.features)) for one in found], columns)


def _sure(answer: "Answer") -> str:
    """In per cent, or where the model cannot say that, the votes."""
    if answer.confidence is None:
        return f"{answer.votes} of {answer.voters}"
    return f"{100 * answer.confidence:.0f} %"


def _row(one: "Suggestion", labels: "Labels") -> list[str | float]:
    sure = "" if one.answer.confidence is None else round(one.answer.confidence, 3)
    return [one.lemma, "", labels.to_label(one.features), one.answer.form, sure]
