"""`reinflect benchmark`: the paper's grid on a folder of languages, with its tables and its figure."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import (
    chosen,
    cores,
    device_for,
    device_option,
    settings_of,
    workers_option,
)
from reinflect.cli.train import checkpoint_seconds
from reinflect.errors import INTERRUPTED, InputError, ReinflectError

if TYPE_CHECKING:
    from reinflect.experiments.run import Benchmark

SETTINGS = ("low", "medium", "high")
GRIDS = ("paper", "quick")
ALL = "all"
ENGINES = ("processes", DASK := "dask")
GIB = 2**30
SECONDS_BETWEEN, SECONDS_ON_A_GPU = 60.0, 600.0
"""Between checkpoints. The packs of a GPU are gigabytes, and take minutes."""

EXAMPLE = """\b
Example (some minutes; the first line needs a network):
  reinflect data fetch conll2017 --languages welsh,haida --into conll2017
  reinflect benchmark --data conll2017 --settings low --grid quick --out benchmark
"""


@click.command("benchmark", epilog=EXAMPLE)
@click.option(
    "--data",
    metavar="DIR",
    required=True,
    help="A folder with files LANGUAGE-train-SETTING, LANGUAGE-dev and perhaps LANGUAGE-covered-test.",
)
@click.option("--languages", metavar="LIST", default=ALL, show_default=True, help="Which of its languages.")
@click.option(
    "--settings", metavar="LIST", default=",".join(SETTINGS), show_default=True, help="Which sizes of training data."
)
@click.option(
    "--grid",
    type=click.Choice(GRIDS),
    default="paper",
    show_default=True,
    help="What to train: all models of the paper (20, 18 and 12 for a language), or a few of them.",
)
@click.option("--out", metavar="DIR", required=True, help="Where everything goes: a folder, made if need be.")
@click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a setting of the presets low, medium and high, as in reinflect train. May be repeated.",
)
@device_option
@workers_option(
    "Processes; as many as there are cores unless you say otherwise. On a GPU one of them trains, or as many as "
    "you say here: see docs/benchmark.md. On a CPU results do not depend on it."
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Who trains: processes of this command, or the workers of a Dask cluster (see docs/cluster.md). With neither "
    "of the next two options, dask starts a cluster of --workers processes here.",
)
@click.option("--scheduler", metavar="ADDRESS", help="The scheduler of a Dask cluster, such as tcp://host:8786.")
@click.option("--scheduler-file", metavar="FILE", help="The same, from the file that the scheduler wrote.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Give up when a Dask cluster has had no worker for so long.",
)
@click.option(
    "--pack-memory",
    metavar="GIB",
    type=click.FloatRange(min=0, min_open=True),
    help="How much memory of a GPU a pack of models may take. Unless you say, about a quarter of what the GPU has.",
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    help="Stop training after so long, and go on with the same command another time; 0 trains nothing.",
)
@click.option("--save-models", is_flag=True, help="Keep an inflector for each language and setting, in DIR/models.")
@click.option(
    "--gold",
    metavar="DIR",
    help="A folder with the right forms of test items (LANGUAGE-uncovered-test), to score these too.",
)
@click.option(
    "--merge",
    metavar="DIR",
    multiple=True,
    help="Take over what was trained elsewhere: another folder that this command wrote. May be repeated.",
)
@click.pass_context
def command(
    context: click.Context,
    data: str,
    languages: str,
    settings: str,
    grid: str,
    out: str,
    changes: tuple[str, ...],
    device: str,
    workers: int | None,
    engine: str,
    scheduler: str | None,
    scheduler_file: str | None,
    wait: float,
    pack_memory: float | None,
    time_limit: float | None,
    save_models: bool,
    gold: str | None,
    merge: tuple[str, ...],
) -> None:
    """Train the models of the 2017 paper on all languages of a folder, let them vote, and compare with the paper.

    For every language and setting: align, train every model with the preset of that setting, inflect dev and covered
    test items, and combine them in the paper's seven runs. Writes into DIR: predictions of every system, results.md
    (tables, claims), results.json, and the figure languages-dev (SVG, PNG).

    It can be stopped at any time, by Ctrl-C, --time-limit or a power cut; the same command goes on. A finished pack of
    models is a file in DIR/packs; files from several machines can be put together (--merge).
    """
    which = chosen(settings, SETTINGS, "setting")
    names = None if languages.strip() == ALL else [name.strip() for name in languages.split(",")]
    presets = {setting: settings_of(setting, changes) for setting in which}
    for folder in (*([gold] if gold else []), *merge):
        if not Path(folder).is_dir():
            raise InputError("there is no such folder", "check its name", path=folder)
    _check_engine(engine, scheduler, scheduler_file, workers)
    remote = scheduler is not None or scheduler_file is not None
    where = device if remote else device_for(device)
    seconds = checkpoint_seconds(SECONDS_ON_A_GPU if where == "cuda" else SECONDS_BETWEEN)

    from reinflect.alignment.cache import default_folder
    from reinflect.cli.progress import display
    from reinflect.execution.cluster import Where, address_in
    from reinflect.execution.grid import GRIDS as KNOWN
    from reinflect.experiments.folder import held
    from reinflect.experiments.run import run_benchmark
    from reinflect.paper.output import write_all, write_models
    from reinflect.paper.tables import languages_note, main_table

    cluster = None
    if engine == DASK:
        address = scheduler if scheduler_file is None else address_in(scheduler_file)
        cluster = Where(address, workers or (1 if where == "cuda" else cores()), wait)
    context.with_resource(held(Path(out)))
    with display() as shown:
        benchmark = run_benchmark(
            Path(data),
            Path(out),
            grid=KNOWN[grid],
            presets=presets,
            languages=names,
            device=where,
            workers=workers or cores(),
            trainers=workers,
            cluster=cluster,
            pack_memory=None if pack_memory is None else int(pack_memory * GIB),
            time_limit=time_limit,
            save_models=save_models,
            gold=Path(gold) if gold else None,
            merge=[Path(folder) for folder in merge],
            watcher=shown,
            alignment_cache=default_folder(),
            checkpoint_seconds=seconds,
        )
    about = [
        f"data: {Path(data).name}; grid: {grid}",
        *([f"settings changed: {', '.join(changes)}"] if changes else []),
    ]
    said = {"command": shlex.join(["reinflect", *sys.argv[1:]])}
    notes = write_all(benchmark, Path(out), about=about, command=said)
    if save_models:
        notes += write_models(benchmark, Path(out))
    for split, figures in benchmark.scores.items():
        if figures:
            click.echo(f"{main_table(figures, split)}\n{languages_note(figures)}")
    for note in (*notes, *_notes(benchmark, out)):
        click.echo(note, err=True)
    if benchmark.account.failed:
        raise ReinflectError(benchmark.account.failed)
    if benchmark.account.interrupted:
        context.exit(INTERRUPTED)


def _check_engine(engine: str, scheduler: str | None, scheduler_file: str | None, workers: int | None) -> None:
    """Whether at most one cluster is named, and only where one is asked for."""
    ways = {"--scheduler": scheduler, "--scheduler-file": scheduler_file, "--workers": workers}
    given = [option for option, value in ways.items() if value is not None]
    if engine == DASK and len(given) > 1:
        raise InputError(f"found both {given[0]} and {given[1]}", "say which cluster with one of them")
    if engine != DASK and given and given[0] != "--workers":
        raise InputError(f"found {given[0]} without --engine {DASK}", f"add --engine {DASK}, or leave it out")


def _notes(benchmark: "Benchmark", out: str) -> Sequence[str]:
    account, left = benchmark.account, len(benchmark.wanted) - len(benchmark.trained)
    notes = [f"note: {text}" for text in account.retried]
    if left:
        notes.append(f"note: {left} of {len(benchmark.wanted)} models are not trained yet; the same command goes on")
    notes.append(f"written: {out} (results.md has all tables)")
    return notes
