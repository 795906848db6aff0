"""`reinflect trace`: show how a model makes a form, action by action."""

from typing import TYPE_CHECKING

import click

from reinflect.cli.files import check_output, json_text, say_written
from reinflect.cli.models import features_named, load_inflector, members_option, model_example, model_name, say_doubts
from reinflect.cli.options import check_word, option, output_option, read_labels
from reinflect.cli.oracle import visible_symbol
from reinflect.data.features import Bundle
from reinflect.data.labels import Labels
from reinflect.files import write_text
from reinflect.text import in_columns, visible, visible_text

if TYPE_CHECKING:
    from reinflect.decode.trace import Trace, TraceStep

ALL_MEMBERS = "all"
NUMBERS = ("t", "probability", "generated")
CONTEXT = 12
"""Characters of the lemma shown on each side of the attended one."""
MIN_SHARE = 0.01
"""Alternatives less probable than this are not shown."""


@click.command("trace", epilog=model_example("reinflect trace verbs.reinflect fliegen 'V;IND;PST;3;SG'"))
@model_name
@click.argument("lemma")
@click.argument("features")
@option("--member NAME", "Member to show, or all.  [default: the best one that gave the winning form]")
@option("--labels FILE", "Your own names for features, instead of those in MODEL.", type=read_labels)
@option("--json as_json", "Print one JSON object for each member.")
@output_option("the trace goes")
@members_option
def command(
    model: str,
    lemma: str,
    features: str,
    member: str | None,
    labels: Labels | None,
    as_json: bool,
    output: str,
    strategy: str | None,
) -> None:
    """Show how a member of MODEL turns LEMMA into the form with FEATURES.

    Each line is one action. Columns: the number t of the action; the lemma, with the character that the model attends
    to in brackets; the action and its probability; the form so far; and other actions that were likely. Models that
    mix writing with copying have one more column, `generated`: the share of the probability that comes from writing.
    """
    check_word(lemma)
    check_output(output, [model], as_json=as_json)
    inflector = load_inflector(model, strategy)
    labels = labels or inflector.labels
    wanted = features_named(inflector, labels, features)
    names = [own.name for own in inflector.members] if member == ALL_MEMBERS else [member]
    traces = [inflector.trace(lemma, wanted, name) for name in names]
    write_text(output, "".join(map(json_text, traces)) if as_json else "\n".join(map(_text, traces)))
    say_doubts(inflector, [Bundle(wanted)], labels)
    say_written(output)


def _text(trace: "Trace") -> str:
    lemma, features, form = map(visible_text, (trace.lemma, trace.features, trace.form))
    lines = [f"{trace.member}: {lemma}, {features} → {form}", *_table(trace)]
    if trace.form != trace.steps[-1].form_so_far or trace.steps[-1].kind != "stop":
        lines.append("The lemma is the prediction: the model does not stop, or repeats a character too often.")
    return "\n".join(lines) + "\n"


def _table(trace: "Trace") -> list[str]:
    has_gate = any(step.gate is not None for step in trace.steps)
    rows = [["t", "lemma", "action", "probability", *["generated"] * has_gate, "form", "otherwise"]]
    for t, step in enumerate(trace.steps, start=1):
        row = [str(t), _context(trace, step), visible_symbol(step.action), f"{step.probability:.3f}"]
        gate = ["" if step.gate is None else f"{step.gate:.3f}"] * has_gate
        others = [f"{visible_symbol(name)} {share:.3f}" for name, share in step.alternatives if share >= MIN_SHARE]
        rows.append([*row, *gate, visible_text(step.form_so_far), ", ".join(others)])
    return in_columns(rows, "  ", ["right" if name in NUMBERS else "left" for name in rows[0]])


def _context(trace: "Trace", step: "TraceStep") -> str:
    """The lemma around the attended character, which is in brackets; an attended feature follows the lemma."""
    lemma, place = trace.lemma, step.position
    if place > len(lemma):  # in a source that begins with <s>, and has the features after the lemma
        return f"{_cut(lemma, 0, 2 * CONTEXT)} [{visible_text(trace.source[place + 1])}]"
    character = visible(lemma[place]) if 0 <= place < len(lemma) else ""
    before = _cut(lemma[: max(0, place)], max(0, place - CONTEXT), max(0, place))
    return f"{before}[{character}]{_cut(lemma[place + 1 :], 0, CONTEXT)}"


def _cut(text: str, start: int, end: int) -> str:
    """A part of a text in visible form, with … on each side where there is more."""
    return "…" * (start > 0) + visible_text(text[start:end]) + "…" * (end < len(text))
