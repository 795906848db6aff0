"""`reinflect inflect`, `paradigm` and `trace`: inflect words with a trained model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.models import ModelArgument, members_option, model_argument, model_command
from reinflect.cli.options import (
    Gathered,
    Output,
    argument,
    check_either,
    columns_option,
    labels_option,
    option,
    source,
    text,
    word,
    words_option,
)
from reinflect.data.features import NO_LABELS, Bundle
from reinflect.data.items import COLUMNS_AUTO, Item, fields_of
from reinflect.errors import InputError, printable, quoted
from reinflect.text import table, visible, visible_text

if TYPE_CHECKING:
    from reinflect.decode.trace import Trace, TraceStep
    from reinflect.inflector.paradigm import Paradigm

IN_DICTIONARY, GIVEN = "in its dictionary", "a person gave the form"
"""Why a form is attested."""
MAX_NBEST = 100
"""Forms of one item: further ones are not worth the time it takes to find them."""
DECIMALS = 4
FIGURES = ("rank", "confidence", "votes", "probability")
ALL_MEMBERS = "all"
NUMBERS = ("t", "probability", "generated")
CONTEXT = 12
"""Characters of the lemma shown on each side of the attended one."""
MIN_SHARE = 0.01
"""Alternatives less probable than this are not shown."""


@model_command("reinflect inflect verbs.reinflect fliegen 'V;IND;PST;3;SG' --n-best 3")
def inflect(
    model: ModelArgument = model_argument(
        strategy=members_option,
        words=words_option("The word list that MODEL was trained with: forms that occur in it are likelier."),
        columns=columns_option,
        marks=models.marks,
    ),
    lemma: str | None = argument(word, required=False),
    features: str | None = argument(text, required=False),
    file: str | None = option("--input FILE", "Items to inflect (- is standard input); forms are ignored.", source),
    output: Output = Output.options("the inflected items go", json="Print one JSON object for each item.", wide=True),
    most: int | None = option("--n-best K", "Give the K likeliest forms of each item.", click.IntRange(1, MAX_NBEST)),
    attested: bool | None = option(
        "--attested/--no-attested",
        "Prefer attested forms to predictions.  [default: if MODEL has a dictionary, or for a single LEMMA]",
        default=None,
    ),
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
    inflector, columns = model.inflector, model.columns
    bundle = cache(lambda spelling: Bundle(model.to_features(spelling)))
    queries = [replace(item, features=bundle(item.features.spelling)) for item in items]
    attested_first = bool(file is None or inflector.dictionary) if attested is None else attested
    if most:
        answers = inflector.nbest_many(queries, most, attested=attested_first)
    else:
        answers = [[answer] for answer in inflector.answers(queries, attested=attested_first)]
    notes = model.doubts(query.features for query in queries)
    kept = sum(inflector.known_forms(query.lemma, query.features) is not None for query in queries)
    if kept and attested is None:
        many = f"{kept} of {len(items)} items have forms that MODEL keeps; --attested gives those, not predictions"
        if inflector.dictionary:
            many = f"{kept} of {len(items)} items are in MODEL's dictionary; --no-attested gives predictions"
        why = IN_DICTIONARY if inflector.dictionary else "a person gave this form"
        notes.append(f"note: {many if file else f'attested: {why} (--no-attested predicts one)'}")
    if file and not (most or output.json):
        inflected = [replace(item, form=ranked[0].form) for item, ranked in zip(items, answers, strict=True)]
        output.write_items(inflected, columns, notes)
        return
    rows: list[list[str | float]] = []
    for item, ranked in zip(items, answers, strict=True):
        for rank, answer in enumerate(ranked, start=1):
            fields = fields_of(replace(item, form=answer.form), columns.labels)
            mean = "" if answer.log_probability is None else round(math.exp(answer.log_probability), DECIMALS)
            figures = (rank, models.confidence_cell(answer, DECIMALS), answer.votes, mean)
            rows.append([*(fields[column] for column in columns.order), *figures])
    cells = [[f"{cell:.{DECIMALS}f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]

    def in_text() -> str:
        if file:
            return "".join("\t".join(row) + "\n" for row in cells)
        if not most:
            return f"{answers[0][0].text}\n"
        figures = [[visible_text(answer.form), *row[-3:]] for answer, row in zip(answers[0], cells, strict=True)]
        return table(("form", *FIGURES[1:]), figures, sides=("left", "right", "right", "right"))

    def objects() -> Iterator[dict[str, object]]:
        for query, ranked in zip(queries, answers, strict=True):
            nbest = {"nbest": ranked} if most else {}
            yield {"lemma": query.lemma, "features": query.features.spelling, **asdict(ranked[0]), **nbest}

    output.write(in_text, objects, lambda: ((*columns.order, *FIGURES), rows), notes=notes)


@model_command(
    "reinflect paradigm verbs.reinflect sagen",
    "reinflect paradigm verbs.reinflect sagen fliegen --output forms.csv",
)
def paradigm(
    model: ModelArgument = model_argument(strategy=members_option, columns=columns_option, marks=models.marks),
    words: tuple[str, ...] = argument(word, metavar="[LEMMA]...", nargs=-1),
    file: str | None = option("--input FILE", "Lemmas, one per line, or items (- is standard input).", source),
    bundles: str | None = models.bundles_option,
    pos: str | None = option("--pos NAME", "Only forms of this part of speech, such as V.", text),
    output: Output = Output.options("the forms go", json="Print one JSON object for each lemma."),
) -> None:
    """Inflect each LEMMA, or each lemma of a file, for every cell of its paradigm.

    Tables arrange the forms by features such as person and number. Beside each form is its confidence in per cent or,
    if the model has none, the number of members that gave it; ✓ marks attested forms, which a person gave or a
    dictionary has, and no prediction replaces. In a spreadsheet (.csv, .xlsx) every form has a row. MODEL knows the
    part of speech only of lemmas in its dictionary: for others, choose one with --pos if it was trained on several.
    """
    check_either(bool(words), file, "LEMMAs")
    output.check()
    lemmas = tuple(dict.fromkeys(words)) if file is None else model.read_lemmas(file).lemmas
    wanted = _of_part_of_speech(pos, model.bundles(bundles))
    chosen = None if bundles is pos is None else wanted
    paradigms = [model.inflector.paradigm(lemma, chosen) for lemma in lemmas]
    single = file is None and len(lemmas) == 1
    label = model.columns.labels.to_label  # no labels of the model, as the file may be read again
    why = IN_DICTIONARY if model.inflector.dictionary else GIVEN
    rows = [
        (forms.lemma, cell.answer.text, label(cell.features), models.confidence_cell(cell.answer))
        for forms in paradigms
        for cell in forms
    ]
    output.write(
        lambda: "\n\n".join(paradigm_text(forms, why, titled=not single) for forms in paradigms),
        lambda: ({"lemma": forms.lemma, "cells": forms} for forms in paradigms),
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


def paradigm_text(paradigm: "Paradigm", why: str = GIVEN, *, titled: bool = False) -> str:
    answers, label = {Bundle(cell.features).cell: cell.answer for cell in paradigm}, paradigm.labels.to_label

    def texts(features: str | None) -> tuple[str, str]:
        answer = None if features is None else answers[Bundle(features).cell]
        return (printable(answer.text), models.confidence_text(answer)) if answer else ("", "")

    parts = [f"{printable(paradigm.lemma)}\n"] * titled
    for part in paradigm.tables():
        header = [label(part.title), *(title for column in part.columns for title in (label(column), ""))]
        rows = [[label(row.title), *(text for cell in row.cells for text in texts(cell))] for row in part.rows]
        header, *rows = [header, *rows] if any(header) else rows
        parts.append(table(header, rows, sides=("left", *("left", "right") * len(part.columns))))
    if any(answer.attested for answer in answers.values()):
        parts.append(f"{models.ATTESTED} attested: {why}\n")
    return "\n".join(parts)


@model_command("reinflect trace verbs.reinflect fliegen 'V;IND;PST;3;SG'")
def trace(
    model: ModelArgument = model_argument(
        strategy=members_option,
        columns=Gathered(
            lambda labels: replace(COLUMNS_AUTO, labels=labels or NO_LABELS),
            labels=labels_option("Your own names for features, instead of those in MODEL."),
        ),
    ),
    lemma: str = argument(word),
    features: str = argument(text),
    member: str | None = option("--member NAME", "A member, or all.  [default: the best that gave the form]", text),
    output: Output = Output.options("the trace goes", json="Print one JSON object for each member."),
) -> None:
    """Show how a member of MODEL turns LEMMA into the form with FEATURES, an action on each line.

    Columns: the number t of the action; the lemma, with the attended character in brackets; the action and its
    probability; for models that mix writing with copying, the share of writing (`generated`); the form so far; and
    other likely actions.
    """
    output.check()
    bundle = Bundle(model.to_features(features))
    names = [each.name for each in model.inflector.members] if member == ALL_MEMBERS else [member]
    traces = [model.inflector.trace(lemma, bundle, name) for name in names]
    output.write(lambda: "\n".join(map(trace_text, traces)), lambda: traces, notes=model.doubts([bundle]))


def trace_text(trace: "Trace") -> str:
    lemma, features, form = map(visible_text, (trace.lemma, trace.features, trace.form))
    has_gate = any(step.gate is not None for step in trace.steps)
    header = ["t", "lemma", "action", "probability", *["generated"] * has_gate, "form", "otherwise"]
    rows = []
    for t, step in enumerate(trace.steps, start=1):
        row = [str(t), _context(trace, step), visible_text(step.action), f"{step.probability:.3f}"]
        row += ["" if step.gate is None else f"{step.gate:.3f}"] * has_gate
        others = [f"{visible_text(name)} {share:.3f}" for name, share in step.alternatives if share >= MIN_SHARE]
        rows.append([*row, visible_text(step.form_so_far), ", ".join(others)])
    steps = table(header, rows, sides=["right" if name in NUMBERS else "left" for name in header])
    if trace.form != trace.steps[-1].form_so_far or trace.steps[-1].kind != "stop":
        steps += "The lemma is the prediction: the model does not stop, or repeats a character too often.\n"
    return f"{trace.member}: {lemma}, {features} → {form}\n{steps}"


def _context(trace: "Trace", step: "TraceStep") -> str:
    """The lemma around the attended character, which is in brackets; an attended feature follows the lemma."""
    lemma, position = trace.lemma, step.position
    if position > len(lemma):  # in a source that begins with <s>, and has the features after the lemma
        return f"{_cut(lemma, 0, 2 * CONTEXT)} [{visible_text(trace.source[position + 1])}]"
    start, end = max(0, position), max(0, position + 1)
    attended = visible(lemma[start:end]) if start < end and start < len(lemma) else ""
    return f"{_cut(lemma[:start], max(0, start - CONTEXT), start)}[{attended}]{_cut(lemma[end:], 0, CONTEXT)}"


def _cut(text: str, start: int, end: int) -> str:
    """A part of a text in visible form, with … on each side where there is more."""
    return "…" * (start > 0) + visible_text(text[start:end]) + "…" * (end < len(text))
