"""What an alignment is, and what an aligner does."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

EPSILON = ""
"""Nothing: the other half of an inserted or a deleted character."""

StringPair: TypeAlias = tuple[str, str]
"""A lemma and its form."""

Alignment: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs (x:y) of one lemma and one form character, either of which can be `EPSILON`, never both."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done and how much there is in all."""


class Aligner(Protocol):
    """Anything that aligns many pairs of strings at once; a third one needs only this and a line in `ALIGNERS`."""

    @property
    def signature(self) -> str:
        """Everything that decides the outcome, such as `smart|sweeps:150|seed:1`."""
        ...

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]: ...


def replayed(moves: Iterable[object], lemma: str, form: str, *, inserted: object, deleted: object) -> Alignment:
    """The alignment that moves make: one for each pair, which takes a character of both strings unless it is
    `inserted` or `deleted`.
    """
    left, right = iter(lemma), iter(form)
    return tuple(
        (EPSILON if move == inserted else next(left), EPSILON if move == deleted else next(right)) for move in moves
    )


def kind(x: str, y: str) -> str:
    """What one aligned pair does: copy, substitution, insertion or deletion."""
    if x == EPSILON:
        return "insertion"
    if y == EPSILON:
        return "deletion"
    return "copy" if x == y else "substitution"


KINDS = ("copy", "substitution", "insertion", "deletion")


def count_kinds(alignments: Iterable[Alignment]) -> Counter[str]:
    return Counter(kind(x, y) for alignment in alignments for x, y in alignment)


def sides(alignment: Alignment) -> StringPair:
    """The two strings that an alignment aligns."""
    return "".join(x for x, _ in alignment), "".join(y for _, y in alignment)
