"""An inflector with a member of every system, so small that loading and asking it takes a moment."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item
from reinflect.ensemble.confidence import Confidence
from reinflect.ensemble.strategies import Member
from reinflect.inflector.card import describe_training
from reinflect.inflector.file import Numbers
from reinflect.inflector.inflector import Inflector
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.hacm import HacmSettings
from reinflect.systems.haem import HaemSettings
from reinflect.systems.soft import SoftSettings
from reinflect.systems.symbols import Inventory

SIZES: dict[str, Any] = dict.fromkeys(("embedding", "hidden", "feature_embedding", "batch"), 2)
SIZES |= {"feature_scale": 1.0, "epochs": 3}
SMALL: dict[str, Settings] = {
    "hacm": HacmSettings(**SIZES),
    "haem": HaemSettings(history_hidden=2, **SIZES),
    "soft": SoftSettings(attention=2, **SIZES),
}
ITEMS = (
    Item("gehen", Bundle("V;PST"), "ging"),
    Item("sehen", Bundle("V;PST"), "sah"),
    Item("hand", Bundle("N;PL"), "hände"),
    Item("hand", Bundle("PL;N"), "hände"),
)
INVENTORY = Inventory.of(ITEMS)
ALIGNMENTS = {"hacm": "naive", "haem": "smart", "soft": "none"}


def member(system: str, seed: int) -> Member:
    own, settings = SYSTEMS[system], SMALL[system]
    sizes = own.sizes(INVENTORY, settings)
    drawn = Parameters.initial(own.shapes(settings), [sizes], [seed]).one(0, sizes)
    parameters = {name: tensor.numpy() for name, tensor in drawn.items()}
    # Untrained as it is, it would write and write; so it soon finds that it is done.
    choices, bias = own.choices(INVENTORY), parameters["output.bias"]
    for ending, weight in (("COPY", 4.0), ("STEP", 3.0), ("STOP", 3.5), ("</s>", 4.0)):
        if ending in choices.symbols:
            bias[choices.numbers([ending])[0]] += weight
    return Member(
        system=system,
        alignment=ALIGNMENTS[system],
        seed=seed,
        settings=settings,
        inventory=INVENTORY,
        dev_accuracy=50.0 + seed,
        fold=seed + 1,
        restarts=seed - 1,
        parameters=parameters,
    )


def inflector() -> Inflector:
    members = tuple(member(system, seed) for seed, system in enumerate(ALIGNMENTS, start=1))
    names = tuple(one.name for one in members)
    training = describe_training(ITEMS, None, source="words.tsv", accuracy=50.0, scored=30, interrupted=False)
    return Inflector(
        members,
        {"ä": 4},
        strategy="run7",
        choices={"run7": names[:2], "vote": names},
        confidences={"run7": Confidence((-1.0, 0.5, 0.25, 0.125, 2.0), 30)},
        # The same whenever it is made, and by whatever version.
        training=msgspec.structs.replace(training, date="2026-11-15", versions={"reinflect": "0.1.0"}),
        labels=Labels((("past", "V;PST"),)),
        attested=(Item("gehen", Bundle("V;PST"), "ging"),),
        normalisation="nfc",
        cells=("V;PST", "N;PL"),
    )


@cache
def model_file(numbers: Numbers = "single") -> bytes:
    with TemporaryDirectory() as folder:
        inflector().save(Path(folder) / "tiny.reinflect", numbers=numbers)
        return (Path(folder) / "tiny.reinflect").read_bytes()
