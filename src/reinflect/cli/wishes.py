"""Options of the commands that train: what to train, as a `Wish`, and with what, as `Resources`."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.pairs import default_folder
from reinflect.cli.options import POSITIVE, Gathered, option
from reinflect.errors import InputError, quoted
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import AUGMENTATIONS, DEFAULTS, PAPER_ALIGNMENTS, PAPER_SYSTEMS, Wish

if TYPE_CHECKING:
    from reinflect.run.watch import Resources

CHECKPOINT_SECONDS = "REINFLECT_CHECKPOINT_SECONDS"


def names(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


names_option = partial(option, type=names)
augment_option = option("--augment NAME", f"Also learn from made-up items: {', '.join(AUGMENTATIONS)}.", multiple=True)
set_option = option(
    "--set KEY=VALUE",
    "Change a setting of all systems (hidden=200), of one (haem.hidden=200), of an aligner (smart.sweeps=50), or of an "
    "augmentation (made-up.times=8).",
    multiple=True,
)
device_option = option("--device", "What to train on.", click.Choice(["auto", "cpu", "cuda"]), default="auto")
workers_option = partial(option, "--workers N", type=POSITIVE)
low, medium, high = (",".join(DEFAULTS[preset].kinds or ()) for preset in ("low", "medium", "high"))
kinds_option = names_option(
    "--kinds LIST",
    "Kinds of models, separated by commas: each a system, its alignment if it learns from one, and perhaps an "
    f"augmentation (default: {low}; from 320 items on {medium}; from 3,200 on {high}).",
)


def wish_options(seeds_of: str, preset: str, *, by_size: bool = False, **more: Any) -> Any:
    """The options of a `Wish`; `preset` says what auto means.

    With `by_size`, the number of items decides on the kinds unless the user does.
    """
    default = "{} if only --{}, --augment or --from is given" if by_size else "default: {}"
    systems = default.format(",".join(PAPER_SYSTEMS), "alignments")
    alignments = default.format(",".join(PAPER_ALIGNMENTS), "systems")
    presets = f"Settings: low, medium, high ({preset}), paper-low, paper-medium, paper-high, or a TOML file."
    return Gathered(
        Wish,
        **{"kinds": kinds_option} if by_size else {},
        systems=names_option("--systems LIST", f"Systems to train: {', '.join(SYSTEMS)} ({systems})."),
        alignments=names_option(
            "--alignments LIST", f"Alignments to learn from: {', '.join(ALIGNERS)} ({alignments})."
        ),
        augment=augment_option,
        seeds=option("--seeds N", f"Number of models of {seeds_of}.", click.IntRange(1, 100), default=5),
        preset=option("--preset NAME", presets, default="auto"),
        changes=set_option,
        **more,
    )


def make_resources(device: str, workers: int | None = None, **more: Any) -> "AbstractContextManager[Resources]":
    """What a training may use, while its progress is displayed; refused at once where torch is missing."""
    from reinflect.train import check_torch

    check_torch()
    seconds = checkpoint_seconds()
    return displayed(workers=workers or cores(), checkpoint_seconds=seconds, device=device_for(device), **more)


resources_options: Any = Gathered(
    make_resources,
    device=device_option,
    workers=workers_option("Processes on the CPU (default: one for each core). The result does not depend on them."),
)


@contextmanager
def displayed(**options: Any) -> "Iterator[Resources]":
    from reinflect.run.watch import Resources, display

    with display() as watcher:
        yield Resources(**{"alignment_cache": default_folder(), **options, "watcher": watcher})


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
