"""`reinflect demo`: train and inflect on bundled German verbs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from reinflect.cli.models import confidence_text, load_inflector
from reinflect.cli.options import example, say
from reinflect.cli.training import train_german
from reinflect.data.items import Item
from reinflect.errors import INTERRUPTED, printable
from reinflect.systems import PAPER_SYSTEMS
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.train import Outcome
    from reinflect.score import Judged

NEXT = """\
Your own language: reinflect train --train FORMS --out MODEL, then reinflect inflect MODEL LEMMA FEATURES
A look inside: reinflect oracle fliegen flog, or reinflect align FORMS; 52 languages: reinflect data fetch conll2017
"""
WORDS = {
    "finnish": ("lauseoppi", "N;IN+ESS;SG"),
    "german": ("Übersetzerin", "N;ACC;PL"),
    "turkish": ("limonata", "N;ACC;PL;PSS1P"),
    "spanish": ("delinquir", "V;NEG;IMP;2;SG"),
    "russian": ("достопримечательность", "N;GEN;PL"),
}
"""Words for pocket models, none of which is in the training data of the shared task."""
KNOWN_BY_NAME = ("fliegen", "V;IND;PST;3;SG")
SHOWN = 10
SYSTEMS = PAPER_SYSTEMS
SEEDS = 2
PRESET = "low"
CHANGES = ("epochs=30", "score_every=5")
"""For a training of a minute; `reinflect train` uses the preset unchanged, and five seeds."""


@click.command("demo", epilog=example("reinflect demo", about="about a minute"))
def command() -> None:
    """Learn from 100 of the bundled German verb forms, inflect others, and show which are right and which wrong.

    Before that, pocket models inflect words of five languages, if they are installed. Trains the systems HACM and HAEM
    on both alignments of lemmas with forms, and lets them vote. Nothing is downloaded, and no file is written.
    """
    from reinflect.data.german import read_split
    from reinflect.score import evaluate
    from reinflect.score.baseline import Baseline

    show_pocket_models()
    examples, dev, asked = (read_split(split) for split in ("train-low", "dev", "test"))
    click.echo(
        f"German verbs: learn from {len(examples)} forms, then inflect {len(asked)} others.\n"
        "accuracy: per cent right to the letter; Levenshtein: letters to change, on average\n"
    )
    covered = [Item(item.lemma, item.features) for item in asked]  # models never see the right forms
    note = f"training {SEEDS} models of each system on each of two alignments of lemmas with forms"
    outcome = train_german(examples, dev, PRESET, CHANGES, SEEDS, note, strategy="vote")
    baseline = Baseline.learn(examples)
    by_rules = [baseline.inflect(item.lemma, item.features) for item in covered]
    rows = []
    for name, models, forms in [("rule baseline", 1, by_rules), *by_vote(outcome, covered)]:
        predicted = [replace(item, form=form) for item, form in zip(covered, forms, strict=True)]
        scored = evaluate(asked, predicted, name="german-verbs-test")
        rows.append((name, str(models), f"{scored.accuracy:.2f}", f"{scored.levenshtein:.2f}"))
    header = ("system", "models", "accuracy", "Levenshtein")
    click.echo(f"{table(header, rows, sides=('left', 'right', 'right', 'right'))}{scored.signature}\n")
    click.echo("Some of them, by the vote of all:\n")
    inflections = [
        (cell.lemma, cell.features.spelling, cell.predicted, "right" if cell.correct else f"wrong: {cell.gold}")
        for cell in chosen(scored.cells)
    ]
    click.echo(table(("lemma", "features", "predicted", ""), inflections, sides=("left",) * 4))
    click.echo(NEXT, nl=False)
    if outcome.training.interrupted:
        say("note: interrupted; these are the best versions so far of the models that had begun")
        raise click.exceptions.Exit(INTERRUPTED)


def show_pocket_models() -> None:
    from reinflect.inflector.pocket import pocket_models

    rows = []
    for language, path in pocket_models().items():
        if language in WORDS:
            [answer] = load_inflector(str(path)).answers([WORDS[language]])
            rows.append((language, *WORDS[language], printable(answer.form), confidence_text(answer)))
    if not rows:
        say("note: no pocket models are installed: German verbs only")
        return
    shown = table(("language", "lemma", "features", "form", "confidence"), rows, sides=(*("left",) * 4, "right"))
    click.echo(f"Pocket models, trained before (reinflect models lists all languages):\n\n{shown}")


def by_vote(outcome: "Outcome", asked: Sequence[Item]) -> list[tuple[str, int, list[str]]]:
    """The name, the number of models and their voted forms, for each system and for all of them together."""
    from reinflect.ensemble.strategies import vote_all

    members, forms = outcome.inflector.members, outcome.inflector.member_forms(asked)
    rows = []
    for system in SYSTEMS:
        own = [said for member, said in zip(members, forms, strict=True) if member.system == system]
        if own:  # after Ctrl-C there may be none
            rows.append((f"{system.upper()}, vote", len(own), vote_all(own)))
    return [*rows, ("vote of all", len(forms), vote_all(forms))]


def chosen(cells: "Sequence[Judged]") -> "list[Judged]":
    """*fliegen* in the past tense, and further cells at equal distances in the list."""
    known = [cell for cell in cells if (cell.lemma, cell.features.spelling) == KNOWN_BY_NAME]
    others = [cell for cell in cells if cell not in known]
    step = max(1, len(others) // (SHOWN - 1))
    return (known + others[step - 1 :: step])[:SHOWN]
