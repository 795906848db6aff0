"""`reinflect paradigm`: all forms of a lemma, as tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.notes import unknown_notes
from reinflect.cli.options import check_lemma, output_option, strategy_option
from reinflect.data.features import Bundle
from reinflect.data.lines import lines_of
from reinflect.errors import InputError, printable, quoted
from reinflect.files import check_writable, read_text, write_text
from reinflect.text import Side

if TYPE_CHECKING:
    from reinflect.data.dimensions import Table
    from reinflect.data.labels import Labels
    from reinflect.inflector import Answer, Cell, Inflector

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  reinflect paradigm verbs.reinflect sagen
"""
SHEET = ("lemma", "form", "features", "confidence")
FORM_AND_SURE: tuple[Side, Side] = ("left", "right")


@click.command("paradigm", epilog=EXAMPLE)
@click.argument("model")
@click.argument("lemma")
@click.option(
    "--features",
    "wanted",
    metavar="FILE",
    help="The forms you want: features such as V;IND;PST;3;SG, one form a line. Without it, all that MODEL has seen "
    "in training.",
)
@click.option("--pos", metavar="NAME", help="Only forms of this part of speech, such as V.")
@click.option("--labels", "labels_file", metavar="FILE", help="Your own names for features, instead of those in MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@output_option("the forms go")
@strategy_option(None, "Which members of MODEL vote, if not those chosen when it was trained")
def command(
    model: str,
    lemma: str,
    wanted: str | None,
    pos: str | None,
    labels_file: str | None,
    as_json: bool,
    output: str,
    strategy: str | None,
) -> None:
    """Inflect LEMMA for every cell of its paradigm.

    Forms are arranged by what their features differ in, such as person and number; beside each stands how likely it
    is right, in per cent, or, where the model cannot say that, how many of its members gave it. The model does not
    know what part of speech LEMMA is: if it has learnt several, choose with --pos.
    """
    from reinflect.data.labels import NO_LABELS, Labels
    from reinflect.data.tables import kind_of_sheet, write_table

    check_lemma(lemma)
    check_writable(output)
    own_labels = Labels.read(labels_file) if labels_file else None

    from reinflect.inflector import Inflector

    inflector = Inflector.load(model)
    labels = own_labels or inflector.labels
    bundles = None if wanted is None else read_bundles(wanted, labels)
    if strategy is not None:
        inflector = inflector.using(strategy)
    cells = inflector.paradigm(lemma, _chosen(inflector, bundles, pos))
    if kind_of_sheet(output) and not as_json:
        write_table(output, SHEET, _rows(lemma, cells, own_labels or NO_LABELS))
    else:
        write_text(output, _json(lemma, cells) if as_json else _text(cells, labels))
    for note in unknown_notes(inflector, [Bundle(cell.features) for cell in cells], labels):
        click.echo(note, err=True)


def read_bundles(path: str, labels: "Labels") -> list[str]:
    """One a line, each once; blank lines are passed over."""
    lines = list(lines_of(read_text(path), path))
    for number, line in lines:
        if "\t" in line:
            raise InputError(
                f"found several columns in {quoted(line)}",
                "write the features of one form on each line, and nothing else",
                path=path,
                line=number,
            )
    found = list(dict.fromkeys(labels.to_features(line) for _, line in lines if line.strip(" ")))
    if not found:
        raise InputError("found no features", "write some on each line, such as V;IND;PST;3;SG", path=path)
    return found


def _chosen(inflector: "Inflector", bundles: list[str] | None, pos: str | None) -> list[str]:
    usual = inflector.usual_bundles() if bundles is None else bundles
    if pos is None:
        return usual
    kept = [features for features in usual if pos in (own := Bundle(features).part_of_speech, own.partition(".")[0])]
    if not kept:
        parts = dict.fromkeys(Bundle(features).part_of_speech for features in usual)
        raise InputError(f"found no forms of the part of speech {quoted(pos)}", f"choose from {', '.join(parts)}")
    return kept


def _rows(lemma: str, cells: "Sequence[Cell]", labels: "Labels") -> list[list[str | float]]:
    """For a spreadsheet, with labels only where they were asked for, as it may be read again."""
    return [
        [
            lemma,
            cell.answer.form,
            labels.to_label(cell.features),
            "" if cell.answer.confidence is None else round(cell.answer.confidence, 3),
        ]
        for cell in cells
    ]


def _json(lemma: str, cells: "Sequence[Cell]") -> str:
    import json

    import msgspec

    paradigm = {"lemma": lemma, "cells": [msgspec.to_builtins(cell) for cell in cells]}
    return json.dumps(paradigm, ensure_ascii=False, indent=2) + "\n"


def _text(cells: "Sequence[Cell]", labels: "Labels") -> str:
    from reinflect.data.dimensions import paradigms

    answers = {Bundle(cell.features).cell: cell.answer for cell in cells}
    arranged = paradigms(cell.features for cell in cells)
    return "\n".join(_table(table, answers, labels) for tables in arranged.values() for table in tables)


def _table(table: "Table", answers: "Mapping[tuple[str, ...], Answer]", labels: "Labels") -> str:
    from reinflect.evaluation.tables import table as in_table

    own = [features for row in table.rows for features in row.cells if features is not None]
    header, rows = [labels.to_label(table.title)], []
    if all(map(labels.names, own)):  # which a row's and a column's title would hide
        columns = 1
        header += ["", ""]
        rows = [[labels.to_label(features), *_shown(answers[Bundle(features).cell])] for features in own]
    else:
        columns = len(table.columns)
        for column in table.columns:
            header += [labels.to_label(column), ""]
        for row in table.rows:
            shown = [labels.to_label(row.title)]
            for features in row.cells:
                shown += ["", ""] if features is None else _shown(answers[Bundle(features).cell])
            rows.append(shown)
    sides: list[Side] = ["left", *FORM_AND_SURE * columns]
    if not any(header):
        header, rows = rows[0], rows[1:]
    return in_table(header, rows, sides=sides)


def _shown(answer: "Answer") -> list[str]:
    sure = f"{answer.votes}/{answer.voters}" if answer.confidence is None else f"{100 * answer.confidence:.0f} %"
    return [printable(answer.form), sure]
