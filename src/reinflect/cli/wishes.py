"""Options of the commands that train: what to train, as a `Wish`, and with what, as `Resources`."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.cache import default_folder
from reinflect.cli.options import Decorator, all_of, option
from reinflect.errors import InputError, quoted
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import AUGMENTATIONS, DEFAULTS, PAPER_ALIGNMENTS, PAPER_SYSTEMS, Wish

if TYPE_CHECKING:
    from reinflect.run.watch import Resources

CHECKPOINT_SECONDS = "REINFLECT_CHECKPOINT_SECONDS"
MakeResources = Callable[..., "Resources"]
"""Makes `Resources` from options; its arguments are their other fields, such as the watcher."""


def names(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


names_option = partial(option, type=names)
augment_option = option("--augment NAME", f"Also learn from made-up items: {', '.join(AUGMENTATIONS)}.", multiple=True)
set_option = option(
    "--set changes KEY=VALUE",
    "Change a setting of the preset: hidden=200, or haem.hidden=200 for one system only; or of an aligner or an "
    "augmentation, such as smart.sweeps=50 or made-up.times=8.",
    multiple=True,
)
device_option = option("--device", "What to train on.", type=click.Choice(["auto", "cpu", "cuda"]), default="auto")
workers_option = partial(option, "--workers N", type=click.IntRange(min=1))
low, medium, high = (",".join(DEFAULTS[preset].kinds or ()) for preset in ("low", "medium", "high"))
kinds_option = names_option(
    "--kinds LIST",
    "Kinds of models, separated by commas: each a system, its alignment if it learns from one, and perhaps an "
    f"augmentation (default: {low}; from 320 items on {medium}; from 3,200 on {high}).",
)


def wish_options(seeds_of: str, preset: str, *more: Decorator, by_size: bool = False) -> Decorator:
    """All options of a `Wish`, which the command receives, and of `resources`; `preset` says what auto means.

    With `by_size`, the number of items decides on the kinds if the user chooses nothing.
    """
    kinds = [kinds_option] if by_size else []
    default = "{} if only --{}, --augment or --from is given" if by_size else "default: {}"
    systems, alignments = ",".join(PAPER_SYSTEMS), ",".join(PAPER_ALIGNMENTS)
    options: list[Decorator] = [
        *kinds,
        names_option(
            "--systems LIST", f"Systems to train: {', '.join(SYSTEMS)} ({default.format(systems, 'alignments')})."
        ),
        names_option(
            "--alignments LIST",
            f"Alignments to learn from: {', '.join(ALIGNERS)} ({default.format(alignments, 'systems')}).",
        ),
        augment_option,
        option("--seeds N", f"Number of models of {seeds_of}.", type=click.IntRange(1, 100), default=5),
        option(
            "--preset NAME",
            f"Settings: low, medium, high ({preset}), paper-low, paper-medium, paper-high, or a TOML file.",
            default="auto",
        ),
        set_option,
        device_option,
        workers_option("Processes on the CPU (default: one for each core). The result does not depend on them."),
        *more,
    ]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_wish(*arguments: Any, device: str, workers: int | None, **options: Any) -> Any:
            wish = Wish(**{name: options.pop(name) for name in Wish.__struct_fields__ if name in options})
            return command(*arguments, wish=wish, resources=make_resources(device, workers), **options)

        return all_of(*options)(with_wish)

    return decorated


def make_resources(device: str, workers: int | None = None, **more: Any) -> MakeResources:
    """What a training may use, by its options."""
    from reinflect.train import check_torch

    check_torch()
    from reinflect.run.watch import Resources

    options: dict[str, Any] = {"workers": workers or cores(), "checkpoint_seconds": checkpoint_seconds()}
    options |= {"device": device_for(device), "alignment_cache": default_folder()} | more
    return partial(Resources, **options)


def device_for(device: str) -> str:
    """The device that `--device` stands for on this computer."""
    if device == "cpu":
        return device
    import torch

    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise InputError("found --device cuda, but torch finds no GPU", "use --device cpu, or check the GPU's driver")
    return "cuda" if available else "cpu"


def cores() -> int:
    """The number of processes that can work at once: the default of `--workers`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checkpoint_seconds(default: float = 60.0) -> float:
    text = os.environ.get(CHECKPOINT_SECONDS, str(default))
    with suppress(ValueError):
        if (seconds := float(text)) >= 0:
            return seconds
    raise InputError(f"found {CHECKPOINT_SECONDS}={quoted(text)}", "set it to a number of seconds, such as 60")
