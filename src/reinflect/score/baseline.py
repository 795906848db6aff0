"""The rule system of the CoNLL–SIGMORPHON 2017 shared task: the baseline that models have to beat.

Each lemma is aligned with its form and cut into prefix, stem and suffix. Every ending of the lemma gives a rule for
its change (`-gen → -gte`), and its beginning gives another (`- → ge-`). A new lemma is changed by the rule for its
longest known ending, then by the most frequent rule for beginnings. Rules belong to a bundle as it is spelled; with an
unknown bundle the lemma is returned unchanged.

Gaps are empty strings and words have no edge markers, so no letter of any language (`_` in Sorani, `*` in English) can
be taken for one. The rules do not depend on the order of the training items. Ties are decided

- in the alignment, from the start of the words: pair two letters rather than insert, insert rather than delete;
- among endings: the longest left side, then the most frequent rule, the longest right side, the first by code points;
- among beginnings: the most frequent rule, then the shortest left side, the longest right side, the first by code
  points.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from reinflect.data.features import Bundle
from reinflect.data.items import LONGEST, Item, check_lengths
from reinflect.errors import InputError, quoted

GAP = 10
SUBSTITUTION = 11
"""Costs in tenths: whole numbers compare exactly. A substitution costs more than one gap and less than two."""

Pairs: TypeAlias = list[tuple[str, str]]
"""A letter of the lemma with a letter of the form; a gap is an empty string."""

Rule: TypeAlias = tuple[str, str]
"""A string at the edge of a word, and its replacement."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a bundle."""

    endings: dict[str, str]
    """The best right side for each left side."""
    beginnings: list[Rule]
    """The best first."""

    @classmethod
    def learn(cls, alignments: Iterable[Pairs]) -> Self:
        endings: Counter[Rule] = Counter()
        beginnings: Counter[Rule] = Counter()
        for pairs in alignments:
            # The stem starts after the gaps at the start, which are all in the lemma or all in the form.
            start = max(next((i for i, pair in enumerate(pairs) if pair[side]), 0) for side in (0, 1))
            left = right = ""
            rules = [(left, right)]
            for x, y in reversed(pairs[start:]):
                left, right = x + left, y + right
                rules.append((left, right))
            endings.update(rules)
            # In the original, every prefix s of the form's stem gives a rule too (ab- → geab- beside - → ge-). It is
            # never more frequent than the rule without s and never applies where that does not, so with these ties
            # only the rule without s can win. A stem is never empty: pairing two letters costs less than two gaps.
            prefix = pairs[:start]
            beginnings["".join(x for x, _ in prefix), "".join(y for _, y in prefix)] += 1
        worst_first = sorted(endings, key=lambda r: (-endings[r], -len(r[1]), r[1]), reverse=True)
        return cls(dict(worst_first), sorted(beginnings, key=lambda r: (-beginnings[r], len(r[0]), -len(r[1]), r)))

    def apply(self, word: str) -> str:
        for start in range(max(0, len(word) - LONGEST), len(word) + 1):  # left sides have at most LONGEST characters
            if (ending := self.endings.get(word[start:])) is not None:
                word = word[:start] + ending
                break
        for left, right in self.beginnings:
            if word.startswith(left):
                return right + word[len(left) :]
        return word


@dataclass(frozen=True, slots=True)
class Baseline:
    """The rules of each bundle. In a prefixing language (`backwards`) words are read from their end."""

    rules: dict[str, Rules]
    backwards: bool

    @classmethod
    def learn(cls, items: Sequence[Item], *, path: Path | str | None = None) -> Self:
        """Learn from every item, including several with different forms of a cell.

        `path` is the source of the items, for error messages.
        """
        for item in items:
            if item.covered:
                remedy = "give every item to learn from a form"
                raise InputError(f"found no form for {quoted(item.lemma)}", remedy, path=path, line=item.line or None)
        check_lengths(items, path, "the rule system learns from", "shorten it or take it out")
        backwards = is_prefixing(items)
        step = -1 if backwards else 1
        alignments: defaultdict[str, list[Pairs]] = defaultdict(list)
        for item in items:
            alignments[item.features.spelling].append(align(item.lemma[::step], item.form[::step]))
        return cls({features: Rules.learn(aligned) for features, aligned in alignments.items()}, backwards)

    def knows(self, features: Bundle) -> bool:
        """Whether a training item has this bundle in the same spelling."""
        return features.spelling in self.rules

    def inflect(self, lemma: str, features: Bundle) -> str:
        """The form or, for an unknown bundle, the lemma."""
        rules = self.rules.get(features.spelling)
        if rules is None:
            return lemma
        return rules.apply(lemma[::-1])[::-1] if self.backwards else rules.apply(lemma)


def align(lemma: str, form: str) -> Pairs:
    """The cheapest alignment, read from the start; among equally cheap steps pair, then insert, then delete."""
    # Pairing two equal letters never costs more than another step and wins ties, so a common prefix needs no costs.
    # (A common suffix does: in a → aa the a is paired with the first.)
    same = next((i for i, (x, y) in enumerate(zip(lemma, form, strict=False)) if x != y), min(len(lemma), len(form)))
    source, target = lemma[same:], form[same:]
    costs = _costs(source, target)
    pairs = [(x, x) for x in lemma[:same]]
    i = j = 0
    while i < len(source) and j < len(target):
        x, y = source[i], target[j]
        if costs[i][j] == costs[i + 1][j + 1] + (0 if x == y else SUBSTITUTION):
            pairs.append((x, y))
            i, j = i + 1, j + 1
        elif costs[i][j] == costs[i][j + 1] + GAP:
            pairs.append(("", y))
            j += 1
        else:
            pairs.append((x, ""))
            i += 1
    pairs.extend((x, "") for x in source[i:])
    pairs.extend(("", y) for y in target[j:])
    return pairs


def _costs(source: str, target: str) -> list[list[int]]:
    """costs[i][j]: the least cost of turning source[i:] into target[j:]."""
    rows = [[GAP * left for left in range(len(target), -1, -1)]]
    for x in reversed(source):
        below = rows[-1]
        cost = below[-1] + GAP
        row = [cost]
        for j in range(len(target) - 1, -1, -1):
            gap = (below[j] if below[j] < cost else cost) + GAP  # `min` is slower
            paired = below[j + 1] if x == target[j] else below[j + 1] + SUBSTITUTION
            cost = paired if paired < gap else gap
            row.append(cost)
        rows.append(row[::-1])
    return rows[::-1]


def is_prefixing(items: Iterable[Item]) -> bool:
    """Whether forms differ from their lemmas more at the start than at the end, summed over the items.

    Words with blanks or hyphens are left out.
    """
    plain = [item for item in items if not {" ", "-"} & {*item.lemma, *item.form}]
    both = [overhangs(item.lemma, item.form) for item in plain]
    return sum(leading for leading, _ in both) > sum(trailing for _, trailing in both)


def overhangs(lemma: str, form: str) -> tuple[int, int]:
    """By how many letters one word exceeds the other at the start and at the end, at the best shift of the lemma.

    The lemma is shifted along the form without gaps; the best shift has the fewest letters opposite a different letter
    or none. Among several best shifts it is the leftmost.
    """
    places = defaultdict(list)
    for j, y in enumerate(form):
        places[y].append(j)
    matches = Counter(j - i for i, x in enumerate(lemma) for j in places.get(x, ()))
    longer = len(form) - len(lemma)
    matches[min(0, longer)] += 0  # the shorter word wholly within the longer: the best shift without matches

    def merit(shift: int) -> tuple[int, int]:
        overlap = min(shift + len(lemma), len(form)) - max(shift, 0)
        return overlap + matches[shift], -shift

    best = max(matches, key=merit)
    return abs(best), abs(longer - best)
