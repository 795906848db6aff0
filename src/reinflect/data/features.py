"""Feature bundles such as `V;IND;PST;3;SG`."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

SEPARATOR = ";"


@dataclass(frozen=True)
class Bundle:
    """A multiset of atoms that remembers its spelling.

    Two bundles are equal when they are spelled the same: scoring and the rule baseline key on the spelling, as the
    shared task did. `cell` is equal for bundles with the same atoms, however ordered or spaced.
    """

    spelling: str

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms as written, without the blanks around them; one that is repeated counts (`PRF;PRF`)."""
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
        """`V`, `N`, … wherever it stands: data sets do not always put it first."""
        return next((atom for atom in self.atoms if atom.split(".")[0] in PARTS_OF_SPEECH), "(none)")

    def __str__(self) -> str:
        return self.spelling


PARTS_OF_SPEECH = frozenset(
    "N PROPN ADJ PRO CLF ART DET V ADV AUX V.PTCP V.MSDR V.CVB ADP COMP CONJ NUM PART INTJ".split()
)
"""The parts of speech of the UniMorph schema; `V.PTCP` and its like count as written."""
