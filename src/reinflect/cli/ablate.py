"""`reinflect ablate`: which value of a setting is better, and is the difference real?"""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect import __version__
from reinflect.cli.options import (
    ALIGNMENTS,
    SYSTEMS,
    alignments_option,
    chosen,
    cores,
    device_for,
    device_option,
    seeds_option,
    settings_of,
    workers_option,
)
from reinflect.errors import INTERRUPTED, InputError, OutputError
from reinflect.files import STANDARD, check_writable, read_bytes, write_text
from reinflect.text import Side

if TYPE_CHECKING:
    from reinflect.evaluation.significance import PairedDifference
    from reinflect.execution.corpora import Corpus
    from reinflect.experiments.ablation import Ablation, Factor

EVERY_LANGUAGE = "all"
SETTINGS = ("low", "medium", "high")

EXAMPLE = """\b
Example (a few minutes; the first line downloads the data):
  reinflect data fetch conll2017 --languages german,turkish --into data
  reinflect ablate --data data --setting low --vary dropout=0.2,0.5 --systems haem --seeds 2 --set epochs=20
"""


@click.command("ablate", epilog=EXAMPLE)
@click.option(
    "--data",
    metavar="DIR",
    required=True,
    help="A folder with files such as german-train-low and german-dev, for as many languages as you like.",
)
@click.option(
    "--languages",
    metavar="LIST",
    default=EVERY_LANGUAGE,
    show_default=True,
    help="Which of them to train on, with commas between.",
)
@click.option(
    "--setting",
    type=click.Choice(SETTINGS),
    default="low",
    show_default=True,
    help="Which training files to learn from.",
)
@click.option(
    "--vary",
    metavar="KEY=A,B,C",
    multiple=True,
    required=True,
    help="The setting whose values to compare; haem.KEY=A,B,C for one system only. May be repeated: then one setting "
    "is changed at a time. The lists that dropout_on can be are written with +: dropout_on=encoder,encoder+state.",
)
@click.option("--systems", metavar="LIST", default="hacm,haem", show_default=True, help="hacm, haem, soft.")
@alignments_option
@seeds_option("each kind")
@click.option(
    "--preset",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="What all other settings are: low, medium, high (auto takes that of --setting), paper-low, paper-medium, "
    "paper-high, or a TOML file.",
)
@click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a setting of the preset for all variants: epochs=20, or haem.epochs=20. May be repeated.",
)
@device_option
@workers_option("Processes on the CPU; as many as there are cores unless you say otherwise.")
@click.option(
    "--out",
    metavar="FILE",
    help="Where to write everything as JSON: the rows, and each model's accuracy. With it, the same command goes on "
    "after an interruption.",
)
@click.pass_context
def command(
    context: click.Context,
    data: str,
    languages: str,
    setting: str,
    vary: tuple[str, ...],
    systems: str,
    alignments: str,
    seeds: int,
    preset: str,
    changes: tuple[str, ...],
    device: str,
    workers: int | None,
    out: str | None,
) -> None:
    """Train models with different values of a setting, and say which is better and whether that is chance.

    Every value is tried with every language, system, alignment and seed. It is compared with the value that the preset
    has, or with the first you give, model by model: those that share all else, their first random numbers too. A
    difference is called better or worse if chance hardly explains it even though several were looked at; with
    "perhaps" if it is so only when looked at by itself.

    Ctrl-C ends it early; then those languages are compared whose models are all trained. With --out the same command
    goes on later, also after it was killed: what it needs for that is beside FILE, in the folder FILE.state, until all
    is trained.
    """
    kinds, methods = chosen(systems, SYSTEMS, "system"), chosen(alignments, ALIGNMENTS, "alignment")
    if out is not None:
        _check_out(out)
    every = settings_of(setting if preset == "auto" else preset, changes)

    from reinflect.experiments.ablation import ablate, factors

    compared = factors(vary, {kind: every[kind] for kind in kinds})
    corpora = _corpora(Path(data), languages, setting)
    where = device_for(device)
    _say_plan(compared, corpora, setting, seeds)

    from reinflect.alignment.cache import default_folder
    from reinflect.cli.progress import display
    from reinflect.execution.state import State

    state = None if out is None else State(Path(out))
    with state.held() if state else nullcontext():
        with display() as shown:
            found = ablate(
                corpora,
                compared,
                alignments=methods,
                seeds=seeds,
                device=where,
                workers=workers or cores(),
                watcher=shown,
                alignment_cache=default_folder(),
                state=state,
            )
        click.echo(_tables(found, compared), nl=False)
        for note in _notes(found, resumable=state is not None):
            click.echo(note, err=True)
        if out is not None and found.interrupted and _is_complete(out):
            click.echo(f"note: {out} is still the whole comparison of before", err=True)
        elif out is not None:
            write_text(out, _as_json(found, data=data, setting=setting, seeds=seeds, device=where))
            click.echo(f"written: {out}", err=True)
        if state and not found.interrupted:
            state.remove()
    if found.interrupted:
        context.exit(INTERRUPTED)


def _check_out(out: str) -> None:
    """Whether a comparison can be written there, and nothing else would be lost by it."""
    if out == STANDARD:
        raise OutputError(out, "the table is written there", "name a file with --out")
    check_writable(out)
    if Path(out).is_file() and Path(out).stat().st_size and _written(out) is None:
        raise OutputError(out, "there is a file of this name that is no comparison", "choose another --out")


def _is_complete(out: str) -> bool:
    return (_written(out) or {}).get("interrupted") is False


def _written(out: str) -> dict[str, Any] | None:
    """What an earlier command found, if that is what the file has."""
    try:
        there = json.loads(read_bytes(out))
    except (InputError, ValueError, RecursionError):
        return None
    return there if isinstance(there, dict) and "rows" in there and "settings" in there else None


def _corpora(folder: Path, languages: str, setting: str) -> "list[Corpus]":
    from reinflect.execution.corpora import languages_in, read_corpora

    named = [name.strip() for name in languages.split(",") if name.strip()]
    if not named:
        raise InputError("found no language in --languages", f"name some, or {EVERY_LANGUAGE}")
    everyone = EVERY_LANGUAGE in named
    found, absent = read_corpora(folder, languages_in(folder, None if everyone else named), [setting])
    names = ", ".join(label.removesuffix(f"-{setting}") for label in absent)
    if absent and (not everyone or not found):
        raise InputError(
            f"found no training file for {setting} of {names}",
            "leave that out, or choose another --setting",
            path=folder,
        )
    if absent:
        click.echo(f"note: left out, as there is no training file for {setting}: {names}", err=True)
    return found


def _say_plan(compared: "Sequence[Factor]", corpora: "Sequence[Corpus]", setting: str, seeds: int) -> None:
    tried = {(factor.system, settings) for factor in compared for settings in factor.variants.values()}
    many = f"{len(corpora)} languages" if len(corpora) > 1 else corpora[0].language
    seeds_each = f"{seeds} seeds" if seeds > 1 else "1 seed"
    click.echo(f"comparing {len(tried)} variants on {many} at {setting}, {seeds_each} of each", err=True)


def _tables(found: "Ablation", compared: "Sequence[Factor]") -> str:
    from reinflect.evaluation.tables import table

    parts = []
    for factor in compared:
        own = [row for row in found.rows if (row.system, row.key) == (factor.system, factor.key)]
        methods = list(own[0].votes)
        several = ["MAX"] if len(methods) > 1 else []
        header = [
            factor.system,
            *(f"E({method})" for method in methods),
            *several,
            "single",
            "epoch",
            "seconds",
            "difference",
            "95 %",
            "p",
            "Holm",
            "languages",
            "verdict",
        ]
        rows = [
            [
                row.variant,
                *(f"{row.votes[method]:.2f}" for method in methods),
                *([f"{row.best_vote:.2f}"] if several else []),
                f"{row.single:.2f}",
                f"{row.best_epoch:.1f}",
                f"{row.seconds:.0f}{'*' if row.shared else ''}",
                *_against(row.against_base, row.corrected),
                row.verdict,
            ]
            for row in own
        ]
        sides: list[Side] = ["left", *["right"] * (len(header) - 2), "left"]  # type: ignore[list-item]
        parts.append(table(header, rows, sides=sides))
    return "\n".join(parts)


def _against(found: "PairedDifference | None", corrected: float | None) -> list[str]:
    if found is None or corrected is None:
        return [""] * 5
    return [
        f"{found.difference:+.2f}",
        f"{found.low:+.2f} to {found.high:+.2f}",
        f"{found.p_value:.4f}" if found.enough else "",
        f"{corrected:.4f}" if found.enough else "",
        f"+{found.groups_won} -{found.groups_lost}",
    ]


def _notes(found: "Ablation", *, resumable: bool) -> list[str]:
    from reinflect.evaluation.significance import FEWEST

    against = [row.against_base for row in found.rows if row.against_base]
    notes = []
    if any(row.shared for row in found.rows):
        notes.append("note: * the time of all variants that were trained side by side in the same fleets")
    pairs = f"{against[0].pairs} pairs of models that share language, alignment and seed"
    notes.append(
        f"note: E is the vote of the seeds, epoch the best one; differences are of single models, in points of dev "
        f"accuracy, by {pairs}; Holm is p corrected for the number of comparisons"
    )
    if not all(one.enough for one in against):
        notes.append(
            f"note: fewer than {FEWEST} pairs differ, from which nothing follows; give more --seeds or --languages"
        )
    if found.diverged:
        notes.append(f"note: {found.diverged} of {len(found.models)} models diverged each time, and count as 0")
    if found.interrupted:
        notes.append(f"note: interrupted; these are the languages that were done: {', '.join(found.languages)}")
        if resumable:
            notes.append("note: the same command goes on with the others")
    return notes


def _as_json(found: "Ablation", **about: str | int) -> str:
    """Rows and models name their settings by the number in the list of all."""
    import msgspec

    settings = list(dict.fromkeys(one.settings for one in found.models))
    whole = {
        "version": __version__,
        **about,
        "languages": found.languages,
        "interrupted": found.interrupted,
        "settings": msgspec.to_builtins(settings),
        "rows": [
            asdict(row) | {"settings": settings.index(row.settings), "verdict": row.verdict} for row in found.rows
        ],
        "models": [
            {
                "language": one.language,
                "system": one.system,
                "alignment": one.alignment,
                "seed": one.seed,
                "settings": settings.index(one.settings),
                "accuracy": one.accuracy,
                "best_epoch": one.best_epoch,
                "diverged": one.voter is None,
                "pack": one.pack,
            }
            for one in found.models
        ],
        "seconds": found.seconds,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
