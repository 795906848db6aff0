"""`reinflect benchmark`: train the paper's models on a folder of languages, and write its tables and its figure."""

import shlex
import sys
from pathlib import Path

import click

from reinflect.cli import training
from reinflect.cli.options import option, say
from reinflect.errors import INTERRUPTED, InputError, ReinflectError
from reinflect.systems import PAPER_ALIGNMENTS, SYSTEMS

GRIDS = ("paper", "best", "quick", "small")
ENGINES = ("processes", DASK := "dask")
GIB = 2**30
SECONDS_BETWEEN, SECONDS_ON_A_GPU = 60.0, 600.0
"""Between checkpoints. On a GPU a pack has gigabytes, so that writing a checkpoint takes long."""

EXAMPLE = """\b
Example (some minutes; the first line needs a network):
  reinflect data fetch conll2017 --languages welsh,haida --into conll2017
  reinflect benchmark --data conll2017 --settings low --grid quick --out benchmark
"""


@click.command("benchmark", epilog=EXAMPLE)
@training.data_option
@training.languages_option
@option("--settings LIST", "Sizes of training data, separated by commas.", default=",".join(training.SIZES))
@option(
    "--grid",
    "What to train: all models of the paper (20, 18 and 12 for a language), these and others that make votes better "
    "(40, 26 and 20), a few of the paper's to try (quick), or fewer at medium and high for many languages (small).",
    type=click.Choice(GRIDS),
    default="paper",
)
@option(
    "--systems LIST",
    "Further systems, one model of each alignment: such as a system of another package.",
    default="",
)
@training.augment_option()
@option("--out DIR", "Folder for all results; it is made if it does not exist.", required=True)
@training.set_option
@training.device_option
@training.workers_option(
    "Number of processes (default: one for each core). On a GPU one of them trains, or all that you ask for here: see "
    "docs/benchmark.md. On a CPU the result does not depend on it."
)
@option(
    "--engine",
    "What trains: processes of this command, or the workers of a Dask cluster (see docs/cluster.md). Without "
    "--scheduler and --scheduler-file, dask starts a cluster of --workers processes on this computer.",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
)
@option("--scheduler ADDRESS", "The scheduler of a Dask cluster, such as tcp://host:8786.")
@option("--scheduler-file FILE", "The file of a Dask scheduler that has its address.")
@option(
    "--tls AUTHORITY CERTIFICATE KEY",
    "PEM files for a scheduler with TLS: the certificate of the authority, and a certificate with its key.",
    nargs=3,
)
@option(
    "--wait SECONDS",
    "Give up when a Dask cluster has had no worker for this time.",
    type=click.FloatRange(min=0),
    default=60.0,
)
@option(
    "--pack-memory GIB",
    "Memory of a GPU for one pack of models (default: about a quarter of what the GPU has).",
    type=click.FloatRange(min=0, min_open=True),
)
@option(
    "--time-limit SECONDS",
    "Stop training after this time; the same command resumes it. 0 trains nothing.",
    type=click.FloatRange(min=0),
)
@option("--save-models", "Keep an inflector for each language and setting, in DIR/models.")
@option("--gold DIR", "A folder with the right forms of test items (LANGUAGE-uncovered-test), to score these too.")
@option("--merge DIR", "Another folder that this command wrote, whose trained models are used too.", multiple=True)
def command(
    data: str,
    languages: str,
    settings: str,
    grid: str,
    systems: str,
    augmentations: tuple[str, ...],
    out: str,
    changes: tuple[str, ...],
    device: str,
    workers: int | None,
    engine: str,
    scheduler: str | None,
    scheduler_file: str | None,
    tls: tuple[str, str, str] | None,
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
    (tables, claims), results.json, and the figure languages-dev.svg.

    The training can stop at any time, by Ctrl-C, --time-limit or a power cut; the same command resumes it. A finished
    pack of models is a file in DIR/packs; --merge combines those of several machines.
    """
    which = training.chosen(settings, training.SIZES, "setting")
    further = training.chosen(systems, SYSTEMS, "system") if systems else []
    names = None if languages.strip() == training.EVERY_LANGUAGE else [name.strip() for name in languages.split(",")]
    for folder in (gold, *merge):
        if folder and not Path(folder).is_dir():
            raise InputError("there is no such folder", "check its name", path=folder)
    _check_engine(engine, scheduler, scheduler_file, workers)
    remote = scheduler is not None or scheduler_file is not None
    if tls and not remote:
        raise InputError("found --tls without a scheduler", "name it with --scheduler or --scheduler-file")
    where = device if remote else training.device_for(device)
    seconds = training.checkpoint_seconds(SECONDS_ON_A_GPU if where == "cuda" else SECONDS_BETWEEN)

    from reinflect.align.cache import default_folder
    from reinflect.cli.progress import display
    from reinflect.learn.lesson import Preparation
    from reinflect.paper import grid as grids
    from reinflect.paper.benchmark import BenchmarkPlan, run_benchmark
    from reinflect.paper.folder import held
    from reinflect.paper.output import write_all, write_models
    from reinflect.paper.tables import languages_note, main_table, markdown
    from reinflect.run.cluster import Where, address_in
    from reinflect.run.resources import Resources

    cluster = None
    if engine == DASK:
        address = scheduler if scheduler_file is None else address_in(scheduler_file)
        cluster = Where(address, workers or (1 if where == "cuda" else training.cores()), wait, tls)
    entries = grids.with_systems(grids.GRIDS[grid], further, PAPER_ALIGNMENTS)
    trained = list(dict.fromkeys(entry.system for entry in entries))
    augmentations = tuple(dict.fromkeys((*augmentations, *(name for own in entries for name in own.augmentations))))
    others = (*PAPER_ALIGNMENTS, *augmentations)
    tables = {setting: training.settings_of(setting, changes, trained, *others) for setting in which}
    plan = BenchmarkPlan(
        data=Path(data),
        out=Path(out),
        grid=entries,
        presets={name: {system: own[system] for system in trained} for name, own in tables.items()},  # type: ignore[misc]
        preparation=Preparation.of(tables[which[0]], PAPER_ALIGNMENTS, augmentations),
        languages=names,
        time_limit=time_limit,
        save_models=save_models,
        gold=Path(gold) if gold else None,
        merge=[Path(folder) for folder in merge],
    )
    click.get_current_context().with_resource(held(Path(out)))
    with display() as shown:
        resources = Resources(
            device=where,
            workers=training.cores() if where == "cuda" else workers or training.cores(),
            trainers=workers,
            cluster=cluster,
            pack_memory=None if pack_memory is None else int(pack_memory * GIB),
            checkpoint_seconds=seconds,
            alignment_cache=default_folder(),
            watcher=shown,
        )
        benchmark = run_benchmark(plan, resources)
    about = [f"data: {Path(data).name}; grid: {grid}"]
    about += [f"settings changed: {', '.join(changes)}"] if changes else []
    write_all(benchmark, Path(out), about=about, command={"command": shlex.join(["reinflect", *sys.argv[1:]])})
    notes = write_models(benchmark, Path(out)) if save_models else []
    for split, figures in benchmark.scores.items():
        if figures:
            click.echo(f"{markdown(main_table(figures, split), 2)}\n{languages_note(figures)}")
    say(*notes, *(f"note: {text}" for text in benchmark.account.retried))
    if left := len(benchmark.specs) - len(benchmark.models):
        say(f"note: {left} of {len(benchmark.specs)} models are not trained yet; the same command resumes the training")
    say(f"written: {out} (results.md has all tables)")
    if benchmark.account.failed:
        raise ReinflectError(benchmark.account.failed)
    if benchmark.account.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _check_engine(engine: str, scheduler: str | None, scheduler_file: str | None, workers: int | None) -> None:
    """Check that at most one cluster is named, and only with --engine dask."""
    ways = {"--scheduler": scheduler, "--scheduler-file": scheduler_file, "--workers": workers}
    given = [option for option, value in ways.items() if value is not None]
    if engine == DASK and len(given) > 1:
        raise InputError(f"found both {given[0]} and {given[1]}", "say which cluster with one of them")
    if engine != DASK and given and given[0] != "--workers":
        raise InputError(f"found {given[0]} without --engine {DASK}", f"add --engine {DASK}, or leave it out")
