"""Feature bundles such as `V;IND;PST;3;SG`."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

SEPARATOR = ";"


@dataclass(frozen=True)
class Bundle:
    """A multiset of atoms with its spelling.

    Bundles are equal if they are spelled the same: scoring and the rule baseline use the spelling as a key, as the
    shared task did. `cell` is equal for bundles with the same atoms in any order and spacing.
    """

    spelling: str

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms as written, without blanks around them; repeated atoms are kept (`PRF;PRF`)."""
        stripped = (atom.strip(" ") for atom in self.spelling.split(SEPARATOR))
        return tuple(atom for atom in stripped if atom)

    @cached_property
    def cell(self) -> tuple[str, ...]:
        return tuple(sorted(self.atoms))

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.atoms)

    @property
    def part_of_speech(self) -> str:
        """`V`, `N`, … at any position: data sets do not always put it first."""
        return next((atom for atom in self.atoms if atom.split(".")[0] in PARTS_OF_SPEECH), "(none)")

    def __str__(self) -> str:
        return self.spelling


PARTS_OF_SPEECH = frozenset(
    "N PROPN ADJ PRO CLF ART DET V ADV AUX V.PTCP V.MSDR V.CVB ADP COMP CONJ NUM PART INTJ".split()
)
"""The parts of speech of the UniMorph schema."""
