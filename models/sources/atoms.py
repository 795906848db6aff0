"""Bundles of features as sets of atoms, whatever their spelling."""

import re
from functools import cache

PARTS = ("N", "ADJ", "V", "ADV", "NUM", "DET", "PRO", "ADP", "PROPN")
SYNONYMS = {"NDEF": "INDF", "COMPV": "CMPR", "RL": "SPRL", "INST": "INS"}
"""Atoms of some sources, and what others call them."""
Atoms = tuple[str, ...]


@cache
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


@cache
def part_of_speech(bundle: Atoms) -> str:
    """The part of speech that inflects so: participles are forms of verbs, unless they are adjectives."""
    heads = {atom.partition(".")[0] for atom in bundle}
    return next((part for part in PARTS if part in heads), "")
