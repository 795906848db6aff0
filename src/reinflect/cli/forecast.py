"""`reinflect forecast`: how many forms will be right once there are more to learn from."""

from pathlib import Path

import click

from reinflect.cli.files import check_output, json_text, read_for_model, say_written
from reinflect.cli.options import columns_option, option, say
from reinflect.cli.wishes import MakeResources, wish_options
from reinflect.data.items import Columns
from reinflect.errors import InputError, quoted, source_name
from reinflect.files import write_text
from reinflect.systems.kind import Wish
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
@wish_options("each kind for each part of the items; each seed holds out another fifth", "by size, made smaller")
@columns_option
def command(
    train: str, forms: list[int] | None, out: str, wish: Wish, resources: MakeResources, columns: Columns
) -> None:
    """Say how many forms a model will get right once there are more to learn from than FILE has.

    Small models learn from a quarter, a half and all of the items but a fifth, which they are asked for, for each of
    five fifths. The line through their accuracies (log odds of a right form over the logarithm of the number of items)
    is continued. The truth is meant to be in the interval four times out of five. The models of train are larger and
    more: they get some more forms right.

    Ctrl-C stops; the same command then resumes from the folder FILE.json.state.
    """
    from reinflect.cli.progress import display, spell_seconds
    from reinflect.forecast import outcomes, share_specs, small_plan

    check_output(out, [train], "--out", again="JSON")
    items = read_for_model(train, columns)
    plan = small_plan(wish, len(items))
    shares = share_specs(items, plan, source_name(train))
    specs = [spec for share in shares.values() for spec in share]
    samples = sum(len(spec.lesson.train) * spec.settings.epochs for spec in specs)
    with display() as shown:
        training = resources(watcher=shown)
        duration = spell_seconds(samples / SAMPLES_A_SECOND / min(training.workers, len(specs)))
        say(
            f"training {len(specs)} small models on parts of {source_name(train)}; this takes a laptop about {duration}"
        )
        measured = outcomes(items, shares, plan.strategy, Path(out), training)
    numbers = forms or [multiple * len(items) for multiple in MULTIPLES]
    forecast = measured.forecast(numbers, Path(train).name, len(items), list(map(str, plan.kinds)))
    write_text(out, json_text(forecast, indent=2))
    rows = [(str(share.items), f"{share.accuracy:.2f}") for share in forecast.measured]
    click.echo(table(("forms learnt from", "right, %"), rows, sides=("right", "right")))
    for expected in forecast.expected:
        click.echo(f"{expected}.")
    say(f"note: by small models on {forecast.measured[-1].scored} held-out forms; those of train get some more right")
    if forecast.expected[-1].items > MULTIPLES[-1] * len(items):
        say(f"note: intervals were checked up to {MULTIPLES[-1]} times the forms there are; this one may be too narrow")
    say_written(out, " (reinflect report MODEL --forecast draws it)")
