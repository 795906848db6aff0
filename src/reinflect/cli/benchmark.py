"""`reinflect benchmark`: train the paper's models on a folder of languages, and write its tables and its figure."""

import shlex
import sys
from pathlib import Path

import click

from reinflect.cli.options import command, option, say
from reinflect.cli.train import augment_option, device_option, make_resources, names_option, set_option, workers_option
from reinflect.errors import INTERRUPTED, InputError, ReinflectError, nearest, quoted
from reinflect.paper.grid import GRIDS, with_kinds
from reinflect.systems.kind import PAPER_ALIGNMENTS, Kind, crossed, grid_plan

ALL, SIZES = "all", ("low", "medium", "high")
GIB = 2**30
SECONDS_ON_A_GPU = 600.0
"""Between checkpoints: a pack has gigabytes there, so that writing one takes long."""


def _folder(path: str) -> Path:
    if not Path(path).is_dir():
        raise InputError("there is no such folder", "check its name", path=path)
    return Path(path)


@command(
    "reinflect data fetch conll2017 --languages welsh,haida --into conll2017",
    "reinflect benchmark --data conll2017 --settings low --grid quick --out benchmark",
    about="some minutes; the first line needs a network",
)
def benchmark(
    data: str = option(
        "--data DIR",
        "Folder with files such as german-train-low, german-dev and german-covered-test, or deu.trn and deu.dev.",
        required=True,
    ),
    languages: tuple[str, ...] = names_option("--languages LIST", "Languages, separated by commas.", default=ALL),
    settings: tuple[str, ...] = names_option("--settings LIST", "Sizes of training data.", default=",".join(SIZES)),
    grid: str = option(
        "--grid",
        "What to train: all models of the paper (20, 18 and 12 for a language), these and others that make votes "
        "better (40, 26 and 20), a few of the paper's to try (quick), or fewer at medium and high for many languages "
        "(small).",
        click.Choice(list(GRIDS)),
        default="paper",
    ),
    kinds: tuple[str, ...] | None = names_option(
        "--kinds LIST",
        "Further kinds of models to train, one model of each: for an aligner or a system of another package, such as "
        "haem-mirror or toy.",
    ),
    systems: tuple[str, ...] | None = names_option(
        "--systems LIST",
        f"Further systems, one model of each with each of the alignments {' and '.join(PAPER_ALIGNMENTS)}.",
    ),
    augment: tuple[str, ...] = augment_option,
    out: Path = option("--out DIR", "Folder for all results; made if it does not exist.", required=True, type=Path),
    changes: tuple[str, ...] = set_option,
    device: str = device_option,
    workers: int | None = workers_option(
        "Number of processes (default: one for each core). On a GPU one of them trains, or all that you ask for here: "
        "see docs/benchmark.md. On a CPU the result does not depend on it."
    ),
    dask: str | None = option(
        "--dask ADDRESS|FILE",
        "Train on the workers of a Dask cluster instead: the address of its scheduler, such as tcp://host:8786, or the "
        "file that dask scheduler --scheduler-file wrote (see docs/cluster.md).",
    ),
    pack_memory: float | None = option(
        "--pack-memory GIB",
        "Memory of a GPU for one pack of models (default: about a quarter of what the GPU has).",
        click.FloatRange(min=0, min_open=True),
    ),
    time_limit: float | None = option(
        "--time-limit SECONDS",
        "Stop training after this time; the same command resumes it. 0 trains nothing.",
        click.FloatRange(min=0),
    ),
    save_models: bool = option("--save-models", "Keep an inflector for each language and setting, in DIR/models."),
    gold: Path | None = option(
        "--gold DIR",
        "A folder with the right forms of test items (LANGUAGE-uncovered-test), to score these too.",
        _folder,
    ),
    merge: tuple[Path, ...] = option(
        "--merge DIR",
        "Another folder that this command wrote, whose trained models are used too.",
        _folder,
        multiple=True,
    ),
) -> None:
    """Train the models of the 2017 paper on all languages of a folder, let them vote, and compare with the paper.

    For every language and setting: align, train every model with the preset of that setting, inflect dev and covered
    test items, and combine them in the paper's seven runs. Writes into DIR: predictions of every system, results.md
    (tables, claims), results.json, and the figure languages-dev.svg.

    The training can stop at any time, by Ctrl-C, --time-limit or a power cut; the same command resumes it. A finished
    pack of models is a file in DIR/packs; --merge combines those of several machines.
    """
    for name in settings:
        if name not in SIZES:
            remedy = nearest(name, SIZES, f"the settings are {', '.join(SIZES)}")
            raise InputError(f"found the setting {quoted(name)}", remedy)
    if dask and workers:
        raise InputError("found both --dask and --workers", "a cluster has the workers that you start: leave one out")
    memory = None if pack_memory is None else int(pack_memory * GIB)
    resources = make_resources(
        device, workers, trainers=workers, gpu_seconds=SECONDS_ON_A_GPU, scheduler=dask, pack_memory=memory
    )

    from reinflect.paper.benchmark import run_benchmark, store_in, write_all, write_models
    from reinflect.paper.tables import languages_note, main_table, markdown

    further = [*map(Kind.parse, kinds or ()), *crossed(systems or (), PAPER_ALIGNMENTS)]
    models = with_kinds(GRIDS[grid], further, augment)
    plans = {setting: grid_plan(models, setting, changes) for setting in settings}
    store = click.get_current_context().with_resource(store_in(out, save_models=save_models))
    with resources as used:
        trained = run_benchmark(
            Path(data),
            plans,
            store,
            used,
            languages=None if languages == (ALL,) else languages,
            time_limit=time_limit,
            gold=gold,
            merge=merge,
        )
    about = [f"data: {Path(data).name}; grid: {grid}"]
    about += [f"settings changed: {', '.join(changes)}"] if changes else []
    write_all(trained, out, about=about, command={"command": shlex.join(["reinflect", *sys.argv[1:]])})
    notes = write_models(trained, out) if save_models else []
    for split, figures in trained.scores.items():
        if figures:
            click.echo(f"{markdown(main_table(figures, split), 2)}\n{languages_note(figures)}")
    say(*notes, *(f"note: {text}" for text in trained.account.retried))
    if left := len(trained.specs) - len(trained.models):
        say(f"note: {left} of {len(trained.specs)} models are not trained yet; the same command resumes the training")
    say(f"written: {out} (results.md has all tables)")
    if trained.account.failed:
        raise ReinflectError(trained.account.failed)
    if trained.account.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
