"""`reinflect demo`: see it work on bundled German verbs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import click

from reinflect.data.items import Item

if TYPE_CHECKING:
    from reinflect.evaluation import Evaluation, Judged

Inflect: TypeAlias = Callable[[Sequence[Item], Sequence[Item]], list[Item]]
"""Learns from the first items, and gives the second ones the forms it thinks they have."""

EXAMPLE = """\b
Example:
  reinflect demo
"""
NEXT = """\
Your own language: reinflect baseline --train TRAIN --input WORDS -o GUESSES, then reinflect evaluate GOLD GUESSES
A look inside: reinflect oracle fliegen flog, or reinflect align TRAIN; 52 languages: reinflect data fetch conll2017
"""
KNOWN_BY_NAME = ("fliegen", "V;IND;PST;3;SG")
SHOWN = 10


@dataclass(frozen=True, slots=True)
class System:
    """One row of the table: a system, and the split it learns from."""

    name: str
    split: str
    inflect: Inflect


def by_rules(examples: Sequence[Item], asked: Sequence[Item]) -> list[Item]:
    from reinflect.baseline import Baseline

    baseline = Baseline.learn(examples)
    return [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in asked]


SYSTEMS = (System("rule baseline", "train-low", by_rules), System("rule baseline", "train-medium", by_rules))
"""The rows of the table, from top to bottom; the inflections below it are the last one's."""


@click.command("demo", epilog=EXAMPLE)
def command() -> None:
    """Learn from the bundled German verbs, inflect others, and show what comes out, right and wrong.

    Nothing is downloaded and nothing is written.
    """
    from reinflect.data.german import read_split

    asked = read_split("test")
    click.echo(
        f"German verbs: learn from some forms, then inflect {len(asked)} that were not among them.\n"
        "accuracy: per cent right to the letter; Levenshtein: letters to change, on average\n"
    )
    results = [(system, len(read_split(system.split)), run(system, asked)) for system in SYSTEMS]
    click.echo(score_table(results))
    system, examples, evaluation = results[-1]
    click.echo(f"Some of them, by the {system.name} that learnt from {examples:,} forms:\n")
    click.echo(inflections(chosen(evaluation.cells)))
    click.echo(NEXT, nl=False)


def run(system: System, asked: Sequence[Item]) -> "Evaluation":
    from reinflect.data.german import read_split
    from reinflect.evaluation import evaluate

    covered = [Item(item.lemma, item.features) for item in asked]  # no system gets to see what it is asked for
    return evaluate(asked, system.inflect(read_split(system.split), covered), name="german-verbs-test")


def score_table(results: "Sequence[tuple[System, int, Evaluation]]") -> str:
    from reinflect.evaluation.tables import table

    rows = [
        (system.name, f"{examples:,}", f"{evaluation.accuracy:.2f}", f"{evaluation.levenshtein:.2f}")
        for system, examples, evaluation in results
    ]
    shown = table(("system", "learnt from", "accuracy", "Levenshtein"), rows, sides=("left", "right", "right", "right"))
    return f"{shown}{results[0][2].signature}\n"


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
