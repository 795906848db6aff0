"""The sources of the pocket languages: where their words come from, one module for each, and the tables made of them.

    python -m models.sources --wide FOLDER --out TABLES [--languages german,finnish]

None of this is part of the package. It needs nothing but the packages that a source names, which it fetches itself.
"""

from typing import NamedTuple

from models.sources.packages import Package


class Row(NamedTuple):
    """One form, as a source has it."""

    lemma: str
    form: str
    bundle: str
    """Features as the source spells them."""
    uses: int = 0
    """How often running text has it."""


class Source(NamedTuple):
    """Where rows come from, for the card of a language."""

    language: str
    credit: str
    licence: str
    packages: tuple[Package, ...]
