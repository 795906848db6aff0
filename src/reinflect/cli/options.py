"""Options that several commands share."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from reinflect.data.features import Bundle
from reinflect.data.form_cells import AUTO, FormRules, Variants
from reinflect.data.items import COLUMNS_2017, Columns, Item, check_lengths
from reinflect.data.labels import Labels
from reinflect.errors import InputError, OutputError
from reinflect.files import STANDARD, check_writable

Command = TypeVar("Command", bound=Callable[..., Any])

LABELS = "reinflect.labels"
LABELS_FILE = "reinflect.labels.file"
RULES = "reinflect.rules"


def say(*notes: str | None) -> None:
    """Print notes on standard error, each on a line of its own; None is no note."""
    for note in notes:
        if note is not None:
            click.echo(note, err=True)


def option(spec: str, description: str, **more: Any) -> Callable[[Command], Command]:
    """A click option from its names and its metavar, such as `--input source FILE`; without a value it is a flag."""
    names = [word for word in spec.split() if word.startswith("-") or (word.isidentifier() and word.islower())]
    metavar = " ".join(word for word in spec.split() if word not in names) or None
    if metavar is None and not {"type", "default"} & more.keys():
        more["is_flag"] = True
    if more.get("multiple"):
        description += " May be repeated."
    return click.option(*names, metavar=metavar, help=description, show_default=bool(more.get("default")), **more)


def _labels(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    context.meta[LABELS] = Labels() if value is None else Labels.read(value)
    context.meta[LABELS_FILE] = value


def _columns(context: click.Context, _option: click.Parameter, value: str) -> Columns:
    return replace(Columns.parse(value), labels=context.meta[LABELS], rules=FormRules(**context.meta[RULES]))


def _rule(context: click.Context, option: click.Parameter, value: str) -> None:
    read = FormRules.parse_missing(value) if option.name == "missing" else value
    context.meta.setdefault(RULES, {})[option.name] = read


def _output(path: str) -> str:
    from reinflect.data.sheet_files import check_sheet

    check_sheet(path)
    return path


def output_option(what: str) -> Callable[[Command], Command]:
    """`--output`, with what is written there."""
    return option("--output -o FILE", f"Where {what} (- is the screen).", default=STANDARD, type=_output)


def check_output(output: Path | str, inputs: Iterable[Path | str | None], name: str = "--output") -> None:
    """Check that `output` can be written, and is none of the files that are read: `inputs` and that of `--labels`."""
    check_writable(output)
    labels = click.get_current_context().meta.get(LABELS_FILE)
    if any(path is not None and _same_file(output, path) for path in (*inputs, labels)):
        raise OutputError(output, "this file is read from", f"choose another {name}")


def _same_file(one: Path | str, other: Path | str) -> bool:
    """Whether two names, links or not, are of one regular file that exists."""
    if STANDARD in (str(one), str(other)):
        return False
    try:
        return Path(one).is_file() and Path(one).samefile(other)
    except (OSError, ValueError):  # a file or name that does not exist: the code that reads it reports it
        return False


wide_option = option("--wide", "Write a spreadsheet with one lemma a row and one column for each bundle of features.")


def _strategy(name: str) -> str:
    from reinflect.ensembles.strategies import find_strategy

    return find_strategy(name).name


def strategy_option(what: str) -> Callable[[Command], Command]:
    """`--strategy`, with what it decides."""
    return option(
        "--strategy NAME",
        f"{what}: vote (all), ensemble-N (the N best), max (all of the best system and alignment), run1 to run7 "
        "of the paper (run7: the better of max and ensemble-15), or average (of probabilities, the 15 best).",
        type=_strategy,
    )


def columns_option(command: Command) -> Command:
    """`--columns`, `--labels`, `--variants` and `--missing`, which make one `Columns`: how items are read."""
    columns = option(
        "--columns ORDER",
        "Order of the tab-separated columns; data of 2023 and later is lemma,features,form. In a spreadsheet "
        "(.csv, .xlsx) columns go by their names: lemma=Verb,form=Wordform,features=Tags.",
        default=str(COLUMNS_2017),
        callback=_columns,
    )
    labels = option(
        "--labels FILE",
        "Your own names for features, read and written in their place: lines of a label, a tab, and features.",
        is_eager=True,
        expose_value=False,
        callback=_labels,
    )
    variants = option(
        "--variants",
        "Several forms in a field of a spreadsheet (a / b): each is right, only the first is, the field is skipped, or "
        "kept as one form.",
        type=click.Choice(get_args(Variants)),
        default="all",
        is_eager=True,
        expose_value=False,
        callback=_rule,
    )
    missing = option(
        "--missing LIST",
        "Fields of a spreadsheet that mean there is no form, separated by commas. auto: -, —, ?, n/a and the like, and "
        "doubtful forms (*x, ?x, (x)); none: every field is a form.",
        default=AUTO,
        is_eager=True,
        expose_value=False,
        callback=_rule,
    )
    return columns(labels(variants(missing(command))))


def check_lemma(lemma: str) -> None:
    """Refuse a lemma, given as an argument, that no model can inflect."""
    if lemma == "":
        raise InputError("found an empty lemma", "give one with at least one letter")
    check_lengths([Item(lemma, Bundle(""))], None, "models take", "shorten it")
