"""The symbols, tapes and trajectories of soft attention."""

from collections.abc import Hashable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.layers.batches import Drawn, Trajectory
from reinflect.layers.inventory import Inventory, feature_symbol
from reinflect.layers.parameters import Parameters
from reinflect.layers.shapes import Sizes
from reinflect.systems.soft.settings import SoftSettings
from reinflect.systems.system import ACTIONS, Tapes
from reinflect.systems.tapes import Ragged
from reinflect.systems.write_step import BEGIN, END

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, FIRST_CHARACTER = 0, 1, 2, 3


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    """First what the decoder can write, then the features, which only the encoder reads."""
    return Vocabulary((UNKNOWN, BEGIN, END, *inventory.characters, *map(feature_symbol, inventory.atoms)))


def names(inventory: Inventory, _: SoftSettings) -> dict[str, Sequence[Hashable]]:
    known = symbols(inventory).symbols
    return {"symbols": known, "outputs": known[: FIRST_CHARACTER + len(inventory.characters)]}


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """All of a model's own characters, and the end. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[END_NUMBER : own["outputs"]] = True
    return allowed


def tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {ACTIONS: Ragged.of([(*item.form, END) for item in items], symbols(inventory))}


def trajectories(drawn: Drawn, _parameters: Parameters, _settings: SoftSettings, *_: Tensor) -> Trajectory:
    """Those of the static oracle: the characters of the form."""
    actions = drawn.tapes[ACTIONS]
    return Trajectory(**drawn.lemmas, taken=actions, right=actions, weights=drawn.weights())
