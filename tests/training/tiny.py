"""Languages and models small enough to train in a moment."""

from collections.abc import Sequence

import torch

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.settings import Settings
from reinflect.training.fleet import Fleet, Progress, Task
from reinflect.training.lesson import Lesson, Model, Pack, Split, lessons

SMALL = Settings(
    embedding=5, hidden=6, history_hidden=4, feature_embedding=3, feature_scale=2.0, batch=2, epochs=3, patience=50
)

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
    split = Split(tuple(items[dev:]), tuple(items[:dev]))
    return lessons([split], [alignment], sweeps=5)[alignment][0]


def task(name: str, system: str, settings: Settings = SMALL, alignment: str = "naive") -> Task:
    return Pack("one", system, (Model(lesson(name, alignment), 1, settings),)).tasks()[0][0]


def pack(system: str = "haem", settings: Settings = SMALL, seeds: Sequence[int] = (1, 2, 3), name: str = "") -> Pack:
    own = lesson("german")
    return Pack(name or f"{system}-naive", system, tuple(Model(own, seed, settings) for seed in seeds))


def updated(fleet: Fleet, epochs: int) -> Fleet:
    """A fleet after so many epochs of updates, with nothing else happening to it."""
    for _ in range(epochs):
        epoch = fleet.prepare()
        for number in range(len(epoch)):
            fleet.update(epoch, number)
        for model in fleet.models:
            model.epoch += 1
    return fleet


def fleet(*work: tuple[Task, int], dtype: torch.dtype = torch.float32) -> Fleet:
    return Fleet([Progress(own, seed) for own, seed in work], dtype=dtype)
