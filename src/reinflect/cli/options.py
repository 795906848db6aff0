"""Options that several commands share."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reinflect.data.items import COLUMNS_2017, Columns
from reinflect.errors import InputError, quoted
from reinflect.files import STANDARD, read_text
from reinflect.text import nearest

if TYPE_CHECKING:
    from reinflect.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

SYSTEMS = ("hacm", "haem", "soft")
ALIGNMENTS = ("naive", "smart")


def _columns(_context: click.Context, _option: click.Parameter, value: str) -> Columns:
    return Columns.parse(value)


def output_option(what: str) -> Callable[[Command], Command]:
    """`--output`, with what goes there."""
    help_text = f"Where {what} (- is the screen)."
    return click.option("--output", "-o", metavar="FILE", default=STANDARD, show_default=True, help=help_text)


def _strategy(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    from reinflect.ensembles import strategy

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


columns_option = click.option(
    "--columns",
    metavar="ORDER",
    default=str(COLUMNS_2017),
    show_default=True,
    callback=_columns,
    help="Order of the tab-separated columns; data of 2023 and later is lemma,features,form.",
)
