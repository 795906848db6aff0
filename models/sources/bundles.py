"""Which bundle of our paradigms a source means by `IND;3;SG;PST;V;FIN`, `pos=V,mood=IND,…` or `V;IND;PST;NOM(3,SG)`.

A paradigm is a list of bundles with one spelling for each cell. Sources spell bundles in any order, with layers, with
keys, and with atoms that tell no two cells of ours apart (the gender of a noun, `FIN`). What a spelling means is first
what its atoms say, and else what the forms prove: where a source and the table both have a lemma, the forms of the
spelling must be those of the bundle.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from models.sources import Row

PARTS = ("N", "ADJ", "V", "ADV", "NUM", "DET", "PRO", "ADP", "PROPN")
FEWEST, SHARE = 4, 0.9
"""Cells of both the source and the table that prove a bundle, and the share of them with the same form."""
UNSAID = set("FIN IND ACT POS INAN ANIM HUM NHUM MASC FEM NEUT MASC+FEM PFV IPFV V".split())
"""Atoms that some sources write in every cell, and others only where they tell two cells apart."""
SYNONYMS = {"NDEF": "INDF", "COMPV": "CMPR", "RL": "SPRL", "INST": "INS"}
"""Atoms of some sources, and what others call them."""
NOMINATIVE: tuple[list[str], ...] = ([], ["NOM"], ["ACC/NOM"])
"""What a bundle without a case may lack."""
DOUBT = 0.5
"""A bundle with this share or less is refused, whatever its atoms say."""

Atoms = tuple[str, ...]


def atoms(spelled: str) -> Atoms:
    """The atoms of a bundle in alphabetical order: `N;DAT(PL)` and `pos=N,case=DAT,num=PL` are `DAT N PL`."""
    keyed = "=" in spelled
    pieces = [piece.partition("=")[2] for piece in spelled.split(",")] if keyed else re.split("[;:(),]", spelled)
    stripped = [piece.strip().upper() for piece in pieces]
    # A verb's subject is NOM in layered bundles, and nothing in flat ones.
    subject = not keyed and re.match(r"V.*NOM\(", spelled)
    said = (piece for piece in stripped if piece and not (subject and piece == "NOM"))
    return tuple(sorted(SYNONYMS.get(piece, piece) for piece in map(_alternatives, said)))


def _alternatives(atom: str) -> str:
    """`{NOM/ACC}`, a form of both cases, with its alternatives in alphabetical order and without brackets."""
    return "/".join(sorted(atom.strip("{}").split("/")))


def part_of_speech(bundle: Atoms) -> str:
    """The part of speech that inflects so: participles are forms of verbs, unless they are adjectives."""
    heads = {atom.partition(".")[0] for atom in bundle}
    return next((part for part in PARTS if part in heads), "")


class Meaning(NamedTuple):
    """A bundle of ours, and the cells that both the source and the table have."""

    bundle: str
    agree: int
    of: int


class Paradigms:
    """The bundles of a language, one for each cell of a paradigm."""

    def __init__(self, bundles: Iterable[str]) -> None:
        self.bundles = list(bundles)
        self.by_atoms: dict[Atoms, str] = {}
        for bundle in self.bundles:
            other = self.by_atoms.setdefault(atoms(bundle), bundle)
            if other != bundle:
                raise ValueError(f"two spellings of one cell: {other} and {bundle}")
        self.used: dict[str, set[str]] = defaultdict(set)
        for several in self.by_atoms:
            self.used[part_of_speech(several)].update(several)

    def spelled(self, bundle: Atoms) -> str | None:
        """The bundle of these atoms, less those that no cell of its part of speech has, or that go without saying.

        A bundle without a case is a nominative.
        """
        known = [atom for atom in bundle if atom in self.used.get(part_of_speech(bundle), ())]
        for case in NOMINATIVE:
            if exact := self.by_atoms.get(tuple(sorted(known + case))):
                return exact
        parts = [cell for cell in self.by_atoms if set(cell) <= set(bundle) and set(bundle) - set(cell) <= UNSAID]
        largest = max(map(len, parts), default=0)
        fitting = [cell for cell in parts if len(cell) == largest]
        return self.by_atoms[fitting[0]] if len(fitting) == 1 else None

    def meanings(self, rows: Sequence[Row], table: Mapping[str, Mapping[str, set[str]]]) -> dict[Atoms, Meaning]:
        """What each spelling of a source means; `table` has the forms of known cells by lemma and bundle."""
        forms: dict[Atoms, list[tuple[str, str]]] = defaultdict(list)
        for row in rows:
            forms[atoms(row.bundle)].append((row.lemma, row.form))
        result = {}
        for spelling, pairs in forms.items():
            agree, of = Counter[str](), Counter[str]()
            for lemma, form in pairs:
                for bundle, known in table.get(lemma, {}).items():
                    of[bundle] += 1
                    agree[bundle] += form in known
            if meaning := self._meaning(spelling, agree, of):
                result[spelling] = meaning
        return result

    def _meaning(self, spelling: Atoms, agree: Counter[str], of: Counter[str]) -> Meaning | None:
        part = part_of_speech(spelling)
        if bundle := self.spelled(spelling):
            doubtful = of[bundle] >= FEWEST and agree[bundle] <= DOUBT * of[bundle]
            return None if doubtful else Meaning(bundle, agree[bundle], of[bundle])
        proved = [
            bundle
            for bundle in agree
            if agree[bundle] >= max(FEWEST, SHARE * of[bundle]) and part_of_speech(atoms(bundle)) == part
        ]
        if not proved:
            return None
        best = max(proved, key=lambda bundle: (alike(spelling, atoms(bundle)), agree[bundle] / of[bundle], bundle))
        return Meaning(best, agree[best], of[best])


def alike(bundle: Atoms, other: Atoms) -> float:
    """The share of their atoms that two bundles have in common."""
    return len(set(bundle) & set(other)) / len(set(bundle) | set(other))
