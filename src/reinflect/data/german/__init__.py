"""Forms of 232 German verbs that come with the package, for trying it without other data.

They are our own, made by rule from principal parts, in the 29 cells of German verbs in the CoNLL 2017 data. Where
German has two good forms, they follow the shared task (`mach`, `flögest`, `last`).
"""

from importlib.resources import files

from reinflect.data.items import Item, parse_items
from reinflect.errors import InputError, quoted

SPLITS = ("train-low", "train-medium", "dev", "test")


def read_split(name: str) -> list[Item]:
    """The items of one of SPLITS."""
    if name not in SPLITS:
        raise InputError(f"there is no German split {quoted(name)}", f"use one of {', '.join(SPLITS)}")
    return parse_items((files(__package__) / f"{name}.tsv").read_text(encoding="utf-8"), f"{name}.tsv")
