"""What an alignment is, and what an aligner does."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol, TypeAlias

from reinflect.text import in_columns, visible

EPSILON = ""
"""No character: one side of an insertion or a deletion."""
StringPair: TypeAlias = tuple[str, str]
"""A lemma and its form."""
Alignment: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs (x:y) of a lemma and a form character; one of the two can be `EPSILON`."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the amount of work done and the amount in all."""

INSERT, DELETE, DIAGONAL = 0, 1, 2
"""Moves: they take a character of the form, of the lemma, or of both."""
KINDS = {"copy": "|", "substitution": "×", "insertion": "+", "deletion": "-"}
"""What an aligned pair can do, with the sign that shows it."""


class Aligner(Protocol):
    """Aligns many pairs of strings together. An aligner is a frozen struct; its fields are its settings."""

    cached: ClassVar[bool]
    """Whether reading an alignment from the cache is faster than making it."""

    @property
    def signature(self) -> str:
        """Everything that decides the alignments, such as `smart|sweeps:150|seed:1`."""
        ...

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]: ...

    def align_more(
        self, pairs: Sequence[StringPair], alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        """The alignments of more pairs, by what it learnt from these alignments of pairs, if it learns."""
        ...


def moves_of(alignment: Alignment) -> list[int]:
    return [INSERT if x == EPSILON else DELETE if y == EPSILON else DIAGONAL for x, y in alignment]


def replayed(moves: Iterable[int], lemma: str, form: str) -> Alignment:
    """The alignment that moves make."""
    left, right = iter(lemma), iter(form)
    return tuple(
        (EPSILON if move == INSERT else next(left), EPSILON if move == DELETE else next(right)) for move in moves
    )


def kind(x: str, y: str) -> str:
    """What an aligned pair does: one of `KINDS`."""
    if x == EPSILON:
        return "insertion"
    if y == EPSILON:
        return "deletion"
    return "copy" if x == y else "substitution"


def count_kinds(alignments: Iterable[Alignment]) -> Counter[str]:
    return Counter(kind(x, y) for alignment in alignments for x, y in alignment)


def lay_out(alignment: Alignment) -> list[str]:
    """Three lines, with a column for each aligned pair: the lemma, what the pairs do, and the form."""
    columns = [(visible(x), KINDS[kind(x, y)], visible(y)) for x, y in alignment]
    return in_columns([[column[line] for column in columns] for line in range(3)])
