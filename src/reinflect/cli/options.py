"""Options that several commands share."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_2017, Columns, Item, check_lengths
from reinflect.data.labels import Labels
from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import STANDARD, check_writable, read_text
from reinflect.text import nearest

if TYPE_CHECKING:
    from reinflect.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

SYSTEMS = ("hacm", "haem", "soft")
ALIGNMENTS = ("naive", "smart")
LABELS = "reinflect.labels"
LABELS_FILE = "reinflect.labels.file"


def say(note: str) -> None:
    """A remark for the user, beside what the command is asked for."""
    click.echo(note, err=True)


def _labels(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    context.meta[LABELS] = Labels() if value is None else Labels.read(value)
    context.meta[LABELS_FILE] = value


def _columns(context: click.Context, _option: click.Parameter, value: str) -> Columns:
    return replace(Columns.parse(value), labels=context.meta[LABELS])


def _output(_context: click.Context, _option: click.Parameter, value: str) -> str:
    from reinflect.data.sheet_files import check_sheet

    check_sheet(value)
    return value


def output_option(what: str) -> Callable[[Command], Command]:
    """`--output`, with what goes there."""
    help_text = f"Where {what} (- is the screen)."
    return click.option(
        "--output", "-o", metavar="FILE", default=STANDARD, show_default=True, callback=_output, help=help_text
    )


def check_output(output: Path | str, inputs: Iterable[Path | str | None], option: str = "--output") -> None:
    """Raise now what would hinder the writing of `output`, or what would be lost by it: a file that is read.

    `inputs` are all those the command was told to read; the file of `--labels`, which `columns_option` reads, is one of
    them anyway.
    """
    check_writable(output)
    labels = click.get_current_context().meta.get(LABELS_FILE)
    if any(path is not None and _same_file(output, path) for path in (*inputs, labels)):
        raise OutputError(output, "this file is read from", f"choose another {option}")


def _same_file(one: Path | str, other: Path | str) -> bool:
    """Whether two names, links or not, are of one file that is there; a terminal is none, nor is `-`."""
    if STANDARD in (str(one), str(other)):
        return False
    try:
        return Path(one).is_file() and Path(one).samefile(other)
    except (OSError, ValueError):  # there is no such file, or no such name: who reads it will say so
        return False


wide_option = click.option(
    "--wide", is_flag=True, help="Write a spreadsheet with one lemma a row and one column for each bundle of features."
)


alignments_option = click.option(
    "--alignments", metavar="LIST", default=",".join(ALIGNMENTS), show_default=True, help="Which alignments to use."
)
device_option = click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True, help="What to train on."
)


def seeds_option(what: str) -> Callable[[Command], Command]:
    """`--seeds`, with what they are of."""
    return click.option(
        "--seeds",
        metavar="N",
        type=click.IntRange(1, 100),
        default=5,
        show_default=True,
        help=f"How many models to train of {what}.",
    )


def workers_option(what: str) -> Callable[[Command], Command]:
    """`--workers`, with what is to be known of them."""
    return click.option("--workers", metavar="N", type=click.IntRange(min=1), help=what)


def _strategy(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    from reinflect.ensembles.vote import strategy

    return None if value is None else strategy(value).name


def strategy_option(default: str | None, what: str) -> Callable[[Command], Command]:
    """`--strategy`, with what it decides."""
    return click.option(
        "--strategy",
        metavar="NAME",
        default=default,
        show_default=True,
        callback=_strategy,
        help=f"{what}: vote (all), ensemble-N (the N best), max (all of the best system and alignment), run1 to run7 "
        "of the paper (run7: the better of max and ensemble-15), or average (of probabilities, the 15 best).",
    )


def chosen(text: str, known: Sequence[str], what: str) -> list[str]:
    """The names in a list with commas, each of them once and known."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in known:
            all_of_them = f"the {what}s are {', '.join(known)}, joined by commas"
            raise InputError(f"found the {what} {quoted(name)}", nearest(name, known, all_of_them))
    return names


def settings_of(preset: str, changes: Sequence[str]) -> "dict[str, Settings]":
    """A preset by its name or file, with the changes of `--set` made."""
    from reinflect.settings import PRESETS, changed, load_preset, parse_preset

    if preset in PRESETS:
        settings = load_preset(preset)
    elif Path(preset).is_file() or preset.endswith(".toml"):
        settings = parse_preset(read_text(preset), preset)
    else:
        known = f"choose auto, {', '.join(PRESETS)} or a TOML file"
        raise InputError(f"found the preset {quoted(preset)}", nearest(preset, PRESETS, known))
    return changed(settings, changes)


def device_for(asked: str) -> str:
    """What `--device` means here."""
    if asked == "cpu":
        return asked
    import torch

    here = torch.cuda.is_available()
    if asked == "cuda" and not here:
        raise InputError("found --device cuda, but torch sees no GPU", "use --device cpu, or look at the GPU's driver")
    return "cuda" if here else "cpu"


def cores() -> int:
    """How many processes can work at once: the default of `--workers`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def columns_option(command: Command) -> Command:
    """`--columns` and `--labels`, which make one `Columns`: how a file of items is read and written."""
    columns = click.option(
        "--columns",
        metavar="ORDER",
        default=str(COLUMNS_2017),
        show_default=True,
        callback=_columns,
        help="Order of the tab-separated columns; data of 2023 and later is lemma,features,form. In a spreadsheet "
        "(.csv, .xlsx) columns go by their names: lemma=Verb,form=Wordform,features=Tags.",
    )
    labels = click.option(
        "--labels",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_labels,
        help="Your own names for features, read and written in their place: lines of a label, a tab, and features.",
    )
    return columns(labels(command))


def check_lemma(lemma: str) -> None:
    """Refuse one, given as a word of the command, that no model can inflect."""
    if lemma == "":
        raise InputError("found an empty lemma", "give one with at least one letter")
    check_lengths([Item(lemma, Bundle(""))], None, "models take", "shorten it")
