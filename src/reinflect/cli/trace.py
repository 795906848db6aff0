"""`reinflect trace`: watch a model make a form, action by action."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.notes import unknown_notes
from reinflect.cli.options import check_lemma, check_output, output_option, say, strategy_option
from reinflect.data.features import Bundle
from reinflect.files import write_text
from reinflect.text import Side, in_columns, visible, visible_text

if TYPE_CHECKING:
    from reinflect.decoding.traces import Trace, TraceStep

EVERYONE = "all"
AROUND = 12
"""How many letters of the lemma are shown on either side of the one attended to."""
WORTH_SHOWING = 0.01
"""Alternatives that are less probable are left out of the table."""

EXAMPLE = """\b
Example (the first two lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
  reinflect trace verbs.reinflect fliegen 'V;IND;PST;3;SG'
"""


@click.command("trace", epilog=EXAMPLE)
@click.argument("model")
@click.argument("lemma")
@click.argument("features")
@click.option(
    "--member",
    metavar="NAME",
    help="Whom to watch, such as haem-naive-1, or all of them. Without it, the best of those whose form won the vote.",
)
@click.option("--labels", "labels_file", metavar="FILE", help="Your own names for features, instead of those in MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, or one a line for several members.")
@output_option("the trace goes")
@strategy_option(None, "Which members of MODEL vote, if not those chosen when it was trained")
def command(
    model: str,
    lemma: str,
    features: str,
    member: str | None,
    labels_file: str | None,
    as_json: bool,
    output: str,
    strategy: str | None,
) -> None:
    """Show how a member of MODEL turns LEMMA into the form with FEATURES.

    Each line is one action: the lemma, with the letter that the model stands at in brackets; what it does there, and
    how probable that was to it; what else it thought of; and the form so far. HACM steps along the lemma and writes,
    and `generated` is how much of that was its own idea, where the rest was copied; HAEM copies, deletes and writes;
    soft attention writes, and the letter in brackets is the one it looks at most.
    """
    from reinflect.data.labels import Labels

    check_lemma(lemma)
    check_output(output, [model, labels_file])
    own_labels = Labels.read(labels_file) if labels_file else None

    from reinflect.inflector.inflector import Inflector

    inflector = Inflector.load(model)
    if strategy is not None:
        inflector = inflector.using(strategy)
    labels = own_labels or inflector.labels
    wanted = labels.to_features(features)
    names = [own.name for own in inflector.members] if member == EVERYONE else [member]
    traces = [inflector.trace(lemma, wanted, name) for name in names]
    write_text(output, _json(traces) if as_json else "\n".join(map(_text, traces)))
    for note in unknown_notes(inflector, [Bundle(wanted)], labels):
        say(note)


def _json(traces: "Sequence[Trace]") -> str:
    import json

    import msgspec

    return "".join(json.dumps(msgspec.to_builtins(trace), ensure_ascii=False) + "\n" for trace in traces)


def _text(trace: "Trace") -> str:
    shown = [visible_text(word) for word in (trace.lemma, trace.features, trace.form)]
    lines = [f"{trace.member}: {shown[0]}, {shown[1]} → {shown[2]}", *_table(trace)]
    if trace.form != trace.steps[-1].form_so_far or trace.steps[-1].kind != "stop":
        lines.append("The lemma is given instead: this comes to no end, or repeats a letter too often.")
    return "\n".join(lines) + "\n"


def _table(trace: "Trace") -> list[str]:
    columns: list[tuple[str, Side]] = [("t", "right"), ("lemma", "left"), ("action", "left"), ("probability", "right")]
    mixed = any(step.gate is not None for step in trace.steps)
    if mixed:
        columns.append(("generated", "right"))
    columns += [("form", "left"), ("otherwise", "left")]
    rows = [[name for name, _ in columns]]
    for t, step in enumerate(trace.steps, start=1):
        row = [str(t), _context(trace, step), _action(step.action), _number(step.probability)]
        if mixed:
            row.append("" if step.gate is None else _number(step.gate))
        others = [f"{_action(name)} {_number(share)}" for name, share in step.alternatives if share >= WORTH_SHOWING]
        rows.append([*row, visible_text(step.form_so_far), ", ".join(others)])
    return in_columns(rows, "  ", [side for _, side in columns])


def _context(trace: "Trace", step: "TraceStep") -> str:
    """The lemma around the letter attended to, which is in brackets; a feature that is stands behind the lemma."""
    lemma, place = trace.lemma, step.position
    if place > len(lemma):  # soft attention's source, which begins with <s>
        return f"{_cut(lemma, 0, 2 * AROUND)} [{visible_text(trace.source[place + 1])}]"
    letter = visible(lemma[place]) if 0 <= place < len(lemma) else ""
    before = _cut(lemma[: max(0, place)], max(0, place - AROUND), max(0, place))
    return f"{before}[{letter}]{_cut(lemma[place + 1 :], 0, AROUND)}"


def _cut(text: str, start: int, end: int) -> str:
    """A part of a text, as it can be seen, with a mark on each side where there is more."""
    return "…" * (start > 0) + visible_text(text[start:end]) + "…" * (end < len(text))


def _action(name: str) -> str:
    return visible(name) if len(name) == 1 else name


def _number(share: float) -> str:
    return f"{share:.3f}"
