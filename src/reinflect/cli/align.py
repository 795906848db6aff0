"""`reinflect align`: align lemmas with forms, character by character."""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.cache import aligned, default_folder
from reinflect.align.pairs import KINDS, Aligner, Alignment, count_kinds, lay_out
from reinflect.cli.files import json_text
from reinflect.cli.options import Decorator, all_of, columns_option, example, option, say
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note
from reinflect.errors import quoted
from reinflect.text import in_columns, nearest

SWEEPS = 150
SEED = 1
EXAMPLE = example("reinflect data show german-verbs --split train-low | reinflect align - --limit 3")


def _known_aligner(context: click.Context, parameter: click.Parameter, name: str) -> str:
    if name not in ALIGNERS:
        remedy = nearest(name, ALIGNERS, f"the aligners are {', '.join(ALIGNERS)}")
        raise click.BadParameter(f"there is no aligner {quoted(name)}; {remedy}", context, parameter)
    return name


def aligner_options(method: str) -> Decorator:
    """`--method` with its default, `--sweeps` and `--seed`: the command gets an `aligner`; and `--no-cache`."""
    options = all_of(
        option(f"--method [{'|'.join(ALIGNERS)}]", "The aligner to use.", default=method, callback=_known_aligner),
        option("--sweeps N", "Sweeps of an aligner that learns.", type=int, default=SWEEPS),
        option("--seed S", "Random seed of an aligner that learns.", type=int, default=SEED),
        option("--no-cache", "Align again, and store nothing in the cache."),
    )

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_aligner(*given: Any, method: str, **named: Any) -> Any:
            settings = {name: named.pop(name) for name in ("sweeps", "seed")}
            own = signature(ALIGNERS[method]).parameters  # not every aligner has all of these settings
            aligner = ALIGNERS[method](**{name: value for name, value in settings.items() if name in own})
            return command(*given, aligner=aligner, **named)

        return options(with_aligner)

    return decorated


@click.command("align", epilog=EXAMPLE)
@click.argument("file")
@aligner_options("smart")
@columns_option
@option("--limit N", "Show (or count) only the first N items.", type=click.IntRange(min=1))
@option("--json as_json", "Print one JSON object for each item.")
@option("--stats", "Count copies, substitutions, insertions and deletions instead.")
def command(
    file: str, aligner: Aligner, columns: Columns, limit: int | None, as_json: bool, stats: bool, no_cache: bool
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
        click.echo(_stats(aligner, alignments, as_json), nl=False)
    elif as_json:
        for item, alignment in zip(items, alignments, strict=False):
            described = {"lemma": item.lemma, "form": item.form, "features": item.features.spelling, "line": item.line}
            click.echo(json_text({**described, "pairs": alignment}), nl=False)
    else:
        click.echo("\n\n".join("\n".join(lay_out(alignment)) for alignment in alignments))


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
        for part, source in ((items, path), (more, None)):
            check_lengths(part, source, "an aligner that learns takes", "shorten it, or choose another --method")
    pairs = [(item.lemma, item.form) for item in (*items, *more)]
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("aligning", total=None)
        cache = default_folder() if cached else None
        return aligned(aligner, pairs, cache, lambda done, total: bar.update(task, completed=done, total=total))


def _stats(aligner: Aligner, alignments: Sequence[Alignment], as_json: bool) -> str:
    """The number of aligned pairs of each kind, and their share."""
    counts = count_kinds(alignments)
    shares = {kind: counts[kind] / counts.total() for kind in KINDS}
    if as_json:
        kinds = {kind: {"count": counts[kind], "share": share} for kind, share in shares.items()}
        return json_text({"aligner": aligner.signature, "items": len(alignments), **kinds})
    rows = [(kind, str(counts[kind]), f"{100 * share:.1f} %") for kind, share in shares.items()]
    return "\n".join(in_columns(rows, "  ", ["left", "right", "right"])) + "\n"
