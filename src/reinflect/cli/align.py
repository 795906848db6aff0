"""`reinflect align`: align lemmas with forms, letter by letter."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import columns_option, say
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note
from reinflect.text import in_columns

if TYPE_CHECKING:
    from reinflect.alignment.pairs import Aligner, Alignment, Progress

METHODS = ("naive", "smart")
SWEEPS = 150
SEED = 1

EXAMPLE = """\b
Example:
  reinflect data show german-verbs --split train-low | reinflect align - --limit 3
"""

sweeps_option = click.option(
    "--sweeps", metavar="N", type=int, default=SWEEPS, show_default=True, help="Gibbs sweeps of the smart method."
)
seed_option = click.option(
    "--seed", metavar="S", type=int, default=SEED, show_default=True, help="Random seed of the smart method."
)
no_cache_option = click.option("--no-cache", is_flag=True, help="Align anew, and keep nothing for the next time.")


@click.command("align", epilog=EXAMPLE)
@click.argument("file")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="smart",
    show_default=True,
    help="naive pairs letters position by position; smart learns from the whole file which letters belong together.",
)
@sweeps_option
@seed_option
@columns_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    help="Show (or count) only the first N lines; the smart method still learns from all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--stats", is_flag=True, help="Count copies, substitutions, insertions and deletions instead.")
@no_cache_option
def command(
    file: str,
    method: str,
    sweeps: int,
    seed: int,
    columns: Columns,
    limit: int | None,
    as_json: bool,
    stats: bool,
    no_cache: bool,
) -> None:
    """Align each lemma of FILE (- is standard input) with its form, letter by letter.

    Three lines a pair: the lemma, what happens, and the form. The marks in the middle are | for a copied letter,
    × for a substituted, + for an inserted and - for a deleted one; ∅ is the empty side of an insertion or deletion,
    ␣ a blank, and a combining mark sits on a dotted circle.
    """
    items = read_items(file, columns, note=say)
    if note := swapped_columns_note(items, file, columns):
        say(note)
    aligner = chosen_aligner(method, sweeps, seed)
    alignments = align_items(aligner, items, file, cached=not no_cache)[:limit]
    if stats:
        click.echo(_stats_json(aligner, alignments) if as_json else _stats_text(alignments))
    elif as_json:
        click.echo("\n".join(map(_item_json, items, alignments)))
    else:
        from reinflect.alignment.layout import lay_out

        click.echo("\n\n".join("\n".join(lay_out(alignment)) for alignment in alignments))


def chosen_aligner(method: str, sweeps: int, seed: int) -> "Aligner":
    from reinflect.alignment import make_aligner

    return make_aligner(method, sweeps=sweeps, seed=seed) if method == "smart" else make_aligner(method)


def align_items(
    aligner: "Aligner", items: Sequence[Item], path: Path | str, *, cached: bool, more: Sequence[Item] = ()
) -> "list[Alignment]":
    """Align the items of a file, and after them `more`, showing the progress on a terminal."""
    from reinflect.alignment.cache import aligned, default_folder

    _check_lengths(aligner, items, path)
    _check_lengths(aligner, more, None)
    pairs = [(item.lemma, item.form) for item in (*items, *more)]
    with _progress() as progress:
        return aligned(aligner, pairs, default_folder() if cached else None, progress)


def _check_lengths(aligner: "Aligner", items: Sequence[Item], path: Path | str | None) -> None:
    """Say of a word that is too long where it stands, which the aligner itself does not know."""
    from reinflect.alignment.smart import Smart

    if isinstance(aligner, Smart):
        check_lengths(items, path, "the smart method takes", "shorten it or use --method naive")


@contextmanager
def _progress() -> "Iterator[Progress | None]":
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("aligning", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _item_json(item: Item, alignment: "Alignment") -> str:
    shown = {
        "lemma": item.lemma,
        "form": item.form,
        "features": item.features.spelling,
        "line": item.line,
        "pairs": alignment,
    }
    return json.dumps(shown, ensure_ascii=False)


def _shares(alignments: "Sequence[Alignment]") -> dict[str, tuple[int, float]]:
    """How many of the aligned pairs are of each kind, and which part of all that is."""
    from reinflect.alignment.pairs import KINDS, count_kinds

    counts = count_kinds(alignments)
    return {kind: (counts[kind], counts[kind] / counts.total()) for kind in KINDS}


def _stats_text(alignments: "Sequence[Alignment]") -> str:
    rows = [(kind, str(count), f"{100 * share:.1f} %") for kind, (count, share) in _shares(alignments).items()]
    return "\n".join(in_columns(rows, "  ", ["left", "right", "right"]))


def _stats_json(aligner: "Aligner", alignments: "Sequence[Alignment]") -> str:
    shares = {kind: {"count": count, "share": share} for kind, (count, share) in _shares(alignments).items()}
    return json.dumps({"aligner": aligner.signature, "items": len(alignments), **shares})
