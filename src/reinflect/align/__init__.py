"""From strings to aligned pairs of characters."""

from collections.abc import Callable, Iterable
from typing import Any

from reinflect.align.pairs import Aligner, Alignment, StringPair
from reinflect.settings import Registry

ALIGNERS: Registry[Callable[..., Aligner]] = Registry(
    "aligner", {"naive": "reinflect.align.pairs:Naive", "smart": "reinflect.align.smart:Smart"}
)
"""The aligners by the names users know them by, each made from its own settings."""


def align(pairs: Iterable[StringPair], method: str = "smart", **settings: Any) -> list[Alignment]:
    """Align lemmas with forms, all together: the smart aligner learns from all pairs.

    `settings` are those of the aligner, such as sweeps and seed: `align([("fliegen", "flog")], "smart", sweeps=20)`.
    """
    return ALIGNERS.find(method)(**settings).align(list(pairs))
