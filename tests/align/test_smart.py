"""The smart aligner samples from the right distribution, and then takes the best alignment."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln

from reinflect.align import gibbs, smart
from reinflect.align.pairs import EPSILON, Alignment, Naive, StringPair, count_kinds
from reinflect.align.smart import GibbsSampler, Smart
from reinflect.data.items import LONGEST
from reinflect.errors import InputError
from tests.align.exact import all_alignments, best_alignment, conditional, counted, fit, log_weight
from tests.systems.any_alignment import sides

TINY: list[StringPair] = [("ab", "abc"), ("cab", "ba"), ("ba", "aab"), ("a", "ca")]
VERBS: list[StringPair] = [
    ("fliegen", "flog"),
    ("legen", "gelegt"),
    ("ziehen", "zog"),
    ("sagen", "gesagt"),
    ("liegen", "liegt"),
]
ACCEPTED = 1e-3
"""A p-value; the seeds are fixed."""


def swept(pairs: Sequence[StringPair], seed: int, sweeps: int, alpha: float = 0.1) -> GibbsSampler:
    """A sampler after some sweeps."""
    sampler = GibbsSampler(pairs, seed=seed, alpha=alpha)
    for _ in range(sweeps):
        sampler.sweep()
    return sampler


def without(alignments: Sequence[Alignment], p: int) -> list[Alignment]:
    return [*alignments[:p], *alignments[p + 1 :]]


def random_pairs(seed: int, count: int, letters: str = "abcd", longest: int = 6) -> list[StringPair]:
    draw = random.Random(seed)

    def word() -> str:
        return "".join(draw.choices(letters, k=draw.randint(0, longest)))

    return [(word(), word()) for _ in range(count)]


class TestOnePairGivenTheOthers:
    """Resampling one pair many times, given the others, gives every alignment with its exact probability."""

    @pytest.mark.parametrize("p", range(len(TINY)))
    @pytest.mark.parametrize("alpha", [0.1, 2.0])
    def test_draws_from_the_exact_conditional(self, p: int, alpha: float) -> None:
        sampler = swept(TINY, p + 1, 5, alpha)
        others = without(sampler.alignments(), p)
        seen: Counter[Alignment] = Counter()
        for _ in range(10_000):
            sampler.sweep(p, p + 1)
            seen[sampler.alignments()[p]] += 1
        assert without(sampler.alignments(), p) == others
        assert fit(seen, conditional(all_alignments(*TINY[p]), others, alpha)) > ACCEPTED


class TestWholeSweeps:
    """Many samplers with different seeds, after some sweeps, against the exact chain over all joint states."""

    PAIRS: tuple[StringPair, ...] = (("a", "ab"), ("ab", "a"), ("b", "a"))

    def exact(self, sweeps: int) -> dict[tuple[Alignment, ...], float]:
        states: dict[tuple[Alignment, ...], float] = {tuple(Naive().align(self.PAIRS)): 1.0}
        for _, p in product(range(sweeps), range(len(self.PAIRS))):
            after: defaultdict[tuple[Alignment, ...], float] = defaultdict(float)
            for state, share in states.items():
                exact = conditional(all_alignments(*self.PAIRS[p]), without(state, p), 0.1)
                for drawn, probability in exact.items():
                    after[*state[:p], drawn, *state[p + 1 :]] += share * probability
            states = after
        return states

    @pytest.mark.parametrize("sweeps", [1, 4])
    def test_every_joint_state_has_its_exact_frequency(self, sweeps: int) -> None:
        seen = Counter(tuple(swept(self.PAIRS, seed, sweeps).alignments()) for seed in range(4_000))
        exact = self.exact(sweeps)
        assert len(exact) == 5 * 5 * 3
        assert fit(seen, exact) > ACCEPTED

    @pytest.mark.parametrize("dense", [True, False])
    def test_counts_stay_right(self, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(smart, "LARGEST_TABLE", 10**6 if dense else 0)
        sampler = GibbsSampler(random_pairs(1, 30), seed=1, alpha=0.1)
        for _ in range(20):
            recounted = counted(sampler.alignments())
            assert sorted(sampler.counts[sampler.counts != 0]) == sorted(recounted.values())
            assert sampler.totals.tolist() == [recounted.total(), len(recounted)]
            sampler.sweep()


class TestBestAlignment:
    @pytest.mark.parametrize("seed", range(10))
    def test_equals_a_slow_table_of_exact_fractions(self, seed: int) -> None:
        pairs = random_pairs(seed, 40, letters="abcdefgh"[: 2 + seed % 6], longest=8)
        sampler = swept(pairs, seed, seed)
        counts = counted(sampler.alignments())
        slow = [best_alignment(x, y, counts, Fraction(1, 10)) for x, y in pairs]
        assert sampler.best_alignments() == slow

    def test_delete_wins_a_tie_with_insert(self) -> None:
        """With a:ε and ε:b so frequent that a:b costs more, both orders of them cost the same."""
        pairs = [("a", "")] * 12 + [("", "b")] * 12 + [("a", "b")]
        assert GibbsSampler(pairs, seed=1, alpha=0.1).best_alignments()[-1] == (("", "b"), ("a", ""))

    def test_delete_wins_a_tie_with_diagonal(self) -> None:
        """Counts a:ε 1, ε:b 1 and α = 1 make N + Dα = 4, and a:b costs what the two do: 1/4 = 2/4 · 2/4."""
        sampler = GibbsSampler([("a", "b")], seed=1, alpha=1.0)
        assert sampler.best_alignments() == [(("a", "b"),)]
        while len(sampler.alignments()[0]) == 1:
            sampler.sweep()
        assert sampler.best_alignments() == [(("", "b"), ("a", ""))]

    def test_does_not_change_the_sample(self) -> None:
        sampler = swept(VERBS, 1, 1)
        before = sampler.alignments(), sampler.counts.tolist(), sampler.totals.tolist()
        sampler.best_alignments()
        assert (sampler.alignments(), sampler.counts.tolist(), sampler.totals.tolist()) == before

    def test_finds_the_prefix_of_a_participle(self) -> None:
        """What it is for: shared letters come to stand opposite each other, which the naive alignment misses."""
        verbs = "legen sagen hören kaufen lernen spielen wohnen zahlen bauen dienen führen lachen tanzen kochen".split()
        participles = [(verb, f"ge{verb[:-2]}t") for verb in verbs]
        presents = [(verb, f"{verb[:-2]}st") for verb in verbs]
        for seed in range(3):
            found = Smart(sweeps=50, seed=seed).align(participles + presents)[: len(verbs)]
            stems = sum(len(verb) - 2 for verb in verbs)
            assert count_kinds(Naive().align(participles))["copy"] < stems // 3
            assert count_kinds(found)["copy"] > 0.8 * stems


class TestSeeds:
    def test_the_same_seed_gives_the_same(self) -> None:
        def run(seed: int) -> list[list[Alignment]]:
            sampler, samples = GibbsSampler(VERBS, seed=seed, alpha=0.1), []
            for _ in range(10):
                sampler.sweep()
                samples.append(sampler.alignments())
            return samples

        assert run(7) == run(7)
        assert run(7) != run(8)
        assert run(-1) == run(2**64 - 1)

    def test_aligning_is_sampling_and_then_the_best(self) -> None:
        assert Smart(sweeps=12, seed=5, alpha=0.3).align(VERBS) == swept(VERBS, 5, 12, 0.3).best_alignments()

    def test_no_sweep_is_the_best_under_naive_counts(self) -> None:
        counts = counted(Naive().align(VERBS))
        assert Smart(sweeps=0).align(VERBS) == [best_alignment(x, y, counts, Fraction(1, 10)) for x, y in VERBS]


class TestLongStrings:
    """Products of a thousand probabilities leave a double's range; then the sums are kept as logarithms."""

    @staticmethod
    def views(sampler: GibbsSampler, p: int) -> tuple[NDArray[np.generic], ...]:
        _, y, x = sampler._starts[p]
        return sampler._diagonal[sampler._cell_starts[p] :], sampler._inserted[y:], sampler._deleted[x:]

    @pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 4), (0, 5), (5, 0), (40, 30), (30, 45)])
    def test_both_ways_of_summing_agree_with_each_other_and_with_counting(self, n: int, m: int) -> None:
        draw = random.Random(n)
        pair = "".join(draw.choices("abc", k=n)), "".join(draw.choices("abd", k=m))
        sampler = swept([pair, *TINY, *VERBS], 1, 3)
        log_total = math.log(sampler.totals[0] + sampler.totals[1] * 0.1)
        scale = 1.5
        plain, logarithms = np.empty((m + 1) * (n + 1)), np.empty((m + 1) * (n + 1))
        grid = (*self.views(sampler, 0), sampler.counts, 0.1, n, m)
        gibbs._forward(plain, *grid, math.exp(scale - log_total), math.exp(2 * scale - log_total))
        gibbs._forward_log(logarithms, *grid, log_total)
        used = np.add.outer(np.arange(m + 1), np.arange(n + 1)).ravel()
        np.testing.assert_allclose(np.log(plain) - scale * used, logarithms, rtol=1e-9, atol=1e-9)
        if n * m < 30:
            counts = counted(sampler.alignments())
            summed = sum(math.exp(log_weight(alignment, counts, 0.1)) for alignment in all_alignments(*pair))
            assert logarithms[-1] == pytest.approx(math.log(summed), rel=1e-9)

    @pytest.mark.parametrize("n", [60, 900])
    def test_a_long_lemma_is_sampled_exactly(self, n: int) -> None:
        """One form character, so that all 2n + 1 alignments can be counted out, long as the lemma is."""
        lemma = "".join(random.Random(n).choices("abcd", k=n))
        pairs = [*TINY, ("add", "caaa"), (lemma, "a")]
        sampler = swept(pairs, n, 5)
        deleted = tuple((x, EPSILON) for x in lemma)
        inserted = [(*deleted[:k], (EPSILON, "a"), *deleted[k:]) for k in range(n + 1)]
        paired = [(*deleted[:k], (lemma[k], "a"), *deleted[k + 1 :]) for k in range(n)]

        def place(alignment: Alignment) -> Hashable:
            k = next(k for k, pair in enumerate(alignment) if pair[1])
            return alignment[k][0], 10 * k // (n + 1)

        exact: defaultdict[Hashable, float] = defaultdict(float)
        for alignment, probability in conditional(inserted + paired, sampler.alignments()[:-1], 0.1).items():
            exact[place(alignment)] += probability
        seen: Counter[Hashable] = Counter()
        for _ in range(2_000):
            sampler.sweep(len(pairs) - 1, len(pairs))
            seen[place(sampler.alignments()[-1])] += 1
        assert fit(seen, exact) > ACCEPTED

    @pytest.mark.parametrize("n", [50, 1000])
    @pytest.mark.parametrize(("others", "alpha"), [([], 0.1), ([("a", "b")], 1e9)])
    def test_sums_over_very_many_alike_paths_do_not_overflow(
        self, n: int, others: list[StringPair], alpha: float
    ) -> None:
        """With nothing to go by all paths are alike, and there are e^1763 of them for 1,000 characters each.

        (2n - d)! / (d! (n - d)!²) of them have d diagonals.
        """
        diagonals = np.arange(n + 1)
        logs = gammaln(2 * n - diagonals + 1) - gammaln(diagonals + 1) - 2 * gammaln(n - diagonals + 1)
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        mean = shares @ diagonals
        deviation = math.sqrt(shares @ (diagonals - mean) ** 2)
        sampler = GibbsSampler([*others, ("a" * n, "b" * n)], seed=1, alpha=alpha)
        drawn = []
        for _ in range(5):
            sampler.sweep(len(others), len(others) + 1)
            drawn.append(count_kinds(sampler.alignments()[-1:])["substitution"])
        assert abs(np.mean(drawn) - mean) < 4 * deviation / math.sqrt(len(drawn))

    def test_a_thousand_characters_are_taken_and_one_more_is_not(self) -> None:
        pairs = [("kurz", "kurze"), ("ä" * LONGEST, "äb" * (LONGEST // 2))]
        aligned = Smart(sweeps=1).align(pairs)
        assert [sides(alignment) for alignment in aligned] == pairs
        for lemma, form in (("ä" * (LONGEST + 1), "a"), ("a", "ä" * (LONGEST + 1))):
            with pytest.raises(InputError, match=r"pair 2 has 1001 characters; .*up to 1000.*--method naive"):
                Smart(sweeps=1).align([("kurz", "kurze"), (lemma, form)])


class TestAlphabets:
    def test_a_table_of_used_pairs_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pairs = VERBS + random_pairs(3, 50, letters="abcdefgh𐍈\u0301")
        dense = Smart(sweeps=10).align(pairs)
        monkeypatch.setattr(smart, "LARGEST_TABLE", 0)
        assert len(GibbsSampler(pairs, seed=1, alpha=0.1).counts) < 20 * 20
        assert Smart(sweeps=10).align(pairs) == dense

    def test_thousands_of_distinct_characters(self, monkeypatch: pytest.MonkeyPatch) -> None:
        han = [chr(0x4E00 + k) for k in range(6_000)]
        pairs = [("".join(han[k : k + 6]), "".join(han[k : k + 4]) + "们") for k in range(0, 6_000, 6)]
        sampler = GibbsSampler(pairs, seed=1, alpha=0.1)
        assert len(sampler.counts) < smart.LARGEST_TABLE < 4_000 * 6_000
        sparse = Smart(sweeps=3).align(pairs)
        assert [sides(alignment) for alignment in sparse] == pairs
        monkeypatch.setattr(smart, "LARGEST_TABLE", 10**9)
        assert Smart(sweeps=3).align(pairs) == sparse

    def test_a_renamed_alphabet_gives_the_renamed_alignments(self) -> None:
        """Nothing hangs on which letters they are: letters beyond the BMP or combining marks are letters."""
        renaming = str.maketrans(dict(zip("abcd", ["𐍈", "😀", "\u0301", "\udc80"], strict=True)))
        pairs = random_pairs(4, 40)
        expected = [
            tuple((x.translate(renaming), y.translate(renaming)) for x, y in alignment)
            for alignment in Smart(sweeps=8).align(pairs)
        ]
        assert Smart(sweeps=8).align([(x.translate(renaming), y.translate(renaming)) for x, y in pairs]) == expected


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=5), st.integers(0, 3))
def test_any_strings_can_be_aligned(pairs: list[StringPair], sweeps: int) -> None:
    aligned = Smart(sweeps=sweeps).align(pairs)
    assert [sides(alignment) for alignment in aligned] == pairs
    assert all((EPSILON, EPSILON) not in alignment for alignment in aligned)


def test_more_pairs_are_aligned_by_the_counts_of_known_ones() -> None:
    known = random_pairs(4, 30)
    alignments = Smart(sweeps=8).align(known)
    more = [*random_pairs(5, 20), ("aab", ""), ("", "ba"), ("xa", "ax")]
    expected = [best_alignment(*pair, counted(alignments), Fraction(1, 10)) for pair in more]
    assert Smart().align_more(known, alignments, more) == expected
    assert Smart().align_more(known, alignments, []) == []
    assert Naive().align_more(known, alignments, more) == Naive().align(more)


def test_progress_is_reported_after_every_sweep() -> None:
    calls: list[tuple[int, int]] = []
    Smart(sweeps=3).align(VERBS, lambda done, of: calls.append((done, of)))
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"sweeps": -1}, "-1 sweeps")]
    + [({"alpha": alpha}, f"alpha = {alpha}") for alpha in (0.0, -0.1, float("nan"), float("inf"))],
)
def test_invalid_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Smart(**settings)
