"""`reinflect inflect`: inflect words with a trained model."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.options import columns_option, option, source_option, text, word, words_option
from reinflect.cli.output import Output, Rows, output_options
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item
from reinflect.data.words import WordList
from reinflect.errors import InputError
from reinflect.text import table, visible_text

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Answer

EXAMPLE = models.model_example("reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3")
MAX_NBEST = 100
"""Forms of one item: further ones are not worth the time it takes to find them."""
DECIMALS = 4


@click.command(
    "inflect", epilog=models.model_example("reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3")
)
@models.model_with_members
@click.argument("lemma", required=False, type=word)
@click.argument("features", required=False, type=text)
@source_option(
    "--input file FILE",
    "Items to inflect (- is standard input). Forms in it are ignored, and may be left out: lines of two columns "
    "are lemma and features.",
)
@output_options("the inflected items go", json="Print one JSON object for each item.", wide=True)
@option("--n-best most K", "Give the K likeliest forms of each item.", type=click.IntRange(1, MAX_NBEST))
@option(
    "--attested/--no-attested",
    "Whether forms that a person gave, and MODEL keeps, come before predictions.  [default: only for a single LEMMA]",
    default=None,
)
@words_option("The word list that MODEL was trained with: forms that occur in it are likelier.")
@columns_option
def command(
    model: models.ModelArgument,
    lemma: str | None,
    features: str | None,
    file: str | None,
    output: Output,
    most: int | None,
    attested: bool | None,
    words: WordList | None,
    columns: Columns,
) -> None:
    """Inflect one LEMMA with its FEATURES, or all items of a file, by the vote of MODEL's members.

    The output has the items in their order, with lemma and features unchanged. Characters the model has never seen
    are copied; features it has never seen are ignored, and named in a note.

    With --n-best, each form has its own line, with four more columns: its rank, from 1; its confidence, the
    probability that it is right, from 0 to 1 (empty if the model has none); the number of members that gave it; and
    its probability, the mean over the members. With --json, a line is an object with lemma, features, form,
    confidence, votes, voters and log_probability; with both, nbest is the list of all forms with their figures.
    """
    if (lemma is None) == (file is None) or (lemma is None) != (features is None):
        finding = "neither a lemma with its features nor --input" if file is None else "both a lemma and --input"
        remedy = "give either LEMMA FEATURES (such as fliegen 'V;IND;PST;3;SG') or --input FILE"
        raise InputError(f"found {finding}", remedy)
    if output.wide and (output.json or most):
        other = "--json" if output.json else "--n-best"
        raise InputError(f"found --wide with {other}", "leave one of them out: a wide sheet has one form in each cell")
    output.check(replaces="JSON" if output.json else "table" if file else None)
    if file:
        items = models.read_for_model(file, columns, forms="ignored")
    else:
        items = [Item(lemma or "", Bundle(features or ""))]
    inflector = model.load(columns.labels, words)
    bundle = cache(lambda spelling: Bundle(models.to_features(inflector, spelling)))
    queries = [replace(item, features=bundle(item.features.spelling)) for item in items]
    attested_first = file is None if attested is None else attested
    if most:
        answers = inflector.nbest_many(queries, most, attested=attested_first)
    else:
        answers = [[answer] for answer in inflector.answers(queries, attested=attested_first)]
    notes: list[str | None] = [*models.doubts(inflector, (query.features for query in queries))]
    kept = sum(bool(inflector.attested_forms(query.lemma, query.features.spelling)) for query in queries)
    if kept and attested is None:
        many = f"{kept} of {len(items)} items have forms that MODEL keeps; --attested gives those, not predictions"
        notes.append(f"note: {many if file else 'attested: a person gave this form (--no-attested predicts one)'}")
    label = columns.labels.to_label
    rows: Rows = [
        {"lemma": item.lemma, "form": answer.form, "features": label(item.features.spelling), **_figures(rank, answer)}
        for item, ranked in zip(items, answers, strict=True)
        for rank, answer in enumerate(ranked, start=1)
    ]
    if file and not (most or output.json):
        inflected = [replace(item, form=ranked[0].form) for item, ranked in zip(items, answers, strict=True)]
        output.write_items(inflected, columns, notes)
        return
    output.write(
        lambda: _lines(rows, columns) if file else _table(rows) if most else f"{answers[0][0].text}\n",
        lambda: (_described(*answered, nbest=bool(most)) for answered in zip(queries, answers, strict=True)),
        lambda: rows,
        notes=notes,
    )


def _figures(rank: int, answer: "Answer") -> dict[str, str | float]:
    """What is known of a form; empty where the model has no confidence or probability."""
    probability = "" if answer.log_probability is None else round(math.exp(answer.log_probability), DECIMALS)
    confidence = models.confidence_cell(answer, DECIMALS)
    return {"rank": rank, "confidence": confidence, "votes": answer.votes, "probability": probability}


def _described(query: Item, answers: "Sequence[Answer]", *, nbest: bool) -> dict[str, object]:
    described = {"lemma": query.lemma, "features": query.features.spelling, **asdict(answers[0])}
    return {**described, "nbest": answers} if nbest else described


def _lines(rows: Rows, columns: Columns) -> str:
    names = (*columns.order, "rank", "confidence", "votes", "probability")
    return "".join("\t".join(_spelled(row[name]) for name in names) + "\n" for row in rows)


def _table(rows: Rows) -> str:
    names = ("form", "confidence", "votes", "probability")
    cells = [[visible_text(_spelled(row[name])) for name in names] for row in rows]
    return table(names, cells, sides=("left", "right", "right", "right"))


def _spelled(figure: str | float) -> str:
    return f"{figure:.{DECIMALS}f}" if isinstance(figure, float) else str(figure)
