"""`reinflect demo`: see it work on bundled German verbs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import cores
from reinflect.data.items import Item
from reinflect.errors import INTERRUPTED

if TYPE_CHECKING:
    from reinflect.evaluation import Evaluation, Judged
    from reinflect.inflector.train import Outcome

EXAMPLE = """\b
Example (about a minute):
  reinflect demo
"""
NEXT = """\
Your own language: reinflect train --train FORMS --out MODEL, then reinflect inflect MODEL LEMMA FEATURES
A look inside: reinflect oracle fliegen flog, or reinflect align FORMS; 52 languages: reinflect data fetch conll2017
"""
KNOWN_BY_NAME = ("fliegen", "V;IND;PST;3;SG")
SHOWN = 10
SYSTEMS = ("hacm", "haem")
SEEDS = 2
PRESET = "low"
CHANGES = ("epochs=30", "score_every=5")
"""So that it is over in a minute; `reinflect train` takes the preset as it is, and five seeds."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: who inflected, how many of them, and what they said."""

    name: str
    models: int
    forms: Sequence[str]


@click.command("demo", epilog=EXAMPLE)
@click.pass_context
def command(context: click.Context) -> None:
    """Learn from 100 of the bundled German verb forms, inflect others, and show what comes out, right and wrong.

    Trains the systems HACM and HAEM on both alignments of lemmas with forms, and lets them vote. Nothing is
    downloaded, and no file is written.
    """
    from reinflect.data.german import read_split
    from reinflect.evaluation import evaluate

    examples, dev, asked = (read_split(split) for split in ("train-low", "dev", "test"))
    click.echo(
        f"German verbs: learn from {len(examples)} forms, then inflect {len(asked)} others.\n"
        "accuracy: per cent right to the letter; Levenshtein: letters to change, on average\n"
    )
    covered = [Item(item.lemma, item.features) for item in asked]  # nobody gets to see what they are asked for
    outcome = trained(examples, dev)
    rows = [Row("rule baseline", 1, by_rules(examples, covered)), *by_vote(outcome, covered)]
    results = [(row, evaluate(asked, filled(covered, row.forms), name="german-verbs-test")) for row in rows]
    click.echo(score_table(results))
    click.echo("Some of them, by the vote of all:\n")
    click.echo(inflections(chosen(results[-1][1].cells)))
    click.echo(NEXT, nl=False)
    if outcome.interrupted:
        click.echo("note: interrupted; these are the best states so far of the models that had begun", err=True)
        context.exit(INTERRUPTED)


def by_rules(examples: Sequence[Item], asked: Sequence[Item]) -> list[str]:
    from reinflect.baseline import Baseline

    baseline = Baseline.learn(examples)
    return [baseline.inflect(item.lemma, item.features) for item in asked]


def trained(examples: Sequence[Item], dev: Sequence[Item]) -> "Outcome":
    from reinflect.cli.progress import display
    from reinflect.inflector.train import train_inflector
    from reinflect.settings import changed, load_preset

    with display() as shown:
        shown.note(f"training {SEEDS} models of each system on each of two alignments of lemmas with forms")
        return train_inflector(
            examples,
            dev,
            settings=changed(load_preset(PRESET), CHANGES),
            systems=SYSTEMS,
            seeds=SEEDS,
            workers=cores(),
            watcher=shown,
            strategy="vote",
        )


def by_vote(outcome: "Outcome", asked: Sequence[Item]) -> list[Row]:
    """A row for each system's models, and one for all of them together."""
    from reinflect.ensembles.vote import vote_all

    members = outcome.inflector.members
    forms = outcome.inflector.member_forms(asked)
    rows = []
    for system in SYSTEMS:
        own = [said for member, said in zip(members, forms, strict=True) if member.system.name == system]
        if own:  # after Ctrl-C there may be none
            rows.append(Row(f"{system.upper()}, vote", len(own), vote_all(own)))
    return [*rows, Row("vote of all", len(forms), vote_all(forms))]


def filled(asked: Sequence[Item], forms: Sequence[str]) -> list[Item]:
    return [Item(item.lemma, item.features, form) for item, form in zip(asked, forms, strict=True)]


def score_table(results: "Sequence[tuple[Row, Evaluation]]") -> str:
    from reinflect.evaluation.tables import table

    rows = [
        (row.name, str(row.models), f"{evaluation.accuracy:.2f}", f"{evaluation.levenshtein:.2f}")
        for row, evaluation in results
    ]
    shown = table(("system", "models", "accuracy", "Levenshtein"), rows, sides=("left", "right", "right", "right"))
    return f"{shown}{results[0][1].signature}\n"


def chosen(cells: "Sequence[Judged]") -> "list[Judged]":
    """*fliegen* in the past tense, and a few more from all over the list."""
    known = [cell for cell in cells if (cell.lemma, cell.features.spelling) == KNOWN_BY_NAME]
    others = [cell for cell in cells if cell not in known]
    step = max(1, len(others) // (SHOWN - 1))
    return (known + others[step - 1 :: step])[:SHOWN]


def inflections(cells: "Sequence[Judged]") -> str:
    from reinflect.evaluation.tables import table

    rows = [
        (cell.lemma, cell.features.spelling, cell.predicted, "right" if cell.correct else f"wrong: {cell.gold}")
        for cell in cells
    ]
    return table(("lemma", "features", "predicted", ""), rows, sides=("left",) * 4)
