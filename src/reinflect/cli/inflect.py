"""`reinflect inflect`: inflect words with a trained model."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import click

from reinflect.cli.files import check_output, json_text, read_for_model, say_written
from reinflect.cli.models import features_named, load_inflector, members_option, model_example, model_name, say_doubts
from reinflect.cli.options import check_word, columns_option, option, output_option, say, wide_option, words_option
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, format_items, write_items
from reinflect.data.sheet_file import kind_of_sheet, write_rows
from reinflect.data.words import WordList
from reinflect.errors import InputError
from reinflect.files import write_text
from reinflect.text import in_columns, visible_text

if TYPE_CHECKING:
    from reinflect.inflector.answers import Answer

MAX_NBEST = 100
"""Forms of one item: further ones are not worth the time it takes to find them."""
DECIMALS = 4
NBEST_COLUMNS = ("rank", "confidence", "votes", "probability")


@click.command("inflect", epilog=model_example("reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3"))
@model_name
@click.argument("lemma", required=False)
@click.argument("features", required=False)
@option(
    "--input source FILE",
    "Items to inflect (- is standard input). Forms in it are ignored, and may be left out: lines of two columns "
    "are lemma and features.",
)
@output_option("the inflected items go")
@option("--n-best most K", "Give the K likeliest forms of each item.", type=click.IntRange(1, MAX_NBEST))
@option(
    "--attested/--no-attested",
    "Whether forms that a person gave, and MODEL keeps, come before predictions.  [default: only for a single LEMMA]",
    default=None,
)
@words_option("The word list that MODEL was trained with: forms that occur in it are likelier.")
@option("--json as_json", "Print one JSON object for each item.")
@wide_option
@members_option
@columns_option
def command(
    model: str,
    lemma: str | None,
    features: str | None,
    source: str | None,
    output: str,
    most: int | None,
    attested: bool | None,
    words: WordList | None,
    as_json: bool,
    wide: bool,
    strategy: str | None,
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
    if (lemma is None) == (source is None) or (lemma is None) != (features is None):
        found = "neither a lemma with its features nor --input" if source is None else "both a lemma and --input"
        remedy = "give either LEMMA FEATURES (such as fliegen 'V;IND;PST;3;SG') or --input FILE"
        raise InputError(f"found {found}", remedy)
    if wide and (as_json or most):
        other = "--json" if as_json else "--n-best"
        raise InputError(f"found --wide with {other}", "leave one of them out: a wide sheet has one form in each cell")
    check_output(output, [model, source], again="JSON" if as_json else "table" if source else None, as_json=as_json)
    if source is None:
        check_word(lemma or "")
        items = [Item(lemma or "", Bundle(features or ""))]
    else:
        items = read_for_model(source, columns, forms="ignored")

    inflector = load_inflector(model, strategy)
    if words:
        inflector = inflector.with_words(words)
        if (own := inflector.words) and own.digest != words.digest:
            say(f"note: MODEL was trained with another word list: {own.name}, {own.words:,} words")
    to_features = cache(partial(features_named, inflector, columns.labels or inflector.labels))
    asked = [replace(item, features=Bundle(to_features(item.features.spelling))) for item in items]
    known = sum(bool(inflector.attested_forms(item.lemma, item.features.spelling)) for item in asked)
    use = attested if attested is not None else source is None
    if most:
        answers = inflector.nbest_many(asked, most, attested=use)
    else:
        answers = [[answer] for answer in inflector.answers(asked, attested=use)]
    if as_json:
        write_text(output, "".join(_json_line(*one, nbest=bool(most)) for one in zip(asked, answers, strict=True)))
    elif most:
        _write_nbest(output, items, answers, columns, one_item=source is None)
    elif source is None:
        write_text(output, f"{answers[0][0].text}\n")
    else:
        inflected = [replace(item, form=first.form) for item, (first, *_) in zip(items, answers, strict=True)]
        write_items(output, inflected, columns, wide=wide)
    say_doubts(inflector, [item.features for item in asked], columns.labels or inflector.labels)
    if known and attested is None:
        many = f"{known} of {len(items)} items have forms that MODEL keeps; --attested gives those, not predictions"
        say(f"note: {'attested: a person gave this form (--no-attested predicts one)' if use else many}")
    say_written(output)


def _json_line(item: Item, answers: "Sequence[Answer]", *, nbest: bool) -> str:
    described = {"lemma": item.lemma, "features": item.features.spelling, **asdict(answers[0])}
    return json_text({**described, "nbest": answers} if nbest else described)


def _write_nbest(
    output: str, items: Sequence[Item], answers: "Sequence[Sequence[Answer]]", columns: Columns, *, one_item: bool
) -> None:
    """Write a spreadsheet, a table for the screen if there is one item only, or else a line for each form."""
    rows = [
        (replace(item, form=answer.form), [rank, *_figures(answer)])
        for item, ranked in zip(items, answers, strict=True)
        for rank, answer in enumerate(ranked, start=1)
    ]
    if kind_of_sheet(output):
        label = columns.labels.to_label
        cells = [[item.lemma, item.form, label(item.features.spelling), *figures] for item, figures in rows]
        write_rows(output, ["lemma", "form", "features", *NBEST_COLUMNS], cells)
        return
    if one_item:
        shown = [[visible_text(item.form), *map(_number, figures[1:])] for item, figures in rows]
        lines = in_columns([["form", *NBEST_COLUMNS[1:]], *shown], "  ", ["left", "right", "right", "right"])
    else:
        formatted = format_items([item for item, _ in rows], output, columns).split("\n")[:-1]
        lines = ["\t".join([line, *map(_number, row[1])]) for line, row in zip(formatted, rows, strict=True)]
    write_text(output, "".join(f"{line}\n" for line in lines))


def _figures(answer: "Answer") -> list[str | float]:
    """Confidence, votes and probability; empty where the model has none."""
    confidence = "attested" if answer.attested else "" if answer.confidence is None else answer.confidence
    probability = "" if answer.log_probability is None else round(math.exp(answer.log_probability), DECIMALS)
    return [confidence, answer.votes, probability]


def _number(figure: str | float) -> str:
    return f"{figure:.{DECIMALS}f}" if isinstance(figure, float) else str(figure)
