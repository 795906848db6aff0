"""An inflector with a member of every system, so small that loading and asking it takes a moment."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.labels import Labels
from reinflect.ensembles.confidence import Confidence
from reinflect.ensembles.member import Member
from reinflect.inflector.card import told
from reinflect.inflector.inflector import Inflector
from reinflect.settings import Settings
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.parameters import Parameters
from reinflect.systems.system import SYSTEMS

SMALL = Settings(
    embedding=2, hidden=2, history_hidden=2, feature_embedding=2, attention=2, feature_scale=1.0, batch=2, epochs=3
)
ITEMS = (
    Item("gehen", Bundle("V;PST"), "ging"),
    Item("sehen", Bundle("V;PST"), "sah"),
    Item("hand", Bundle("N;PL"), "hände"),
    Item("hand", Bundle("PL;N"), "hände"),
)
INVENTORY = Inventory.of(ITEMS)
ALIGNMENTS = {"hacm": "naive", "haem": "smart", "soft": "none"}


def member(system: str, seed: int) -> Member:
    own = SYSTEMS[system]
    sizes = own.sizes(INVENTORY, SMALL)
    parameters = Parameters.initial(own.shapes(SMALL), [sizes], [seed]).one(0, sizes)
    # Untrained as it is, it would write and write; so it soon finds that it is done.
    choices, bias = own.choices(INVENTORY), parameters["output.bias"]
    for ending, weight in (("COPY", 4.0), ("STEP", 3.0), ("STOP", 3.5), ("</s>", 4.0)):
        if ending in choices:
            bias[choices.number(ending)] += weight
    return Member(own, ALIGNMENTS[system], seed, SMALL, INVENTORY, 50.0 + seed, parameters)


def inflector() -> Inflector:
    members = tuple(member(system, seed) for seed, system in enumerate(ALIGNMENTS, start=1))
    names = tuple(one.name for one in members)
    training = told(ITEMS, None, source="words.tsv", accuracy=50.0, scored=30, interrupted=False)
    return Inflector(
        members,
        {"ä": 4},
        strategy="run7",
        choices={"run7": names[:2], "vote": names},
        confidences={"run7": Confidence((-1.0, 0.5, 0.25, 0.125, 2.0), 30)},
        # The same whenever it is made, and by whatever version.
        training=msgspec.structs.replace(training, date="2026-11-15", versions={"reinflect": "0.1.0"}),
        labels=Labels((("past", "V;PST"),)),
    )


@cache
def model_file() -> bytes:
    with TemporaryDirectory() as folder:
        inflector().save(Path(folder) / "tiny.reinflect")
        return (Path(folder) / "tiny.reinflect").read_bytes()
