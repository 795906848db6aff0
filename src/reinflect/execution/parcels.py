"""A pack on its way to another machine: all that it takes to train it, as bytes, and no object of ours.

Lessons are in it once each, however many of the models learn from them. Whoever opens it needs no file of the data.
"""

import zlib
from functools import cache

import msgspec

from reinflect.alignment.pairs import Alignment
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.settings import Settings
from reinflect.training.lesson import Lesson, Model, Pack, Split

LEVEL = 1
"""Of zlib: words and features of one language are much alike, so this little gains most."""

_Line = tuple[str, str, str, int]
"""Lemma, form, features, number."""


class _Lesson(msgspec.Struct, frozen=True, array_like=True):
    label: str
    alignment: str
    train: list[_Line]
    dev: list[_Line]
    asked: list[_Line]
    alignments: list[Alignment]


class _Parcel(msgspec.Struct, frozen=True):
    name: str
    mark: str
    system: str
    lessons: list[_Lesson]
    settings: list[Settings]
    models: list[tuple[int, int, int]]
    """Each has the number of its lesson, its seed, and the number of its settings."""


def parcel(pack: Pack) -> bytes:
    """A pack as bytes."""
    lessons = list(dict.fromkeys(model.lesson for model in pack.models))
    settings = list(dict.fromkeys(model.settings for model in pack.models))
    plain = _Parcel(
        name=pack.name,
        mark=pack.mark,
        system=pack.system,
        lessons=[_plain(lesson) for lesson in lessons],
        settings=settings,
        models=[(lessons.index(model.lesson), model.seed, settings.index(model.settings)) for model in pack.models],
    )
    return zlib.compress(msgspec.msgpack.encode(plain), LEVEL)


def opened(content: bytes) -> Pack:
    """The same pack again; models that shared a lesson share one."""
    plain = msgspec.msgpack.decode(zlib.decompress(content), type=_Parcel)
    lessons = [_lesson(one) for one in plain.lessons]
    models = tuple(Model(lessons[lesson], seed, plain.settings[own]) for lesson, seed, own in plain.models)
    return Pack(plain.name, plain.system, models, mark=plain.mark)


def _plain(lesson: Lesson) -> _Lesson:
    split = lesson.split
    train, dev, asked = (
        [(item.lemma, item.form, item.features.spelling, item.line) for item in items]
        for items in (split.train, split.dev, split.asked)
    )
    return _Lesson(lesson.label, lesson.alignment, train, dev, asked, list(lesson.alignments))


def _lesson(plain: _Lesson) -> Lesson:
    bundle = cache(Bundle)  # items of one file share theirs
    train, dev, asked = (
        tuple(Item(lemma, bundle(features), form, line) for lemma, form, features, line in lines)
        for lines in (plain.train, plain.dev, plain.asked)
    )
    return Lesson(plain.alignment, Split(train, dev, asked), tuple(plain.alignments), plain.label)
