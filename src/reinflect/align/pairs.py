"""What an alignment is, what an aligner does, the naive one, alignments kept on disk, and unusual ones."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import ClassVar, Protocol, TypeAlias

import msgspec

from reinflect.errors import OutputError
from reinflect.files import atomic_path, cache_folder
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
    return "insertion" if x == EPSILON else "deletion" if y == EPSILON else "copy" if x == y else "substitution"


def count_kinds(alignments: Iterable[Alignment]) -> Counter[str]:
    return Counter(kind(x, y) for alignment in alignments for x, y in alignment)


def lay_out(alignment: Alignment) -> list[str]:
    """Three lines, with a column for each aligned pair: the lemma, what the pairs do, and the form."""
    columns = [(visible(x), KINDS[kind(x, y)], visible(y)) for x, y in alignment]
    return in_columns([[column[line] for column in columns] for line in range(3)])


FORMAT = 2
"""To be raised when the files change, or when an aligner of the same signature aligns differently."""


def aligned(
    aligner: Aligner, pairs: Sequence[StringPair], folder: Path | None, progress: Progress | None = None
) -> list[Alignment]:
    """The aligner's alignments of the pairs, read from the folder if they are there; without a folder, made anew."""
    if folder is None or not aligner.cached:
        return aligner.align(pairs, progress)
    path = folder / f"{key(aligner, pairs)}.moves"
    with suppress(OSError):
        checksum, _, body = path.read_bytes().partition(b"\n")
        if checksum == _checksum(path, body):  # not damaged, and not of other pairs
            lines = body.decode("ascii").split("\n")
            return [replayed(map(int, line), *pair) for line, pair in zip(lines, pairs, strict=False)]
    alignments = aligner.align(pairs, progress)
    body = "\n".join("".join(map(str, moves_of(alignment))) for alignment in alignments).encode()
    with suppress(OSError, OutputError):  # without a writable folder, the next training aligns again
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part:
            part.write_bytes(_checksum(path, body) + b"\n" + body)
    return alignments


def default_folder() -> Path:
    """The folder for alignments by default: in the cache, next to downloaded data."""
    return cache_folder() / "alignments"


def key(aligner: Aligner, pairs: Iterable[StringPair]) -> str:
    """A name that depends on everything that decides the alignments."""
    digest = hashlib.sha256(f"reinflect alignments {FORMAT}\n".encode())
    for text in (aligner.signature, *(text for pair in pairs for text in pair)):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)  # the length separates the texts
    return digest.hexdigest()


def _checksum(path: Path, body: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + body).hexdigest().encode()


FEWEST = 10
"""Among fewer items, nothing is usual."""
DEVIATIONS = 5
"""How many median deviations above the median the cost of an unusual alignment is."""
UNSEEN = 0.1


def unusual(alignments: Sequence[Alignment]) -> list[int]:
    """The numbers of unusual alignments, the most unusual first.

    The cost of an alignment is the mean surprise of its pairs of characters, given those of all other alignments.
    """
    if len(alignments) < FEWEST:
        return []
    counts = Counter(pair for alignment in alignments for pair in alignment)
    total = counts.total()
    costs = []
    for alignment in alignments:
        rest = total - len(alignment) + UNSEEN * len(counts)
        times = Counter(alignment).items()
        surprise = sum(count * -math.log((counts[pair] - count + UNSEEN) / rest) for pair, count in times)
        costs.append(surprise / max(1, len(alignment)))
    middle = median(costs)
    deviation = max(median(abs(cost - middle) for cost in costs), 0.01)
    numbers = [number for number, cost in enumerate(costs) if cost > middle + DEVIATIONS * deviation]
    return sorted(numbers, key=lambda number: -costs[number])


class Naive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pairs the characters at equal positions; the tail of the longer string pairs with nothing."""

    cached: ClassVar[bool] = False
    signature: ClassVar[str] = "naive"

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        alignments = [tuple(zip_longest(lemma, form, fillvalue=EPSILON)) for lemma, form in pairs]
        if progress:
            progress(len(pairs), len(pairs))
        return alignments

    def align_more(
        self, _pairs: Sequence[StringPair], _alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        return self.align(more)
