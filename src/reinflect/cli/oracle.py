"""`reinflect oracle`: show the actions that turn a lemma into a form."""

from collections.abc import Sequence
from dataclasses import asdict

import click

from reinflect.align.pairs import Alignment, lay_out
from reinflect.cli.align import AlignerArgument, aligner_options
from reinflect.cli.options import columns_option, example, option, say, source_option, text
from reinflect.cli.output import Output, output_options
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, read_items
from reinflect.errors import InputError
from reinflect.systems.oracle import ORACLES, Step, walk
from reinflect.text import in_columns, visible, visible_text

ACTIONS = "hacm steps and writes; haem copies, deletes and writes."
PAST_THE_END = "--"


@click.command("oracle", epilog=example("reinflect oracle fliegen flog --system haem"))
@click.argument("lemma", type=text)
@click.argument("form", type=text)
@option("--system", ACTIONS, type=click.Choice(list(ORACLES)), default="haem")
@source_option("--pairs FILE", "Items to learn from; required for an aligner that learns.")
@aligner_options("naive")
@output_options(json="Print one JSON object.")
@columns_option
def command(
    lemma: str, form: str, system: str, pairs: str | None, aligner: AlignerArgument, columns: Columns, output: Output
) -> None:
    """Show the actions a model is trained to take from LEMMA to FORM, one on each line.

    Columns: the number t of the action, the action, the attended character of the lemma and its position i, what the
    action writes, and the form so far. Put two hyphens before a word that starts with a hyphen:
    reinflect oracle -- -keit -keiten
    """
    if not lemma:
        raise InputError("found an empty lemma", "give a lemma with at least one character (only FORM may be empty)")
    alignment = _aligned(Item(lemma, Bundle(""), form), aligner, pairs, columns)
    steps = list(walk(ORACLES[system](alignment), lemma))
    arguments = {name: click.get_current_context().params[name] for name in ("lemma", "form", "system", "method")}
    rows = [{"t": t, **asdict(step)} for t, step in enumerate(steps, start=1)]
    output.write(
        lambda: "\n".join([*lay_out(alignment), "", *_table(steps), ""]),
        lambda: [{**arguments, "pairs": alignment, "actions": [step.action for step in steps], "steps": rows}],
    )


def _aligned(item: Item, aligner: AlignerArgument, path: str | None, columns: Columns) -> Alignment:
    """The alignment of a pair, learnt together with those of a file if the aligner learns.

    A pair of the file gets the alignment that training on that file uses. Any other pair is added at the end.
    """
    if not aligner.learns:
        return aligner.align([item], "")[0]
    if path is None:
        remedy = "name a file of lemmas and forms with --pairs, or choose another --method"
        raise InputError("found no --pairs for an aligner that learns", remedy)
    items = read_items(path, columns, note=say)
    pairs = [(item.lemma, item.form) for item in items]
    if (item.lemma, item.form) in pairs:
        return aligner.align(items, path)[pairs.index((item.lemma, item.form))]
    return aligner.align(items, path, more=[item])[-1]


def _table(steps: Sequence[Step]) -> list[str]:
    """The paper's Table 1, transposed: a row for each action, numbered from the first after `<s>`."""
    rows = [["t", "action", "attended", "i", "written", "output"]]
    output = ""
    for t, step in enumerate(steps, start=1):
        output += step.written
        attended = visible_symbol(step.attended) if step.attended else PAST_THE_END
        written = visible_symbol(step.written) if step.written else ""
        rows.append([str(t), visible_symbol(step.action), attended, str(step.position), written, visible_text(output)])
    return in_columns(rows, "  ", ["right", "left", "left", "right", "left", "left"])


def visible_symbol(symbol: str) -> str:
    """A character in visible form; symbols such as `STEP` and `<s>` unchanged."""
    return visible(symbol) if len(symbol) == 1 else symbol
