"""`reinflect paradigm`: all forms of one or several lemmas, as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, check_either, option, source_option, text, word
from reinflect.cli.output import Output, output_options
from reinflect.data.features import Bundle
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.answers import Paradigm

EXAMPLE = models.model_example(
    "reinflect paradigm verbs.reinflect sagen", "reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv"
)


@click.command("paradigm", epilog=EXAMPLE)
@models.model_argument
@click.argument("words", metavar="[LEMMA]...", nargs=-1, type=word)
@source_option("--input file FILE", "Lemmas, one on each line, or a file of items (- is standard input).")
@models.bundles_option("The forms you want")
@option("--pos NAME", "Only forms of this part of speech, such as V.", type=text)
@output_options("the forms go", json="Print one JSON object for each lemma.")
@models.model_options(models.members_option, *COLUMN_OPTIONS)
def command(
    model: models.ModelArgument,
    words: tuple[str, ...],
    file: str | None,
    bundles: str | None,
    pos: str | None,
    output: Output,
) -> None:
    """Inflect each LEMMA, or each lemma of a file, for every cell of its paradigm.

    Tables arrange the forms by features such as person and number. Beside each form is its confidence in per cent or,
    if the model has none, the number of members that gave it; ✓ marks attested forms, which a person gave and no
    prediction replaces. In a spreadsheet (.csv, .xlsx) every form has a row. MODEL does not know the part of speech of
    a lemma: if it was trained on several, choose one with --pos.
    """
    check_either(bool(words), file, "LEMMAs")
    output.check()
    lemmas = tuple(dict.fromkeys(words)) if file is None else model.read_lemmas(file).lemmas
    wanted = _of_part_of_speech(pos, model.bundles(bundles))
    paradigms = [model.inflector.paradigm(lemma, wanted) for lemma in lemmas]
    single = file is None and len(lemmas) == 1
    label = model.columns.labels.to_label  # no labels of the model, as the file may be read again
    rows = [
        (paradigm.lemma, cell.answer.text, label(cell.features), models.confidence_cell(cell.answer))
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
    chosen = [features for features, part in parts.items() if pos in (None, part, part.partition(".")[0])]
    if not chosen:
        remedy = f"choose from {', '.join(dict.fromkeys(parts.values()))}"
        raise InputError(f"found no forms of the part of speech {quoted(pos or '')}", remedy)
    return chosen


def _text(paradigm: "Paradigm", *, titled: bool = False) -> str:
    answers, label = {Bundle(cell.features).cell: cell.answer for cell in paradigm}, paradigm.labels.to_label
    parts = [f"{printable(paradigm.lemma)}\n"] * titled
    for part in paradigm.tables():
        rows = [[label(part.title), *(title for column in part.columns for title in (label(column), ""))]]
        for row in part.rows:
            cells = [answers[Bundle(features).cell] if features is not None else None for features in row.cells]
            texts = [
                (printable(answer.text), models.confidence_text(answer)) if answer else ("", "") for answer in cells
            ]
            rows.append([label(row.title), *(text for pair in texts for text in pair)])
        header, *rows = rows if any(rows[0]) else rows[1:]
        parts.append(table(header, rows, sides=("left", *("left", "right") * len(part.columns))))
    if any(answer.attested for answer in answers.values()):
        parts.append(f"{models.ATTESTED} attested: a person gave the form\n")
    return "\n".join(parts)
