"""The compiled inner loops of the smart aligner.

A pair of strings has a grid of (m+1) × (n+1) cells: row j for the first j characters of the form, column i for the
first i of the lemma. Aligned pairs of characters are numbered: `diagonal[cell]` is the number of (x_i:y_j),
`inserted[j]` of (ε:y_j), `deleted[i]` of (x_i:ε); `counts[number]` is how often that pair is in use. All strings lie
end to end in flat arrays, with offsets, so that a sweep is one call. A path through the grid is a sequence of moves.
"""

import math

import numpy as np

from reinflect.align.pairs import DELETE, DIAGONAL, INSERT
from reinflect.compiled import compiled

LARGEST_EXPONENT = 600.0
"""Without logarithms, sums must stay between e^-600 and e^600; a double reaches e^±700."""
LOG_PATHS = 0.8814
"""A grid of n by m has fewer than e^(0.8814 (n + m)) paths: ln(1 + √2) for each character."""
SAME = 1e-9
"""Costs that differ by less are equal: only the order of additions differs."""


@compiled(inline="always")
def _next_random(state):
    """A uniform number in [0, 1) by SplitMix64, written here so that it is the same on every machine and version."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled()
def _change_path(sign, moves, length, diagonal, inserted, deleted, n, counts, totals):
    """Add the counts of one path (sign 1.0) or subtract them (-1.0); moves run from start to end of the strings."""
    i, j = 0, 0
    for k in range(length):
        move = moves[k]
        if move == INSERT:
            number = inserted[j]
        elif move == DELETE:
            number = deleted[i]
        else:
            number = diagonal[j * n + i]
        i += move != INSERT
        j += move != DELETE
        if counts[number] == 0.0:
            totals[1] += 1.0
        counts[number] += sign
        totals[0] += sign
        if counts[number] == 0.0:
            totals[1] -= 1.0


@compiled()
def _forward(grid, diagonal, inserted, deleted, counts, alpha, n, m, once, twice):
    """Sums over all paths to each cell, scaled.

    Every path consumes n + m characters, so a factor per character does not change a path's share: an insertion or
    deletion (one character) is multiplied by `once`, a diagonal (two) by `twice`. Both factors include 1/(N + Dα).
    """
    width = n + 1
    grid[0] = 1.0
    for i in range(n):
        grid[i + 1] = grid[i] * ((counts[deleted[i]] + alpha) * once)
    for j in range(m):
        above = j * width
        here = above + width
        insertion = (counts[inserted[j]] + alpha) * once
        value = grid[above] * insertion
        grid[here] = value
        for i in range(n):
            # With these brackets each cell waits for one sum of the cell before instead of two: 7 % of a sweep.
            value = value * ((counts[deleted[i]] + alpha) * once) + (
                grid[above + i] * ((counts[diagonal[j * n + i]] + alpha) * twice) + grid[above + i + 1] * insertion
            )
            grid[here + i + 1] = value


@compiled()
def _log_sum(a, b):
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@compiled()
def _forward_log(grid, diagonal, inserted, deleted, counts, alpha, n, m, log_total):
    """The sums of `_forward` as logarithms, for strings so long that the products would leave a double's range."""
    width = n + 1
    grid[0] = 0.0
    for i in range(n):
        grid[i + 1] = grid[i] + math.log(counts[deleted[i]] + alpha) - log_total
    for j in range(m):
        above = j * width
        here = above + width
        insertion = math.log(counts[inserted[j]] + alpha) - log_total
        grid[here] = grid[above] + insertion
        for i in range(n):
            deletion = math.log(counts[deleted[i]] + alpha) - log_total
            both = math.log(counts[diagonal[j * n + i]] + alpha) - log_total
            value = _log_sum(grid[here + i] + deletion, grid[above + i] + both)
            grid[here + i + 1] = _log_sum(value, grid[above + i + 1] + insertion)


@compiled()
def _sample_path(
    grid, moves, diagonal, inserted, deleted, counts, alpha, n, m, once, twice, log_total, logarithmic, state
):
    """Draw a path in proportion to its probability, from the end of the strings backwards; return its length."""
    width = n + 1
    i, j, k = n, m, 0
    while i > 0 or j > 0:
        if i == 0:
            move = INSERT
        elif j == 0:
            move = DELETE
        else:
            cell = j * width + i
            by_both = counts[diagonal[(j - 1) * n + i - 1]] + alpha
            by_insert = counts[inserted[j - 1]] + alpha
            by_delete = counts[deleted[i - 1]] + alpha
            if logarithmic:
                both = math.exp(grid[cell - width - 1] + math.log(by_both) - log_total - grid[cell])
                insertion = math.exp(grid[cell - width] + math.log(by_insert) - log_total - grid[cell])
                deletion = math.exp(grid[cell - 1] + math.log(by_delete) - log_total - grid[cell])
            else:
                both = grid[cell - width - 1] * (by_both * twice)
                insertion = grid[cell - width] * (by_insert * once)
                deletion = grid[cell - 1] * (by_delete * once)
            drawn = _next_random(state) * (both + insertion + deletion)
            move = DIAGONAL if drawn < both else INSERT if drawn < both + insertion else DELETE
        moves[k] = move
        k += 1
        i -= move != INSERT
        j -= move != DELETE
    for a in range(k // 2):
        moves[a], moves[k - 1 - a] = moves[k - 1 - a], moves[a]
    return k


@compiled()
def count_paths(moves, lengths, starts, cells, diagonal, inserted, deleted, counts, totals):
    """Add the counts of every pair's path. Columns of `starts`: moves, form characters, lemma characters."""
    for p in range(lengths.shape[0]):
        at, y, x, cell = starts[p, 0], starts[p, 1], starts[p, 2], cells[p]
        n = starts[p + 1, 2] - x
        _change_path(1.0, moves[at:], lengths[p], diagonal[cell:], inserted[y:], deleted[x:], n, counts, totals)


@compiled()
def sweep(moves, lengths, starts, cells, diagonal, inserted, deleted, counts, totals, alpha, grid, state, first, last):
    """Resample the pairs first … last - 1 once, in order, each given the alignments of all other pairs."""
    for p in range(first, last):
        at, y, x, cell = starts[p, 0], starts[p, 1], starts[p, 2], cells[p]
        m, n = starts[p + 1, 1] - y, starts[p + 1, 2] - x
        path, both, ins, dels = moves[at:], diagonal[cell:], inserted[y:], deleted[x:]
        _change_path(-1.0, path, lengths[p], both, ins, dels, n, counts, totals)
        # With a single pair N = D = 0: all paths are equally probable.
        log_total = math.log(max(totals[0] + totals[1] * alpha, alpha))
        log_least = math.log(alpha) - log_total
        # Centre the range of the factor per character: [least, 1] for one character, its root for a diagonal.
        scale = -0.5 * log_least
        # Unseen pairs add α each to a total of 1, so with low counts a sum can be far above its largest path.
        logarithmic = (n + m) * (scale + LOG_PATHS) > LARGEST_EXPONENT
        once = float(np.exp(scale - log_total))  # infinite with the smallest α
        twice = float(np.exp(2.0 * scale - log_total))
        if logarithmic:
            _forward_log(grid, both, ins, dels, counts, alpha, n, m, log_total)
        else:
            _forward(grid, both, ins, dels, counts, alpha, n, m, once, twice)
        lengths[p] = _sample_path(
            grid, path, both, ins, dels, counts, alpha, n, m, once, twice, log_total, logarithmic, state
        )
        _change_path(1.0, path, lengths[p], both, ins, dels, n, counts, totals)


@compiled()
def best_paths(moves, lengths, starts, cells, diagonal, inserted, deleted, counts, totals, alpha, grid, choices):
    """The most probable path of every pair under the present counts.

    Ties: insert only if strictly cheapest; else diagonal only if strictly cheaper than delete; else delete.
    """
    log_total = math.log(max(totals[0] + totals[1] * alpha, alpha))
    costs = log_total - np.log(np.asarray(counts) + alpha)
    for p in range(lengths.shape[0]):
        at, y, x, cell = starts[p, 0], starts[p, 1], starts[p, 2], cells[p]
        m, n = starts[p + 1, 1] - y, starts[p + 1, 2] - x
        width = n + 1
        grid[0] = 0.0
        for i in range(n):
            grid[i + 1] = grid[i] + costs[deleted[x + i]]
            choices[i + 1] = DELETE
        for j in range(m):
            here = (j + 1) * width
            above = here - width
            insertion = costs[inserted[y + j]]
            grid[here] = grid[above] + insertion
            choices[here] = INSERT
            for i in range(n):
                by_insert = grid[above + i + 1] + insertion
                by_delete = grid[here + i] + costs[deleted[x + i]]
                by_both = grid[above + i] + costs[diagonal[cell + j * n + i]]
                if by_insert < by_both - SAME and by_insert < by_delete - SAME:
                    choices[here + i + 1], grid[here + i + 1] = INSERT, by_insert
                elif by_both < by_delete - SAME:
                    choices[here + i + 1], grid[here + i + 1] = DIAGONAL, by_both
                else:
                    choices[here + i + 1], grid[here + i + 1] = DELETE, by_delete
        i, j, k = n, m, 0
        while i > 0 or j > 0:
            move = choices[j * width + i]
            moves[at + k] = move
            k += 1
            i -= move != INSERT
            j -= move != DELETE
        for a in range(k // 2):
            moves[at + a], moves[at + k - 1 - a] = moves[at + k - 1 - a], moves[at + a]
        lengths[p] = k
