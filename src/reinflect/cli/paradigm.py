"""`reinflect paradigm`: all forms of one or several lemmas, as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.models import ModelArgument, confidence_cell, confidence_text, model_options
from reinflect.cli.options import COLUMN_OPTIONS, option, source_option, text, word
from reinflect.cli.output import Output, output_options
from reinflect.data.features import Bundle
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.paradigm import Paradigm

EXAMPLE = models.model_example(
    "reinflect paradigm verbs.reinflect sagen",
    "reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv",
)


@click.command("paradigm", epilog=EXAMPLE)
@models.model_argument
@click.argument("words", metavar="[LEMMA]...", nargs=-1, type=word)
@source_option("--input file FILE", "Lemmas, one on each line, or a file of items (- is standard input).")
@models.bundles_option("The forms you want")
@option("--pos NAME", "Only forms of this part of speech, such as V.", type=text)
@output_options("the forms go", json="Print one JSON object for each lemma.")
@model_options(models.members_option, *COLUMN_OPTIONS)
def command(
    model: ModelArgument, words: tuple[str, ...], file: str | None, bundles: str | None, pos: str | None, output: Output
) -> None:
    """Inflect each LEMMA, or each lemma of a file, for every cell of its paradigm.

    Tables arrange the forms by features such as person and number. Beside each form is its confidence in per cent or,
    if the model has none, the number of members that gave it; ✓ marks attested forms, which a person gave and no
    prediction replaces. In a spreadsheet (.csv, .xlsx) every form has a row. MODEL does not know the part of speech of
    a lemma: if it was trained on several, choose one with --pos.
    """
    if bool(words) == (file is not None):
        finding = "both a lemma and --input" if words else "neither a lemma nor --input"
        raise InputError(f"found {finding}", "give either one or more LEMMAs or --input FILE")
    output.check()
    lemmas = tuple(dict.fromkeys(words)) if file is None else model.read_lemmas(file).lemmas
    wanted = _of_part_of_speech(pos, model.bundles(bundles))
    paradigms = [model.inflector.paradigm(lemma, wanted) for lemma in lemmas]
    single = file is None and len(lemmas) == 1
    label = model.columns.labels.to_label  # no labels of the model, as the file may be read again
    rows = [
        (paradigm.lemma, cell.answer.text, label(cell.features), confidence_cell(cell.answer))
        for paradigm in paradigms
        for cell in paradigm
    ]
    output.write(
        lambda: "\n\n".join(_text(paradigm, titled=not single) for paradigm in paradigms),
        lambda: ({"lemma": paradigm.lemma, "cells": paradigm} for paradigm in paradigms),
        lambda: (("lemma", "form", "features", "confidence"), rows),
        indent=2 if single else None,
        notes=model.doubts(map(Bundle, wanted)),
    )


def _of_part_of_speech(pos: str | None, bundles: Sequence[str]) -> Sequence[str]:
    """The bundles of a part of speech, or all: `V` takes in `V.PTCP`."""
    parts = {features: Bundle(features).part_of_speech for features in bundles}
    chosen = [features for features in bundles if pos in (None, parts[features], parts[features].partition(".")[0])]
    if not chosen:
        known = ", ".join(dict.fromkeys(parts.values()))
        raise InputError(f"found no forms of the part of speech {quoted(pos or '')}", f"choose from {known}")
    return chosen


def _text(paradigm: "Paradigm", *, titled: bool = False) -> str:
    answers = {Bundle(cell.features).cell: cell.answer for cell in paradigm}
    label = paradigm.labels.to_label

    def shown(features: str | None) -> list[str]:
        if features is None:
            return ["", ""]
        answer = answers[Bundle(features).cell]
        return [printable(answer.text), confidence_text(answer)]

    parts = [f"{printable(paradigm.lemma)}\n"] if titled else []
    for part in paradigm.tables():
        header = [label(part.title), *(title for column in part.columns for title in (label(column), ""))]
        rows = [[label(row.title), *(text for cell in row.cells for text in shown(cell))] for row in part.rows]
        header, *rows = [header, *rows] if any(header) else rows
        parts.append(table(header, rows, sides=("left", *("left", "right") * len(part.columns))))
    if any(answer.attested for answer in answers.values()):
        parts.append(f"{models.ATTESTED} attested: a person gave the form\n")
    return "\n".join(parts)
