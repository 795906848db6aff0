"""The record of a trained model, from training to model file, and how several models predict together."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.decoding.greedy import Predictions, predict_all
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.layers.examples import Examples, Stack
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.parameters import Parameters
from reinflect.systems.layers.precision import one_thread
from reinflect.systems.system import Decoder, System, allowed_outputs

Decoded = TypeVar("Decoded")
UNALIGNED = "none"
"""The alignment of a system that needs none."""
FACTS = ("system", "alignment", "variant", "seed", "fold", "restarts", "dev_accuracy")
"""The fields of a member that model files and cards store."""
NOTHING_PREDICTED = Predictions([], [])


def kind_of(system: str, alignment: str, variant: str = "") -> str:
    """Such as `hacm-naive`, or `hacm-naive+made-up`: models that differ only in their seed are of one kind."""
    kind = system if alignment == UNALIGNED else f"{system}-{alignment}"
    return f"{kind}+{variant}" if variant else kind


def digest(text: str, tensors: Mapping[str, NDArray[Any]]) -> str:
    """A checksum of everything in a file: a model with a few wrong numbers would inflect, and inflect badly."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        mark.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode("utf-8", "surrogatepass"))
        mark.update(np.ascontiguousarray(tensors[name]).data)
    return mark.hexdigest()


@dataclass(frozen=True)
class TrainedModel:
    """A trained model: its specification, the result of its training, and its predictions."""

    system: str
    alignment: str
    seed: int
    """The seed of its spec; a model that diverged was trained with another."""
    settings: Settings
    inventory: Inventory
    dev_accuracy: float
    """Counted in training before the filter for repeats; of a member, after it."""
    key: str = ""
    """The digest of its spec."""
    language: str = ""
    setting: str = ""
    variant: str = ""
    """What sets models apart from others of their system and alignment: settings, augmentation, or a start."""
    fold: int | None = None
    restarts: int = 0
    best_epoch: int = 0
    usable: bool = True
    """False if it diverged every time, or was stopped before it had learnt anything."""
    dev: Predictions = NOTHING_PREDICTED
    """For its dev items, before the filter for repeats."""
    asked: Predictions = NOTHING_PREDICTED
    parameters: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        return kind_of(self.system, self.alignment, self.variant)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"

    @property
    def facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FACTS} | {"settings": msgspec.to_builtins(self.settings)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of its parameters, and of the symbols that their rows stand for."""
        mark = hashlib.sha256(repr((self.system, self.inventory)).encode("utf-8", "surrogatepass"))
        for name in sorted(self.parameters):
            mark.update(name.encode() + np.ascontiguousarray(self.parameters[name]).tobytes())
        return mark.hexdigest()


def joined_decoder(
    system: System, settings: Settings, models: Sequence[TrainedModel], device: torch.device | str
) -> Decoder:
    """A decoder for models that may come from different fleets."""
    sizes = [system.sizes(model.inventory, settings) for model in models]
    own = [{name: torch.from_numpy(array) for name, array in model.parameters.items()} for model in models]
    joined = Parameters.join(system.shapes(settings), sizes, own)
    parameters = Parameters(joined.shapes, joined.sizes, joined.flat.to(device))
    allowed = allowed_outputs(system, sizes, parameters.sizes[system.outputs]).to(device)
    return system.decoder(parameters, settings, allowed)


def decode(
    members: Sequence[TrainedModel], items: Sequence[Item], device: torch.device | str = "cpu"
) -> list[Predictions]:
    """The predictions of members that share system and settings, decoded greedily."""
    return predict_all(*decoding(members, items, device))


def decoding(
    members: Sequence[TrainedModel], items: Sequence[Item], device: torch.device | str
) -> tuple[Decoder, Stack, list[int]]:
    """A decoder for members that share system and settings, the items as their input, and each member's input."""
    system, settings = SYSTEMS[members[0].system], members[0].settings
    decoder = joined_decoder(system, settings, members, device)
    inventories = list(dict.fromkeys(member.inventory for member in members))
    stack = Stack([Examples.to_inflect(system, items, inventory, settings) for inventory in inventories], device)
    return decoder, stack, [inventories.index(member.inventory) for member in members]


def by_fleets(
    members: Sequence[TrainedModel],
    device: torch.device | str,
    decode_fleet: Callable[[Sequence[TrainedModel]], Sequence[Decoded]],
) -> list[Decoded]:
    """The result of `decode_fleet` for each member; it is called with all members that share system and settings."""
    fleets: dict[tuple[str, Settings], list[int]] = {}
    for place, member in enumerate(members):
        fleets.setdefault((member.system, member.settings), []).append(place)
    found: dict[int, Decoded] = {}
    with one_thread(device):
        for fleet in fleets.values():
            found.update(zip(fleet, decode_fleet([members[place] for place in fleet]), strict=True))
    return [found[place] for place in range(len(members))]
