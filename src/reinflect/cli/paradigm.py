"""`reinflect paradigm`: all forms of a lemma, or of several, as tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.notes import unknown_notes
from reinflect.cli.options import check_lemma, check_output, columns_option, output_option, say, strategy_option
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, check_lengths
from reinflect.data.lines import lines_of
from reinflect.errors import InputError, printable, quoted
from reinflect.files import STANDARD, read_text, write_text
from reinflect.text import Side

if TYPE_CHECKING:
    from reinflect.data.dimensions import Table
    from reinflect.data.labels import Labels
    from reinflect.inflector.inflector import Answer, Cell, Inflector

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  reinflect paradigm verbs.reinflect sagen
  reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv
"""
SHEET = ("lemma", "form", "features", "confidence")
FORM_AND_SURE: tuple[Side, Side] = ("left", "right")


@click.command("paradigm", epilog=EXAMPLE)
@click.argument("model")
@click.argument("words", metavar="[LEMMA]...", nargs=-1)
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="Lemmas, one a line (- is standard input), or a file of items or a spreadsheet that has some.",
)
@click.option(
    "--features",
    "wanted",
    metavar="FILE",
    help="The forms you want: features such as V;IND;PST;3;SG, one form a line. Without it, all that MODEL has seen "
    "in training.",
)
@click.option("--pos", metavar="NAME", help="Only forms of this part of speech, such as V.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, or one a line for several lemmas.")
@output_option("the forms go")
@strategy_option(None, "Which members of MODEL vote, if not those chosen when it was trained")
@columns_option
def command(
    model: str,
    words: tuple[str, ...],
    source: str | None,
    wanted: str | None,
    pos: str | None,
    as_json: bool,
    output: str,
    strategy: str | None,
    columns: Columns,
) -> None:
    """Inflect each LEMMA, or each of a file, for every cell of its paradigm.

    Forms are arranged by what their features differ in, such as person and number; beside each stands how likely it
    is right, in per cent, or, where the model cannot say that, how many of its members gave it. Of several lemmas, each
    stands above its own tables; in a spreadsheet (.csv, .xlsx) every form has a row. The model does not know what part
    of speech a lemma is: if it has learnt several, choose with --pos.
    """
    from reinflect.data.sheet_files import kind_of_sheet, write_rows

    if bool(words) == (source is not None):
        raise InputError(
            "found both a lemma and --input" if words else "found neither a lemma nor --input",
            "give either one LEMMA or more, or --input FILE",
        )
    if source == wanted == STANDARD:
        raise InputError("found - (standard input) for both --input and --features", "give - for one of them at most")
    if as_json and kind_of_sheet(output):
        raise InputError("found --json for a spreadsheet", "leave it out, or name another kind of file", path=output)
    check_output(output, [model, source, wanted])
    lemmas = _lemmas(words, source, columns)

    from reinflect.inflector.inflector import Inflector

    inflector = Inflector.load(model)
    labels = columns.labels or inflector.labels
    bundles = None if wanted is None else read_bundles(wanted, labels)
    if strategy is not None:
        inflector = inflector.using(strategy)
    asked = _chosen(inflector, bundles, pos)
    paradigms = {lemma: inflector.paradigm(lemma, asked) for lemma in lemmas}
    alone = source is None and len(lemmas) == 1
    if kind_of_sheet(output):
        write_rows(output, SHEET, [row for one in paradigms.items() for row in _rows(*one, columns.labels)])
    elif as_json:
        write_text(output, "".join(_json(*one, indent=2 if alone else None) for one in paradigms.items()))
    elif alone:
        write_text(output, _text(paradigms[lemmas[0]], labels))
    else:
        titled = [f"{printable(lemma)}\n\n{_text(cells, labels)}" for lemma, cells in paradigms.items()]
        write_text(output, "\n\n".join(titled))
    for note in unknown_notes(inflector, map(Bundle, asked), labels):
        say(note)


def _lemmas(words: Sequence[str], source: str | None, columns: Columns) -> Sequence[str]:
    """Those of the command, or of the file; each once."""
    if source is None:
        for word in words:
            check_lemma(word)
        return tuple(dict.fromkeys(words))
    from reinflect.data.lemmas import read_lemmas

    lemmas = read_lemmas(source, columns, note=say).lemmas
    check_lengths([Item(lemma, Bundle("")) for lemma in lemmas], source, "models take", "take it out")
    return lemmas


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


def _json(lemma: str, cells: "Sequence[Cell]", *, indent: int | None) -> str:
    import json

    import msgspec

    paradigm = {"lemma": lemma, "cells": [msgspec.to_builtins(cell) for cell in cells]}
    return json.dumps(paradigm, ensure_ascii=False, indent=indent) + "\n"


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
