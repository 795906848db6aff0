"""The division of the bundled verbs into training, dev and test items."""

from hashlib import sha256

from reinflect.data.german.paradigms import paradigm
from reinflect.data.german.principal_parts import read_verbs
from reinflect.data.items import Item

SEED = 2019
"""The first seed from 2017 on with which the hundred items of train-low contain every cell at least once."""
LOW, MEDIUM, DEV, TEST = 100, 1000, 300, 300
SHOWN = ("fliegen", "V;IND;PST;3;SG")
"""The cell that the demo shows, which is always in the test split: fliegen, flog."""


def draw_splits(seed: int = SEED) -> dict[str, list[Item]]:
    """The splits by name, drawn uniformly from all cells of all verbs; the past of fliegen is never trained on."""

    def lot(item: Item) -> tuple[bool, bytes]:
        # A digest is the same in every version of Python, and a new verb leaves the order of the others unchanged.
        shown = (item.lemma, item.features.spelling) == SHOWN
        return not shown, sha256(f"{seed}\t{item.lemma}\t{item.features}".encode()).digest()

    drawn = sorted((item for verb in read_verbs() for item in paradigm(verb)), key=lot)
    trained = [item for item in drawn[TEST + DEV :] if item.lemma != SHOWN[0] or "PST" not in item.features.atoms]
    return {
        "train-low": trained[:LOW],
        "train-medium": trained[:MEDIUM],
        "dev": drawn[TEST : TEST + DEV],
        "test": drawn[:TEST],
    }
