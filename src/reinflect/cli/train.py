"""`reinflect train`: learn to inflect from examples."""

from pathlib import Path

import click

from reinflect.cli.files import check_output, check_stdin_once, say_written
from reinflect.cli.models import load_inflector, model_file
from reinflect.cli.options import columns_option, force_option, forced, option, say, strategy_option, words_option
from reinflect.cli.wishes import MakeResources, wish_options
from reinflect.data.items import Columns
from reinflect.data.sheets import sheet_bundles
from reinflect.data.training_files import read_training_files
from reinflect.data.words import WordList
from reinflect.errors import INTERRUPTED, OutputError, source_name
from reinflect.files import STANDARD
from reinflect.systems.kind import Wish

EXAMPLE = """\b
Example (about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
"""


@click.command("train", epilog=EXAMPLE)
@option("--train FILE", "Items with their forms, to learn from.", required=True)
@option(
    "--dev FILE",
    "Items with their forms, kept aside to pick the best version of each model. Without it each seed holds out a "
    "fifth of the training items for that, and learns from the other 80 %.",
)
@option(
    "--add additions FILE",
    "Corrections and new items: one with the lemma and features of a training item replaces it.",
    multiple=True,
)
@option(
    "--compare MODEL",
    "An earlier model: show at the end which items only one of the two models gets right.",
    type=model_file,
)
@option("--out MODEL", "Where to write the trained model: one file; the usual ending is .reinflect.", required=True)
@force_option("a model")
@option("--half", "Keep the model in half precision: a file half as large, hardly less accurate.")
@option(
    "--attested/--no-attested",
    "Whether the model keeps the forms of all items, so that they are shown as attested later. Leave them out of a "
    "model that is to be shared without its data.",
    default=True,
)
@words_option(
    "A word list as evidence for forms: a word on each line, a word, a tab and its count, or any text. Training finds "
    "out what it is worth; give it again to inflect.",
)
@wish_options(
    "each kind",
    "by the size of the data; auto chooses",
    option(
        "--first-seed S", "First seed; further models use the seeds after it.", type=click.IntRange(1, 900), default=1
    ),
    option(
        "--from starts MODEL|LANGUAGE|auto",
        "For each kind, train a second one that starts from what another model knows (a file, or a language of "
        "reinflect models); all vote as they do on held-out items. auto takes the languages whose models inflect your "
        "items best. It helps with few items and a related language in the same script.",
        multiple=True,
    ),
    strategy_option(
        "Which of the trained models vote; the others stay in MODEL, and inflect --strategy can choose them"
    ),
    by_size=True,
)
@option("--verbose", "Also list the models with their accuracies.")
@columns_option
def command(
    train: str,
    dev: str | None,
    additions: tuple[str, ...],
    compare: str | None,
    out: str,
    half: bool,
    attested: bool,
    words: WordList | None,
    wish: Wish,
    resources: MakeResources,
    verbose: bool,
    columns: Columns,
) -> None:
    """Train models on the items of a file, which then inflect together by vote.

    The number of items decides on the kinds of models. A kind is a system (hacm copies or writes letters; haem edits
    the lemma; soft looks at the whole lemma at once), with an alignment of lemmas with forms if the system learns from
    one (naive: position by position; smart: learnt), and perhaps with made-up items that it learns from first. With
    --systems, --alignments, --augment or --from, every system learns from every alignment instead.

    Files are tab-separated, or spreadsheets (.csv, .xlsx). With --add, a model is trained again on items that were
    corrected or added, and --compare says what that changed.

    Ctrl-C ends the training early: MODEL then has the best models so far. After that, or after any accident, the same
    command resumes the training from the folder MODEL.state, which is removed at the end (checkpoints are 60 seconds
    apart, or REINFLECT_CHECKPOINT_SECONDS). MODEL.log.jsonl has a line for every epoch of every model.
    """
    from reinflect.assemble import Keep
    from reinflect.changes import Rival
    from reinflect.cli.progress import display
    from reinflect.train import check_replaceable, train_model

    check_stdin_once(train, dev, *additions)
    if out == STANDARD:
        raise OutputError(out, "a model is not text for the screen", "name a file with --out")
    inputs = [train, dev, *additions, compare, *wish.starts]
    check_output(out, inputs, "--out", again="model")
    check_output(f"{out}.log.jsonl", inputs, "--out", again="JSON")
    if not forced():
        check_replaceable(Path(out))
    files = read_training_files(train, additions, dev, columns, say)
    rival = Rival.of(compare, load_inflector(compare), files, train) if compare else None
    if rival:
        say(*(f"note: {compare}: {doubt}" for doubt in rival.inflector.doubts(item.features for item in rival.gold)))
    if not dev:
        share = "a fifth of the items" if wish.seeds == 1 else "another fifth of the items"
        held_out = f"note: without --dev, each seed holds out {share} and learns from the other 80 %"
        say(f"{held_out}; the accuracies below are those of items that were held out")
    keep = Keep(half, attested, columns.labels, sheet_bundles(train, columns), words, columns.normalisation)
    with display() as shown:
        outcome = train_model(
            files.items, files.dev, wish, keep, resources(watcher=shown),
            source=source_name(train), out=Path(out), force=forced(),
        )  # fmt: skip
    if verbose:
        click.echo(outcome.table())
    if rival and not outcome.training.interrupted:
        click.echo(rival.text(outcome.inflector, out, files.items))
    say(*outcome.notes(out, keep))
    if outcome.written:
        say_written(out, f" (and {out}.log.jsonl)")
        say(f"next: reinflect inflect {out} LEMMA FEATURES, or reinflect inflect {out} --input WORDS")
    click.echo(outcome.expectation(out))
    if outcome.training.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
