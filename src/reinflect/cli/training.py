"""Options of the commands that train: systems, alignments, settings and devices."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect.alignment import ALIGNERS
from reinflect.alignment.cache import default_folder
from reinflect.cli.options import Command, Decorator, all_of, option
from reinflect.errors import InputError, quoted
from reinflect.files import read_text
from reinflect.systems import SYSTEMS, USUAL, USUAL_FOR, Usual
from reinflect.text import nearest
from reinflect.training.augmentation import AUGMENTATIONS

if TYPE_CHECKING:
    from msgspec import Struct

    from reinflect.data.items import Item
    from reinflect.execution.resources import Resources, Watcher
    from reinflect.inflector.train import Outcome, Plan

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
    usual: bool = False
    """Whether the user chose none of these where the number of items may choose."""

    def settings(self, preset: str) -> "dict[str, Struct]":
        return settings_of(preset, self.changes, self.systems, *self.alignments, *self.augmentations)

    def plan(self, preset: str, changes: Sequence[str], **more: Any) -> "Plan":
        """What is trained, with a preset and changes to it."""
        from reinflect.inflector.train import Plan

        usual = USUAL_FOR.get(preset) if self.usual else None
        systems, alignments, augmentations, before = usual or Usual(self.systems, self.alignments, self.augmentations)
        others = *alignments, *(name.rpartition(".")[2] for name in augmentations)
        return Plan(
            settings=settings_of(preset, [*before, *changes], systems, *others),
            systems=systems,
            alignments=alignments,
            augmentations=augmentations,
            seeds=self.seeds,
            **more,
        )

    def resources(self, watcher: "Watcher", **more: Any) -> "Resources":
        from reinflect.execution.resources import Resources

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


def augment_option(more: str = "") -> Callable[[Command], Command]:
    """`--augment`."""
    names = ", ".join(AUGMENTATIONS) or "none is installed"
    return option("--augment augmentations NAME", f"Also learn from made-up items: {names}{more}.", multiple=True)


def training_options(seeds_of: str, preset: str, *, usual: bool = False) -> Decorator:
    """All options of `Training`, which the command receives as `training`; `preset` says what auto means.

    With `usual`, the number of items chooses systems and alignments, unless the user chooses these or augmentations.
    """
    kinds: dict[str, Collection[str]] = {"systems": SYSTEMS, "alignments": ALIGNERS}
    usually = {name: ",".join(getattr(USUAL, name)) for name in kinds}

    def names_option(name: str, what: str) -> Callable[[Command], Command]:
        some, many = (",".join(getattr(USUAL_FOR[preset], name)) for preset in ("medium", "high"))
        later = f"; from 3,200 on {many}" if many != some else ""
        default = f" (default: {usually[name]}; from 320 items on {some}{later})" if usual else ""
        text = f"{what}: {', '.join(kinds[name])}{default}."
        return option(f"--{name} LIST", text, default=None if usual else usually[name])

    further = "; with --systems hacm,soft, soft.made-up trains further models of soft with them"
    options = [
        names_option("systems", "Systems to train"),
        names_option("alignments", "Alignments to learn from"),
        augment_option(further if usual else ""),
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
            own = {field.name: named.pop(field.name) for field in fields(Training) if field.name != "usual"}
            choice = (own["systems"], own["alignments"], *own["augmentations"], *named.get("starts", ()))
            own["usual"] = all(one is None for one in choice)
            for name, known in kinds.items():
                own[name] = chosen(usually[name] if own[name] is None else own[name], known, name[:-1])
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
    from reinflect.systems.presets import load_preset, parse_preset

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
    from reinflect.execution.resources import Resources
    from reinflect.inflector.train import Plan, train_inflector

    plan = Plan(settings=settings_of(preset, changes, USUAL.systems), seeds=seeds, strategy=strategy)
    with display() as shown:
        shown.note(note)
        resources = Resources(workers=cores(), watcher=shown, alignment_cache=default_folder() if out else None)
        return train_inflector(train, dev, plan, resources, out=out, source="bundled German verbs")
