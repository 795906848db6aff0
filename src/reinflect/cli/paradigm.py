"""`reinflect paradigm`: all forms of one or several lemmas, as tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.options import columns_option, option, say, source_option, text, word
from reinflect.cli.output import Output, Rows, output_options
from reinflect.data.dimensions import Table
from reinflect.data.features import Bundle
from reinflect.data.items import Columns
from reinflect.data.labels import Labels
from reinflect.data.lemmas import read_lemmas
from reinflect.errors import InputError, printable, quoted
from reinflect.text import Side, table

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Answer, Paradigm

EXAMPLE = models.model_example(
    "reinflect paradigm verbs.reinflect sagen",
    "reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv",
)


@click.command("paradigm", epilog=EXAMPLE)
@models.model_with_members
@click.argument("words", metavar="[LEMMA]...", nargs=-1, type=word)
@source_option("--input file FILE", "Lemmas, one on each line, or a file of items (- is standard input).")
@models.bundles_option("The forms you want")
@option("--pos NAME", "Only forms of this part of speech, such as V.", type=text)
@output_options("the forms go", json="Print one JSON object for each lemma.")
@columns_option
def command(
    model: models.ModelArgument,
    words: tuple[str, ...],
    file: str | None,
    bundles_file: str | None,
    pos: str | None,
    output: Output,
    columns: Columns,
) -> None:
    """Inflect each LEMMA, or each lemma of a file, for every cell of its paradigm.

    Tables arrange the forms by features such as person and number. Beside each form is its confidence in per cent or,
    if the model has none, the number of members that gave it; ✓ marks forms that MODEL keeps because a person gave
    them, which are never replaced by predictions. Several lemmas have their tables one after another; in
    a spreadsheet (.csv, .xlsx) every form has a row. The model does not know the part of speech of a lemma: if it was
    trained on several, choose one with --pos.
    """
    if bool(words) == (file is not None):
        finding = "both a lemma and --input" if words else "neither a lemma nor --input"
        raise InputError(f"found {finding}", "give either one or more LEMMAs or --input FILE")
    output.check()
    lemmas = tuple(dict.fromkeys(words)) if file is None else read_lemmas(file, columns, note=say).lemmas
    inflector = model.load(columns.labels)
    bundles = _of_part_of_speech(pos, models.bundles_of(inflector, bundles_file))
    paradigms = [inflector.paradigm(lemma, bundles) for lemma in lemmas]
    single = file is None and len(lemmas) == 1
    output.write(
        lambda: (
            _text(paradigms[0]) if single else "\n\n".join(f"{printable(p.lemma)}\n\n{_text(p)}" for p in paradigms)
        ),
        lambda: ({"lemma": paradigm.lemma, "cells": paradigm} for paradigm in paradigms),
        lambda: _rows(paradigms, columns.labels),
        indent=2 if single else None,
        notes=models.doubts(inflector, map(Bundle, bundles)),
    )


def _of_part_of_speech(pos: str | None, bundles: Sequence[str]) -> Sequence[str]:
    """The bundles of a part of speech, or all: `V` takes in `V.PTCP`."""
    parts = {features: Bundle(features).part_of_speech for features in bundles}
    chosen = [features for features in bundles if pos in (None, parts[features], parts[features].partition(".")[0])]
    if not chosen:
        known = ", ".join(dict.fromkeys(parts.values()))
        raise InputError(f"found no forms of the part of speech {quoted(pos or '')}", f"choose from {known}")
    return chosen


def _rows(paradigms: "Sequence[Paradigm]", labels: Labels) -> Rows:
    """A row for each form; without labels of the model, as the file may be read again."""
    return [
        {
            "lemma": paradigm.lemma,
            "form": cell.answer.text,
            "features": labels.to_label(cell.features),
            "confidence": models.confidence_cell(cell.answer),
        }
        for paradigm in paradigms
        for cell in paradigm
    ]


def _text(paradigm: "Paradigm") -> str:
    answers = {Bundle(cell.features).cell: cell.answer for cell in paradigm}
    tables = [_table(part, answers, paradigm.labels) for part in paradigm.tables()]
    if any(answer.attested for answer in answers.values()):
        tables.append(f"{models.ATTESTED} attested: a person gave the form\n")
    return "\n".join(tables)


def _table(part: Table, answers: "Mapping[tuple[str, ...], Answer]", labels: Labels) -> str:
    def shown(features: str | None) -> list[str]:
        if features is None:
            return ["", ""]
        answer = answers[Bundle(features).cell]
        return [printable(answer.text), models.confidence_text(answer)]

    rows = [[labels.to_label(row.title), *(text for cell in row.cells for text in shown(cell))] for row in part.rows]
    titles = [title for column in part.columns for title in (labels.to_label(column), "")]
    header = [labels.to_label(part.title), *titles]
    sides: list[Side] = ["left", *("left", "right") * len(part.columns)]
    return table(header, rows, sides=sides) if any(header) else table(rows[0], rows[1:], sides=sides)
