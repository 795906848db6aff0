"""Options that several commands share."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from reinflect.data.items import COLUMNS_2017, Columns
from reinflect.files import STANDARD

Command = TypeVar("Command", bound=Callable[..., Any])


def _columns(_context: click.Context, _option: click.Parameter, value: str) -> Columns:
    return Columns.parse(value)


def output_option(what: str) -> Callable[[Command], Command]:
    """`--output`, with what goes there."""
    help_text = f"Where {what} (- is the screen)."
    return click.option("--output", "-o", metavar="FILE", default=STANDARD, show_default=True, help=help_text)


def cores() -> int:
    """How many processes can work at once: the default of `--workers`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


columns_option = click.option(
    "--columns",
    metavar="ORDER",
    default=str(COLUMNS_2017),
    show_default=True,
    callback=_columns,
    help="Order of the tab-separated columns; data of 2023 and later is lemma,features,form.",
)
