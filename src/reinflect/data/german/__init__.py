"""German verbs that come with the package, for trying it without other data.

The verbs are our own list (verbs.tsv). `python -m reinflect.data.german` writes the split files from it again.
"""

from importlib.resources import files

from reinflect.data.items import Item, parse_items
from reinflect.errors import InputError, quoted

SPLITS = ("train-low", "train-medium", "dev", "test")


def read_split(name: str) -> list[Item]:
    """The items of one of SPLITS."""
    file_name = split_file_name(name)
    return parse_items((files(__package__) / file_name).read_text(encoding="utf-8"), file_name)


def split_file_name(name: str) -> str:
    if name not in SPLITS:
        raise InputError(f"there is no German split {quoted(name)}", f"use one of {', '.join(SPLITS)}")
    return f"{name}.tsv"
