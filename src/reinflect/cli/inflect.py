"""`reinflect inflect`: inflect words with a trained model."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.options import COLUMN_OPTIONS, check_either, option, source_option, text, word, words_option
from reinflect.cli.output import Output, output_options
from reinflect.data.features import Bundle
from reinflect.data.items import Item, fields_of
from reinflect.errors import InputError
from reinflect.text import table, visible_text

if TYPE_CHECKING:
    from reinflect.inflector.answers import Answer

EXAMPLE = models.model_example("reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3")
MAX_NBEST = 100
"""Forms of one item: further ones are not worth the time it takes to find them."""
DECIMALS = 4
FIGURES = ("rank", "confidence", "votes", "probability")


@click.command("inflect", epilog=EXAMPLE)
@models.model_argument
@click.argument("lemma", required=False, type=word)
@click.argument("features", required=False, type=text)
@source_option(
    "--input file FILE",
    "Items to inflect (- is standard input): lemma, form and features, or lemma and features. Forms are ignored.",
)
@output_options("the inflected items go", json="Print one JSON object for each item.", wide=True)
@option("--n-best most K", "Give the K likeliest forms of each item.", type=click.IntRange(1, MAX_NBEST))
@option(
    "--attested/--no-attested",
    "Whether forms that a person gave, and MODEL keeps, come before predictions.  [default: only for a single LEMMA]",
    default=None,
)
@models.model_options(
    models.members_option,
    words_option("The word list that MODEL was trained with: forms that occur in it are likelier."),
    *COLUMN_OPTIONS,
)
def command(
    model: models.ModelArgument,
    lemma: str | None,
    features: str | None,
    file: str | None,
    output: Output,
    most: int | None,
    attested: bool | None,
) -> None:
    """Inflect one LEMMA with its FEATURES, or all items of a file, by the vote of MODEL's members.

    The output has the items in their order, with lemma and features unchanged. Characters the model has never seen
    are copied; features it has never seen are ignored, and named in a note.

    With --n-best, each form has a line of its own with four more columns: rank; confidence, the probability that it is
    right (empty if MODEL has none); votes, the number of members that gave it; and probability, the mean over the
    members. With --json, each line is an object with these figures; with both, nbest lists all forms.
    """
    words = (features if file is None else lemma) is not None
    check_either(words, file, "LEMMA FEATURES", " (such as fliegen 'V;IND;PST;3;SG')")
    if output.wide and (output.json or most):
        other = "--json" if output.json else "--n-best"
        raise InputError(f"found --wide with {other}", "leave one of them out: a wide sheet has one form in each cell")
    output.check(replaces="JSON" if output.json else "table" if file else None)
    single = [Item(lemma or "", Bundle(features or ""))]
    items = models.read_for_models(file, model.columns, "ignored") if file else single
    inflector = model.inflector
    bundle = cache(lambda spelling: Bundle(model.to_features(spelling)))
    queries = [replace(item, features=bundle(item.features.spelling)) for item in items]
    attested_first = file is None if attested is None else attested
    if most:
        answers = inflector.nbest_many(queries, most, attested=attested_first)
    else:
        answers = [[answer] for answer in inflector.answers(queries, attested=attested_first)]
    notes = model.doubts(query.features for query in queries)
    kept = sum(bool(inflector.attested_forms(query.lemma, query.features.spelling)) for query in queries)
    if kept and attested is None:
        many = f"{kept} of {len(items)} items have forms that MODEL keeps; --attested gives those, not predictions"
        notes.append(f"note: {many if file else 'attested: a person gave this form (--no-attested predicts one)'}")
    order, labels = model.columns.order, model.columns.labels
    if file and not (most or output.json):
        inflected = [replace(item, form=ranked[0].form) for item, ranked in zip(items, answers, strict=True)]
        output.write_items(inflected, model.columns, notes)
        return
    rows = [
        [*map(fields_of(replace(item, form=answer.form), labels).__getitem__, order), *_figures(rank, answer)]
        for item, ranked in zip(items, answers, strict=True)
        for rank, answer in enumerate(ranked, start=1)
    ]
    output.write(
        lambda: _lines(rows) if file else _table(answers[0]) if most else f"{answers[0][0].text}\n",
        lambda: (_described(query, ranked, nbest=bool(most)) for query, ranked in zip(queries, answers, strict=True)),
        lambda: ((*order, *FIGURES), rows),
        notes=notes,
    )


def _figures(rank: int, answer: "Answer") -> list[str | float]:
    probability = "" if answer.log_probability is None else round(math.exp(answer.log_probability), DECIMALS)
    return [rank, models.confidence_cell(answer, DECIMALS), answer.votes, probability]


def _described(query: Item, answers: "Sequence[Answer]", *, nbest: bool) -> dict[str, object]:
    described = {"lemma": query.lemma, "features": query.features.spelling, **asdict(answers[0])}
    return {**described, "nbest": answers} if nbest else described


def _lines(rows: Sequence[Sequence[str | float]]) -> str:
    return "".join("\t".join(map(_spelled, row)) + "\n" for row in rows)


def _table(answers: "Sequence[Answer]") -> str:
    """A table of the forms of one item."""
    cells = [[visible_text(answer.form), *map(_spelled, _figures(0, answer)[1:])] for answer in answers]
    return table(("form", *FIGURES[1:]), cells, sides=("left", "right", "right", "right"))


def _spelled(figure: str | float) -> str:
    return f"{figure:.{DECIMALS}f}" if isinstance(figure, float) else str(figure)
