"""`reinflect paradigm`: all forms of one or several lemmas, as tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.files import check_output, check_stdin_once, json_text, read_bundles, read_lexicon, say_written
from reinflect.cli.options import check_word, columns_option, option, output_option
from reinflect.data.dimensions import Table
from reinflect.data.features import Bundle
from reinflect.data.items import Columns
from reinflect.data.labels import Labels
from reinflect.data.sheet_file import kind_of_sheet, write_rows
from reinflect.errors import InputError, printable, quoted
from reinflect.files import write_text
from reinflect.text import Side
from reinflect.text import table as in_table

if TYPE_CHECKING:
    from reinflect.inflector.answers import Answer, Paradigm

EXAMPLE = models.model_example(
    "reinflect paradigm verbs.reinflect sagen",
    "reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv",
)
FORM_AND_CONFIDENCE: tuple[Side, Side] = ("left", "right")


@click.command("paradigm", epilog=EXAMPLE)
@models.model_name
@click.argument("words", metavar="[LEMMA]...", nargs=-1)
@option("--input source FILE", "Lemmas, one on each line, or a file of items (- is standard input).")
@models.bundles_option("The forms you want")
@option("--pos NAME", "Only forms of this part of speech, such as V.")
@option("--json as_json", "Print one JSON object for each lemma.")
@output_option("the forms go")
@models.members_option
@columns_option
def command(
    model: str,
    words: tuple[str, ...],
    source: str | None,
    bundles_file: str | None,
    pos: str | None,
    as_json: bool,
    output: str,
    strategy: str | None,
    columns: Columns,
) -> None:
    """Inflect each LEMMA, or each lemma of a file, for every cell of its paradigm.

    Tables arrange the forms by features such as person and number. Beside each form is its confidence in per cent or,
    if the model has none, the number of members that gave it; ✓ marks forms that MODEL keeps because a person gave
    them, which are never replaced by predictions. Several lemmas have their tables one after another; in
    a spreadsheet (.csv, .xlsx) every form has a row. The model does not know the part of speech of a lemma: if it was
    trained on several, choose one with --pos.
    """
    if bool(words) == (source is not None):
        found = "both a lemma and --input" if words else "neither a lemma nor --input"
        raise InputError(f"found {found}", "give either one or more LEMMAs or --input FILE")
    check_stdin_once(source, bundles_file)
    check_output(output, [model, source, bundles_file], as_json=as_json)
    for word in words:
        check_word(word)
    lemmas = tuple(dict.fromkeys(words)) if source is None else read_lexicon(source, columns).lemmas

    inflector = models.load_inflector(model, strategy)
    labels = columns.labels or inflector.labels
    to_features = partial(models.features_named, inflector, labels)
    bundles = inflector.usual_bundles() if bundles_file is None else read_bundles(bundles_file, to_features)
    if pos is not None:
        bundles = _of_part_of_speech(pos, bundles)
    paradigms = {lemma: inflector.paradigm(lemma, bundles) for lemma in lemmas}
    one_word = source is None and len(lemmas) == 1
    if kind_of_sheet(output):
        label = columns.labels.to_label  # not the model's labels: the file may be read again
        cells = [(lemma, cell.features, cell.answer) for lemma, own in paradigms.items() for cell in own]
        rows = [[lemma, own.text, label(features), models.confidence_cell(own)] for lemma, features, own in cells]
        write_rows(output, ("lemma", "form", "features", "confidence"), rows)
    elif as_json:
        objects = [{"lemma": lemma, "cells": own} for lemma, own in paradigms.items()]
        write_text(output, "".join(json_text(one, indent=2 if one_word else None) for one in objects))
    elif one_word:
        write_text(output, _text(paradigms[lemmas[0]], labels))
    else:
        titled = [f"{printable(lemma)}\n\n{_text(own, labels)}" for lemma, own in paradigms.items()]
        write_text(output, "\n\n".join(titled))
    models.say_doubts(inflector, map(Bundle, bundles), labels)
    say_written(output)


def _of_part_of_speech(pos: str, bundles: Sequence[str]) -> list[str]:
    """The bundles of a part of speech: `V` takes in `V.PTCP`."""
    parts = {features: Bundle(features).part_of_speech for features in bundles}
    kept = [features for features in bundles if pos in (parts[features], parts[features].partition(".")[0])]
    if not kept:
        known = ", ".join(dict.fromkeys(parts.values()))
        raise InputError(f"found no forms of the part of speech {quoted(pos)}", f"choose from {known}")
    return kept


def _text(cells: "Paradigm", labels: Labels) -> str:
    answers = {Bundle(cell.features).cell: cell.answer for cell in cells}
    tables = [_table(table, answers, labels) for table in cells.tables(labels)]
    if any(cell.answer.attested for cell in cells):
        tables.append(f"{models.ATTESTED} attested: a person gave the form\n")
    return "\n".join(tables)


def _table(table: Table, answers: "Mapping[tuple[str, ...], Answer]", labels: Labels) -> str:
    def shown(features: str | None) -> list[str]:
        if features is None:
            return ["", ""]
        answer = answers[Bundle(features).cell]
        return [printable(answer.text), models.confidence_text(answer)]

    rows = [[labels.to_label(row.title), *(cell for own in row.cells for cell in shown(own))] for row in table.rows]
    header = [labels.to_label(table.title)]
    header += [title for column in table.columns for title in (labels.to_label(column), "")]
    sides: list[Side] = ["left", *FORM_AND_CONFIDENCE * len(table.columns)]
    return in_table(header, rows, sides=sides) if any(header) else in_table(rows[0], rows[1:], sides=sides)
