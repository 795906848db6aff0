"""Options and types of arguments that several commands share."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce, wraps
from typing import Any, TypeVar, get_args

import click

from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.data.form_cells import AUTO, FormRules, Variants
from reinflect.data.items import COLUMNS_AUTO, Columns, Item, Normalisation, check_lengths
from reinflect.data.words import WordList
from reinflect.errors import InputError, quoted
from reinflect.files import STANDARD

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SOURCES = "reinflect.sources"
"""Where a click context has the files that its command reads."""


def say(*notes: str | None) -> None:
    """Print notes on standard error, each on a line of its own; None is no note."""
    for note in notes:
        if note is not None:
            click.echo(note, err=True)


def option(spec: str, description: str, **more: Any) -> Decorator:
    """A click option from its names and its metavar, such as `--input source FILE`; without a value it is a flag."""
    names = [word for word in spec.split() if word.startswith("-") or (word.isidentifier() and word.islower())]
    metavar = " ".join(word for word in spec.split() if word not in names) or None
    if metavar is None and not {"type", "default"} & more.keys():
        more["is_flag"] = True
    description += " May be repeated." * more.get("multiple", False)
    return click.option(*names, metavar=metavar, help=description, show_default=bool(more.get("default")), **more)


def all_of(*options: Decorator) -> Decorator:
    """Several options as one, in the order of the help."""
    return lambda command: reduce(lambda decorated, decorator: decorator(decorated), reversed(options), command)


def gathered(name: str, make: Callable[..., Any], *options: Decorator, arguments: Sequence[str] = ()) -> Decorator:
    """Options, and further `arguments`, that reach the command as one argument, which `make` makes of their values."""
    keys = [*arguments, *(str(parameter.name) for parameter in click.command()(all_of(*options)(lambda: None)).params)]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_argument(**values: Any) -> Any:
            return command(**{name: make(**{key: values.pop(key) for key in keys})}, **values)

        return all_of(*options)(with_argument)

    return decorated


def example(*lines: str, about: str = "") -> str:
    """The end of a command's help."""
    return "\n  ".join([f"\b\nExample{about and f' ({about})'}:", *lines])


def text(argument: str) -> str:
    """The type of words, features and names: UTF-8, whatever encoding the environment claims."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise InputError(f"found {quoted(argument)}, which is not UTF-8", "type it in a UTF-8 terminal") from None


def word(argument: str, kind: str = "lemma") -> str:
    """The type of lemmas and forms that a model is to use."""
    if argument == "":
        raise InputError(f"found an empty {kind}", "give one with at least one letter")
    check_lengths([Item(argument, Bundle(""))], None, "models take", "shorten it")
    return text(argument)


def source(path: str) -> str:
    """The type of files to read: no output replaces them."""
    paths = click.get_current_context().meta.setdefault(SOURCES, [])
    if path == STANDARD in paths:
        raise InputError("found - (standard input) more than once", "give - for one file only")
    paths.append(path)
    return path


source_option = partial(option, type=source)
words_option = partial(option, "--words FILE", type=lambda path: WordList.read(source(path)))
labels_option = partial(option, "--labels FILE", type=lambda path: Labels.read(source(path)))


def check_either(words: bool, file: str | None, names: str, such_as: str = "") -> None:
    """Refuse both words and a file of them, and neither."""
    if words == (file is not None):
        finding = f"both {names} and --input" if words else f"neither {names} nor --input"
        raise InputError(f"found {finding}", f"give either {names}{such_as} or --input FILE")


class StrategyOption(click.Option):
    """Its help names the strategies of other packages; looking for them takes time, so nothing else does."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from importlib.metadata import entry_points

        others = ", ".join(sorted({entry.name for entry in entry_points(group="reinflect.strategies")}))
        self.help = f"{self.help}{others and f' Of other packages: {others}.'}"
        return super().get_help_record(ctx)


def _strategy(name: str) -> str:
    from reinflect.ensemble.strategies import find_strategy

    return find_strategy(name).name


def strategy_option(what: str) -> Decorator:
    names = (
        "vote (all), ensemble-N (the N best), max (all of the best system and alignment), average (of the 15 best "
        "members' probabilities), or run1 to run7 of the paper. train takes the better of max and ensemble-15."
    )
    return option("--strategy NAME", f"{what}: {names}", type=_strategy, cls=StrategyOption)


COLUMN_OPTIONS = (
    option(
        "--columns ORDER",
        "Order of tab-separated columns: lemma,form,features; lemma,features,form (2023); auto finds out which. In a "
        "spreadsheet (.csv, .xlsx), their names: lemma=Verb,form=Wordform,features=Tags.",
        default=str(COLUMNS_AUTO),
        type=Columns.parse,
    ),
    labels_option("Your own names for features, read and written in their place: lines of label, tab, features."),
    option(
        "--variants",
        "Several forms in a field of a spreadsheet (a / b): take all or the first, skip the field, or keep one form.",
        type=click.Choice(get_args(Variants)),
        default="all",
    ),
    option(
        "--missing LIST",
        "Fields of a spreadsheet that mean no form, separated by commas. auto: -, —, ?, n/a and the like, and doubtful "
        "forms (*x, ?x, (x)); none: every field is a form.",
        default=AUTO,
        type=FormRules.parse_missing,
    ),
    option(
        "--normalise",
        "Unicode form of lemmas and forms: nfc (ä is one character), nfd (two, a and its dots), or none: unchanged. A "
        "model remembers it, and normalises the words it inflects.",
        type=click.Choice(get_args(Normalisation)),
        default="none",
    ),
)


def make_columns(
    columns: Columns = COLUMNS_AUTO, labels: Labels | None = None, normalise: Normalisation = "none", **rules: Any
) -> Columns:
    return replace(columns, labels=labels or NO_LABELS, rules=FormRules(**rules), normalisation=normalise)


columns_option = gathered("columns", make_columns, *COLUMN_OPTIONS)
"""How items are read: one `Columns`."""
