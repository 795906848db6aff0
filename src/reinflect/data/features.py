"""Feature bundles such as `V;IND;PST;3;SG`, or with layers: `V;NOM(1,SG);ACC(2,PL)`, `N;DAT(PL;PSS(1,SG))`."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

SEPARATOR = ";"
_TOKENS = re.compile(r"[();,]|[^();,]+")
_DEEPEST = 8
"""Brackets within brackets; UniMorph has two."""


@dataclass(frozen=True)
class Bundle:
    """A multiset of atoms with its spelling.

    Bundles are equal if they are spelled the same: scoring and the rule baseline use the spelling as a key, as the
    shared task did. `cell` is equal for bundles with the same atoms in any order and spacing.
    """

    spelling: str

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms as written, without blanks around them; repeated atoms are kept (`PRF;PRF`).

        A feature in brackets says whose it is: `NOM(1)`, `NOM(SG)` and `PSS(1)` are atoms. The case of a noun or
        adjective is layered over the word's own features, which are as without brackets: `DAT(PL;PSS(1,SG))` has the
        atoms DAT, PL, PSS(1) and PSS(SG). Brackets that do not nest are letters.
        """
        return _atoms(self.spelling) if "(" in self.spelling else _pieces(self.spelling)

    @cached_property
    def cell(self) -> tuple[str, ...]:
        return tuple(sorted(self.atoms))

    @property
    def part_of_speech(self) -> str:
        """`V`, `N`, … at any position: data sets do not always put it first."""
        return next((atom for atom in self.atoms if atom.split(".")[0] in PARTS_OF_SPEECH), "(none)")

    @cached_property
    def malformed(self) -> bool:
        """Whether it has brackets that are no layers, such as `NOM(1` or `(non)NOM`."""
        return any(mark in self.spelling for mark in "()") and _features(self.spelling) is None

    def among(self, known: Collection[str]) -> tuple[str, ...]:
        """The atoms, as a model spells them: the first versions of reinflect took brackets for letters."""
        if "(" not in self.spelling or all(atom in known for atom in self.atoms):
            return self.atoms
        pieces = _pieces(self.spelling)
        return pieces if any(piece in known for piece in pieces if piece not in self.atoms) else self.atoms

    def __str__(self) -> str:
        return self.spelling


PARTS_OF_SPEECH = frozenset(
    "N PROPN ADJ PRO CLF ART DET V ADV AUX V.PTCP V.MSDR V.CVB ADP COMP CONJ NUM PART INTJ".split()
)
"""The parts of speech of the UniMorph schema."""
_OF_VERBS = {"V", "AUX", "V.CVB"}
"""Parts of speech whose case layers have the features of arguments, such as the subject."""
POSSESSOR = "PSS"


def _pieces(spelling: str) -> tuple[str, ...]:
    return tuple(atom for piece in spelling.split(SEPARATOR) if (atom := piece.strip(" ")))


@lru_cache(10_000)
def _atoms(spelling: str) -> tuple[str, ...]:
    found = _features(spelling)
    if found is None:
        pieces = _pieces(spelling)
        return pieces if len(pieces) == 1 else tuple(atom for piece in pieces for atom in Bundle(piece).atoms)
    own = _own_layer(found)
    atoms = []
    for path, feature in found:
        layers = path[path[:1] == (own,) :]
        if not feature.endswith("("):
            atoms.append("".join(f"{layer}(" for layer in layers) + feature + ")" * len(layers))
        elif not path and feature == f"{own}(":
            atoms.append(feature[:-1])
    return tuple(atoms)


Feature = tuple[tuple[str, ...], str]
"""The layers around a feature, from the outermost to the innermost, and the feature; `NOM(` where a layer begins."""


def _features(spelling: str) -> list[Feature] | None:
    """The features of a bundle with the layers around each; None if its brackets do not nest."""
    found: list[Feature] = []
    layers: list[str] = []
    word, closed = "", False
    for token in [*_TOKENS.findall(spelling), SEPARATOR]:
        if token not in list("();") and not (token == "," and layers):
            word += token
            continue
        word = word.strip(" ")
        if closed and (word or token == "("):
            return None
        if token == "(":
            if not word or len(layers) == _DEEPEST:
                return None
            found.append((tuple(layers), f"{word}("))
            layers.append(word)
        elif word:
            found.append((tuple(layers), word))
        elif layers and not closed:
            return None
        closed = token == ")"
        if closed:
            if not layers:
                return None
            layers.pop()
        word = ""
    return None if layers else found


def _own_layer(found: Iterable[Feature]) -> str | None:
    """The case of a noun or adjective: its only layer but those of possessors, and without a person.

    A layer with a person is an argument's: `N;PL;PRS;NOM(1,SG)`, I am one of several.
    """
    parts = [feature for path, feature in found if not path and feature.split(".")[0] in PARTS_OF_SPEECH]
    layers = [(path, name[:-1]) for path, name in found if name.endswith("(") and not name.startswith(POSSESSOR)]
    if len(layers) != 1 or layers[0][0] or not parts or not _OF_VERBS.isdisjoint(parts):
        return None
    name = layers[0][1]
    return None if any(path == (name,) and feature.isdigit() for path, feature in found) else name
