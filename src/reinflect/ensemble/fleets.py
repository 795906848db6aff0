"""How members predict together: those that share system and settings are decoded as one fleet."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor

from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.decode.greedy import predict_all
from reinflect.ensemble.member import TrainedModel
from reinflect.layers.examples import Examples, Stack
from reinflect.layers.parameters import Parameters
from reinflect.layers.precision import one_thread
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.system import Decoder, System

Decoded = TypeVar("Decoded")
WORTH_THREADS, MEMBERS_AT_ONCE = 1500, 5
"""Items times members: with fewer, two threads wait for each other more than they gain. And the most members that one
of them decodes at once: with more, a batch leaves the cache."""


def joined(
    system: System, settings: Settings, models: Sequence[TrainedModel], device: torch.device | str
) -> tuple[Parameters, Tensor]:
    """The parameters of models that may come from different fleets, and their valid outputs."""
    sizes = [system.sizes(model.inventory, settings) for model in models]
    own = [{name: torch.from_numpy(array) for name, array in model.parameters.items()} for model in models]
    joined = Parameters.join(system.shapes(settings), sizes, own)
    parameters = Parameters(joined.shapes, joined.sizes, joined.flat.to(device))
    return parameters, system.equations.allowed_outputs(sizes, parameters.sizes[system.outputs]).to(device)


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
    parameters, allowed = joined(system, settings, members, device)
    decoder = system.equations.decoder(parameters, settings, allowed)
    inventories = list(dict.fromkeys(member.inventory for member in members))
    stack = Stack([Examples.to_inflect(system, items, inventory, settings) for inventory in inventories], device)
    return decoder, stack, [inventories.index(member.inventory) for member in members]


def by_fleets(
    members: Sequence[TrainedModel],
    items: int,
    device: torch.device | str,
    decode_fleet: Callable[[Sequence[TrainedModel]], Sequence[Decoded]],
) -> list[Decoded]:
    """The result of `decode_fleet` for each member; it is called with members that share system and settings.

    On a CPU, where the number of items makes it worth while, these are few, and as many threads as torch has share the
    work. The number of threads changes no number.
    """
    fleets: dict[tuple[str, Settings], list[int]] = {}
    for place, member in enumerate(members):
        fleets.setdefault((member.system, member.settings), []).append(place)
    many = torch.device(device).type == "cpu" and items * len(members) >= WORTH_THREADS
    parts: list[list[int]] = []
    for own in fleets.values():
        number = -(-len(own) // MEMBERS_AT_ONCE) if many else 1
        parts += [own[first::number] for first in range(number)]
    found: dict[int, Decoded] = {}
    threads = torch.get_num_threads() if many else 1
    with one_thread(device), ThreadPoolExecutor(threads) as pool:
        decoded = (pool.map if threads > 1 else map)(decode_fleet, [[members[place] for place in own] for own in parts])
        for own, results in zip(parts, decoded, strict=True):
            found.update(zip(own, results, strict=True))
    return [found[place] for place in range(len(members))]
