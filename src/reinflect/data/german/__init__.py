"""German verbs that come with the program, so that it does something real with no data at hand.

The verbs are our own list (verbs.tsv). `python -m reinflect.data.german` writes the split files anew from it.
"""

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from reinflect.data.items import Item, parse_items
from reinflect.errors import InputError, quoted

SPLITS = ("train-low", "train-medium", "dev", "test")


def read_split(name: str) -> list[Item]:
    """The items of one of SPLITS."""
    return parse_items(_resource(name).read_text(encoding="utf-8"), split_file_name(name))


def split_path(name: str) -> AbstractContextManager[Path]:
    """A split as a plain file, for as long as the block lasts: `with split_path("dev") as path: …`."""
    return as_file(_resource(name))


def split_file_name(name: str) -> str:
    if name not in SPLITS:
        raise InputError(f"there is no German split {quoted(name)}", f"use one of {', '.join(SPLITS)}")
    return f"{name}.tsv"


def _resource(name: str) -> Traversable:
    return files(__package__) / split_file_name(name)
