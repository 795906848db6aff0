"""`reinflect forecast`: how many forms will be right once there are more to learn from."""

from pathlib import Path

import click

from reinflect.cli.files import check_output, json_text, read_for_model, say_written
from reinflect.cli.options import columns_option, option, say
from reinflect.cli.training import Training, checkpoint_seconds, cores, training_options
from reinflect.data.items import Columns
from reinflect.errors import InputError, quoted, source_name
from reinflect.files import write_text
from reinflect.text import table

EXAMPLE = """\b
Example (about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect forecast --train verbs.tsv --forms 250,500,1000
"""
MOST = 1_000_000
MULTIPLES = (2, 5, 10)
"""Of the forms that are there: what is forecast without `--forms`. The interval was checked up to the last one."""
SAMPLES_A_SECOND = 500
"""Items that a core of a laptop trains on in a second, roughly."""


def _forms(text: str) -> list[int]:
    """The numbers of a list with commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 < int(word) <= MOST for word in words):
        remedy = f"give numbers from 2 to {MOST:,}, joined by commas, such as 250,500,1000"
        raise InputError(f"found --forms {quoted(text)}", remedy)
    return sorted(set(map(int, words)))


@click.command("forecast", epilog=EXAMPLE)
@option("--train FILE", "The items with their forms that you have.", required=True)
@option(
    "--forms LIST",
    "Numbers of forms to forecast for, separated by commas (default: two, five and ten times those you have).",
    type=_forms,
)
@option("--out FILE.json", "Where to write the forecast, which report --forecast draws.", default="forecast.json")
@training_options("each kind for each part of the items; each seed holds out another fifth", "by size, made smaller")
@columns_option
def command(train: str, forms: list[int] | None, out: str, training: Training, columns: Columns) -> None:
    """Say how many forms a model will get right once there are more to learn from than FILE has.

    Small models learn from a quarter, a half and all of the items but a fifth, which they are asked for, for each of
    five fifths. The line through their accuracies (log odds of a right form over the logarithm of the number of items)
    is continued. The truth is meant to be in the interval four times out of five. The models of train are larger and
    more: they get some more forms right.

    Ctrl-C stops; the same command then resumes from the folder FILE.json.state.
    """
    from reinflect.settings import preset_for

    seconds = checkpoint_seconds()
    check_output(out, [train], "--out", again="JSON")
    items = read_for_model(train, columns)
    preset = preset_for(len(items)) if training.preset == "auto" else training.preset

    from reinflect.cli.progress import display, spell_seconds
    from reinflect.inflector.forecast import outcomes, planned, small

    # Of two models, each with forms of its own, a vote would be that of the first.
    plan = training.plan(preset, small(preset, training.changes), strategy="average")
    specs = [spec for own in planned(items, plan, source_name(train))[1].values() for spec in own]
    samples = sum(len(spec.lesson.train) * spec.settings.epochs for spec in specs)
    took = spell_seconds(samples / SAMPLES_A_SECOND / min(training.workers or cores(), len(specs)))
    say(f"training {len(specs)} small models on parts of {source_name(train)}; this takes a laptop about {took}")
    with display() as shown:
        resources = training.resources(shown, checkpoint_seconds=seconds)
        made = outcomes(items, plan, Path(out), resources, source_name(train))
    kinds = list(dict.fromkeys(spec.kind for spec in specs))
    found = made.forecast(forms or [many * len(items) for many in MULTIPLES], Path(train).name, len(items), kinds)
    write_text(out, json_text(found, indent=2))
    rows = [(str(one.items), f"{one.accuracy:.2f}") for one in found.measured]
    click.echo(table(("forms learnt from", "right, %"), rows, sides=("right", "right")))
    for one in found.expected:
        click.echo(f"{one}.")
    say(f"note: by small models on {found.measured[-1].scored} held-out forms; those of train get some more right")
    if found.expected[-1].items > MULTIPLES[-1] * len(items):
        say(f"note: intervals were checked up to {MULTIPLES[-1]} times the forms there are; this one may be too narrow")
    say_written(out, " (reinflect report MODEL --forecast draws it)")
