"""`reinflect train`: learn to inflect from examples."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.models import load_inflector, model_file
from reinflect.cli.options import columns_option, example, option, say, source_option, strategy_option, words_option
from reinflect.cli.output import Output, output_options
from reinflect.cli.wishes import wish_options
from reinflect.data.items import Columns
from reinflect.data.sheets import sheet_bundles
from reinflect.data.training_files import read_training_files
from reinflect.data.words import WordList
from reinflect.errors import INTERRUPTED, OutputError, source_name
from reinflect.files import STANDARD
from reinflect.systems.kind import Wish

if TYPE_CHECKING:
    from reinflect.run.resources import Resources

EXAMPLE = example(
    "reinflect data show german-verbs --split train-low > verbs.tsv",
    "reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive",
    about="about a minute",
)


@click.command("train", epilog=EXAMPLE)
@source_option("--train FILE", "Items with their forms, to learn from.", required=True)
@source_option(
    "--dev FILE",
    "Items with their forms, kept aside to pick the best version of each model. Without it each seed holds out a fifth "
    "of the training items, and learns from the other 80 %.",
)
@source_option(
    "--add additions FILE",
    "Corrections, which replace items of the same lemma and features, and new items.",
    multiple=True,
)
@option("--compare MODEL", "Earlier model: show which items only one of the two gets right.", type=model_file)
@output_options("to write the model (one file, usually .reinflect)", names="--out path MODEL", default="")
@option("--half", "Keep the model in half precision: a file half as large, hardly less accurate.")
@option(
    "--attested/--no-attested",
    "Whether the model keeps the forms of all items, to show them as attested; without, it holds no training data.",
    default=True,
)
@words_option("Word list as evidence for forms: a word (a tab, its count) on each line, or any text. Also for inflect.")
@wish_options(
    "each kind",
    "by the size of the data; auto chooses",
    option("--first-seed S", "First seed; others follow it.", type=click.IntRange(1, 900), default=1),
    option(
        "--from starts MODEL|LANGUAGE|auto",
        "For each kind, train a second model that starts from another model (a file or a language of reinflect models; "
        "auto takes those that inflect your items best). It helps with few items and a related language.",
        multiple=True,
    ),
    strategy_option("Which trained models vote; inflect --strategy can choose others"),
    by_size=True,
)
@option("--verbose", "Also list the models with their accuracies.")
@columns_option
def command(
    train: str,
    dev: str | None,
    additions: tuple[str, ...],
    compare: str | None,
    output: Output,
    half: bool,
    attested: bool,
    words: WordList | None,
    wish: Wish,
    resources: "AbstractContextManager[Resources]",
    verbose: bool,
    columns: Columns,
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
    keep = Keep(half, attested, columns.labels, sheet_bundles(train, columns), words, columns.normalisation)
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
