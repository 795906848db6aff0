"""`reinflect align`: align lemmas with forms, character by character."""

import sys
from collections.abc import Sequence
from inspect import signature
from pathlib import Path

import click

from reinflect.align import ALIGNERS
from reinflect.align.cache import aligned, default_folder
from reinflect.align.pairs import KINDS, Aligner, Alignment, count_kinds, lay_out
from reinflect.cli.options import Decorator, columns_option, example, gathered, option, say, source
from reinflect.cli.output import Output, output_options
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note
from reinflect.text import in_columns

SWEEPS = 150
SEED = 1
EXAMPLE = example("reinflect data show german-verbs --split train-low | reinflect align - --limit 3")


def aligner_options(method: str) -> Decorator:
    """`--method` with its default, `--sweeps` and `--seed`, which the command receives as an `aligner`."""
    return gathered(
        "aligner",
        _aligner,
        option(f"--method [{'|'.join(ALIGNERS)}]", "The aligner to use.", default=method),
        option("--sweeps N", "Sweeps of an aligner that learns.", type=int, default=SWEEPS),
        option("--seed S", "Random seed of an aligner that learns.", type=int, default=SEED),
    )


def _aligner(method: str, **settings: int) -> Aligner:
    kind = ALIGNERS.find(method)
    return kind(**{name: settings[name] for name in signature(kind).parameters.keys() & settings.keys()})


cache_option = option("--no-cache", "Align again, and store nothing in the cache.")


@click.command("align", epilog=EXAMPLE)
@click.argument("file", type=source)
@aligner_options("smart")
@cache_option
@columns_option
@option("--limit N", "Show (or count) only the first N items.", type=click.IntRange(min=1))
@option("--stats", "Count copies, substitutions, insertions and deletions instead.")
@output_options(json="Print one JSON object for each item.")
def command(
    file: str, aligner: Aligner, no_cache: bool, columns: Columns, limit: int | None, stats: bool, output: Output
) -> None:
    """Align each lemma of FILE (- is standard input) with its form, character by character.

    An aligner pairs characters by their positions, or learns from all items of FILE which ones belong together.
    Each item takes three lines: the lemma, the marks, and the form. The marks are | for a copied character,
    × for a substituted, + for an inserted and - for a deleted one; ∅ is the empty side of an insertion or deletion,
    ␣ is a blank, and a combining mark is shown on a dotted circle.
    """
    items = read_items(file, columns, note=say)
    say(swapped_columns_note(items, file, columns))
    alignments = align_items(aligner, items, file, cached=not no_cache)[:limit]
    if stats:
        counts = count_kinds(alignments)
        shares = {kind: counts[kind] / counts.total() for kind in KINDS}
        rows = [(kind, str(counts[kind]), f"{100 * share:.1f} %") for kind, share in shares.items()]
        kinds = {kind: {"count": counts[kind], "share": share} for kind, share in shares.items()}
        output.write(
            lambda: "\n".join(in_columns(rows, "  ", ["left", "right", "right"])) + "\n",
            lambda: [{"aligner": aligner.signature, "items": len(alignments), **kinds}],
        )
    else:
        output.write(
            lambda: "\n\n".join("\n".join(lay_out(alignment)) for alignment in alignments) + "\n",
            lambda: (
                {
                    "lemma": item.lemma,
                    "form": item.form,
                    "features": item.features.spelling,
                    "line": item.line,
                    "pairs": alignment,
                }
                for item, alignment in zip(items, alignments, strict=False)
            ),
        )


def learns(aligner: Aligner) -> bool:
    """Whether an aligner learns from all pairs together: one that does draws random numbers from a seed."""
    return hasattr(aligner, "seed")


def align_items(
    aligner: Aligner, items: Sequence[Item], path: Path | str, *, cached: bool, more: Sequence[Item] = ()
) -> list[Alignment]:
    """Align the items of a file, followed by `more`, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    if learns(aligner):  # the aligner checks lengths too, but does not know files and lines
        for part, place in ((items, path), (more, None)):
            check_lengths(part, place, "an aligner that learns takes", "shorten it, or choose another --method")
    pairs = [(item.lemma, item.form) for item in (*items, *more)]
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("aligning", total=None)
        cache = default_folder() if cached else None
        return aligned(aligner, pairs, cache, lambda done, total: bar.update(task, completed=done, total=total))
