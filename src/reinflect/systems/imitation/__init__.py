"""HAEM trained by imitation: it reads no alignment, acts by itself in training, and learns what was right then."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
from rapidfuzz.distance import LCSseq

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import PRESETS, Positive
from reinflect.systems.haem import SYSTEM as HAEM
from reinflect.systems.haem import HaemSettings, characters
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Tapes
from reinflect.systems.tapes import Ragged

FORM = "form"
MORE_ACTIONS = 4
"""Actions that a trajectory can have beyond a cheapest one's, for mistakes."""


class ImitationSettings(HaemSettings, frozen=True, kw_only=True):
    roll_in: Positive = 12.0
    """k: after e epochs a step's action is the model's own with probability 1 - k / (k + exp(e / k)), else a right
    one. With 12: .08 at first, .5 after 30 epochs; with a large number, hardly ever."""


def tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {FORM: Ragged.of([item.form for item in items], characters(inventory))}


def bound(item: Item, _: Alignment) -> int:
    """A cheapest trajectory has a COPY for each common character, instead of a DELETE and a WRITE."""
    common = LCSseq.similarity(item.lemma, item.form)
    return len(item.lemma) + len(item.form) - common + 1 + MORE_ACTIONS


SYSTEM = replace(
    HAEM,
    name="imitation",
    title="HAEM by imitation",
    colour="#8a3fb0",
    settings=ImitationSettings,
    presets={size: ImitationSettings(**msgspec.structs.asdict(HAEM.presets[size])) for size in PRESETS[:3]},
    tapes=tapes,
    bound=bound,
    learner="reinflect.systems.imitation.roll_in:LEARNER",
    aligned=False,
)
