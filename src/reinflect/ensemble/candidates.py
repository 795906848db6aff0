"""The probability that each model gives to any form, not only to its own: that of the actions that write the form.

For a system that learns from alignments these are the oracle's actions for an alignment of lemma and form; for one that
learns by imitation, at each step the right action with the best score; for others, the form's characters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.ensemble.fleets import joined
from reinflect.ensemble.member import TrainedModel
from reinflect.layers.examples import LEMMA, Examples, Stack
from reinflect.systems import SYSTEMS
from reinflect.systems.system import ACTIONS

Questions = tuple[Sequence[Item], Sequence[Alignment]]
"""Items with the forms to be scored, and their alignments; all characters are the model's."""
NUMBERS_AT_ONCE = {"cpu": 1 << 24, "cuda": 1 << 30}
"""The size of a batch: numbers that the models keep of it."""


@dataclass(frozen=True)
class Pool:
    """The candidates of all items of a language in a setting, and the log-probability that each model gives to each."""

    models: Sequence[str]
    """Keys."""
    candidates: Mapping[str, Sequence[Sequence[str]]]
    """By split, of each item."""
    scores: Mapping[str, NDArray[np.float16]]
    """By split; nan where a lemma has characters that training has not. *Shape:* (models, candidates)"""


@torch.no_grad()
def log_probabilities(
    models: Sequence[TrainedModel], files: Sequence[Questions], which: Sequence[int], device: torch.device | str = "cpu"
) -> list[NDArray[np.float32]]:
    """What models that share system and settings give to the forms of their files; `which` is each model's file."""
    system, settings = SYSTEMS[models[0].system], models[0].settings
    if hasattr(settings, "label_smoothing"):
        settings = msgspec.structs.replace(settings, label_smoothing=0.0)
    parameters, allowed = joined(system, settings, models, device)
    inventories = [models[which.index(file)].inventory for file in range(len(files))]
    examples = [
        Examples.to_learn(system, *own, inventory, settings) for own, inventory in zip(files, inventories, strict=True)
    ]
    stack, numbers = Stack(examples, device), torch.tensor(which, device=device)
    zeros, no_epoch = torch.zeros_like(numbers), torch.full_like(numbers, -math.inf, dtype=torch.float32)
    orders = [np.argsort(-examples[file].bounds, kind="stable") for file in which]
    places = np.full((len(models), max(map(len, orders))), -1, dtype=np.int64)
    for row, order in zip(places, orders, strict=True):
        row[: len(order)] = order
    found, start = np.zeros(places.shape, dtype=np.float32), 0
    while start < places.shape[1]:
        longest = stack.longest(which, places[:, start : start + 1])
        of_action = 8 * settings.hidden + longest[LEMMA] * system.pair_numbers(settings) + allowed.shape[-1]
        size = max(1, NUMBERS_AT_ONCE[torch.device(device).type] // (len(models) * longest[ACTIONS] * of_action))
        items = places[:, start : start + size]
        drawn = stack.to_learn(numbers, torch.from_numpy(items).to(device), stack.longest(which, items), zeros.bool())
        # Long before the first epoch, no model acts by itself: every action is a right one.
        batch = system.equations.trajectories(drawn, parameters, settings, allowed, no_epoch, zeros)
        losses = system.equations.losses(parameters, replace(batch, right=batch.taken), settings, allowed, None)
        found[:, start : start + size] = -(losses * (batch.weights > 0)).sum(dim=1).cpu().numpy()
        start += size
    return [row[np.argsort(order)] for row, order in zip(found, orders, strict=True)]
