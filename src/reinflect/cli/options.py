"""Options that several commands share."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce, wraps
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from reinflect.data.features import Bundle
from reinflect.data.form_cells import AUTO, FormRules, Variants
from reinflect.data.items import COLUMNS_AUTO, Columns, Item, Normalisation, check_lengths
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.sheet_file import check_sheet
from reinflect.data.words import WordList
from reinflect.errors import InputError
from reinflect.files import STANDARD

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

LABELS_FILE, WORDS_FILE = "reinflect.labels.file", "reinflect.words.file"


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


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one, in the order of the help."""
    return lambda command: reduce(lambda made, one: one(made), reversed(options), command)


def example(*lines: str, about: str = "") -> str:
    """The end of a command's help."""
    return "\n  ".join([f"\b\nExample{about and f' ({about})'}:", *lines])


def read_labels(path: str) -> Labels:
    click.get_current_context().meta[LABELS_FILE] = path
    return Labels.read(path)


def _output(path: str) -> str:
    check_sheet(path)
    return path


def _words(path: str) -> WordList:
    click.get_current_context().meta[WORDS_FILE] = path
    return WordList.read(path)


def force_option(what: str) -> Callable[[Command], Command]:
    """`--force`, which `forced` and `check_output` look up."""
    return option("--force", f"Replace {what} of this name that exists.", expose_value=False)


def forced() -> bool:
    return click.get_current_context().get_parameter_source("force") is ParameterSource.COMMANDLINE


def output_option(what: str, *, screen: bool = True) -> Callable[[Command], Command]:
    """`--output`, with what is written there, and `--force`; it must be given if it cannot be the screen."""
    default: dict[str, Any] = {"default": STANDARD} if screen else {"required": True}
    output = option("--output -o FILE", f"Where {what}{' (- is the screen)' * screen}.", type=_output, **default)
    return all_of(output, force_option("a file"))


words_option = partial(option, "--words FILE", type=_words)
wide_option = option("--wide", "Write a spreadsheet with one lemma a row and one column for each bundle of features.")


def _strategy(name: str) -> str:
    from reinflect.ensemble.strategies import find_strategy

    return find_strategy(name).name


def strategy_option(what: str) -> Callable[[Command], Command]:
    """`--strategy`, with what it decides."""
    return option(
        "--strategy NAME",
        f"{what}: vote (all), ensemble-N (the N best), max (all of the best system and alignment), average (of "
        "probabilities, the 15 best); for those who benchmark, run1 to run7 of the paper. Unless told otherwise, train "
        "takes the better of max and ensemble-15.",
        type=_strategy,
    )


def columns_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--columns`, `--labels`, `--variants`, `--missing` and `--normalise`: one `Columns`, how items are read."""

    @wraps(command)
    def with_columns(*given: Any, columns: Columns, labels: Labels | None, normalise: Any, **named: Any) -> Any:
        rules = FormRules(named.pop("variants"), named.pop("missing"))
        columns = replace(columns, labels=labels or NO_LABELS, rules=rules, normalisation=normalise)
        return command(*given, columns=columns, **named)

    order = option(
        "--columns ORDER",
        "Order of the tab-separated columns, such as lemma,form,features or lemma,features,form (2023); auto finds out "
        "which of these two each file has. In a spreadsheet "
        "(.csv, .xlsx) columns go by their names: lemma=Verb,form=Wordform,features=Tags.",
        default=str(COLUMNS_AUTO),
        type=Columns.parse,
    )
    labels = option(
        "--labels FILE",
        "Your own names for features, read and written in their place: lines of a label, a tab, and features.",
        type=read_labels,
    )
    variants = option(
        "--variants",
        "Several forms in a field of a spreadsheet (a / b): each is right, only the first is, the field is skipped, or "
        "kept as one form.",
        type=click.Choice(get_args(Variants)),
        default="all",
    )
    missing = option(
        "--missing LIST",
        "Fields of a spreadsheet that mean there is no form, separated by commas. auto: -, —, ?, n/a and the like, and "
        "doubtful forms (*x, ?x, (x)); none: every field is a form.",
        default=AUTO,
        type=FormRules.parse_missing,
    )
    normalise = option(
        "--normalise",
        "Encode lemmas and forms in one way: nfc (ä is one character) or nfd (two, a and its dots); none: as they are. "
        "A model remembers it, and does the same to the words it is asked for.",
        type=click.Choice(get_args(Normalisation)),
        default="none",
    )
    return all_of(order, labels, variants, missing, normalise)(with_columns)


def check_word(word: str, kind: str = "lemma") -> None:
    """Refuse a lemma or form, given as an argument, that no model can use."""
    if word == "":
        raise InputError(f"found an empty {kind}", "give one with at least one letter")
    check_lengths([Item(word, Bundle(""))], None, "models take", "shorten it")
