"""`reinflect ablate`: compare values of a setting, and test whether they differ."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from reinflect import __version__
from reinflect.cli.files import json_text
from reinflect.cli.options import option, say
from reinflect.cli.training import EVERY_LANGUAGE, SIZES, Training, data_option, languages_option, training_options
from reinflect.errors import INTERRUPTED, InputError, OutputError
from reinflect.files import STANDARD, check_writable, has_content, read_bytes, write_text
from reinflect.text import Side, counted, table

if TYPE_CHECKING:
    from reinflect.learn.lesson import Lesson
    from reinflect.paper.ablation import Ablation, Variant

EXAMPLE = """\b
Example (a few minutes; the first line downloads the data):
  reinflect data fetch conll2017 --languages german,turkish --into data
  reinflect ablate --data data --setting low --vary dropout=0.2,0.5 --systems haem --seeds 2 --set epochs=20
"""


@click.command("ablate", epilog=EXAMPLE)
@data_option
@languages_option
@option("--setting", "Which training files to learn from.", type=click.Choice(SIZES), default="low")
@option(
    "--vary KEY=A,B,C",
    "The setting whose values to compare; haem.KEY=A,B,C for one system only. With several --vary, one setting "
    "is changed at a time. A value that is a list is written with +: dropout_on=encoder,encoder+state.",
    multiple=True,
    required=True,
)
@training_options("each kind", "auto takes that of --setting")
@option(
    "--out FILE",
    "Where to write everything as JSON: the rows, and each model's accuracy. With it, the same command resumes "
    "after an interruption.",
)
def command(
    data: str, languages: str, setting: str, vary: tuple[str, ...], training: Training, out: str | None
) -> None:
    """Train models with different values of a setting, and test which value is better and whether that is chance.

    Every value is tried with every language, system, alignment and seed. It is compared with the value of the preset,
    or with the first you give, by pairs of models that share everything else, also their first random numbers. A
    difference is called better or worse if chance hardly explains it, even among several comparisons; "perhaps" means
    that this holds only for one comparison by itself.

    Ctrl-C ends the training early, and compares the languages whose models are all trained. With --out the same
    command resumes later, also after it was killed: the folder FILE.state has what it needs until all is trained.
    """
    if out is not None:
        _check_out(out)
    settings = training.settings(setting if training.preset == "auto" else training.preset)

    from reinflect.paper.ablation import ablate, factors

    compared = factors(vary, {system: settings[system] for system in training.systems})  # type: ignore[misc]
    corpora = _corpora(Path(data), languages, setting)
    tried = {(factor.system, own) for factor in compared for own in factor.variants.values()}
    many = f"{len(corpora)} languages" if len(corpora) > 1 else corpora[0].language
    say(f"comparing {len(tried)} variants on {many} at {setting}, {counted(training.seeds, 'seed')} of each")

    from reinflect.cli.progress import display
    from reinflect.learn.lesson import Preparation
    from reinflect.run.folder import WorkFolder

    with ExitStack() as stack:
        place = Path(out) if out else Path(stack.enter_context(TemporaryDirectory())) / "comparison"
        folder = replace(WorkFolder.beside(place), parameters=None)
        stack.enter_context(folder.held())
        with display() as shown:
            resources = training.resources(shown)
            preparation = Preparation.of(settings, training.alignments, training.augmentations)
            found = ablate(corpora, compared, preparation, folder, resources, seeds=training.seeds)
        grouped = groupby(found.rows, lambda row: (row.system, row.key))
        click.echo("\n".join(_table(list(own)) for _, own in grouped), nl=False)
        say(*_notes(found, resumable=out is not None))
        if out is not None and found.interrupted and (_written(out) or {}).get("interrupted") is False:
            say(f"note: {out} is still the earlier, complete comparison")
        elif out is not None:
            write_text(out, _as_json(found, data=data, setting=setting, seeds=training.seeds, device=training.device))
            say(f"written: {out}")
        if not found.interrupted:
            folder.remove()
    if found.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _check_out(out: str) -> None:
    """Check that a comparison can be written there without replacing another kind of file."""
    if out == STANDARD:
        raise OutputError(out, "the table is written there", "name a file with --out")
    check_writable(out)
    if has_content(out) and _written(out) is None:
        raise OutputError(out, "a file of this name exists and is not a comparison", "choose another --out")


def _written(out: str) -> dict[str, Any] | None:
    """The comparison in a file; None if the file has something else."""
    try:
        there = json.loads(read_bytes(out))
    except (InputError, ValueError, RecursionError):
        return None
    return there if isinstance(there, dict) and "rows" in there and "settings" in there else None


def _corpora(folder: Path, languages: str, setting: str) -> "list[Lesson]":
    from reinflect.paper.corpora import languages_in, layout_note, read_corpora

    named = [name.strip() for name in languages.split(",") if name.strip()]
    if not named:
        raise InputError("found no language in --languages", f"name some, or {EVERY_LANGUAGE}")
    every = EVERY_LANGUAGE in named
    among = languages_in(folder, None if every else named)
    say(layout_note(folder, among))
    found, absent = read_corpora(folder, among, [setting])
    names = ", ".join(label.removesuffix(f"-{setting}") for label in absent)
    if absent and (not every or not found):
        remedy = "leave that out, or choose another --setting"
        raise InputError(f"found no training file for {setting} of {names}", remedy, path=folder)
    if absent:
        say(f"note: left out (no training file for {setting}): {names}")
    return found


def _table(rows: "Sequence[Variant]") -> str:
    """The variants of one factor."""
    cells = list(map(_row, rows))
    sides: list[Side] = ["left", *["right"] * (len(cells[0]) - 2), "left"]  # type: ignore[list-item]
    return table(list(cells[0]), [list(row.values()) for row in cells], sides=sides)


def _row(row: "Variant") -> dict[str, str]:
    """The cells of a row by the titles of their columns."""
    found = row.against_base
    return {
        row.system: row.variant,
        **{f"E({method})": f"{accuracy:.2f}" for method, accuracy in row.votes.items()},
        **({"MAX": f"{row.best_vote:.2f}"} if len(row.votes) > 1 else {}),
        "single": f"{row.single:.2f}",
        **({"unseen": f"{row.unseen:.2f}"} if row.unseen is not None else {}),
        "epoch": f"{row.best_epoch:.1f}",
        "seconds": f"{row.seconds:.0f}{'*' if row.shared else ''}",
        "difference": f"{found.difference:+.2f}" if found else "",
        "95 %": f"{found.low:+.2f} to {found.high:+.2f}" if found else "",
        "p": f"{found.p_value:.4f}" if found and found.enough else "",
        "Holm": f"{row.corrected:.4f}" if found and found.enough else "",
        "languages": f"+{found.groups_won} -{found.groups_lost}" if found else "",
        "verdict": row.verdict,
    }


def _notes(found: "Ablation", *, resumable: bool) -> list[str]:
    from reinflect.score.significance import FEWEST

    against = [row.against_base for row in found.rows if row.against_base]
    notes = [
        "note: E is the vote of the seeds, unseen the accuracy of single models on bundles that no training item has, "
        "epoch the best one; differences are of single models, in points of dev accuracy, by "
        f"{against[0].pairs} pairs of models that share language, alignment and seed; Holm is p "
        "corrected for the number of comparisons"
    ]
    if any(row.shared for row in found.rows):
        notes.insert(0, "note: * the time of all variants that were trained side by side in the same fleets")
    if not all(one.enough for one in against):
        notes.append(f"note: fewer than {FEWEST} pairs differ, too few to test; give more --seeds or --languages")
    if found.diverged:
        notes.append(f"note: {found.diverged} of {len(found.models)} models diverged each time, and count as 0")
    if found.interrupted:
        notes.append(f"note: interrupted; languages that were done: {', '.join(found.languages)}")
        if resumable:
            notes.append("note: the same command resumes with the others")
    return notes


def _as_json(found: "Ablation", **about: str | int) -> str:
    """Rows and models refer to their settings by the place in the list of all settings."""
    settings = list(dict.fromkeys(one.model.settings for one in found.models))
    rows = [asdict(row) | {"settings": settings.index(row.settings), "verdict": row.verdict} for row in found.rows]
    models = [
        {name: getattr(one.model, name) for name in ("language", "system", "alignment", "seed", "best_epoch")}
        | {"settings": settings.index(one.model.settings), "accuracy": one.accuracy}
        | {"diverged": one.voter is None, "pack": one.pack}
        for one in found.models
    ]
    whole = {"version": __version__, **about, "languages": found.languages, "interrupted": found.interrupted}
    return json_text(
        {**whole, "settings": settings, "rows": rows, "models": models, "seconds": found.seconds}, indent=1
    )
