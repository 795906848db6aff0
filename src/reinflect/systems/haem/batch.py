"""HAEM's characters, actions, parameters, tapes and trajectories."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.data.vocabulary import UNKNOWN, Vocabulary
from reinflect.layers import shapes as layers
from reinflect.layers.batches import Drawn, Trajectory
from reinflect.layers.inventory import Inventory
from reinflect.layers.shapes import Shape, Sizes, lstm_shapes
from reinflect.systems.edits import COPY, DELETE, STOP
from reinflect.systems.haem.settings import HaemSettings
from reinflect.systems.system import ACTIONS, Tapes
from reinflect.systems.tapes import HAEM_SPECIALS, haem_tapes

if TYPE_CHECKING:
    from torch import Tensor

    from reinflect.layers.parameters import Parameters

COPY_NUMBER, DELETE_NUMBER, STOP_NUMBER, FIRST_WRITE = 0, 1, 2, 3
assert HAEM_SPECIALS == (COPY, DELETE, STOP)
UNKNOWN_NUMBER = 0
FIRST_CHARACTER = 1
"""Character k of the alphabet is number k + 1 as a character and number k + 3 as the action that writes it."""


@dataclass(frozen=True)
class HaemBatch(Trajectory):
    """HAEM's trajectories. *Shapes:* (M, T, B) but for written (M, Y, B), deleted and keep (M, K, B)"""

    attended: Tensor
    """0 past the end of the lemma, else one more than the position."""
    lemma_left: Tensor
    written: Tensor
    written_state: Tensor
    deleted: Tensor
    keep: Tensor
    deleted_state: Tensor


@lru_cache(maxsize=256)
def characters(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of((UNKNOWN,), inventory.characters)


@lru_cache(maxsize=256)
def actions(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(HAEM_SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HaemSettings) -> dict[str, Sequence[Hashable]]:
    return {
        "characters": characters(inventory).symbols,
        "actions": actions(inventory).symbols,
        **layers.feature_names(inventory.atoms, settings),
    }


def shapes(settings: HaemSettings) -> dict[str, Shape]:
    hidden, embedding = settings.hidden, settings.embedding

    def reader(name: str, size: int) -> dict[str, Shape]:
        further = {f"{name}.empty": Shape((size,), "embedding"), f"state.{name}": Shape((size, hidden))}
        return lstm_shapes(name, embedding, settings, size) | further

    # Tied: WRITE actions have their characters' embeddings, and only the other three have their own.
    own_actions = FIRST_WRITE if settings.tied else "actions"
    return {
        "embedding": Shape(("characters", embedding), "embedding"),
        **({"action_embedding": Shape((own_actions, embedding), "embedding")} if settings.history else {}),
        **layers.feature_shapes(settings),
        **layers.encoder_shapes(settings),
        "encoder.empty": Shape((2 * hidden,), "embedding"),
        **lstm_shapes("written", embedding, settings),
        "written.empty": Shape((hidden,), "embedding"),
        **(reader("history", settings.history_hidden) if settings.history else {}),
        **(reader("deleted", hidden) if settings.deletions else {}),
        "state.written": Shape((hidden, hidden)),
        "state.attended": Shape((2 * hidden, hidden)),
        "state.features": Shape((layers.feature_width(settings), hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "actions")),
        "output.bias": Shape(("actions",), "zero"),
    }


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """Valid actions once the lemma is used up (row 0) and while it is not (row 1). *Shape:* (2, A)"""
    import torch

    allowed = torch.zeros(2, padded, dtype=torch.bool)
    allowed[:, : own["actions"]] = True
    allowed[0, [COPY_NUMBER, DELETE_NUMBER]] = False
    allowed[1, STOP_NUMBER] = False
    return allowed


def tapes(_: Sequence[Item], alignments: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return haem_tapes(alignments, characters(inventory), actions(inventory))


def bound(item: Item, alignment: Alignment) -> int:
    """A COPY is one action for two characters; any other character has its own, and STOP comes last."""
    return len(item.lemma) + len(item.form) + 1 - sum(x == y for x, y in alignment)


def trajectories(drawn: Drawn, _parameters: Parameters, _settings: HaemSettings, *_: Tensor) -> HaemBatch:
    """Those of the static oracle: every right action is taken."""
    own = dict(drawn.tapes)
    taken, keep = own.pop(ACTIONS), own.pop("keep").to(drawn.shares.dtype)
    return HaemBatch(**drawn.lemmas, taken=taken, right=taken, weights=drawn.weights(), keep=keep, **own)
