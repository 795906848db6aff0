"""`reinflect fill`: the user's own spreadsheet with its gaps filled."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.files import check_output, say_written
from reinflect.cli.options import columns_option, option, output_option, say
from reinflect.data.form_cells import UNCONFIRMED
from reinflect.data.items import Columns, check_lengths
from reinflect.data.sheet_file import Entry, kind_of_sheet, letters_of, listed, write_entries
from reinflect.data.sheet_layout import CONFIDENCE, GUESS, Layout
from reinflect.data.sheets import Gap, read_gaps
from reinflect.errors import InputError, OutputError

if TYPE_CHECKING:
    from reinflect.inflector.answers import Answer

EXAMPLE = models.model_example(
    "printf 'lemma,gloss,V;IND;PRS;3;SG,V;IND;PST;3;SG\\nsagen,say,sagt,\\nlachen,laugh,,\\n' > mine.csv",
    "reinflect fill verbs.reinflect mine.csv --output filled.csv",
)
GUESSED, ATTESTED = "FFE699", "C6E0B4"
"""The colours of guesses and of attested forms: yellow and green."""


@click.command("fill", epilog=EXAMPLE)
@models.model_name
@click.argument("sheet")
@output_option("the filled sheet goes: a file of the same kind", screen=False)
@option(
    "--beside",
    "Leave the gaps empty, and put guesses and confidences into columns of their own, after the last column.",
)
@models.members_option
@columns_option
def command(model: str, sheet: str, output: str, beside: bool, strategy: str | None, columns: Columns) -> None:
    """Fill the empty fields of SHEET, a .csv or .xlsx file of your own, with the predictions of MODEL.

    All else stays as it is: columns, their order, other columns, colours and widths. A field with anything in it is
    never changed, also if that means that there is no form. After each guess stands a question mark, so that training
    on the filled sheet leaves it out; delete the mark when you have confirmed the form. Forms that MODEL keeps because
    a person gave them have no mark. In an .xlsx file guesses are yellow, attested forms green, and a further sheet has
    the confidences.
    """
    check_output(output, [model, sheet])
    if not (kind := kind_of_sheet(sheet)):
        remedy = "give a .csv or .xlsx file; reinflect inflect --input takes tab-separated items"
        raise InputError("only a spreadsheet can be filled", remedy, path=sheet)
    if kind_of_sheet(output) != kind:
        raise OutputError(output, f"a filled {kind} file is one as well", f"give --output a name that ends in {kind}")
    inflector = models.load_inflector(model, strategy)
    columns = replace(columns, labels=columns.labels or inflector.labels)
    layout, found = read_gaps(sheet, columns, say)
    atoms = frozenset(inflector.atoms)
    strange = {gap.item.features.spelling for gap in found if atoms.isdisjoint(gap.item.features.atoms)}
    gaps = [gap for gap in found if gap.item.features.spelling not in strange]
    if strange:
        say(f"note: not filled, as MODEL knows none of these features: {listed(sorted(strange))}")
    if not gaps:
        raise InputError("found no gap to fill", "leave the fields of wanted forms empty", path=sheet)
    check_lengths([gap.item for gap in gaps], sheet, "models take", "shorten or remove it")
    answers = inflector.answers([gap.item for gap in gaps], attested=True)
    # A form of no letters is no guess that a person could confirm.
    made = [(gap, answer) for gap, answer in zip(gaps, answers, strict=True) if answer.form]
    table: list[Sequence[str | float]] = [("row", "column", "lemma", "features", "form", "confidence")]
    for (row, column, item), answer in made:
        features = columns.labels.to_label(item.features.spelling)
        table.append([row, letters_of(column), item.lemma, features, answer.text, models.confidence_cell(answer)])
    entries = _beside(layout, made) if beside else [_entry(*one) for one in made]
    write_entries(output, layout.sheet, entries, table, say)
    models.say_doubts(inflector, [gap.item.features for gap in gaps], columns.labels)
    known = sum(answer.attested for _, answer in made)
    marked = "beside the gaps" if beside else f"marked by{UNCONFIRMED}"
    say_written(output, f" (guesses: {len(made) - known}, {marked}; attested forms: {known})")


def _entry(gap: Gap, answer: "Answer") -> Entry:
    if answer.attested:
        return Entry(gap.row, gap.column, answer.text, ATTESTED)
    return Entry(gap.row, gap.column, answer.form + UNCONFIRMED, GUESSED)


def _beside(layout: Layout, made: "Sequence[tuple[Gap, Answer]]") -> list[Entry]:
    """Two columns for each column of forms with gaps, after the last column."""
    sheet = layout.sheet
    if not layout.headed:
        raise sheet.error("found no headings", "name the columns lemma, form and features, or leave --beside out")
    width = max(row.width for row in sheet.rows)
    places: dict[int, int] = {}
    entries = []
    for gap, answer in made:
        if gap.column not in places:
            places[gap.column] = place = width + 2 * len(places)
            named = "" if "features" in layout.places else f": {sheet.header[gap.column]}"
            titles = (GUESS + named, CONFIDENCE + named)
            entries += [Entry(sheet.rows[0].number, place + at, title) for at, title in enumerate(titles)]
        colour = ATTESTED if answer.attested else GUESSED
        entries.append(Entry(gap.row, places[gap.column], answer.text, colour))
        entries.append(Entry(gap.row, places[gap.column] + 1, models.confidence_cell(answer)))
    return entries
