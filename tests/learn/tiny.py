"""Languages and models small enough to train in a moment."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.assemble import Keep
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.strategies import Member
from reinflect.inflector.inflector import Inflector
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.run.packs import Pack
from reinflect.run.watch import Resources
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import HaemSettings
from reinflect.systems.kind import Kind, Wish
from reinflect.train import train_model
from tests.systems.small_fleets import settings_of

SMALL = HaemSettings(
    embedding=5, hidden=6, history_hidden=4, feature_embedding=3, feature_scale=2.0, batch=2, epochs=3, patience=50
)


def small(system: str, **changes: object) -> Settings:
    """The small settings, with those changes that a system knows."""
    return settings_of(SYSTEMS[system], **(msgspec.structs.asdict(SMALL) | changes))


def wish(*kinds: str, changes: Sequence[str] = (), seeds: int = 1, **more: Any) -> Wish:
    """A wish for small models of these kinds, such as `haem-naive`, and for nothing else."""
    systems = dict.fromkeys(Kind.parse(kind).system for kind in kinds)
    return Wish(kinds, preset="low", changes=[*as_changes(*map(small, systems)), *changes], seeds=seeds, **more)


def as_changes(*settings: Settings) -> list[str]:
    """What makes a preset of a system these settings."""
    names = {system.settings: name for name, system in SYSTEMS.items()}
    return [
        f"{names[type(own)]}.{name}={json.dumps(value)}"
        for own in settings
        for name, value in msgspec.to_builtins(own).items()
    ]


def small_inflector(*kinds: str, dev: int | None = 4, out: Path | None = None, **more: Any) -> Inflector:
    """Small models of German verbs; `more` are options of `wish`."""
    items = language("german")
    train, scored = (items, None) if dev is None else (items[dev:], items[:dev])
    return train_model(train, scored, wish(*kinds, **more), Keep(), Resources(), out=out).inflector


_STEMS = {
    "german": "lob sag leg frag mach koch lern wein".split(),
    "greek": "λυ γραφ παιδευ".split(),
    "turkish": "ev göz kitapçık okul su".split(),
}
_ENDINGS = {
    "german": (("en", "V;INF", "en"), ("en", "V;PST", "te"), ("en", "V;PTCP;PST", "t")),
    "greek": (("ω", "V;1;SG", "ω"), ("ω", "V;2;SG", "εις")),
    "turkish": (("", "N;PL", "ler"), ("", "N;GEN;PL", "lerin"), ("", "N;ACC", "i"), ("", "PL;PL", "lerler")),
}


def language(name: str) -> list[Item]:
    return [
        Item(stem + ending, Bundle(features), ("ge" if "PTCP" in features else "") + stem + suffix)
        for stem in _STEMS[name]
        for ending, features, suffix in _ENDINGS[name]
    ]


def lesson(name: str, alignment: str = "naive", dev: int = 4) -> Lesson:
    items = language(name)
    plain, aligners = Lesson(tuple(items[dev:]), tuple(items[:dev])), {"naive": Naive(), "smart": Smart(sweeps=5)}
    return plain.for_kind(Kind("", alignment), aligners, 0).prepared()


def spec_for(
    own: Lesson, system: str = "haem", settings: Settings | None = None, seed: int = 1, start: Member | None = None
) -> ModelSpec:
    return ModelSpec(own, Kind(system, own.alignment), settings or small(system), seed, start)


def pack(
    system: str = "haem", settings: Settings | None = None, seeds: Sequence[int] = (1, 2, 3), name: str = ""
) -> Pack:
    own = lesson("german")
    return Pack(name or f"{system}-naive", tuple(spec_for(own, system, settings, seed) for seed in seeds))


def updated(fleet: Fleet, epochs: int) -> Fleet:
    """A fleet after so many epochs of updates, with nothing else happening to it."""
    for _ in range(epochs):
        epoch = fleet.prepare()
        for number in range(len(epoch)):
            fleet.update(epoch, number)
        for model in fleet.runs:
            model.epoch += 1
    return fleet


def fleet_of(own: Pack, dtype: torch.dtype = torch.float32) -> Fleet:
    return Fleet(own.specs, dtype=dtype)
