"""`reinflect train`: learn to inflect from examples."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.files import check_output, check_stdin_once, say_written
from reinflect.cli.models import load_inflector, model_file
from reinflect.cli.options import columns_option, force_option, forced, option, say, strategy_option, words_option
from reinflect.cli.training import Training, checkpoint_seconds, training_options
from reinflect.data.corrections import corrected, question, read_further
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note, variants_note
from reinflect.data.sheets import sheet_bundles
from reinflect.data.words import WordList, two_ways
from reinflect.errors import INTERRUPTED, InputError, OutputError, quoted, source_name
from reinflect.files import STANDARD, has_content
from reinflect.text import counted, table

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector
    from reinflect.inflector.train import Outcome

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
@option(
    "--out MODEL",
    "Where to write the trained model: one file; the usual ending is .reinflect.",
    required=True,
)
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
@training_options("each kind", "by the size of the data; auto chooses", usual=True)
@option("--first-seed S", "First seed; further models use the seeds after it.", type=click.IntRange(1, 900), default=1)
@option(
    "--from starts MODEL|LANGUAGE|auto",
    "Train further models that start from what another model knows (a file, or a language of reinflect models), beside "
    "those that start from nothing; both vote as they do on held-out items. auto takes the languages whose models "
    "inflect your items best. It helps with few items and a related language in the same script.",
    multiple=True,
)
@strategy_option("Which of the trained models vote; the others stay in MODEL, and inflect --strategy can choose them")
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
    training: Training,
    first_seed: int,
    starts: tuple[str, ...],
    strategy: str | None,
    verbose: bool,
    columns: Columns,
) -> None:
    """Train models on the items of a file, which then inflect together by vote.

    The number of items chooses kinds of models: systems (hacm copies or writes letters; haem edits the lemma; soft
    looks at the whole lemma at once), hacm and haem with an alignment of lemmas with forms to learn from (naive:
    position by position; smart: learnt), some with made-up items to learn from first. With --systems, --alignments,
    --augment or --from, every system learns from every alignment instead.

    Files are tab-separated, or spreadsheets (.csv, .xlsx). With --add, a model is trained again on items that were
    corrected or added, and --compare says what that changed.

    Ctrl-C ends the training early: MODEL then has the best models so far. After that, or after any accident, the same
    command resumes the training from the folder MODEL.state, which is removed at the end (checkpoints are 60 seconds
    apart, or REINFLECT_CHECKPOINT_SECONDS). MODEL.log.jsonl has a line for every epoch of every model.
    """
    from reinflect.settings import preset_for

    seconds = checkpoint_seconds()
    check_stdin_once(train, dev, *additions)
    _check_out(out, [train, dev, *additions, compare, *starts])
    original = read_items(train, columns, note=say)
    known = {item.features.spelling for item in original}
    dev_items = read_further(dev, columns, known, note=say) if dev else None
    added = [(path, read_further(path, columns, known, forms="optional", note=say)) for path in additions]
    lists = _with_additions(original, added, columns)
    items = lists[-1]
    rival = None if compare is None else _Rival(compare, lists, dev_items, train)
    preset = preset_for(len(items)) if training.preset == "auto" else training.preset
    plan = training.plan(preset, training.changes, first_seed=first_seed, strategy=strategy)
    read = [(train, original), *added, *([(dev, dev_items)] if dev and dev_items else [])]
    for path, given in read:
        check_lengths(given, path, "models take", "shorten it or take it out")
    say(
        *_notes(train, items, dev, dev_items, training.seeds, columns),
        found.note if (found := two_ways(read)) else None,
    )
    if starts:
        from reinflect.inflector.start import find_starts

        plan = replace(plan, starts=find_starts(starts, items, plan.systems, say))
    plan.check()
    many = f"{plan.models} models" if plan.models > 1 else "a model"
    say(f"training {many} on {counted(len(items), 'item')} of {source_name(train)}, preset {preset}")

    from reinflect.cli.progress import display
    from reinflect.inflector.train import train_inflector

    with display() as shown:
        outcome = train_inflector(
            items,
            dev_items,
            plan,
            training.resources(shown, checkpoint_seconds=seconds),
            out=Path(out),
            source=source_name(train),
            half=half,
            labels=columns.labels,
            normalisation=columns.normalisation,
            force=forced(),
            attested=attested,
            cells=sheet_bundles(train, columns),
            words=words,
        )
    if verbose:
        click.echo(_table(outcome))
    if rival and not outcome.training.interrupted:
        click.echo(rival.text(outcome.inflector, out))
    _say_outcome(outcome, out, attested=attested)
    figures = outcome.training
    kind = "held-out" if figures.held_out else "dev"
    click.echo(f"Expect about {figures.accuracy:.0f} % right, estimated on {counted(figures.scored, f'{kind} form')}")
    if learnt := outcome.inflector.words:
        click.echo(f"With {learnt.name} about {learnt.accuracy:.0f} %: reinflect inflect {out} --words FILE …")
    elif words:
        say(f"note: too few {kind} forms to learn what {words.name} is worth; the model does not use it")
    if outcome.training.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _with_additions(
    items: list[Item], additions: Sequence[tuple[str, list[Item]]], columns: Columns
) -> list[list[Item]]:
    """The training items: as they are, and after each file of corrections."""
    then = "they are learnt as new ones" + ("" if columns.labels else "; if they are labels of yours, give --labels")
    lists = [items]
    for path, given in additions:
        made = corrected(lists[-1], given, path)
        say(made.note(path), _unknown_note(lists[-1], [item for item in given if not item.covered], path, then))
        lists.append(list(made.items))
    return lists


class _Rival:
    """An earlier model to compare the new one with; it is checked before the new one is trained."""

    def __init__(self, model: str, lists: list[list[Item]], dev_items: list[Item] | None, train: str) -> None:
        from reinflect.inflector.changes import check_comparable

        self._model, self._inflector, self._items = model, load_inflector(model), lists[-1]
        self._taught = None if dev_items else check_comparable(self._inflector, lists, model, train)
        if dev_items:
            # A fair comparison uses items that neither model learnt from, and a dev item may be among the additions.
            learnt = {question(item) for item in self._items}
            self._gold = [item for item in dev_items if question(item) not in learnt]
            if not self._gold:
                raise InputError("found all dev items among the training items", "give --dev FILE with other items")
        else:
            known = {question(item) for item in self._taught or ()}
            self._gold = [item for item in self._items if question(item) in known]
        say(*(f"note: {model}: {doubt}" for doubt in self._inflector.doubts(item.features for item in self._gold)))

    def text(self, new: "Inflector", out: str) -> str:
        from reinflect.inflector.changes import Changes, forms_of, held_out_forms

        if self._taught is None:
            before, after = (forms_of(inflector, self._gold) for inflector in (self._inflector, new))
            asked = "dev items"
        else:
            before = held_out_forms(self._inflector, self._gold, self._taught)
            after = held_out_forms(new, self._gold, self._items)
            asked = "items, each predicted by the models that had not learnt from it"
        return Changes.between(before, after, self._gold).text(self._model, out, asked)


def _check_out(out: str, inputs: Sequence[str | None]) -> None:
    """Check that a model can be written there without replacing another kind of file or, without --force, a model."""
    if out == STANDARD:
        raise OutputError(out, "a model is not text for the screen", "name a file with --out")
    check_output(out, inputs, "--out", again="model")
    check_output(f"{out}.log.jsonl", inputs, "--out", again="JSON")
    if not forced() and has_content(out):
        from reinflect.inflector.train import check_replaceable

        check_replaceable(Path(out))


def _notes(
    train: str, items: Sequence[Item], dev: str | None, dev_items: Sequence[Item] | None, seeds: int, columns: Columns
) -> list[str | None]:
    notes = [swapped_columns_note(items, train, columns), variants_note(items, train)]
    if dev and dev_items:
        return [
            *notes,
            variants_note(dev_items, dev, "the last counts"),
            _unknown_note(items, dev_items, dev, "models cannot learn them"),
            _nothing_new_note(items, dev_items, dev),
        ]
    share = "a fifth of the items" if seeds == 1 else "another fifth of the items"
    held_out = f"note: without --dev, each seed holds out {share} and learns from the other 80 %"
    return [*notes, f"{held_out}; the accuracies below are those of items that were held out"]


def _unknown_note(items: Sequence[Item], others: Sequence[Item], path: str, then: str) -> str | None:
    known = {atom for item in items for atom in item.features.atoms}
    unknown = dict.fromkeys(atom for item in others for atom in item.features.atoms if atom not in known)
    if not unknown:
        return None
    shown = ", ".join(map(quoted, list(unknown)[:5])) + (", …" if len(unknown) > 5 else "")
    return f"note: {source_name(path)}: features that no training item has: {shown}; {then}"


def _nothing_new_note(items: Sequence[Item], dev_items: Sequence[Item], dev: str) -> str | None:
    learnt = {question(item) for item in items}
    if any(question(item) not in learnt for item in dev_items):
        return None
    return (
        f"note: {source_name(dev)}: all its items are among the training items, so the accuracies below and the "
        "confidences of the model say nothing about other words; leave --dev out, or give it other items"
    )


def _table(outcome: "Outcome") -> str:
    inflector = outcome.inflector
    vote = "vote of all" if inflector.strategy == "vote" else f"vote ({inflector.strategy})"
    rows = [(member.name, f"{member.dev_accuracy:.2f}") for member in inflector.members]
    what = "held-out accuracy" if outcome.training.held_out else "dev accuracy"
    return table(("model", what), [*rows, (vote, f"{outcome.training.accuracy:.2f}")], sides=("left", "right"))


def _say_outcome(outcome: "Outcome", out: str, *, attested: bool) -> None:
    inflector, training = outcome.inflector, outcome.training
    say(*(f"note: {text}" for text in outcome.retried))
    if len(inflector.voters) < len(inflector.members):
        chosen = f"{len(inflector.voters)} of {len(inflector.members)} models"
        say(f"note: {chosen} vote; inflect --strategy chooses others")
    if attested and not inflector.attested:
        say("note: the forms are too many to be kept in the model as attested ones")
    if outcome.restarted:
        say(f"note: diverged and started again with another seed: {', '.join(outcome.restarted)}")
    if outcome.failed:
        say(f"note: left out (learnt nothing, or diverged): {', '.join(outcome.failed)}")
    if training.interrupted:
        model = "has the best models so far" if outcome.written else "is still the earlier model"
        say(f"note: interrupted; {out} {model}; the same command resumes this training")
    if outcome.written:
        say_written(out, f" (and {out}.log.jsonl)")
        say(f"next: reinflect inflect {out} LEMMA FEATURES, or reinflect inflect {out} --input WORDS")
