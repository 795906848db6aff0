"""HACM, HAEM and soft attention behind one face, so that training and decoding need not know which they have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from operator import eq
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item
from reinflect.data.vocabulary import Vocabulary
from reinflect.settings import Settings
from reinflect.systems.hacm import model as hacm
from reinflect.systems.haem import model as haem
from reinflect.systems.layers.batches import HacmBatch, HaemBatch, Lemmas, SoftBatch
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.parameters import Parameters, Shape, Sizes
from reinflect.systems.layers.states import Focus
from reinflect.systems.soft import model as soft
from reinflect.transitions import write_step
from reinflect.transitions.tapes import Ragged, hacm_tapes, haem_tapes

Tapes = dict[str, Ragged]
"""Named index arrays of many items; those of one name are padded to the same length when stacked."""


class Decoder(Protocol):
    """A system step by step."""

    end: int
    settings: Settings

    def start(self, lemmas: Lemmas) -> Any: ...

    def log_probabilities(self, state: Any) -> tuple[Tensor, Any]: ...

    def focus(self, state: Any) -> Focus: ...

    def advance(self, state: Any, actions: Tensor) -> tuple[Tensor, Any]: ...


@dataclass(frozen=True)
class System:
    """All that differs between the systems."""

    name: str
    title: str
    shapes: Callable[[Settings], dict[str, Shape]]
    sizes: Callable[[Inventory, Settings], dict[str, int]]
    allowed: Callable[[Sizes, int], Tensor]
    """Which outputs are valid for a model of these sizes, padded to so many outputs."""
    outputs: str
    """The named size that outputs have."""
    batch: type[HacmBatch] | type[HaemBatch] | type[SoftBatch]
    losses: Callable[..., Tensor]
    decoder: Callable[[Parameters, Settings, Tensor], Decoder]
    symbols: Callable[[Inventory], Vocabulary]
    """The numbers of the lemma's symbols and of what decoders write."""
    choices: Callable[[Inventory], Vocabulary]
    """The numbers of the actions that decoders choose from."""
    frame: tuple[tuple[str, ...], tuple[str, ...]]
    """The symbols that stand before and after the lemma's characters."""
    reads_features: bool
    """Whether the features are further symbols, behind these."""
    aligned: bool
    """Whether it learns from alignments; if not, those in its lessons are empty."""
    tapes: Callable[[Sequence[Item], Sequence[Alignment], Inventory], Tapes]
    actions: Callable[[Item, Alignment], int]
    """How many the tape of an item has, without making one."""


def _hacm_tapes(_: Sequence[Item], alignments: Sequence[Alignment], inventory: Inventory) -> Tapes:
    tapes = hacm_tapes(alignments, inventory.symbols)
    return {"attended": tapes.attended, "previous": tapes.previous, "targets": tapes.targets}


def _haem_tapes(_: Sequence[Item], alignments: Sequence[Alignment], inventory: Inventory) -> Tapes:
    tapes = haem_tapes(alignments, inventory.letters, inventory.actions)
    attended = np.where(tapes.lemma_left.values, tapes.attended.values + 1, 0)
    return {
        "attended": Ragged(attended, tapes.attended.lengths),
        "targets": tapes.targets,
        "lemma_left": tapes.lemma_left,
        "written": tapes.written,
        "written_state": tapes.written_state,
        "deleted": tapes.deleted,
        "keep": Ragged(~tapes.deleted_resets.values, tapes.deleted_resets.lengths),
        "deleted_state": tapes.deleted_state,
    }


def _soft_tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {
        "previous": Ragged.of([(write_step.BEGIN, *item.form) for item in items], inventory.sources),
        "targets": Ragged.of([(*item.form, write_step.END) for item in items], inventory.sources),
    }


HACM = System(
    name="hacm",
    title="HACM",
    shapes=hacm.shapes,
    sizes=lambda inventory, settings: hacm.sizes(inventory.symbols, len(inventory.atoms), settings),
    allowed=hacm.allowed_outputs,
    outputs="symbols",
    batch=HacmBatch,
    losses=hacm.losses,
    decoder=hacm.Decoder,
    symbols=lambda inventory: inventory.symbols,
    choices=lambda inventory: inventory.symbols,
    frame=((write_step.BEGIN,), (write_step.END,)),
    reads_features=False,
    aligned=True,
    tapes=_hacm_tapes,
    actions=lambda item, _: len(item.lemma) + len(item.form) + 2,
)
HAEM = System(
    name="haem",
    title="HAEM",
    shapes=haem.shapes,
    sizes=lambda inventory, settings: haem.sizes(inventory.letters, len(inventory.atoms), settings),
    allowed=haem.allowed_outputs,
    outputs="actions",
    batch=HaemBatch,
    losses=haem.losses,
    decoder=haem.Decoder,
    symbols=lambda inventory: inventory.letters,
    choices=lambda inventory: inventory.actions,
    frame=((), ()),
    reads_features=False,
    aligned=True,
    tapes=_haem_tapes,
    # A COPY is one action for two characters; any other character has its own, and STOP comes last.
    actions=lambda item, alignment: len(item.lemma) + len(item.form) + 1 - sum(starmap(eq, alignment)),
)
SOFT = System(
    name="soft",
    title="soft attention",
    shapes=soft.shapes,
    sizes=lambda inventory, _: soft.sizes(len(inventory.characters), len(inventory.atoms)),
    allowed=soft.allowed_outputs,
    outputs="outputs",
    batch=SoftBatch,
    losses=soft.losses,
    decoder=soft.Decoder,
    symbols=lambda inventory: inventory.sources,
    choices=lambda inventory: inventory.sources,
    frame=((write_step.BEGIN,), (write_step.END,)),
    reads_features=True,
    aligned=False,
    tapes=_soft_tapes,
    actions=lambda item, _: len(item.form) + 1,
)
SYSTEMS: dict[str, System] = {system.name: system for system in (HACM, HAEM, SOFT)}


def joined_decoder(
    system: System,
    settings: Settings,
    sizes: Sequence[Sizes],
    models: Sequence[Mapping[str, Tensor]],
    device: torch.device | str,
) -> Decoder:
    """A decoder for models that were trained in whatever fleets, each given by its sizes and its own parameters."""
    joined = Parameters.join(system.shapes(settings), sizes, models)
    parameters = Parameters(joined.shapes, joined.sizes, joined.flat.to(device))
    allowed = allowed_outputs(system, sizes, parameters.sizes[system.outputs]).to(device)
    return system.decoder(parameters, settings, allowed)


def allowed_outputs(system: System, sizes: Sequence[Sizes], padded: int) -> Tensor:
    """The valid outputs of every model of a fleet, padded to so many. *Shape:* (M, …, A)"""
    return torch.stack([system.allowed(own, padded) for own in sizes])
