"""`reinflect train`: learn to inflect from examples."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import (
    ALIGNMENTS,
    SYSTEMS,
    alignments_option,
    check_output,
    chosen,
    columns_option,
    cores,
    device_for,
    device_option,
    say,
    seeds_option,
    settings_of,
    strategy_option,
    workers_option,
)
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note, variants_note
from reinflect.data.spelling import two_ways_note
from reinflect.errors import INTERRUPTED, InputError, OutputError, quoted, source_name
from reinflect.files import STANDARD

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector
    from reinflect.inflector.train import Outcome

UNLESS_TOLD = ("hacm", "haem")
CHECKPOINT_SECONDS = "REINFLECT_CHECKPOINT_SECONDS"

EXAMPLE = """\b
Example (about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive
"""


@click.command("train", epilog=EXAMPLE)
@click.option("--train", metavar="FILE", required=True, help="Items with their forms, to learn from.")
@click.option(
    "--dev",
    metavar="FILE",
    help="Items with their forms, to choose the best state of each model by. Without it each seed holds out a fifth "
    "of the training items of its own for that, and learns from the other 80 %.",
)
@click.option(
    "--add",
    "additions",
    metavar="FILE",
    multiple=True,
    help="Corrections and new items: one with the lemma and features of a training item takes its place. May be "
    "repeated.",
)
@click.option(
    "--compare",
    metavar="MODEL",
    help="A model that was trained before: say at the end what the new one gets right or wrong that it did not.",
)
@click.option(
    "--out",
    metavar="MODEL",
    required=True,
    help="Where the trained model goes: one file, which may be called anything; the usual ending is .reinflect.",
)
@click.option(
    "--half", is_flag=True, help="Keep the model in half precision: a file half as large, hardly less accurate."
)
@click.option(
    "--systems",
    metavar="LIST",
    default=",".join(UNLESS_TOLD),
    show_default=True,
    help="Which systems to train: hacm, haem, soft.",
)
@alignments_option
@seeds_option("each system with each alignment")
@click.option(
    "--first-seed",
    metavar="S",
    type=click.IntRange(1, 900),
    default=1,
    show_default=True,
    help="The seed of the first of them; the next have the numbers that follow.",
)
@click.option(
    "--preset",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="low, medium, high (by size of the data; auto chooses), paper-low, paper-medium, paper-high, or a TOML file.",
)
@click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a setting of the preset: hidden=200, or haem.hidden=200 for one system only. May be repeated.",
)
@device_option
@workers_option(
    "Processes on the CPU; as many as there are cores unless you say otherwise. The model does not depend on it."
)
@strategy_option("run7", "Which of the trained models vote; the others are kept in MODEL and can be asked later")
@columns_option
@click.pass_context
def command(
    context: click.Context,
    train: str,
    dev: str | None,
    additions: tuple[str, ...],
    compare: str | None,
    out: str,
    half: bool,
    systems: str,
    alignments: str,
    seeds: int,
    first_seed: int,
    preset: str,
    changes: tuple[str, ...],
    device: str,
    workers: int | None,
    strategy: str,
    columns: Columns,
) -> None:
    """Train models on the items of a file, which then inflect together by vote.

    Every system (hacm copies or writes letters, haem edits the lemma) learns from every alignment of lemmas with
    forms (naive: position by position; smart: learnt) with every seed. A third system, soft, looks at the whole lemma
    at once and needs no alignment, but more items: it is worth its time with some thousands of them.

    Files are tab-separated, or spreadsheets (.csv, .xlsx). With --add, a model is trained again on items that were
    corrected or added, and --compare says what that changed.

    Ctrl-C ends the training early: the model is then the best so far. After that, or after any accident, the same
    command goes on where it stopped, from the folder MODEL.state (what is done is kept there every 60 seconds, or as
    many as REINFLECT_CHECKPOINT_SECONDS says); it goes when all is done. MODEL.log.jsonl has a line for every epoch of
    every model.
    """
    from reinflect.settings import preset_for

    methods, kinds = chosen(alignments, ALIGNMENTS, "alignment"), chosen(systems, SYSTEMS, "system")
    seconds = checkpoint_seconds()
    files = [path for path in (train, dev, *additions) if path]
    _check_out(out, [*files, *filter(None, [compare])])
    if files.count(STANDARD) > 1:
        raise InputError("found - (standard input) for more than one file", "give - for one of them at most")
    original = read_items(train, columns, note=say)
    dev_items = read_items(dev, columns, note=say) if dev else None
    added = [(path, read_items(path, columns, forms="optional", note=say)) for path in additions]
    lists = _with_additions(original, added, columns)
    items = lists[-1]
    rival = None if compare is None else _Rival(compare, lists, dev_items, train)
    name = preset_for(len(items)) if preset == "auto" else preset
    settings = settings_of(name, changes)
    read = [(train, original), *added, *([(dev, dev_items)] if dev and dev_items else [])]
    for path, given in read:
        check_lengths(given, path, "models take", "shorten it or take it out")
    where = device_for(device)
    for note in (*_notes(train, items, dev, dev_items, seeds, columns), two_ways_note(read)):
        if note:
            say(note)
    models = seeds * sum(1 if kind == "soft" else len(methods) for kind in kinds)
    many = f"{models} models" if models > 1 else "a model"
    click.echo(f"training {many} on {_counted(len(items))} of {source_name(train)}, preset {name}", err=True)

    from reinflect.alignment.cache import default_folder
    from reinflect.cli.progress import display
    from reinflect.inflector.train import train_inflector

    with display() as shown:
        outcome = train_inflector(
            items,
            dev_items,
            settings=settings,
            systems=kinds,
            alignments=methods,
            seeds=seeds,
            first_seed=first_seed,
            device=where,
            workers=1 if where == "cuda" else workers or cores(),
            out=Path(out),
            watcher=shown,
            alignment_cache=default_folder(),
            checkpoint_seconds=seconds,
            source=source_name(train),
            strategy=strategy,
            half=half,
            labels=columns.labels,
        )
    click.echo(_table(outcome), nl=False)
    if rival and not outcome.interrupted:
        click.echo("\n" + rival.text(outcome.inflector, out), nl=False)
    _say_outcome(outcome, out)
    if outcome.interrupted:
        context.exit(INTERRUPTED)


def _with_additions(
    items: list[Item], additions: Sequence[tuple[str, list[Item]]], columns: Columns
) -> list[list[Item]]:
    """The training items: as they are, and after each file of corrections."""
    from reinflect.data.corrections import corrected

    then = "they are learnt as new ones" + ("" if columns.labels else "; if they are labels of yours, give --labels")
    lists = [items]
    for path, given in additions:
        made = corrected(lists[-1], given, path)
        say(made.note(path))
        if unknown := _unknown_note(lists[-1], [item for item in given if not item.covered], path, then):
            say(unknown)
        lists.append(list(made.items))
    return lists


def _counted(items: int) -> str:
    return f"{items} item{'s'[: items != 1]}"


class _Rival:
    """A model to compare the new one with; what hinders that is found out before the new one is trained."""

    def __init__(self, model: str, lists: list[list[Item]], dev_items: list[Item] | None, train: str) -> None:
        from reinflect.data.corrections import question
        from reinflect.inflector.changes import check_comparable
        from reinflect.inflector.inflector import Inflector

        self._model, self._inflector, self._items = model, Inflector.load(model), lists[-1]
        self._taught = None if dev_items else check_comparable(self._inflector, lists, model, train)
        # Only what neither has learnt from is fair to ask, and a dev item may be among the additions.
        answered = {question(item) for item in self._items}
        if dev_items:
            self._gold = [item for item in dev_items if question(item) not in answered]
            if not self._gold:
                raise InputError("found all dev items among the training items", "give --dev FILE with other items")
        else:
            known = {question(item) for item in self._taught or ()}
            self._gold = [item for item in self._items if question(item) in known]

    def text(self, new: "Inflector", out: str) -> str:
        from reinflect.inflector.changes import Changes, forms_of, held_out_forms

        if self._taught is None:
            before, after = (forms_of(inflector, self._gold) for inflector in (self._inflector, new))
            asked = "dev items"
        else:
            before = held_out_forms(self._inflector, self._gold, self._taught)
            after = held_out_forms(new, self._gold, self._items)
            asked = "items, each by those models that had not learnt from it"
        return Changes.between(before, after, self._gold).text(self._model, out, asked)


def checkpoint_seconds(usual: float = 60.0) -> float:
    text = os.environ.get(CHECKPOINT_SECONDS, str(usual))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise InputError(f"found {CHECKPOINT_SECONDS}={quoted(text)}", "set it to a number of seconds, such as 60")
    return seconds


def _check_out(out: str, inputs: Sequence[str]) -> None:
    """Whether a model can be written there, and nothing else would be lost by it."""
    if out == STANDARD:
        raise OutputError(out, "a model is not text for the screen", "name a file with --out")
    for path in (out, f"{out}.log.jsonl"):
        check_output(path, inputs, "--out")
    target = Path(out)
    if target.is_file() and target.stat().st_size:
        with target.open("rb") as file:
            if b'"reinflect"' not in file.read(200):
                raise OutputError(out, "there is a file of this name that is no model", "choose another --out")


def _notes(
    train: str, items: Sequence[Item], dev: str | None, dev_items: Sequence[Item] | None, seeds: int, columns: Columns
) -> list[str]:
    found = [swapped_columns_note(items, train, columns), variants_note(items, train)]
    if dev and dev_items:
        found += [
            variants_note(dev_items, dev, "the last counts"),
            _unknown_note(items, dev_items, dev, "models cannot learn them"),
            _nothing_new_note(items, dev_items, dev),
        ]
    else:
        share = "a fifth of the items" if seeds == 1 else "another fifth of the items"
        found.append(
            f"note: without --dev, each seed holds out {share} and learns from the other 80 %; the accuracies below "
            "are those of items that were held out"
        )
    return [note for note in found if note]


def _unknown_note(items: Sequence[Item], others: Sequence[Item], path: str, then: str) -> str | None:
    known = {atom for item in items for atom in item.features.atoms}
    unknown = dict.fromkeys(atom for item in others for atom in item.features.atoms if atom not in known)
    if not unknown:
        return None
    shown = ", ".join(map(quoted, list(unknown)[:5])) + (", …" if len(unknown) > 5 else "")
    return f"note: {source_name(path)}: features that no training item has: {shown}; {then}"


def _nothing_new_note(items: Sequence[Item], dev_items: Sequence[Item], dev: str) -> str | None:
    from reinflect.data.corrections import question

    learnt = {question(item) for item in items}
    if any(question(item) not in learnt for item in dev_items):
        return None
    return (
        f"note: {source_name(dev)}: all its items are among the training items, so the accuracies below and the "
        "confidences of the model say nothing about other words; leave --dev out, or give it other items"
    )


def _table(outcome: "Outcome") -> str:
    from reinflect.evaluation.tables import table

    rows = [
        (member.name, f"{accuracy:.2f}")
        for member, accuracy in zip(outcome.inflector.members, outcome.member_accuracies, strict=True)
    ]
    rows.append((_vote_title(outcome), f"{outcome.accuracy:.2f}"))
    what = "held-out accuracy" if outcome.held_out else "dev accuracy"
    return table(("model", what), rows, sides=("left", "right"))


def _vote_title(outcome: "Outcome") -> str:
    return "vote of all" if outcome.inflector.strategy == "vote" else f"vote ({outcome.inflector.strategy})"


def _say_outcome(outcome: "Outcome", out: str) -> None:
    notes, inflector = [f"note: {text}" for text in outcome.retried], outcome.inflector
    if len(inflector.voters) < len(inflector.members):
        chosen = f"{len(inflector.voters)} of {len(inflector.members)} models"
        notes.append(f"note: {chosen} vote ({inflector.strategy}); inflect --strategy lets others do so")
    if outcome.restarted:
        notes.append(f"note: diverged and started again with another seed: {', '.join(outcome.restarted)}")
    if outcome.failed:
        notes.append(f"note: left out, as they learnt nothing or diverged: {', '.join(outcome.failed)}")
    if outcome.held_out:
        notes.append(
            f"note: the line {quoted(_vote_title(outcome))} is of {_counted(outcome.scored)}, each by those voters "
            "that held it out; all of them vote on words you inflect from now on"
        )
    if not outcome.written:
        notes.append(f"note: interrupted; {out} is still the model of before, and the same command goes on from here")
    elif outcome.interrupted:
        notes.append(f"note: interrupted; {out} is the best so far, and the same command goes on from here")
    if outcome.written:
        notes.append(f"written: {out} (and {out}.log.jsonl)")
        notes.append(f"next: reinflect inflect {out} LEMMA FEATURES, or reinflect inflect {out} --input WORDS")
    for note in notes:
        click.echo(note, err=True)
