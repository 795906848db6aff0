"""Feature bundles such as `V;IND;PST;3;SG`, or with layers: `V;NOM(1,SG);ACC(2,PL)`, `N;DAT(PL;PSS(1,SG))`."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

SEPARATOR = ";"
_DEEPEST = 8
"""Brackets within brackets; UniMorph has two."""
_OPEN, _CLOSE = "\0", "\1"
"""In place of brackets that have been read."""
_LAYER = re.compile(rf"(?:^|(?<=[();,{_OPEN}{_CLOSE}]))([^();,{_OPEN}{_CLOSE}]+)\(([^()]*)\)")


@dataclass(frozen=True)
class Bundle:
    """A multiset of atoms. Bundles are equal if their spellings are, as in the shared task's scoring and baseline.

    `cell` is equal for bundles with the same atoms in any order and spacing.
    """

    spelling: str

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms without blanks around them; repeated atoms are kept (`PRF;PRF`).

        `NOM(1,SG)` has the atoms NOM(1) and NOM(SG). The case of a noun or adjective is no such layer:
        `DAT(PL;PSS(1,SG))` has the atoms DAT, PL, PSS(1) and PSS(SG). Brackets that do not nest are letters.
        """
        return _atoms(self.spelling) if "(" in self.spelling else _pieces(self.spelling)

    @cached_property
    def cell(self) -> tuple[str, ...]:
        return tuple(sorted(self.atoms))

    @property
    def part_of_speech(self) -> str:
        """`V`, `N`, … at any position: data sets do not always put it first."""
        return next((atom for atom in self.atoms if atom.split(".")[0] in PARTS_OF_SPEECH), "(none)")

    @property
    def word_class(self) -> str:
        """`V`, also of `V.PTCP`; empty if the features name no part of speech."""
        return self.part_of_speech.partition(".")[0].removeprefix("(none)")

    @cached_property
    def malformed(self) -> bool:
        """Whether it has brackets that are not layers, such as `NOM(1` or `(non)NOM`."""
        return any(bracket in self.spelling for bracket in "()") and _features(self.spelling) is None

    def among(self, atoms: Collection[str]) -> tuple[str, ...]:
        """The atoms as a model spells them: the first versions of reinflect took brackets for letters."""
        if "(" not in self.spelling or all(atom in atoms for atom in self.atoms):
            return self.atoms
        pieces = _pieces(self.spelling)
        return pieces if any(piece in atoms for piece in pieces if piece not in self.atoms) else self.atoms

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
    features = _features(spelling)
    if features is None:
        pieces = _pieces(spelling)
        return pieces if len(pieces) == 1 else tuple(atom for piece in pieces for atom in Bundle(piece).atoms)
    if case := _case(spelling, features):
        layer = case + _OPEN
        first = next(at for at, name in enumerate(features) if name.startswith(layer))
        bare = [name[len(layer) : -1] if name.startswith(layer) else name for name in features]
        features = (*bare[:first], case, *bare[first:])
    return tuple(atom.replace(_OPEN, "(").replace(_CLOSE, ")") for atom in features)


def _features(spelling: str) -> tuple[str, ...] | None:
    """The features, each in its layers: NOM<1> and NOM<SG> of NOM(1,SG); None if brackets do not nest."""

    def spread(layer: re.Match[str]) -> str:
        name, features = layer[1].strip(" "), [feature.strip(" ") for feature in re.split("[;,]", layer[2])]
        if not name or not all(features):
            return layer[0]
        return SEPARATOR.join(f"{name}{_OPEN}{feature}{_CLOSE}" for feature in features)

    for _ in range(_DEEPEST):
        spelling, layers = _LAYER.subn(spread, spelling)
        if not layers:
            break
    features = _pieces(spelling)
    broken = any(bracket in spelling for bracket in "()") or any(_CLOSE in name.rstrip(_CLOSE) for name in features)
    return None if broken else features


def _case(spelling: str, features: Iterable[str]) -> str:
    """The case of a noun or adjective: its only layer but those of possessors, without a person.

    A layer with a person is an argument's: `N;PL;PRS;NOM(1,SG)`, I am one of several.
    """
    parts = [feature for feature in features if feature.split(".")[0] in PARTS_OF_SPEECH]
    names = [name.strip(" ") for name in re.findall(r"([^();,]+)\(", spelling)]
    layers = [name for name in names if not name.startswith(POSSESSOR)]
    if len(layers) != 1 or not parts or not _OF_VERBS.isdisjoint(parts):
        return ""
    inside = [feature[len(layers[0]) + 1 : -1] for feature in features if feature.startswith(layers[0] + _OPEN)]
    return layers[0] if inside and not any(feature.isdigit() for feature in inside) else ""
