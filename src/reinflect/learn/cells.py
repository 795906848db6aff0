"""Cells that items leave open: an ensemble inflects them, and a small model learns from what it says."""

from collections.abc import Iterable, Sequence

import numpy as np

from reinflect.chance import key
from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item


def cells_of(train: Sequence[Item], others: Iterable[Item], most: int) -> tuple[Item, ...]:
    """A sample of training lemmas with bundles of their part of speech, without the cells of any of these items.

    It is the same every time; asked for as many cells as a sample has, the sample is the same again.
    """
    known = {question(item) for items in (train, others) for item in items}
    lemmas: dict[str, dict[str, None]] = {}
    bundles: dict[str, dict[tuple[str, ...], Bundle]] = {}
    for item in train:
        part = item.features.part_of_speech
        lemmas.setdefault(part, {})[item.lemma] = None
        bundles.setdefault(part, {}).setdefault(item.features.cell, item.features)
    grids = [(list(lemmas[part]), list(bundles[part].values())) for part in sorted(lemmas)]
    ends = np.cumsum([0, *(len(rows) * len(columns) for rows, columns in grids)])
    order = np.random.Generator(np.random.PCG64(key("cells"))).permutation(ends[-1])[: most + len(known)]
    whose = np.searchsorted(ends, order, side="right") - 1
    found: list[Item] = []
    for grid, number in zip(whose.tolist(), (order - ends[whose]).tolist(), strict=True):
        rows, columns = grids[grid]
        item = Item(rows[number // len(columns)], columns[number % len(columns)])
        if question(item) not in known:
            found.append(item)
    # Sorted, so that similar forms are side by side.
    return tuple(sorted(found[:most], key=lambda item: (item.features.spelling, item.lemma)))
