"""HACM and HAEM behind one face, so that training and decoding need not know which they have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.alignment.pairs import Alignment
from reinflect.data.vocabulary import Vocabulary
from reinflect.models import hacm, haem
from reinflect.models.batches import HacmBatch, HaemBatch, Lemmas
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import Parameters, Shape, Sizes
from reinflect.settings import Settings
from reinflect.transitions import edits, write_step
from reinflect.transitions.tapes import hacm_tape, haem_tape

Tape = dict[str, NDArray[Any]]
"""Named index arrays of one item; those of one name are padded to the same length when stacked."""


class Decoder(Protocol):
    """A system step by step."""

    end: int

    def start(self, lemmas: Lemmas) -> Any: ...

    def log_probabilities(self, state: Any) -> tuple[Tensor, Any]: ...

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
    batch: type[HacmBatch] | type[HaemBatch]
    losses: Callable[..., Tensor]
    decoder: Callable[[Parameters, Settings, Tensor], Decoder]
    symbols: Callable[[Inventory], Vocabulary]
    """The numbers of the lemma's symbols and of what decoders write."""
    frame: tuple[tuple[str, ...], tuple[str, ...]]
    """The symbols that stand before and after the lemma's characters."""
    tape: Callable[[str, Alignment, Inventory], Tape]


def _hacm_tape(lemma: str, alignment: Alignment, inventory: Inventory) -> Tape:
    tape = hacm_tape(lemma, write_step.oracle(alignment), inventory.symbols)
    return {"attended": tape.attended, "previous": tape.previous, "targets": tape.targets}


def _haem_tape(lemma: str, alignment: Alignment, inventory: Inventory) -> Tape:
    tape = haem_tape(lemma, edits.oracle(alignment), inventory.letters, inventory.actions)
    return {
        "attended": np.where(tape.lemma_left, tape.attended + 1, 0),
        "targets": tape.targets,
        "lemma_left": tape.lemma_left.astype(np.int64),
        "written": tape.written,
        "written_state": tape.written_state,
        "deleted": tape.deleted,
        "keep": (~tape.deleted_resets).astype(np.int64),
        "deleted_state": tape.deleted_state,
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
    frame=((write_step.BEGIN,), (write_step.END,)),
    tape=_hacm_tape,
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
    frame=((), ()),
    tape=_haem_tape,
)
SYSTEMS: dict[str, System] = {system.name: system for system in (HACM, HAEM)}


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
