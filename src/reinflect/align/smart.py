"""The smart alignment: a Chinese Restaurant Process over aligned pairs of characters, learnt by Gibbs sampling.

A pair (x:y) that is in use c times among N has the probability (c + α) / (N + D·α), where D is the number of distinct
pairs in use. Sampling starts from the naive alignment. A sweep takes each lemma and form in turn out of the counts and
draws a new alignment for them in proportion to the product of its pairs' probabilities. After the last sweep every
lemma and form get their most probable alignment under the final counts.

Deviation: the published C program never lowers N and reuses stale back-pointers, so it draws from another
distribution. This sampler is exact.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.align.pairs import Alignment, Naive, Progress, StringPair, moves_of, replayed
from reinflect.compiled import for_loops
from reinflect.data.items import LONGEST
from reinflect.errors import InputError

LARGEST_TABLE = 4_000_000
"""With more possible pairs of characters, the table of counts has room only for those that occur together."""


class Smart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Aligns characters that often correspond in the same data."""

    cached: ClassVar[bool] = True
    sweeps: int = 150
    seed: int = 1
    alpha: float = 0.1

    def __post_init__(self) -> None:
        if self.sweeps < 0:
            raise InputError(f"found {self.sweeps} sweeps", "give a number from 0 up; 150 is usual")
        if not 0 < self.alpha < float("inf"):
            raise InputError(f"found alpha = {self.alpha}", "give a number above 0; 0.1 is usual")

    @property
    def signature(self) -> str:
        return f"smart|sweeps:{self.sweeps}|seed:{self.seed}|alpha:{self.alpha}"

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        if not pairs:
            return []
        sampler = GibbsSampler(pairs, seed=self.seed, alpha=self.alpha)
        for done in range(self.sweeps):
            sampler.sweep()
            if progress:
                progress(done + 1, self.sweeps)
        return sampler.best_alignments()

    def align_more(
        self, pairs: Sequence[StringPair], alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        """The most probable alignments of more pairs, by the counts of these alignments of pairs."""
        sampler = GibbsSampler([*pairs, *more], seed=self.seed, alpha=self.alpha)
        sampler.count(alignments)
        return sampler.best_alignments()[len(pairs) :]


class GibbsSampler:
    """The counts of aligned pairs of characters, and the current alignment of every lemma and form."""

    def __init__(self, pairs: Sequence[StringPair], *, seed: int, alpha: float) -> None:
        from reinflect.align import gibbs  # compiled by numba, whose import takes a second

        for number, pair in enumerate(pairs, start=1):
            if max(map(len, pair)) > LONGEST:
                remedy = f"the smart aligner takes up to {LONGEST}; shorten it or use --method naive"
                raise InputError(f"pair {number} has {max(map(len, pair))} characters", remedy)
        self.pairs, self.alpha, self._gibbs = pairs, alpha, gibbs
        self._state = np.array([seed % 2**64], dtype=np.uint64)
        self._lay_out()
        self._number_pairs()
        self.totals = np.zeros(2)  # N, D
        numbers = self._diagonal, self._inserted, self._deleted
        self._tables = for_loops(self._starts, self._cell_starts, *numbers, self.counts, self.totals)
        self.count(Naive().align(pairs))

    def sweep(self, first: int = 0, last: int | None = None) -> None:
        """Resample every pair once (or the pairs first … last - 1), in order, each given all other pairs."""
        bounds = (first, len(self.pairs) if last is None else last)
        moves, lengths, grid = for_loops(self._moves, self._lengths, self._grid)
        with np.errstate(over="ignore"):  # random numbers wrap around
            self._gibbs.sweep(moves, lengths, *self._tables, self.alpha, grid, self._state, *bounds)

    def alignments(self) -> list[Alignment]:
        """The current alignments: a sample."""
        return self._read(self._moves, self._lengths)

    def best_alignments(self) -> list[Alignment]:
        """The most probable alignment of each pair under the present counts."""
        paths = np.empty_like(self._moves), np.empty_like(self._lengths)
        rest = self._grid, np.empty(self._grid.shape, dtype=np.int8)
        self._gibbs.best_paths(*for_loops(*paths), *self._tables, self.alpha, *for_loops(*rest))
        return self._read(*paths)

    def count(self, alignments: Sequence[Alignment]) -> None:
        """Let the counts be those of these alignments of the first pairs; the other pairs count nothing."""
        for p, alignment in enumerate(alignments):
            self._moves[self._starts[p, 0] : self._starts[p, 0] + len(alignment)] = moves_of(alignment)
            self._lengths[p] = len(alignment)
        self.counts[:], self.totals[:] = 0, 0
        self._gibbs.count_paths(*for_loops(self._moves, self._lengths[: len(alignments)]), *self._tables)

    def _lay_out(self) -> None:
        """Set where each pair's moves, characters and grid cells lie in the flat arrays."""
        sizes = np.array([(len(x) + len(y), len(y), len(x)) for x, y in self.pairs], dtype=np.int64)
        self._starts = np.zeros((len(sizes) + 1, 3), dtype=np.int64)
        np.cumsum(sizes, axis=0, out=self._starts[1:])
        self._cell_starts = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes[:, 1] * sizes[:, 2], out=self._cell_starts[1:])
        self._moves = np.empty(self._starts[-1, 0], dtype=np.int8)
        self._lengths = np.zeros(len(sizes), dtype=np.int64)
        self._grid = np.empty(int(((sizes[:, 1] + 1) * (sizes[:, 2] + 1)).max()))

    def _number_pairs(self) -> None:
        """Give every pair of characters that an alignment could use its place in the table of counts."""
        lemma_codes, lemma_size = _codes([x for x, _ in self.pairs])
        inserted, form_size = _codes([y for _, y in self.pairs])
        deleted, size = lemma_codes * form_size, lemma_size * form_size
        # Code 0 is ε, so (0, y) is an insertion and (x, 0) a deletion.
        diagonal = np.empty(int(self._cell_starts[-1]), dtype=np.uint32 if size < 2**31 else np.int64)
        inserted, deleted = inserted.astype(diagonal.dtype), deleted.astype(diagonal.dtype)
        for p, cell in enumerate(self._cell_starts[:-1]):
            (_, y, x), (_, y_end, x_end) = self._starts[p : p + 2]
            cells = diagonal[cell : self._cell_starts[p + 1]].reshape(y_end - y, x_end - x)
            np.add.outer(inserted[y:y_end], deleted[x:x_end], out=cells)
        numbers: Sequence[NDArray[Any]] = (inserted, deleted, diagonal)
        if size > LARGEST_TABLE:
            used, rows = np.unique(np.concatenate(numbers), return_inverse=True)
            size, numbers = len(used), np.split(rows, np.cumsum([len(inserted), len(deleted)]))
        # Unsigned: indices that cannot be negative save a test in the inner loops.
        self._inserted, self._deleted, self._diagonal = (row.astype(np.uint32) for row in numbers)
        self.counts = np.zeros(size)

    def _read(self, moves: NDArray[np.int8], lengths: NDArray[np.int64]) -> list[Alignment]:
        paths = (moves[at : at + length].tolist() for at, length in zip(self._starts[:, 0], lengths, strict=False))
        return [replayed(path, *pair) for path, pair in zip(paths, self.pairs, strict=True)]


def _codes(words: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The characters of all words end to end as numbers from 1, and the count of numbers, including 0."""
    points = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    alphabet, codes = np.unique(points, return_inverse=True)
    return codes.astype(np.int64) + 1, len(alphabet) + 1
