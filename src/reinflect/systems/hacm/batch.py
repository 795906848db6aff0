"""HACM's symbols, tapes and trajectories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.data.vocabulary import Vocabulary
from reinflect.layers.batches import Drawn, Trajectory
from reinflect.layers.inventory import Inventory
from reinflect.layers.parameters import Parameters
from reinflect.layers.shapes import Sizes, feature_names
from reinflect.systems.hacm.settings import HacmSettings
from reinflect.systems.system import ACTIONS, Tapes
from reinflect.systems.tapes import HACM_SPECIALS, hacm_tapes
from reinflect.systems.write_step import BEGIN, END, STEP

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, STEP_NUMBER = 0, 1, 2, 3
assert HACM_SPECIALS[1:] == (BEGIN, END, STEP)


@dataclass(frozen=True)
class HacmBatch(Trajectory):
    """HACM's trajectories. *Shapes:* (M, T, B)"""

    attended: Tensor


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(HACM_SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HacmSettings) -> dict[str, Sequence[Hashable]]:
    return {"symbols": symbols(inventory).symbols, **feature_names(inventory.atoms, settings)}


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """What P_gen may give out: all of a model's own symbols but `<s>` and the unknown one. *Shape:* (A)"""
    allowed = torch.zeros(padded, dtype=torch.bool)
    allowed[: own["symbols"]] = True
    allowed[[UNKNOWN_NUMBER, BEGIN_NUMBER]] = False
    return allowed


def tapes(_: Sequence[Item], alignments: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return hacm_tapes(alignments, symbols(inventory))


def trajectories(drawn: Drawn, _parameters: Parameters, _settings: HacmSettings, *_: Tensor) -> HacmBatch:
    """Those of the static oracle: every right action is taken."""
    own = dict(drawn.tapes)
    taken = own.pop(ACTIONS)
    return HacmBatch(**drawn.lemmas, taken=taken, right=taken, weights=drawn.weights(), **own)
