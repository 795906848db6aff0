"""Languages and models small enough to train in a moment."""

from collections.abc import Sequence

import msgspec
import torch

from reinflect.align.smart import Smart
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation
from reinflect.run.packs import Pack
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import HaemSettings

SMALL = HaemSettings(
    embedding=5, hidden=6, history_hidden=4, feature_embedding=3, feature_scale=2.0, batch=2, epochs=3, patience=50
)


def small(system: str, **changes: object) -> Settings:
    """The small settings as a system has them, with changes."""
    own, kind = msgspec.structs.asdict(SMALL), SYSTEMS[system].settings
    return kind(**{name: value for name, value in own.items() if name in kind.__struct_fields__} | changes)


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
    preparation = Preparation.of({"smart": Smart(sweeps=5)}, ["naive", "smart"])
    return preparation.prepared(preparation.planned(Lesson(tuple(items[dev:]), tuple(items[:dev])), alignment))


def spec_of(
    name: str, system: str, settings: Settings | None = None, alignment: str = "naive", seed: int = 1
) -> ModelSpec:
    return ModelSpec(lesson(name, alignment), system, settings or small(system), seed)


def pack(
    system: str = "haem", settings: Settings | None = None, seeds: Sequence[int] = (1, 2, 3), name: str = ""
) -> Pack:
    own = lesson("german")
    return Pack(
        name or f"{system}-naive", tuple(ModelSpec(own, system, settings or small(system), seed) for seed in seeds)
    )


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
