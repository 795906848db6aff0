"""Strings to aligned pairs of characters."""

from collections.abc import Callable
from typing import Any

from reinflect.alignment.naive import Naive
from reinflect.alignment.pairs import Aligner
from reinflect.alignment.smart import Smart

ALIGNERS: dict[str, Callable[..., Aligner]] = {"naive": Naive, "smart": Smart}
"""The aligners by the names users know them by, each made from its own settings."""


def make_aligner(method: str, **settings: Any) -> Aligner:
    return ALIGNERS[method](**settings)
