"""`reinflect trace`: show how a model makes a form, action by action."""

from typing import TYPE_CHECKING

import click

from reinflect.cli import models
from reinflect.cli.align import visible_symbol
from reinflect.cli.options import labels_option, option, text, word
from reinflect.cli.output import Output, output_options
from reinflect.data.features import Bundle
from reinflect.text import Side, in_columns, visible, visible_text

if TYPE_CHECKING:
    from reinflect.decode.trace import Trace, TraceStep

ALL_MEMBERS = "all"
NUMBERS = ("t", "probability", "generated")
CONTEXT = 12
"""Characters of the lemma shown on each side of the attended one."""
MIN_SHARE = 0.01
"""Alternatives less probable than this are not shown."""


@click.command("trace", epilog=models.model_example("reinflect trace verbs.reinflect fliegen 'V;IND;PST;3;SG'"))
@models.model_argument
@click.argument("lemma", type=word)
@click.argument("features", type=text)
@option("--member NAME", "Member to show, or all.  [default: the best one that gave the winning form]", type=text)
@output_options("the trace goes", json="Print one JSON object for each member.")
@models.model_options(models.members_option, labels_option("Your own names for features, instead of those in MODEL."))
def command(model: models.ModelArgument, lemma: str, features: str, member: str | None, output: Output) -> None:
    """Show how a member of MODEL turns LEMMA into the form with FEATURES, an action on each line.

    Columns: the number t of the action; the lemma, with the attended character in brackets; the action and its
    probability; for models that mix writing with copying, the share of writing (`generated`); the form so far; and
    other likely actions.
    """
    output.check()
    bundle = Bundle(model.to_features(features))
    names = [each.name for each in model.inflector.members] if member == ALL_MEMBERS else [member]
    traces = [model.inflector.trace(lemma, bundle, name) for name in names]
    output.write(lambda: "\n".join(map(_text, traces)), lambda: traces, notes=model.doubts([bundle]))


def _text(trace: "Trace") -> str:
    lemma, features, form = map(visible_text, (trace.lemma, trace.features, trace.form))
    has_gate = any(step.gate is not None for step in trace.steps)
    rows = [["t", "lemma", "action", "probability", *["generated"] * has_gate, "form", "otherwise"]]
    for t, step in enumerate(trace.steps, start=1):
        row = [str(t), _context(trace, step), visible_symbol(step.action), f"{step.probability:.3f}"]
        row += ["" if step.gate is None else f"{step.gate:.3f}"] * has_gate
        others = [f"{visible_symbol(name)} {share:.3f}" for name, share in step.alternatives if share >= MIN_SHARE]
        rows.append([*row, visible_text(step.form_so_far), ", ".join(others)])
    sides: list[Side] = ["right" if name in NUMBERS else "left" for name in rows[0]]
    lines = [f"{trace.member}: {lemma}, {features} → {form}", *in_columns(rows, "  ", sides)]
    if trace.form != trace.steps[-1].form_so_far or trace.steps[-1].kind != "stop":
        lines.append("The lemma is the prediction: the model does not stop, or repeats a character too often.")
    return "\n".join(lines) + "\n"


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
