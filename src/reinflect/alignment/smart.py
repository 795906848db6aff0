"""The smart alignment: a Chinese Restaurant Process over aligned pairs of characters, learnt by Gibbs sampling.

A pair (x:y) that is in use c times among N has the probability (c + α) / (N + D·α), where D is the number of distinct
pairs in use. Starting from the naive alignment, each sweep takes one lemma and form after the other out of the counts
and draws a new alignment for it in proportion to the product of its pairs' probabilities; in the end every lemma and
form gets its most probable alignment under the last counts.

The published C program never lowers N and reuses stale back-pointers, so it draws from another distribution; this is
the sampler the model calls for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reinflect.alignment.pairs import Alignment, Progress, StringPair, replayed
from reinflect.data.items import LONGEST
from reinflect.errors import InputError

LARGEST_TABLE = 4_000_000
"""Above so many possible pairs of characters, only those that occur together get a place in the table."""


@dataclass(frozen=True, slots=True)
class Smart:
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


class GibbsSampler:
    """The state of the process: the counts, and the current alignment of every pair."""

    def __init__(self, pairs: Sequence[StringPair], *, seed: int, alpha: float) -> None:
        for number, pair in enumerate(pairs, start=1):
            if max(map(len, pair)) > LONGEST:
                raise InputError(
                    f"pair {number} has {max(map(len, pair))} characters",
                    f"the smart aligner takes up to {LONGEST}; shorten it or use --method naive",
                )
        self.pairs = pairs
        self.alpha = alpha
        self._state = np.array([seed % 2**64], dtype=np.uint64)
        self._lay_out()
        self._number_pairs()
        self.totals = np.zeros(2)  # N, D
        self._align_naively()

    def sweep(self) -> None:
        """Resample every pair once."""
        self.resample(0, len(self.pairs))

    def resample(self, first: int, last: int) -> None:
        """Resample the pairs first … last - 1, one after the other, given all the rest."""
        from reinflect.alignment import gibbs

        gibbs.sweep(*self._grid_arguments(), self.alpha, self._grid, self._state, first, last)

    def alignments(self) -> list[Alignment]:
        """The alignments as they stand now, a sample."""
        return self._read(self._moves, self._lengths)

    def best_alignments(self) -> list[Alignment]:
        """The most probable alignment of each pair under the present counts."""
        from reinflect.alignment import gibbs

        moves, lengths = np.empty_like(self._moves), np.empty_like(self._lengths)
        choices = np.empty(self._grid.shape, dtype=np.int8)
        gibbs.best_paths(moves, lengths, *self._grid_arguments()[2:], self.alpha, self._grid, choices)
        return self._read(moves, lengths)

    @property
    def cells(self) -> int:
        """Cells of all grids together: the work of one sweep."""
        return int(self._diagonal.shape[0])

    def _grid_arguments(self) -> tuple[NDArray[np.generic], ...]:
        return (
            self._moves,
            self._lengths,
            self._starts,
            self._cell_starts,
            self._diagonal,
            self._inserted,
            self._deleted,
            self.counts,
            self.totals,
        )

    def _lay_out(self) -> None:
        """Where each pair's moves, characters and cells lie in the flat arrays."""
        sizes = np.array([(len(x) + len(y), len(y), len(x)) for x, y in self.pairs], dtype=np.int64)
        self._starts = np.zeros((len(sizes) + 1, 3), dtype=np.int64)
        np.cumsum(sizes, axis=0, out=self._starts[1:])
        self._cell_starts = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes[:, 1] * sizes[:, 2], out=self._cell_starts[1:])
        self._moves = np.empty(self._starts[-1, 0], dtype=np.int8)
        self._lengths = np.zeros(len(sizes), dtype=np.int64)
        self._grid = np.empty(int(((sizes[:, 1] + 1) * (sizes[:, 2] + 1)).max()))

    def _number_pairs(self) -> None:
        """Give every pair of characters that some alignment could use its place in the table of counts."""
        lemma_codes, lemma_size = _codes([x for x, _ in self.pairs])
        form_codes, form_size = _codes([y for _, y in self.pairs])
        # Code 0 is ε, so (0, y) is an insertion and (x, 0) a deletion. Unsigned, for an index that cannot be negative
        # spares the inner loops a test each time.
        self._inserted = form_codes.astype(np.uint32)
        self._deleted = (lemma_codes * form_size).astype(np.uint32 if lemma_size * form_size < 2**31 else np.int64)
        diagonal = np.empty(int(self._cell_starts[-1]), dtype=self._deleted.dtype)
        for p, cell in enumerate(self._cell_starts[:-1]):
            rows = self._inserted[self._starts[p, 1] : self._starts[p + 1, 1]]
            columns = self._deleted[self._starts[p, 2] : self._starts[p + 1, 2]]
            np.add.outer(rows, columns, out=diagonal[cell : self._cell_starts[p + 1]].reshape(len(rows), len(columns)))
        size = lemma_size * form_size
        if size > LARGEST_TABLE:
            used, places = np.unique(np.concatenate([diagonal, self._inserted, self._deleted]), return_inverse=True)
            ends = np.cumsum([len(diagonal), len(self._inserted)])
            diagonal, self._inserted, self._deleted = np.split(places.astype(np.uint32), ends)
            size = len(used)
        self._diagonal = diagonal.astype(np.uint32)
        self._deleted = self._deleted.astype(np.uint32)
        self.counts = np.zeros(size)

    def _align_naively(self) -> None:
        from reinflect.alignment import gibbs

        for p, (x, y) in enumerate(self.pairs):
            both, longer = min(len(x), len(y)), max(len(x), len(y))
            at = self._starts[p, 0]
            self._moves[at : at + both] = gibbs.DIAGONAL
            self._moves[at + both : at + longer] = gibbs.DELETE if len(x) > len(y) else gibbs.INSERT
            self._lengths[p] = longer
        gibbs.count_paths(*self._grid_arguments())

    def _read(self, moves: NDArray[np.int8], lengths: NDArray[np.int64]) -> list[Alignment]:
        from reinflect.alignment.gibbs import DELETE, INSERT

        taken = (moves[at : at + length].tolist() for at, length in zip(self._starts[:, 0], lengths, strict=False))
        return [
            replayed(own, *pair, inserted=INSERT, deleted=DELETE) for own, pair in zip(taken, self.pairs, strict=True)
        ]


def _codes(words: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """All words end to end as numbers from 1, and how many numbers there are, 0 among them."""
    points = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    alphabet, codes = np.unique(points, return_inverse=True)
    return codes.astype(np.int64) + 1, len(alphabet) + 1
