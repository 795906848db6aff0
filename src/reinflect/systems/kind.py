"""What to train: kinds of models, what a user wishes, and the plan that follows. No other module knows the defaults."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from reinflect.align import ALIGNERS
from reinflect.errors import InputError, quoted
from reinflect.settings import Registry, Settings, changed, preset_for
from reinflect.systems import SYSTEMS

AUGMENTATIONS: Registry[Any] = Registry("augmentation", {"made-up": "reinflect.learn.augment:MadeUp"})
PAPER_SYSTEMS, PAPER_ALIGNMENTS = ("hacm", "haem"), ("naive", "smart")
PAPERS = (*PAPER_SYSTEMS, "soft")
"""The systems of the paper's runs: further systems never change the runs that are compared with published figures."""
UNALIGNED = "none"
"""The alignment of a system that needs none."""


class Kind(msgspec.Struct, frozen=True):
    """Models that differ only in their seed, such as `hacm-smart+made-up`."""

    system: str
    alignment: str = UNALIGNED
    label: str = ""
    """What sets it apart from kinds of the same system and alignment: augmentations, settings, or a start."""
    augment: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """To the settings of the preset, such as `encoder_layers=2`."""

    def __str__(self) -> str:
        kind = self.system if self.alignment == UNALIGNED else f"{self.system}-{self.alignment}"
        return f"{kind}+{self.label}" if self.label else kind

    @classmethod
    def parse(cls, name: str) -> "Kind":
        base, *augment = name.strip().split("+")
        system, _, alignment = (base, "", "") if base in SYSTEMS or "-" not in base else base.rpartition("-")
        if SYSTEMS.find(system).aligned and not alignment:
            choices = " or ".join(f"{system}-{aligner}" for aligner in ALIGNERS)
            raise InputError(f"found the kind {quoted(name)} without an alignment", f"write {choices}")
        if alignment and not SYSTEMS[system].aligned:
            raise InputError(f"found the kind {quoted(name)}", f"{system} learns from no alignment: write {system}")
        return cls(system, alignment or UNALIGNED, "+".join(augment), tuple(augment))


class Wish(msgspec.Struct, frozen=True):
    """What a user said about the models to train; None, or nothing, where the number of items decides."""

    kinds: Sequence[str] | None = None
    """Such as `hacm-smart+made-up`; or else systems and alignments, each system with each alignment."""
    systems: Sequence[str] | None = None
    alignments: Sequence[str] | None = None
    augment: Sequence[str] = ()
    preset: str = "auto"
    """A name, or a TOML file with a table for each system."""
    changes: Sequence[str] = ()
    """To settings of the preset, an aligner or an augmentation: `hidden=200`, `haem.hidden=200`, `smart.sweeps=5`."""
    seeds: int = 5
    first_seed: int = 1
    strategy: str | None = None
    starts: Sequence[Any] = ()
    """Models that others start from: files, languages, inflectors, or `auto`."""


class Plan(msgspec.Struct, frozen=True):
    """What is trained."""

    kinds: Mapping[Kind, int]
    """The number of seeds of each kind."""
    settings: Mapping[str, Any]
    """The struct of each system, aligner and augmentation, by name."""
    preset: str = ""
    strategy: str = "vote"
    first_seed: int = 1

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(kind.system for kind in self.kinds))

    def settings_for(self, kind: Kind) -> Settings:
        settings: Settings = changed({kind.system: self.settings[kind.system]}, kind.changes)[kind.system]
        return settings


_DEEP = ("encoder_layers=2", "label_smoothing=0.1")
DEEP = Kind("soft", label="deep", changes=_DEEP)
"""Soft attention with settings that make it the best kind of model where items are many."""
_SOFT = tuple(f"soft.{change}" for change in _DEEP)
DEFAULTS: Mapping[str, Wish] = {
    "low": Wish(("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")),
    "medium": Wish(("hacm-smart", "soft", "soft+made-up"), changes=(*_SOFT, "made-up.repeats=1", "made-up.epochs=7")),
    "high": Wish(("hacm-smart", "haem-smart", "soft"), changes=_SOFT),
}
"""What is trained, by preset, if the user chooses no kinds: docs/lab-notebook.md has which were compared."""


def make_plan(wish: Wish, items: int) -> Plan:
    """The plan of a wish. The number of training items decides whatever the user did not."""
    preset = preset_for(items) if wish.preset == "auto" else wish.preset
    parts = wish.systems or wish.alignments or wish.augment
    if wish.kinds and parts:
        finding = "found kinds beside systems, alignments or augmentations"
        raise InputError(finding, "give kinds alone: their names have all three")
    if wish.seeds < 1:
        raise InputError(f"found {wish.seeds} seeds", "train with at least one")
    usual = Wish() if wish.kinds or parts or wish.starts else DEFAULTS.get(preset, Wish())
    kinds = [Kind.parse(name) for name in wish.kinds or usual.kinds or ()] or crossed(
        wish.systems or PAPER_SYSTEMS, wish.alignments or PAPER_ALIGNMENTS, wish.augment
    )
    settings = settings_of(kinds, preset, [*usual.changes, *wish.changes])
    strategy = wish.strategy or default_strategy(kind.system for kind in kinds)
    return Plan(dict.fromkeys(kinds, wish.seeds), settings, preset, strategy, wish.first_seed)


def default_strategy(systems: Iterable[str]) -> str:
    """Run 7; with other systems than the paper's, the 15 best models of all systems."""
    return "run7" if set(systems) <= set(PAPERS) else "ensemble-15"


def grid_plan(grid: Mapping[Kind, Mapping[str, int]], setting: str, changes: Sequence[str] = ()) -> Plan:
    """The plan of a benchmark for a setting: `grid` has the number of seeds of each kind by setting."""
    kinds = {kind: seeds[setting] for kind, seeds in grid.items() if seeds.get(setting)}
    return Plan(kinds, settings_of(grid, setting, changes), setting)


def crossed(systems: Iterable[str], alignments: Sequence[str], augment: Sequence[str] = ()) -> list[Kind]:
    """Every system with every alignment, if it learns from one, and with all augmentations."""
    return [
        Kind(system, alignment, augment=tuple(augment))
        for system in systems
        for alignment in (alignments if SYSTEMS.find(system).aligned else [UNALIGNED])
    ]


def settings_of(kinds: Iterable[Kind], preset: str, changes: Sequence[str]) -> dict[str, Any]:
    """The settings of everything that some kinds need, by name."""
    from reinflect.systems.symbols import load_preset  # which needs NumPy: `train --help` is instant

    kinds = list(kinds)
    settings = dict[str, Any](load_preset(preset, dict.fromkeys(kind.system for kind in kinds)))
    settings |= {name: ALIGNERS.find(name)() for kind in kinds if (name := kind.alignment) != UNALIGNED}
    settings |= {name: AUGMENTATIONS.find(name)() for kind in kinds for name in kind.augment}
    return changed(settings, changes)
