"""`reinflect align`: align lemmas with forms, character by character."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature

import click

from reinflect.align import ALIGNERS
from reinflect.align.cache import aligned, default_folder
from reinflect.align.pairs import KINDS, Aligner, Alignment, count_kinds, lay_out
from reinflect.cli.options import Decorator, columns_option, example, gathered, option, say, source
from reinflect.cli.output import Output, output_options, progress_bar
from reinflect.data.items import Columns, Item, check_lengths, fields_of, read_items, swapped_columns_note
from reinflect.text import in_columns

SWEEPS, SEED = 150, 1
EXAMPLE = example("reinflect data show german-verbs --split train-low | reinflect align - --limit 3")


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


def aligner_options(method: str) -> Decorator:
    """The options of an `AlignerArgument`, which the command receives as `aligner`; its default method."""
    return gathered(
        "aligner",
        _aligner,
        option(f"--method [{'|'.join(ALIGNERS)}]", "The aligner to use.", default=method),
        option("--sweeps N", "Sweeps of an aligner that learns.", type=int, default=SWEEPS),
        option("--seed S", "Random seed of an aligner that learns.", type=int, default=SEED),
        option("--no-cache", "Align again, and store nothing in the cache."),
    )


def _aligner(method: str, no_cache: bool, **settings: int) -> AlignerArgument:
    kind = ALIGNERS.find(method)
    accepted = signature(kind).parameters  # not every aligner has all of these settings
    return AlignerArgument(kind(**{name: settings[name] for name in settings if name in accepted}), not no_cache)


@click.command("align", epilog=EXAMPLE)
@click.argument("file", type=source)
@aligner_options("smart")
@option("--limit N", "Show (or count) only the first N items.", type=click.IntRange(min=1))
@option("--stats", "Count copies, substitutions, insertions and deletions instead.")
@output_options(json="Print one JSON object for each item.")
@columns_option
def command(
    file: str, aligner: AlignerArgument, columns: Columns, limit: int | None, stats: bool, output: Output
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
