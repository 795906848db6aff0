"""Options and arguments that several commands share, how a command gets its values from them, and where it writes."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from json import dumps
from pathlib import Path
from typing import Any, get_args

import click

from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.data.form_cells import AUTO, FormRules, Variants
from reinflect.data.items import COLUMNS_2017, COLUMNS_AUTO, Columns, Item, Normalisation, check_lengths, write_items
from reinflect.data.lexicon import WordList
from reinflect.data.sheet_file import check_sheet, write_rows
from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import STANDARD, Kind, check_writable, has_content, kind_of_file, kind_of_sheet, write_text

NONE = "none"
POSITIVE = click.IntRange(min=1)
SOURCES = "reinflect.sources"
"""Where a click context has the files that its command reads."""


def say(*notes: str | None) -> None:
    """Print notes on standard error, each on a line of its own; None is no note."""
    for note in notes:
        if note is not None:
            click.echo(note, err=True)


def option(spec: str, about: str, type: Any = None, *, cls: Any = click.Option, **more: Any) -> Any:
    """An option of these names and this metavar, such as `--output -o FILE`; without any value it is a flag."""
    names = [word for word in spec.split() if word.startswith("-")]
    metavar = " ".join(spec.split()[len(names) :]) or None
    if metavar is None and type is None and "default" not in more:
        more["is_flag"] = True
    about += " May be repeated." * more.get("multiple", False)
    more |= {"type": type, "metavar": metavar, "help": about, "show_default": bool(more.get("default"))}
    return lambda name: cls([*names, name], **more)


def argument(type: Any = None, **more: Any) -> Any:
    return lambda name: click.Argument([name], type=type, **more)


class Gathered:
    """A value that `make` makes of those of several options and arguments."""

    def __init__(self, make: Callable[..., Any], **sources: Any) -> None:
        self.make = make
        self.parts = {name: each if isinstance(each, Gathered) else each(name) for name, each in sources.items()}

    @property
    def parameters(self) -> list[click.Parameter]:
        """The arguments first; the options that belong to an argument last."""
        lists = [part.parameters if isinstance(part, Gathered) else [part] for part in self.parts.values()]
        options = sorted(lists, key=lambda parameters: isinstance(parameters[0], click.Argument))
        arguments = [each for parameters in lists for each in parameters if isinstance(each, click.Argument)]
        return arguments + [each for parameters in options for each in parameters if isinstance(each, click.Option)]

    def __call__(self, **values: Any) -> Any:
        parts = self.parts.items()
        return self.make(**{key: part(**values) if isinstance(part, Gathered) else values[key] for key, part in parts})


def command(
    *example: str, about: str = "", group: Any = click, name: str | None = None, **more: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """A command of a function: the default of each of its parameters is the option or argument that gives its value.

    Its help ends with an example, and with what there is to say `about` that.
    """

    def decorated(function: Callable[..., None]) -> click.Command:
        values = Gathered(function, **{key: each.default for key, each in signature(function).parameters.items()})
        lines = [f"\b\nExample{about and f' ({about})'}:", *example]
        more.update(params=values.parameters, help=function.__doc__, epilog="\n  ".join(lines))
        click_command: click.Command = group.command(name or function.__name__, **more)(values)
        return click_command

    return decorated


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


def strategy_option(what: str) -> Any:
    names = (
        "vote (all), ensemble-N (the N best), max (all of the best system and alignment), average (of the 15 best "
        "members' probabilities), or run1 to run7 of the paper. train takes the better of max and ensemble-15."
    )
    return option("--strategy NAME", f"{what}: {names}", _strategy, cls=StrategyOption)


def _columns(
    columns: Columns, labels: Labels | None, variants: Variants, missing: str, normalise: Normalisation
) -> Columns:
    marks = tuple(map(str.strip, missing.split(",")))
    if "" in marks or (NONE in marks and len(marks) > 1):
        remedy = f"give {AUTO}, {NONE}, or your own marks with commas between, such as {AUTO},xxx,0"
        raise InputError(f"found --missing {quoted(missing)}", remedy)
    rules = FormRules(variants, () if marks == (NONE,) else marks)
    return replace(columns, labels=labels or NO_LABELS, rules=rules, normalisation=normalise)


columns_option: Any = Gathered(
    _columns,
    columns=option(
        "--columns ORDER",
        "Order of tab-separated columns: lemma,form,features; lemma,features,form (2023); auto finds out which. In a "
        "spreadsheet (.csv, .xlsx), their names: lemma=Verb,form=Wordform,features=Tags.",
        Columns.parse,
        default=str(COLUMNS_AUTO),
    ),
    labels=labels_option(
        "Your own names for features, read and written in their place: lines of label, tab, features."
    ),
    variants=option(
        "--variants",
        "Several forms in a field of a spreadsheet (a / b): take all or the first, skip the field, or keep one form.",
        click.Choice(get_args(Variants)),
        default="all",
    ),
    missing=option(
        "--missing LIST",
        "Fields of a spreadsheet that mean no form, separated by commas. auto: -, —, ?, n/a and the like, and doubtful "
        "forms (*x, ?x, (x)); none: every field is a form.",
        default=AUTO,
    ),
    normalise=option(
        "--normalise",
        "Unicode form of lemmas and forms: nfc (ä is one character), nfd (two, a and its dots), or none: unchanged. A "
        "model remembers it, and normalises the words it inflects.",
        click.Choice(get_args(Normalisation)),
        default="none",
    ),
)
"""How items are read: one `Columns`."""

EXISTS = "a file of this name exists"
WIDE = "Write a spreadsheet with a row for each lemma and a column for each bundle."
KINDS: dict[Kind, str] = {"model": "a model", "page": "a web page", "JSON": "JSON", "table": "a tab-separated table"}
Notes = Iterable[str | None]
Rows = tuple[Sequence[str], Sequence[Sequence[str | float]]]
"""The headings and the rows of a spreadsheet."""


@dataclass(frozen=True)
class Output:
    """Where results go (`-` is the screen), and whether as JSON, as a wide sheet, and in the place of another file."""

    path: str = STANDARD
    json: bool = False
    force: bool = False
    wide: bool = False
    option: str = "--output"

    def check(self, *inputs: Path | str, replaces: Kind | None = None) -> None:
        """Check, before any work, that the file can be written and that nothing a person typed would be lost.

        A file that is read (`inputs`, and those of type `source`) is never replaced, and a model only by a model. Any
        other file is replaced only with `--force`; but where the output is only computed, never filled in or corrected,
        `replaces` is its kind: a file of this kind is replaced without asking, and no other. Spreadsheets are always
        asked about.
        """
        if kind_of_sheet(self.path):
            check_sheet(self.path)
            if self.json:
                raise InputError("found --json for a spreadsheet", "leave it out, or name another file", path=self.path)
        check_writable(self.path)
        other = f"choose another {self.option}"
        for path in (*inputs, *click.get_current_context().meta.get(SOURCES, ())):
            if _same_file(self.path, path):
                raise OutputError(self.path, "this file is read from", other)
        if not has_content(self.path):
            return
        kind = kind_of_file(self.path)
        if replaces and not (replaces == "table" and kind_of_sheet(self.path)):
            if kind != replaces:
                raise OutputError(self.path, f"{EXISTS} and is not {KINDS[replaces]}", other)
        elif kind == "model":
            raise OutputError(self.path, f"{EXISTS} and is a model", other)
        elif not self.force:
            raise OutputError(self.path, EXISTS, f"{other}, or give --force to replace it")

    def write(
        self,
        text: Callable[[], str],
        json: Callable[[], Iterable[object]] = tuple,
        rows: Callable[[], Rows] | None = None,
        *,
        indent: int | None = None,
        notes: Notes = (),
        about: str = "",
    ) -> None:
        """Write what was asked for: JSON (a line an object, unless indented), rows to a spreadsheet, or else text."""
        if self.json:
            write_text(self.path, "".join(json_text(value, indent) for value in json()))
        elif rows and kind_of_sheet(self.path):
            write_rows(self.path, *rows())
        else:
            write_text(self.path, text())
        self.written(notes, about)

    def write_items(
        self, items: Iterable[Item], columns: Columns = COLUMNS_2017, notes: Notes = (), about: str = ""
    ) -> None:
        write_items(self.path, items, columns, wide=self.wide)
        self.written(notes, about)

    def written(self, notes: Notes = (), about: str = "") -> None:
        """Print notes, and which file was written; nothing about the screen or a device."""
        say(*notes, f"written: {self.path}{about}" if has_content(self.path) else None)

    @classmethod
    def options(
        cls, where: str = "", json: str = "", names: str = "--output -o FILE", default: str = STANDARD, **more: bool
    ) -> Any:
        """The options of an `Output`; `where` and `json` are for their help."""
        required: dict[str, Any] = {"default": default} if default else {"required": True}
        screen = " (- is the screen)" * bool(default)
        options = {
            "path": where and option(names, f"Where {where}{screen}.", **required),
            "force": where and more.get("force", True) and option("--force", "Replace an existing file of this name."),
            "json": json and option("--json", json),
            "wide": more.get("wide") and option("--wide", WIDE),
        }
        return Gathered(partial(cls, option=names.split()[0]), **{key: each for key, each in options.items() if each})


def json_text(value: Any, indent: int | None = None) -> str:
    """A JSON object and a line end; dataclasses become objects."""
    import msgspec

    return dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=indent) + "\n"


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function that moves a bar on the terminal to what is done of the total; None if there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        number = progress.add_task(task, total=None)
        yield lambda done, total: progress.update(number, completed=done, total=total)


def _same_file(output: str, other: Path | str) -> bool:
    """Whether two names, links or not, are of one regular file that exists."""
    try:
        return STANDARD not in (output, str(other)) and Path(output).is_file() and Path(output).samefile(other)
    except (OSError, ValueError):  # a file or name that does not exist: the code that reads it reports it
        return False
