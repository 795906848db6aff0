"""`reinflect forecast`: how many forms will be right once there are more to learn from."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.models import read_for_models
from reinflect.cli.options import columns_option, example, option, say, source_option
from reinflect.cli.output import Output, json_text, output_options
from reinflect.cli.wishes import wish_options
from reinflect.data.items import Columns
from reinflect.errors import InputError, quoted, source_name
from reinflect.systems.kind import Wish
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.run.resources import Resources

EXAMPLE = example(
    "reinflect data show german-verbs --split train-low > verbs.tsv",
    "reinflect forecast --train verbs.tsv --forms 250,500,1000",
    about="about a minute",
)
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
@source_option("--train FILE", "The items with their forms that you have.", required=True)
@option(
    "--forms LIST",
    "Numbers of forms to forecast for, separated by commas (default: two, five and ten times those you have).",
    type=_forms,
)
@output_options(
    "to write the forecast, which report --forecast draws",
    names="--out path FILE.json",
    default="forecast.json",
    force=False,
)
@wish_options("each kind for each part of the items; each seed holds out another fifth", "by size, made smaller")
@columns_option
def command(
    train: str,
    forms: list[int] | None,
    output: Output,
    wish: Wish,
    resources: "AbstractContextManager[Resources]",
    columns: Columns,
) -> None:
    """Say how many forms a model will get right once there are more to learn from than FILE has.

    Each fifth of the items is held out in turn; small models learn from a quarter, a half and all of the others, and
    inflect the held-out ones. The line through their accuracies (log odds of a right form over the logarithm of the
    number of items) is continued. The interval should hold the true accuracy four times out of five. The models of
    train are larger and more: they get some more forms right.

    Ctrl-C stops; the same command then resumes from the folder FILE.json.state.
    """
    from reinflect.cli.progress import spell_seconds
    from reinflect.forecast import outcomes, share_specs, small_plan

    output.check(replaces="JSON")
    items, name = read_for_models(train, columns), source_name(train)
    plan = small_plan(wish, len(items))
    shares = share_specs(items, plan, name)
    specs = [spec for share in shares.values() for spec in share]
    samples = sum(len(spec.lesson.train) * spec.settings.epochs for spec in specs)
    with resources as used:
        duration = spell_seconds(samples / SAMPLES_A_SECOND / min(used.workers, len(specs)))
        say(f"training {len(specs)} small models on parts of {name}; this takes a laptop about {duration}")
        measured = outcomes(items, shares, plan.strategy, Path(output.path), used)
    numbers = forms or [multiple * len(items) for multiple in MULTIPLES]
    forecast = measured.forecast(numbers, Path(train).name, len(items), list(map(str, plan.kinds)))
    rows = [(str(share.items), f"{share.accuracy:.2f}") for share in forecast.measured]
    click.echo(table(("forms learnt from", "right, %"), rows, sides=("right", "right")))
    click.echo("\n".join(f"{expected}." for expected in forecast.expected))
    scored, most = forecast.measured[-1].scored, MULTIPLES[-1]
    notes = [f"note: by small models on {scored} held-out forms; those of train get some more right"]
    if forecast.expected[-1].items > most * len(items):
        notes.append(f"note: intervals were checked up to {most} times the forms there are; this one may be too narrow")
    output.write(lambda: json_text(forecast, 2), notes=notes, about=" (reinflect report MODEL --forecast draws it)")
