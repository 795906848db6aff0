"""Cells that items leave open: an ensemble inflects them, and a small model learns from what it says."""

from collections.abc import Iterable, Sequence

import numpy as np

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.systems.layers.randomness import key


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
    found: list[Item] = []
    for number in np.random.Generator(np.random.PCG64(key("cells"))).permutation(ends[-1]) if most else ():
        grid = int(np.searchsorted(ends, number, side="right")) - 1
        rows, columns = grids[grid]
        row, column = divmod(int(number - ends[grid]), len(columns))
        item = Item(rows[row], columns[column])
        if question(item) not in known:
            found.append(item)
            if len(found) == most:
                break
    return tuple(sorted(found, key=lambda item: (item.features.spelling, item.lemma)))  # similar forms side by side
