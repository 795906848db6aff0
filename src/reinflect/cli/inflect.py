"""`reinflect inflect`: inflect words with a trained model."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from reinflect.cli.notes import unknown_notes
from reinflect.cli.options import check_output, columns_option, output_option, say, strategy_option, wide_option
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, check_lengths, format_items, read_items, write_items
from reinflect.data.sheet_files import kind_of_sheet, write_rows
from reinflect.errors import InputError
from reinflect.files import write_text
from reinflect.text import in_columns, visible_text

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Answer

MOST = 100
"""Forms of one item; what comes after that many is not worth the time it takes to find."""
DECIMALS = 4
MORE_COLUMNS = ("rank", "confidence", "votes", "probability")

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3
"""


@click.command("inflect", epilog=EXAMPLE)
@click.argument("model")
@click.argument("lemma", required=False)
@click.argument("features", required=False)
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="Items to inflect (- is standard input). Forms in it are not looked at, and may be left out: lines of two "
    "columns are lemma and features.",
)
@output_option("the inflected items go")
@click.option(
    "--n-best",
    "most",
    metavar="K",
    type=click.IntRange(1, MOST),
    help="The K likeliest forms of each item, best first, each on a line of its own.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with confidences and log-probabilities.")
@wide_option
@strategy_option(None, "Which members of MODEL vote, if not those chosen when it was trained")
@columns_option
def command(
    model: str,
    lemma: str | None,
    features: str | None,
    source: str | None,
    output: str,
    most: int | None,
    as_json: bool,
    wide: bool,
    strategy: str | None,
    columns: Columns,
) -> None:
    """Inflect one LEMMA with its FEATURES, or all items of a file, by the vote of MODEL's members.

    Items come out in their order, with lemma and features as they were. Letters the model has never seen are kept as
    they are; features it has never seen are passed over, and named.

    With --n-best, a line has four more columns: the rank of the form, from 1; the confidence that it is right, from
    0 to 1 (empty where the model cannot tell); how many members gave it; and its probability, the mean of theirs.
    With --json, a line is an object with lemma, features, form, confidence, votes, voters and log_probability, and
    nbest, if asked for, is a list of the forms with all of these.
    """
    if (lemma is None) == (source is None) or (lemma is None) != (features is None):
        raise InputError(
            "found neither a lemma with its features nor --input"
            if source is None
            else "found both a lemma and --input",
            "give either LEMMA FEATURES (such as fliegen 'V;IND;PST;3;SG') or --input FILE",
        )
    if lemma == "":
        raise InputError("found an empty lemma", "give one with at least one letter")
    if wide and (as_json or most):
        raise InputError(
            f"found --wide with {'--json' if as_json else '--n-best'}",
            "leave one of them out: a wide sheet has one form in each cell",
        )
    if as_json and kind_of_sheet(output):
        raise InputError("found --json for a spreadsheet", "leave it out, or name another kind of file", path=output)
    check_output(output, [model, source])
    if source is None:
        items = [Item(lemma or "", Bundle(columns.labels.to_features(features or "")))]
    else:
        items = read_items(source, columns, forms="optional", note=say)
    check_lengths(items, source, "models take", "shorten it or take it out")

    from reinflect.inflector.inflector import Inflector

    inflector = Inflector.load(model)
    if strategy is not None:
        inflector = inflector.using(strategy)
    to_features = inflector.labels.to_features
    asked = [replace(item, features=Bundle(to_features(item.features.spelling))) for item in items]
    answers = inflector.nbest_many(asked, most) if most else [[answer] for answer in inflector.answers(asked)]
    if as_json:
        write_text(output, "".join(_json_line(*one, listed=bool(most)) for one in zip(asked, answers, strict=True)))
    elif most:
        _write_lists(output, items, answers, columns, alone=source is None)
    elif source is None:
        write_text(output, f"{answers[0][0].form}\n")
    else:
        inflected = [replace(item, form=first.form) for item, (first, *_) in zip(items, answers, strict=True)]
        write_items(output, inflected, columns, wide=wide)
    for note in unknown_notes(inflector, [item.features for item in asked], columns.labels or inflector.labels):
        say(note)


def _json_line(item: Item, answers: "Sequence[Answer]", *, listed: bool) -> str:
    import json

    import msgspec

    told = {"lemma": item.lemma, "features": item.features.spelling, **msgspec.to_builtins(answers[0])}
    if listed:
        told["nbest"] = msgspec.to_builtins(answers)
    return json.dumps(told, ensure_ascii=False) + "\n"


def _write_lists(
    output: str, items: Sequence[Item], answers: "Sequence[Sequence[Answer]]", columns: Columns, *, alone: bool
) -> None:
    """Several forms of each item: a table for the eye where there is one item only, else a line a form."""
    rows = [
        (replace(item, form=answer.form), [rank, *_figures(answer)])
        for item, ranked in zip(items, answers, strict=True)
        for rank, answer in enumerate(ranked, start=1)
    ]
    if kind_of_sheet(output):
        label = columns.labels.to_label
        header = ["lemma", "form", "features", *MORE_COLUMNS]
        table = [[item.lemma, item.form, label(item.features.spelling), *more] for item, more in rows]
        write_rows(output, header, table)
    elif alone:
        shown = [[visible_text(item.form), *map(_shown, more[1:])] for item, more in rows]
        lines = in_columns([["form", *MORE_COLUMNS[1:]], *shown], "  ", ["left", "right", "right", "right"])
        write_text(output, "\n".join(lines) + "\n")
    else:
        lines = format_items([item for item, _ in rows], output, columns).split("\n")[:-1]
        told = ["\t".join([line, *map(_shown, more)]) + "\n" for line, (_, more) in zip(lines, rows, strict=True)]
        write_text(output, "".join(told))


def _figures(answer: "Answer") -> list[str | float]:
    """Confidence, votes and probability, as they stand in columns; empty where the model does not say."""
    confidence = "" if answer.confidence is None else answer.confidence
    probability = "" if answer.log_probability is None else round(math.exp(answer.log_probability), DECIMALS)
    return [confidence, answer.votes, probability]


def _shown(figure: str | float) -> str:
    return f"{figure:.{DECIMALS}f}" if isinstance(figure, float) else str(figure)
