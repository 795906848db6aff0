"""`reinflect oracle`: show the actions that turn a lemma into a form."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reinflect.cli.align import (
    METHODS,
    align_items,
    chosen_aligner,
    no_cache_option,
    seed_option,
    sweeps_option,
)
from reinflect.cli.options import columns_option, say
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, read_items
from reinflect.errors import InputError
from reinflect.text import in_columns, visible, visible_text

if TYPE_CHECKING:
    from reinflect.alignment.pairs import Aligner, Alignment
    from reinflect.transitions.actions import Step

SYSTEMS = ("hacm", "haem")
PAST_THE_END = "--"
GAP = "  "

EXAMPLE = """\b
Example:
  reinflect oracle fliegen flog --system haem
"""


@click.command("oracle", epilog=EXAMPLE)
@click.argument("lemma")
@click.argument("form")
@click.option(
    "--system",
    type=click.Choice(SYSTEMS),
    default="haem",
    show_default=True,
    help="hacm steps and writes; haem copies, deletes and writes.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="naive",
    show_default=True,
    help="The alignment that decides the actions; smart needs --pairs.",
)
@click.option("--pairs", "file", metavar="FILE", help="Lines of lemma, form and features for the smart method.")
@sweeps_option
@seed_option
@columns_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@no_cache_option
def command(
    lemma: str,
    form: str,
    system: str,
    method: str,
    file: str | None,
    sweeps: int,
    seed: int,
    columns: Columns,
    as_json: bool,
    no_cache: bool,
) -> None:
    """Show the actions a model is trained to take from LEMMA to FORM, one a line.

    Columns: the number t of the action, the action, the attended letter of the lemma and its position i, what the
    action writes, and the output so far. A word that starts with a hyphen goes after two hyphens:
    reinflect oracle -- -keit -keiten
    """
    if not lemma:
        raise InputError("found an empty lemma", "give a lemma of one letter or more (only the form may be empty)")
    aligner = chosen_aligner(method, sweeps, seed)
    if method == "smart":
        alignment = _learnt(aligner, lemma, form, file, columns, cached=not no_cache)
    else:
        (alignment,) = aligner.align([(lemma, form)])
    steps = _steps(system, alignment, lemma)
    if as_json:
        header = {"lemma": lemma, "form": form, "system": system, "method": method}
        click.echo(json.dumps({**header, **_described(alignment, steps)}, ensure_ascii=False))
    else:
        from reinflect.alignment.layout import lay_out

        click.echo("\n".join([*lay_out(alignment), "", *_table(steps)]))


def _learnt(
    aligner: "Aligner", lemma: str, form: str, file: str | None, columns: Columns, *, cached: bool
) -> "Alignment":
    """The alignment of one pair, learnt together with a file's.

    A pair that is in the file gets the alignment that training on that file uses. Another one is added at the end;
    that is a question asked once, so nothing of it is kept.
    """
    if file is None:
        raise InputError(
            "--method smart has nothing to learn from",
            "name a file of lemmas and forms with --pairs, or use --method naive",
        )
    items = read_items(file, columns, note=say)
    pairs = [(item.lemma, item.form) for item in items]
    if (lemma, form) in pairs:
        return align_items(aligner, items, file, cached=cached)[pairs.index((lemma, form))]
    return align_items(aligner, items, file, cached=False, more=[Item(lemma, Bundle(""), form)])[-1]


def _steps(system: str, alignment: "Alignment", lemma: str) -> "list[Step]":
    from reinflect.transitions import edits, write_step

    if system == "hacm":
        return list(write_step.walk(write_step.oracle(alignment), lemma))
    return list(edits.walk(edits.oracle(alignment), lemma))


def _described(alignment: "Alignment", steps: "Sequence[Step]") -> dict[str, object]:
    return {
        "pairs": alignment,
        "actions": [step.action for step in steps],
        "steps": [
            {
                "t": t,
                "action": step.action,
                "position": step.position,
                "attended": step.attended,
                "written": step.written,
            }
            for t, step in enumerate(steps, start=1)
        ],
    }


def _table(steps: "Sequence[Step]") -> list[str]:
    """The paper's Table 1, turned on its side: a row for each action, numbered from the first after `<s>`."""
    rows = [["t", "action", "attended", "i", "written", "output"]]
    output = ""
    for t, step in enumerate(steps, start=1):
        output += step.written
        rows.append(
            [
                str(t),
                _symbol(step.action),
                _symbol(step.attended) if step.attended else PAST_THE_END,
                str(step.position),
                _symbol(step.written) if step.written else "",
                visible_text(output),
            ]
        )
    return in_columns(rows, GAP, ["right", "left", "left", "right", "left", "left"])


def _symbol(symbol: str) -> str:
    """A letter as it can be seen on its own; `STEP`, `<s>` and their like as they are."""
    return visible(symbol) if len(symbol) == 1 else symbol
