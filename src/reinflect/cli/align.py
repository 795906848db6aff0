"""`reinflect align` and `reinflect oracle`: how lemmas become forms, character by character and action by action."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.pairs import KINDS, Aligner, Alignment, aligned, count_kinds, default_folder, lay_out
from reinflect.cli.options import (
    POSITIVE,
    Gathered,
    Output,
    argument,
    columns_option,
    command,
    option,
    progress_bar,
    say,
    source,
    text,
)
from reinflect.data.corrections import swapped_columns_note
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item, check_lengths, fields_of, read_items
from reinflect.errors import InputError
from reinflect.systems.oracle import ORACLES, Step, walk
from reinflect.text import in_columns, table, visible_text

SWEEPS, SEED = 150, 1
ACTIONS = "hacm steps and writes; haem copies, deletes and writes."
PAST_THE_END = "--"


@dataclass(frozen=True)
class AlignerArgument:
    """An aligner, and whether its alignments are kept in the cache."""

    aligner: Aligner
    cached: bool

    @property
    def learns(self) -> bool:
        """Whether it learns from all pairs together: one that does draws random numbers from a seed."""
        return hasattr(self.aligner, "seed")

    def align(self, items: Sequence[Item], path: str, more: Sequence[Item] = ()) -> list[Alignment]:
        """Align the items of a file, followed by `more`, which are not cached; a terminal has a progress bar."""
        if self.learns:  # the aligner checks lengths too, but does not know files and lines
            for part, file in ((items, path), (more, None)):
                check_lengths(part, file, "an aligner that learns takes", "shorten it, or choose another --method")
        pairs = [(item.lemma, item.form) for item in (*items, *more)]
        with progress_bar("aligning") as move:
            return aligned(self.aligner, pairs, default_folder() if self.cached and not more else None, move)


def aligner_options(method: str) -> Any:
    """The options of an `AlignerArgument`, whose method is this one by default."""
    return Gathered(
        _aligner,
        method=option(f"--method [{'|'.join(ALIGNERS)}]", "The aligner to use.", default=method),
        sweeps=option("--sweeps N", "Sweeps of an aligner that learns.", int, default=SWEEPS),
        seed=option("--seed S", "Random seed of an aligner that learns.", int, default=SEED),
        no_cache=option("--no-cache", "Align again, and store nothing in the cache."),
    )


def _aligner(method: str, no_cache: bool, **settings: int) -> AlignerArgument:
    kind = ALIGNERS.find(method)
    accepted = signature(kind).parameters  # not every aligner has all of these settings
    return AlignerArgument(kind(**{name: settings[name] for name in settings if name in accepted}), not no_cache)


@command("reinflect data show german-verbs --split train-low | reinflect align - --limit 3")
def align(
    file: str = argument(source),
    aligner: AlignerArgument = aligner_options("smart"),
    limit: int | None = option("--limit N", "Show (or count) only the first N items.", POSITIVE),
    stats: bool = option("--stats", "Count copies, substitutions, insertions and deletions instead."),
    output: Output = Output.options(json="Print one JSON object for each item."),
    columns: Columns = columns_option,
) -> None:
    """Align each lemma of FILE (- is standard input) with its form, character by character.

    An aligner pairs characters by their positions, or learns from all items which ones belong together. Each item has
    three lines: the lemma, the marks, and the form. The marks are | for a copied character, × for a substituted,
    + for an inserted and - for a deleted one; ∅ is the empty side of an insertion or deletion, ␣ is a blank, and a
    combining mark is shown on a dotted circle.
    """
    items = read_items(file, columns, note=say)
    say(swapped_columns_note(items, file, columns))
    alignments = aligner.align(items, file)[:limit]
    if stats:
        counts = count_kinds(alignments)
        kinds = {kind: {"count": counts[kind], "share": counts[kind] / counts.total()} for kind in KINDS}
        rows = [(kind, str(cells["count"]), f"{100 * cells['share']:.1f} %") for kind, cells in kinds.items()]
        output.write(
            lambda: "\n".join(in_columns(rows, "  ", ["left", "right", "right"])) + "\n",
            lambda: [{"aligner": aligner.aligner.signature, "items": len(alignments), **kinds}],
        )
        return
    output.write(
        lambda: "\n\n".join("\n".join(lay_out(alignment)) for alignment in alignments) + "\n",
        lambda: (
            fields_of(item) | {"line": item.line, "pairs": alignment}
            for item, alignment in zip(items, alignments, strict=False)
        ),
    )


@command("reinflect oracle fliegen flog --system haem")
def oracle(
    lemma: str = argument(text),
    form: str = argument(text),
    system: str = option("--system", ACTIONS, type=click.Choice(list(ORACLES)), default="haem"),
    pairs: str | None = option("--pairs FILE", "Items to learn from; required for an aligner that learns.", source),
    aligner: AlignerArgument = aligner_options("naive"),
    output: Output = Output.options(json="Print one JSON object."),
    columns: Columns = columns_option,
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
        lambda: "\n".join([*lay_out(alignment), "", _table(steps)]),
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


def _table(steps: Sequence[Step]) -> str:
    """The paper's Table 1, transposed: a row for each action, numbered from the first after `<s>`."""
    rows, output = [], ""
    for t, step in enumerate(steps, start=1):
        output += step.written
        action, attended, written, form = map(visible_text, (step.action, step.attended, step.written, output))
        rows.append([str(t), action, attended or PAST_THE_END, str(step.position), written, form])
    header = ("t", "action", "attended", "i", "written", "output")
    return table(header, rows, sides=("right", "left", "left", "right", "left", "left"))
