"""From a user's items to the tasks of fleets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reinflect.alignment import make_aligner
from reinflect.alignment.cache import aligned
from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item
from reinflect.errors import InputError
from reinflect.models.examples import Examples
from reinflect.models.inventory import Inventory
from reinflect.models.randomness import key
from reinflect.models.systems import SYSTEMS
from reinflect.settings import Settings
from reinflect.training.fleet import Task

FOLDS = 5
FEWEST_ITEMS = 10
"""For training without dev items, some of which are held out."""


@dataclass(frozen=True)
class Split:
    """What one or several seeds train on and are scored on."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]


def fixed_split(train: Sequence[Item], dev: Sequence[Item], seeds: int) -> list[Split]:
    """All seeds train on the same items. One split object, so that alignments and arrays are made once."""
    return [Split(tuple(train), tuple(dev))] * seeds


def folded_splits(items: Sequence[Item], seeds: int, path: Path | str) -> list[Split]:
    """Each seed holds out another fold; items of one cell stay together, so that no answer is given away."""
    cells = sorted({(item.lemma, item.features.spelling) for item in items})
    if len(cells) < FEWEST_ITEMS:
        raise InputError(
            f"found {len(cells)} different items, too few to hold some out",
            f"give at least {FEWEST_ITEMS}, or a dev file with --dev",
            path=path,
        )
    folds = max(FOLDS, seeds)
    order = np.random.Generator(np.random.PCG64(key("folds", folds))).permutation(len(cells))
    fold_of = {cells[cell]: place % min(folds, len(cells)) for place, cell in enumerate(order.tolist())}
    splits = []
    for seed in range(seeds):
        held = [fold_of[item.lemma, item.features.spelling] == seed % len(cells) for item in items]
        splits.append(
            Split(
                tuple(item for item, out in zip(items, held, strict=True) if not out),
                tuple(item for item, out in zip(items, held, strict=True) if out),
            )
        )
    return splits


def tasks(
    splits: Sequence[Split],
    systems: Sequence[str],
    alignments: Sequence[str],
    settings: Mapping[str, Settings],
    *,
    sweeps: int = 150,
    cache: Path | None = None,
) -> dict[str, list[tuple[Task, int]]]:
    """For each system, the tasks of its fleet with their seeds 1, 2, …"""
    work: dict[str, list[tuple[Task, int]]] = {system: [] for system in systems}
    made: dict[tuple[int, str, str], Task] = {}
    aligned_once: dict[tuple[int, str], list[Alignment]] = {}
    inventories: dict[int, Inventory] = {}
    for method in alignments:
        for seed, split in enumerate(splits, start=1):
            one = id(split)
            if one not in inventories:
                inventories[one] = Inventory.of(split.train)
            if (one, method) not in aligned_once:
                aligner = make_aligner(method, **({"sweeps": sweeps} if method == "smart" else {}))
                pairs = [(item.lemma, item.form) for item in split.train]
                aligned_once[one, method] = aligned(aligner, pairs, cache)
            for system in systems:
                if (one, method, system) not in made:
                    made[one, method, system] = _task(
                        split, system, method, aligned_once[one, method], inventories[one], settings[system]
                    )
                work[system].append((made[one, method, system], seed))
    return work


def _task(
    split: Split, name: str, method: str, alignments: Sequence[Alignment], inventory: Inventory, settings: Settings
) -> Task:
    system = SYSTEMS[name]
    return Task(
        name=f"{name}-{method}",
        system=system,
        settings=settings,
        alignment=method,
        inventory=inventory,
        train=Examples.to_learn(system, split.train, alignments, inventory, settings),
        dev=Examples.to_inflect(system, split.dev, inventory, settings),
    )
