"""How the bundled verbs are divided into training, development and test items."""

from collections.abc import Iterable
from hashlib import sha256

from reinflect.data.german.paradigms import paradigm
from reinflect.data.german.principal_parts import read_verbs
from reinflect.data.items import Item

SEED = 2019
"""The first from 2017 on with which the hundred items of train-low show every cell at least once."""
LOW, MEDIUM, DEV, TEST = 100, 1000, 300, 300
SHOWN = ("fliegen", "V;IND;PST;3;SG")
"""The question that the demo asks, so it is always in the test split: fliegen, flog."""


def draw_splits(seed: int = SEED) -> dict[str, list[Item]]:
    """The splits by name, drawn uniformly from all cells of all verbs; the past of fliegen is never trained on."""
    items = [item for verb in read_verbs() for item in paradigm(verb)]
    drawn = sorted(_lots(items, seed), key=lambda item: (item.lemma, item.features.spelling) != SHOWN)
    trained = [item for item in drawn[TEST + DEV :] if not _held_out(item)][:MEDIUM]
    return {
        "train-low": trained[:LOW],
        "train-medium": trained,
        "dev": drawn[TEST : TEST + DEV],
        "test": drawn[:TEST],
    }


def _lots(items: Iterable[Item], seed: int) -> list[Item]:
    """Items in an order fixed by the seed and by nothing else: no version of Python shuffles a digest differently,
    and a verb that is added later leaves the order of the others as it was.
    """

    def lot(item: Item) -> bytes:
        return sha256(f"{seed}\t{item.lemma}\t{item.features}".encode()).digest()

    return sorted(items, key=lot)


def _held_out(item: Item) -> bool:
    return item.lemma == SHOWN[0] and "PST" in item.features.atoms
