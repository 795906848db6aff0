"""`reinflect train`: learn to inflect from examples; `reinflect forecast`: what more examples would be worth."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.pairs import default_folder
from reinflect.cli.models import load_inflector, model_file, read_for_models
from reinflect.cli.options import (
    POSITIVE,
    Gathered,
    Output,
    columns_option,
    command,
    json_text,
    option,
    say,
    source,
    strategy_option,
    words_option,
)
from reinflect.data.corrections import read_training_files
from reinflect.data.items import Columns
from reinflect.data.lexicon import WordList
from reinflect.data.sheets import sheet_bundles
from reinflect.errors import INTERRUPTED, InputError, OutputError, quoted, source_name
from reinflect.files import STANDARD, kind_of_sheet
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import AUGMENTATIONS, DEFAULTS, PAPER_ALIGNMENTS, PAPER_SYSTEMS, Wish
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.run.watch import Resources

CHECKPOINT_SECONDS, SECONDS_BETWEEN = "REINFLECT_CHECKPOINT_SECONDS", 60.0


def names(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


names_option = partial(option, type=names)
augment_option = option("--augment NAME", f"Also learn from made-up items: {', '.join(AUGMENTATIONS)}.", multiple=True)
set_option = option(
    "--set KEY=VALUE",
    "Change a setting of all systems (hidden=200), of one (haem.hidden=200), of an aligner (smart.sweeps=50), or of an "
    "augmentation (made-up.times=8).",
    multiple=True,
)
device_option = option("--device", "What to train on.", click.Choice(["auto", "cpu", "cuda"]), default="auto")
workers_option = partial(option, "--workers N", type=POSITIVE)
low, medium, high = (",".join(DEFAULTS[preset].kinds or ()) for preset in ("low", "medium", "high"))
KINDS = (
    "Kinds of models, separated by commas: each a system, its alignment if it learns from one, and perhaps an "
    f"augmentation (default: {low}; from 320 items on {medium}; from 3,200 on {high})."
)


def wish_options(seeds_of: str, preset: str, *, by_size: bool = False, **more: Any) -> Any:
    """The options of a `Wish`; `preset` says what auto means.

    With `by_size`, the number of items decides on the kinds unless the user does.
    """
    default = "{} if only --{}, --augment or --from is given" if by_size else "default: {}"
    systems = default.format(",".join(PAPER_SYSTEMS), "alignments")
    alignments = default.format(",".join(PAPER_ALIGNMENTS), "systems")
    presets = f"Settings: low, medium, high ({preset}), paper-low, paper-medium, paper-high, or a TOML file."
    return Gathered(
        Wish,
        **{"kinds": names_option("--kinds LIST", KINDS)} if by_size else {},
        systems=names_option("--systems LIST", f"Systems to train: {', '.join(SYSTEMS)} ({systems})."),
        alignments=names_option(
            "--alignments LIST", f"Alignments to learn from: {', '.join(ALIGNERS)} ({alignments})."
        ),
        augment=augment_option,
        seeds=option("--seeds N", f"Number of models of {seeds_of}.", click.IntRange(1, 100), default=5),
        preset=option("--preset NAME", presets, default="auto"),
        changes=set_option,
        **more,
    )


def make_resources(
    device: str, workers: int | None = None, *, gpu_seconds: float = SECONDS_BETWEEN, **more: Any
) -> "AbstractContextManager[Resources]":
    """What a training may use, while its progress is displayed; refused at once where torch is missing.

    `gpu_seconds` are those between checkpoints on a GPU. There `trainers` train, and all cores do the rest.
    """
    from reinflect.train import check_torch

    check_torch()
    where = device if more.get("scheduler") else device_for(device)
    seconds = checkpoint_seconds(gpu_seconds if where == "cuda" else SECONDS_BETWEEN)
    number = cores() if where == "cuda" and more.get("trainers") else workers or cores()
    return _displayed(device=where, workers=number, checkpoint_seconds=seconds, **more)


resources_options: Any = Gathered(
    make_resources,
    device=device_option,
    workers=workers_option("Processes on the CPU (default: one for each core). The result does not depend on them."),
)


@contextmanager
def _displayed(**options: Any) -> "Iterator[Resources]":
    from reinflect.run.watch import Resources, display

    with display() as watcher:
        yield Resources(**{"alignment_cache": default_folder(), **options, "watcher": watcher})


def device_for(device: str) -> str:
    """The device that `--device` stands for on this computer."""
    if device == "cpu":
        return device
    import torch

    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise InputError("found --device cuda, but torch finds no GPU", "use --device cpu, or check the GPU's driver")
    return "cuda" if available else "cpu"


def cores() -> int:
    """The number of processes that can work at once: the default of `--workers`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checkpoint_seconds(default: float) -> float:
    text = os.environ.get(CHECKPOINT_SECONDS, str(default))
    with suppress(ValueError):
        if (seconds := float(text)) >= 0:
            return seconds
    raise InputError(f"found {CHECKPOINT_SECONDS}={quoted(text)}", "set it to a number of seconds, such as 60")


MOST = 1_000_000
MULTIPLES = (2, 5, 10)
"""Of the forms that are there: what is forecast without `--forms`. The interval was checked up to the last one."""
SAMPLES_A_SECOND = 500
"""Items that a core of a laptop trains on in a second, roughly."""


@command(
    "reinflect data show german-verbs --split train-low > verbs.tsv",
    "reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive",
    about="about a minute",
)
def train(
    train: str = option("--train FILE", "Items with their forms, to learn from.", source, required=True),
    dev: str | None = option(
        "--dev FILE", "Items to pick the best version of each model by (default: each seed holds out a fifth).", source
    ),
    additions: tuple[str, ...] = option(
        "--add FILE", "New items, or corrections of those with the same lemma and features.", source, multiple=True
    ),
    compare: str | None = option("--compare MODEL", "Earlier model: which items does only one get right?", model_file),
    output: Output = Output.options("to write the model (a file, usually .reinflect)", names="--out MODEL", default=""),
    half: bool = option("--half", "Keep the model in half precision: a file half as large, hardly less accurate."),
    attested: bool = option("--attested/--no-attested", "Keep the forms of all items as attested ones.", default=True),
    words: WordList | None = words_option(
        "Evidence for forms: lines of a word (and a tab and its count), or any text."
    ),
    wish: Wish = wish_options(
        "each kind",
        "by the size of the data; auto chooses",
        by_size=True,
        first_seed=option("--first-seed S", "First seed; others follow it.", click.IntRange(1, 900), default=1),
        starts=option(
            "--from MODEL|LANGUAGE|auto",
            "For each kind, train a second model that starts from another model (a file or a language of reinflect "
            "models; auto takes those that inflect your items best). It helps with few items and a related language.",
            multiple=True,
        ),
        strategy=strategy_option("Which trained models vote; inflect --strategy can choose others"),
    ),
    resources: "AbstractContextManager[Resources]" = resources_options,
    verbose: bool = option("--verbose", "Also list the models with their accuracies."),
    columns: Columns = columns_option,
) -> None:
    """Train models on the items of a file, which then inflect together by vote.

    The number of items decides which kinds of models are trained. A kind is a system (hacm copies or writes letters;
    haem edits the lemma; soft attends to the whole lemma), with an alignment of lemmas with forms if it learns from one
    (naive: position by position; smart: learnt), and perhaps with made-up items that it learns from first. With
    --systems, --alignments, --augment or --from, every system learns from every alignment instead.

    Files are tab-separated, or spreadsheets (.csv, .xlsx). Train again with --add after you have corrected or added
    items; --compare says what that changed.

    Ctrl-C ends the training early with the best models so far. The same command then resumes it, as after any accident,
    from the folder MODEL.state, which is removed at the end (checkpoints are 60 seconds apart, or
    REINFLECT_CHECKPOINT_SECONDS). MODEL.log.jsonl has a line for every epoch of every model.
    """
    from reinflect.assemble import Keep
    from reinflect.changes import Rival
    from reinflect.train import check_replaceable, train_model

    if output.path == STANDARD:
        raise OutputError(STANDARD, "a model is not text for the screen", "name a file with --out")
    out, log = str(output.path), f"{output.path}.log.jsonl"
    output.check(*wish.starts, replaces="model")
    Output(log, option="--out").check(*wish.starts, replaces="JSON")
    if not output.force:
        check_replaceable(Path(out))
    files = read_training_files(train, additions, dev, columns, say)
    rival = Rival.of(compare, load_inflector(compare), files, train) if compare else None
    if rival:
        say(*(f"note: {compare}: {doubt}" for doubt in rival.inflector.doubts(item.features for item in rival.gold)))
    if not dev:
        fold = "a fifth of the items" if wish.seeds == 1 else "another fifth of the items"
        say(
            f"note: without --dev, each seed holds out {fold} and learns from the other 80 %; the accuracies below are "
            "those of items that were held out"
        )
    cells = sheet_bundles(train, columns) if kind_of_sheet(train) else ()
    keep = Keep(half, attested, columns.labels, cells, words, columns.normalisation)
    with resources as used:
        outcome = train_model(
            files.items, files.dev, wish, keep, used, source=source_name(train), out=Path(out), force=output.force
        )
    if verbose:
        click.echo(outcome.table())
    if rival and not outcome.training.interrupted:
        click.echo(rival.text(outcome.inflector, out, files.items))
    say(*outcome.notes(out, keep))
    if outcome.written:
        output.written(about=f" (and {log})")
        say(f"next: reinflect inflect {out} LEMMA FEATURES, or reinflect inflect {out} --input WORDS")
    click.echo(outcome.expectation(out))
    if outcome.training.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _forms(text: str) -> list[int]:
    """The numbers of a list with commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 < int(word) <= MOST for word in words):
        remedy = f"give numbers from 2 to {MOST:,}, joined by commas, such as 250,500,1000"
        raise InputError(f"found --forms {quoted(text)}", remedy)
    return sorted(set(map(int, words)))


@command(
    "reinflect data show german-verbs --split train-low > verbs.tsv",
    "reinflect forecast --train verbs.tsv --forms 250,500,1000",
    about="about a minute",
)
def forecast(
    train: str = option("--train FILE", "The items with their forms that you have.", source, required=True),
    forms: list[int] | None = option(
        "--forms LIST", "Numbers of forms to forecast for (default: 2, 5 and 10 times those you have).", _forms
    ),
    output: Output = Output.options(
        "to write it, for report --forecast", names="--out FILE.json", default="forecast.json", force=False
    ),
    wish: Wish = wish_options("each kind and part of the items; each holds out another fifth", "by size, made smaller"),
    resources: "AbstractContextManager[Resources]" = resources_options,
    columns: Columns = columns_option,
) -> None:
    """Say how many forms a model will get right once there are more to learn from than FILE has.

    Each fifth of the items is held out in turn; small models learn from a quarter, a half and all of the others, and
    inflect the held-out ones. The line through their accuracies (log odds of a right form over the logarithm of the
    number of items) is continued. The interval should hold the true accuracy four times out of five. The models of
    train are larger and more: they get some more forms right.

    Ctrl-C stops; the same command then resumes from the folder FILE.json.state.
    """
    from reinflect.forecast import outcomes, share_specs, small_plan
    from reinflect.run.watch import spell_seconds

    output.check(replaces="JSON")
    items, name = read_for_models(train, columns), source_name(train)
    plan = small_plan(wish, len(items))
    shares = share_specs(items, plan, name)
    specs = [spec for share in shares.values() for spec in share]
    samples = sum(len(spec.lesson.train) * spec.settings.epochs for spec in specs)
    with resources as used:
        duration = spell_seconds(samples / SAMPLES_A_SECOND / min(used.workers, len(specs)))
        say(f"training {len(specs)} small models on parts of {name}; this takes a laptop about {duration}")
        measured = outcomes(items, shares, plan.strategy, Path(output.path), used)
    numbers = forms or [multiple * len(items) for multiple in MULTIPLES]
    result = measured.forecast(numbers, Path(train).name, len(items), list(map(str, plan.kinds)))
    rows = [(str(share.items), f"{share.accuracy:.2f}") for share in result.measured]
    click.echo(table(("forms learnt from", "right, %"), rows, sides=("right", "right")))
    click.echo("\n".join(f"{expected}." for expected in result.expected))
    scored, most = result.measured[-1].scored, MULTIPLES[-1]
    notes = [f"note: by small models on {scored} held-out forms; those of train get some more right"]
    if result.expected[-1].items > most * len(items):
        notes.append(f"note: intervals were checked up to {most} times the forms there are; this one may be too narrow")
    output.write(lambda: json_text(result, 2), notes=notes, about=" (reinflect report MODEL --forecast draws it)")
