"""The trained models of an inflector, and how several of them are asked at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reinflect.data.items import Item
from reinflect.decoding.greedy import Answers, answer_all
from reinflect.ensembles.vote import kind_of
from reinflect.settings import Settings
from reinflect.systems.layers.examples import Examples, Stack
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.system import Decoder, System, joined_decoder


@dataclass(frozen=True)
class Member:
    """One trained model."""

    system: System
    alignment: str
    seed: int
    settings: Settings
    inventory: Inventory
    dev_accuracy: float
    """Of the forms it gives, filtered as they are here; in training they are not."""
    parameters: Mapping[str, Tensor]

    @property
    def kind(self) -> str:
        return kind_of(self.system.name, self.alignment)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"


def decode(members: Sequence[Member], items: Sequence[Item], device: torch.device | str = "cpu") -> list[Answers]:
    """What members that share system and settings say, decoded greedily."""
    return answer_all(*decoding(members, items, device))


def decoding(
    members: Sequence[Member], items: Sequence[Item], device: torch.device | str
) -> tuple[Decoder, Stack, list[int]]:
    """A decoder for members that share system and settings, the items as they read them, and who reads which."""
    system, settings = members[0].system, members[0].settings
    sizes = [system.sizes(member.inventory, settings) for member in members]
    decoder = joined_decoder(system, settings, sizes, [member.parameters for member in members], device)
    inventories = list(dict.fromkeys(member.inventory for member in members))
    stack = Stack([Examples.to_inflect(system, items, inventory, settings) for inventory in inventories], device)
    return decoder, stack, [inventories.index(member.inventory) for member in members]


def fleets(members: Sequence[Member], numbers: Sequence[int]) -> list[list[int]]:
    """The numbers of members, of these, that can be decoded together."""
    found: dict[tuple[str, Settings], list[int]] = {}
    for number in numbers:
        found.setdefault((members[number].system.name, members[number].settings), []).append(number)
    return list(found.values())
