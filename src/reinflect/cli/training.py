"""Options of the commands that train: systems, alignments, settings and devices."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect.align import ALIGNERS
from reinflect.align.cache import default_folder
from reinflect.cli.options import Command, Decorator, all_of, option
from reinflect.errors import InputError, quoted
from reinflect.files import read_text
from reinflect.learn.augmentation import AUGMENTATIONS
from reinflect.systems import PAPER_ALIGNMENTS, PAPER_SYSTEMS, SYSTEMS, USUAL_FOR, Usual
from reinflect.text import nearest

if TYPE_CHECKING:
    from msgspec import Struct

    from reinflect.data.items import Item
    from reinflect.inflector.train import Outcome, Plan
    from reinflect.run.resources import Resources, Watcher

EVERY_LANGUAGE = "all"
SIZES = ("low", "medium", "high")
CHECKPOINT_SECONDS = "REINFLECT_CHECKPOINT_SECONDS"


@dataclass(frozen=True)
class Training:
    """What the user chose to train."""

    systems: list[str]
    alignments: list[str]
    augmentations: tuple[str, ...]
    seeds: int
    preset: str
    changes: tuple[str, ...]
    device: str
    workers: int | None
    kinds: list[str] | None = None
    """In the place of all systems with all alignments; None where the number of items chooses."""

    def settings(self, preset: str) -> "dict[str, Struct]":
        return settings_of(preset, self.changes, self.systems, *self.alignments, *self.augmentations)

    def plan(self, preset: str, changes: Sequence[str], **more: Any) -> "Plan":
        """What is trained, with a preset and changes to it."""
        from reinflect.inflector.train import Plan, parts_of

        usual = USUAL_FOR.get(preset, Usual(())) if self.kinds is None else Usual(self.kinds)
        own = {"systems": self.systems, "alignments": self.alignments, "augmentations": self.augmentations}
        parts = parts_of(usual.kinds) if usual.kinds else own
        others = *parts["alignments"], *parts["augmentations"]
        settings = settings_of(preset, [*usual.changes, *changes], parts["systems"], *others)
        return Plan(settings=settings, kinds=usual.kinds, seeds=self.seeds, **parts, **more)

    def resources(self, watcher: "Watcher", **more: Any) -> "Resources":
        from reinflect.run.resources import Resources

        workers = self.workers or cores()
        return Resources(device=self.device, workers=workers, watcher=watcher, alignment_cache=default_folder(), **more)


data_option = option(
    "--data DIR",
    "Folder with files such as german-train-low, german-dev and german-covered-test, or deu.trn and deu.dev.",
    required=True,
)
languages_option = option("--languages LIST", "Languages to train on, separated by commas.", default=EVERY_LANGUAGE)
device_option = option("--device", "What to train on.", type=click.Choice(["auto", "cpu", "cuda"]), default="auto")
workers_option = partial(option, "--workers N", type=click.IntRange(min=1))
set_option = option(
    "--set changes KEY=VALUE",
    "Change a setting of the preset: hidden=200, or haem.hidden=200 for one system only; or of an aligner or an "
    "augmentation, such as smart.sweeps=50 or made-up.times=8.",
    multiple=True,
)


def augment_option() -> Callable[[Command], Command]:
    """`--augment`."""
    names = ", ".join(AUGMENTATIONS) or "none is installed"
    return option("--augment augmentations NAME", f"Also learn from made-up items: {names}.", multiple=True)


def training_options(seeds_of: str, preset: str, *, usual: bool = False) -> Decorator:
    """All options of `Training`, which the command receives as `training`; `preset` says what auto means.

    With `usual` there is `--kinds`, and the number of items chooses kinds unless the user chooses something.
    """
    known: dict[str, tuple[Collection[str], Sequence[str]]] = {
        "systems": (SYSTEMS, PAPER_SYSTEMS),
        "alignments": (ALIGNERS, PAPER_ALIGNMENTS),
    }

    def names_option(name: str, what: str, other: str) -> Callable[[Command], Command]:
        names, some = known[name]
        default = f" ({','.join(some)} if only --{other}, --augment or --from is given)" if usual else ""
        text = f"{what}: {', '.join(names)}{default}."
        return option(f"--{name} LIST", text, default=None if usual else ",".join(some))

    low, medium, high = (",".join(USUAL_FOR[size].kinds) for size in SIZES)
    kinds_option = option(
        "--kinds LIST",
        "Kinds of models to train: each a system, its alignment if it learns from one, and perhaps an augmentation "
        f"(default: {low}; from 320 items on {medium}; from 3,200 on {high}).",
    )
    options = [
        *([kinds_option] if usual else []),
        names_option("systems", "Systems to train", "alignments"),
        names_option("alignments", "Alignments to learn from", "systems"),
        augment_option(),
        option("--seeds N", f"Number of models of {seeds_of}.", type=click.IntRange(1, 100), default=5),
        option(
            "--preset NAME",
            f"Settings: low, medium, high ({preset}), paper-low, paper-medium, paper-high, or a TOML file.",
            default="auto",
        ),
        set_option,
        device_option,
        workers_option("Processes on the CPU (default: one for each core). The result does not depend on them."),
    ]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_training(*given: Any, **named: Any) -> Any:
            own = {field.name: named.pop(field.name, None) for field in fields(Training)}
            rest = own["systems"], own["alignments"], own["augmentations"] or None
            if own["kinds"] is not None:
                if any(one is not None for one in rest):
                    found = "found --kinds beside --systems, --alignments or --augment"
                    raise InputError(found, "give kinds alone: they name systems, alignments and augmentations")
                own["kinds"] = [name.strip() for name in own["kinds"].split(",")]
            elif not usual or named.get("starts") or any(one is not None for one in rest):
                own["kinds"] = []
            for name, (names, some) in known.items():
                own[name] = chosen(",".join(some) if own[name] is None else own[name], names, name[:-1])
            own["device"] = device_for(own["device"])
            return command(*given, training=Training(**own), **named)

        return all_of(*options)(with_training)

    return decorated


def chosen(text: str, known: Collection[str], what: str) -> list[str]:
    """The names in a list with commas, each once; all must be known."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in known:
            otherwise = f"the {what}s are {', '.join(known)}, joined by commas"
            raise InputError(f"found the {what} {quoted(name)}", nearest(name, known, otherwise))
    return names


def settings_of(preset: str, changes: Sequence[str], systems: Sequence[str], *others: str) -> "dict[str, Struct]":
    """The settings, by name, of systems (from a preset or its file), of aligners and of augmentations, with `--set`."""
    from reinflect.settings import PRESETS, changed
    from reinflect.systems.symbols import load_preset, parse_preset

    tables: dict[str, Any] = {}
    if preset in PRESETS:
        tables |= load_preset(preset, systems)
    elif Path(preset).is_file() or preset.endswith(".toml"):
        tables |= parse_preset(read_text(preset), preset, systems)
    else:
        known = f"choose auto, {', '.join(PRESETS)} or a TOML file"
        raise InputError(f"found the preset {quoted(preset)}", nearest(preset, PRESETS, known))
    for name in others:
        tables[name] = (ALIGNERS if name in ALIGNERS else AUGMENTATIONS).find(name)()
    return changed(tables, changes)


def device_for(asked: str) -> str:
    """The device that `--device` stands for on this computer."""
    if asked == "cpu":
        return asked
    import torch

    here = torch.cuda.is_available()
    if asked == "cuda" and not here:
        raise InputError("found --device cuda, but torch finds no GPU", "use --device cpu, or check the GPU's driver")
    return "cuda" if here else "cpu"


def cores() -> int:
    """The number of processes that can work at once: the default of `--workers`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checkpoint_seconds(default: float = 60.0) -> float:
    text = os.environ.get(CHECKPOINT_SECONDS, str(default))
    with suppress(ValueError):
        if (seconds := float(text)) >= 0:
            return seconds
    raise InputError(f"found {CHECKPOINT_SECONDS}={quoted(text)}", "set it to a number of seconds, such as 60")


def train_german(
    train: "Sequence[Item]",
    dev: "Sequence[Item]",
    preset: str,
    changes: Sequence[str],
    seeds: int,
    note: str,
    *,
    out: Path | None = None,
    strategy: str | None = None,
) -> "Outcome":
    """Train on bundled German verbs, with progress; alignments are cached only if the model is written."""
    from reinflect.cli.progress import display
    from reinflect.inflector.train import Plan, train_inflector
    from reinflect.run.resources import Resources

    plan = Plan(settings=settings_of(preset, changes, PAPER_SYSTEMS), seeds=seeds, strategy=strategy)
    with display() as shown:
        shown.note(note)
        resources = Resources(workers=cores(), watcher=shown, alignment_cache=default_folder() if out else None)
        return train_inflector(train, dev, plan, resources, out=out, source="bundled German verbs")
