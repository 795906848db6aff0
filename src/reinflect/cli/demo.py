"""`reinflect demo`: train and inflect on bundled German verbs; also the model that `serve --demo` shows."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect.cli.models import confidence_text, load_inflector
from reinflect.cli.options import command, option, say
from reinflect.cli.train import make_resources
from reinflect.data.items import Item
from reinflect.errors import INTERRUPTED, ReinflectError, printable
from reinflect.systems.kind import PAPER_SYSTEMS, Wish
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector
    from reinflect.score import Judged
    from reinflect.train import Outcome

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
MOST_LISTED = 10
CHANGES, SHORT = ("epochs=30", "score_every=5"), ("epochs=20", "hidden=100")
"""For trainings of one and two minutes; `reinflect train` uses the presets unchanged, and five seeds."""
SERVED = "german-verbs"


@command("reinflect demo", about="about a minute")
def demo(
    only: str | None = option("--only", "Show only pocket models, or training.", click.Choice(["words", "training"])),
) -> None:
    """Learn from 100 of the bundled German verb forms, inflect others, and show which are right and which wrong.

    Before that, pocket models inflect words of five languages, if they are installed. HACM and HAEM are trained on both
    alignments of lemmas with forms, and vote. Nothing is downloaded, and no file is written.
    """
    from reinflect.data.german import read_split
    from reinflect.score import evaluate

    if only != "training":
        show_pocket_models()
    if only == "words":
        return
    examples, dev, gold = (read_split(split) for split in ("train-low", "dev", "test"))
    click.echo(
        f"German verbs: learn from {len(examples)} forms, then inflect {len(gold)} others.\n"
        "accuracy: per cent right to the letter; Levenshtein: letters to change, on average\n"
    )
    wish = Wish(systems=PAPER_SYSTEMS, preset="low", changes=CHANGES, seeds=2, strategy="vote")
    outcome = train_german(examples, dev, wish, alignment_cache=None)
    covered, rows = [Item(item.lemma, item.features) for item in gold], []  # models never see the right forms
    for name, models, forms in predictions(examples, outcome.inflector, covered):
        predicted = [replace(item, form=form) for item, form in zip(covered, forms, strict=True)]
        scored = evaluate(gold, predicted, name="german-verbs-test")
        rows.append((name, str(models), f"{scored.accuracy:.2f}", f"{scored.levenshtein:.2f}"))
    header = ("system", "models", "accuracy", "Levenshtein")
    click.echo(f"{table(header, rows, sides=('left', 'right', 'right', 'right'))}{scored.signature}\n")
    click.echo("Some of them, by the vote of all:\n")
    inflections = [
        (cell.lemma, cell.features.spelling, cell.predicted, "right" if cell.correct else f"wrong: {cell.gold}")
        for cell in sample(scored.cells)
    ]
    click.echo(table(("lemma", "features", "predicted", ""), inflections, sides=("left",) * 4))
    click.echo(NEXT, nl=False)
    if outcome.training.interrupted:
        say("note: interrupted; these are the best versions so far of the models that had begun")
        raise click.exceptions.Exit(INTERRUPTED)


def train_german(
    examples: Sequence[Item], dev: Sequence[Item], wish: Wish, note: str = "", out: Path | None = None, **more: Any
) -> "Outcome":
    with make_resources("cpu", **more) as resources:
        from reinflect.assemble import Keep
        from reinflect.train import train_model

        if note:
            resources.watcher.note(note)
        return train_model(examples, dev, wish, Keep(), resources, source="bundled German verbs", out=out)


def served_model() -> "Inflector":
    """The model of German verbs for `reinflect serve`: from the cache, or trained now and stored there."""
    from reinflect import __version__
    from reinflect.data.german import read_split
    from reinflect.files import cache_folder
    from reinflect.inflector.inflector import Inflector

    path = cache_folder() / "models" / f"{SERVED}-{__version__}.reinflect"
    if path.is_file():
        with suppress(ReinflectError):  # a damaged model is trained again
            return Inflector.load(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    examples, wish = read_split("train-medium"), Wish(systems=PAPER_SYSTEMS, preset="medium", changes=SHORT, seeds=1)
    note = f"training on {len(examples)} forms of German verbs, once; the model is kept in {path}"
    outcome = train_german(examples, read_split("dev"), wish, note, path)
    if outcome.training.interrupted:
        path.unlink(missing_ok=True)  # an unfinished model would be served from now on
        say("note: interrupted; the same command resumes the training")
        raise click.exceptions.Exit(INTERRUPTED)
    say(f"trained: {outcome.training.accuracy:.0f} % of {outcome.training.scored} other forms are right")
    return outcome.inflector


def show_pocket_models() -> None:
    from reinflect.inflector.pocket import pocket_models

    rows = []
    for language, path in pocket_models().items():
        if query := WORDS.get(language):
            [answer] = load_inflector(str(path)).answers([query])
            rows.append((language, *query, printable(answer.form), confidence_text(answer)))
    if not rows:
        say("note: no pocket models are installed: German verbs only")
        return
    forms = table(("language", "lemma", "features", "form", "confidence"), rows, sides=(*("left",) * 4, "right"))
    click.echo(f"Pocket models, trained before (reinflect models lists all languages):\n\n{forms}")


def predictions(
    examples: Sequence[Item], inflector: "Inflector", items: Sequence[Item]
) -> Iterator[tuple[str, int, list[str]]]:
    """Name, number of models and forms: of the rules, of each system's vote, and last of the vote of all."""
    from reinflect.ensemble.strategies import vote_all
    from reinflect.score.baseline import Baseline

    rules, members, forms = Baseline.learn(examples), inflector.members, inflector.member_forms(items)
    yield "rule baseline", 1, [rules.inflect(item.lemma, item.features) for item in items]
    for system in PAPER_SYSTEMS:
        voters = [each for member, each in zip(members, forms, strict=True) if member.system == system]
        if voters:  # after Ctrl-C there may be none
            yield f"{system.upper()}, vote", len(voters), vote_all(voters)
    yield "vote of all", len(forms), vote_all(forms)


def sample(cells: "Sequence[Judged]") -> "list[Judged]":
    """*fliegen* in the past tense, and further cells at equal distances in the list."""
    first = [cell for cell in cells if (cell.lemma, cell.features.spelling) == KNOWN_BY_NAME]
    others = [cell for cell in cells if cell not in first]
    step = max(1, len(others) // (MOST_LISTED - 1))
    return (first + others[step - 1 :: step])[:MOST_LISTED]
