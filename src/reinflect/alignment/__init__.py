"""Strings to aligned pairs of characters."""

from collections.abc import Callable, Iterable
from typing import Any

from reinflect.alignment.naive import Naive
from reinflect.alignment.pairs import Aligner, Alignment, StringPair
from reinflect.alignment.smart import Smart
from reinflect.errors import InputError, quoted
from reinflect.text import nearest

ALIGNERS: dict[str, Callable[..., Aligner]] = {"naive": Naive, "smart": Smart}
"""The aligners by the names users know them by, each made from its own settings."""


def make_aligner(method: str, **settings: Any) -> Aligner:
    if method not in ALIGNERS:
        known = f"the aligners are {', '.join(ALIGNERS)}"
        raise InputError(f"there is no aligner {quoted(method)}", nearest(method, ALIGNERS, known))
    return ALIGNERS[method](**settings)


def align(pairs: Iterable[StringPair], method: str = "smart", **settings: Any) -> list[Alignment]:
    """Align lemmas with forms, all of them together, as the smart method learns from each.

    `settings` are the aligner's own, such as sweeps and seed: `align([("fliegen", "flog")], "smart", sweeps=20)`.
    """
    return make_aligner(method, **settings).align(list(pairs))
