"""`reinflect fill`: the user's own spreadsheet with its gaps filled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, option, say, source
from reinflect.cli.output import Output, output_options
from reinflect.data.form_cells import UNCONFIRMED
from reinflect.data.items import check_lengths
from reinflect.data.sheet_file import Entry, kind_of_sheet, letters_of, listed, write_entries
from reinflect.data.sheet_layout import CONFIDENCE, GUESS, Layout
from reinflect.data.sheets import Gap, read_gaps
from reinflect.errors import InputError, OutputError

if TYPE_CHECKING:
    from reinflect.ensemble.confidence import Answer

EXAMPLE = models.model_example(
    "printf 'lemma,gloss,V;IND;PRS;3;SG,V;IND;PST;3;SG\\nsagen,say,sagt,\\nlachen,laugh,,\\n' > mine.csv",
    "reinflect fill verbs.reinflect mine.csv --output filled.csv",
)
COLOURS = ("FFE699", "C6E0B4")
"""Of guesses, yellow, and of attested forms, green."""
Filled: TypeAlias = "Sequence[tuple[Gap, Answer]]"


@click.command("fill", epilog=EXAMPLE)
@models.model_argument
@click.argument("sheet", type=source)
@output_options("the filled sheet goes: a file of the same kind", default="")
@option("--beside", "Put guesses and confidences into new columns after the last one, and leave the gaps empty.")
@models.model_options(models.members_option, *COLUMN_OPTIONS)
def command(model: models.ModelArgument, sheet: str, output: Output, beside: bool) -> None:
    """Fill the empty fields of SHEET, a .csv or .xlsx file of your own, with the predictions of MODEL.

    All else stays as it is: columns and their order, colours, widths, and every field with anything in it, even if
    that says that there is no form. After each guess stands a question mark, so that training on the filled sheet
    leaves it out; delete the mark when you have confirmed the form. Forms that MODEL keeps because a person gave them
    have no mark. In an .xlsx file guesses are yellow, attested forms green, and a further sheet has the confidences.
    """
    output.check()
    if not (kind := kind_of_sheet(sheet)):
        remedy = "give a .csv or .xlsx file; reinflect inflect --input takes tab-separated items"
        raise InputError("only a spreadsheet can be filled", remedy, path=sheet)
    if kind_of_sheet(output.path) != kind:
        remedy = f"give --output a name that ends in {kind}"
        raise OutputError(output.path, f"a filled {kind} file is one as well", remedy)
    inflector, labels = model.inflector, model.inflector.labels
    layout, gaps = read_gaps(sheet, replace(model.columns, labels=labels), say)
    atoms = frozenset(inflector.atoms)
    if unknown := {gap.item.features.spelling for gap in gaps if atoms.isdisjoint(gap.item.features.atoms)}:
        gaps = [gap for gap in gaps if gap.item.features.spelling not in unknown]
        say(f"note: not filled, as MODEL knows none of these features: {listed(sorted(unknown))}")
    if not gaps:
        raise InputError("found no gap to fill", "leave the fields of wanted forms empty", path=sheet)
    items = [gap.item for gap in gaps]
    check_lengths(items, sheet, "models take", "shorten or remove it")
    answers = zip(gaps, inflector.answers(items, attested=True), strict=True)
    # A form of no letters is no guess that a person could confirm.
    filled = [(gap, answer) for gap, answer in answers if answer.form]
    table: list[Sequence[str | float]] = [("row", "column", "lemma", "features", "form", "confidence")]
    for (row, column, item), answer in filled:
        features = labels.to_label(item.features.spelling)
        table.append([row, letters_of(column), item.lemma, features, answer.text, models.confidence_cell(answer)])
    write_entries(output.path, layout.sheet, list((_beside if beside else _marked)(layout, filled)), table, say)
    attested = sum(answer.attested for _, answer in filled)
    guesses = f"{len(filled) - attested}, {'beside the gaps' if beside else f'marked by{UNCONFIRMED}'}"
    notes = model.doubts(item.features for item in items)
    output.written(notes, f" (guesses: {guesses}; attested forms: {attested})")


def _marked(_: Layout, filled: Filled) -> Iterator[Entry]:
    """The forms in their gaps."""
    for gap, answer in filled:
        text = answer.text if answer.attested else answer.form + UNCONFIRMED
        yield Entry(gap.row, gap.column, text, COLOURS[answer.attested])


def _beside(layout: Layout, filled: Filled) -> Iterator[Entry]:
    """Two columns for each column of forms with gaps, after the last column."""
    sheet = layout.sheet
    if not layout.headed:
        raise sheet.error("found no headings", "name the columns lemma, form and features, or leave --beside out")
    width = max(row.width for row in sheet.rows)
    new_columns: dict[int, int] = {}
    for gap, answer in filled:
        if gap.column not in new_columns:
            new_columns[gap.column] = width + 2 * len(new_columns)
            heading = "" if "features" in layout.places else f": {sheet.header[gap.column]}"
            for offset, title in enumerate((GUESS, CONFIDENCE)):
                yield Entry(sheet.rows[0].number, new_columns[gap.column] + offset, title + heading)
        column = new_columns[gap.column]
        yield Entry(gap.row, column, answer.text, COLOURS[answer.attested])
        yield Entry(gap.row, column + 1, models.confidence_cell(answer))
