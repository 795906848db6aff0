"""The rule system of the CoNLL–SIGMORPHON 2017 shared task: what any learnt model has to beat.

Each lemma is aligned with its form and cut into prefix, stem and suffix. Every ending of the lemma then makes a rule
that says what it became (`-gen → -gte`), and its beginning makes another (`- → ge-`). A new lemma is changed by the
rule for its longest known ending, then by the most frequent rule for beginnings. Rules belong to one exact spelling
of a feature bundle; a lemma asked for with features never seen comes back unchanged.

Gaps are empty strings and the edges of words are where strings end, so that no letter of any language (`_` in Sorani,
`*` in English) can be taken for a mark.

What is learnt does not depend on the order of the training items. Ties are settled

- in the alignment, from the start of the words: pair two letters rather than insert, insert rather than delete;
- among endings: the longest left side, then the most frequent rule, the longest right side, the first by code points;
- among beginnings: the most frequent rule, then the shortest left side, the longest right side, the first by code
  points.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

from reinflect.data.features import Bundle
from reinflect.data.items import LONGEST, Item, check_lengths
from reinflect.errors import InputError, quoted

GAP = 10
SUBSTITUTION = 11
"""Costs in tenths: as whole numbers, equal costs are equal. A substitution is dearer than one gap, not than two."""

Pairs: TypeAlias = list[tuple[str, str]]
"""A letter of the lemma with a letter of the form; a gap is an empty string."""

Rule: TypeAlias = tuple[str, str]
"""What is found at the edge of a word, and what is put there instead."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a feature bundle does to words."""

    endings: dict[str, str]
    """For each left side its best right side."""
    beginnings: list[Rule]
    """The best first."""

    def apply(self, word: str) -> str:
        for start in range(max(0, len(word) - LONGEST), len(word) + 1):  # no left side is longer
            ending = self.endings.get(word[start:])
            if ending is not None:
                word = word[:start] + ending
                break
        for left, right in self.beginnings:
            if word.startswith(left):
                return right + word[len(left) :]
        return word


@dataclass(frozen=True, slots=True)
class Baseline:
    """Rules for each feature bundle. In a prefixing language (`backwards`) words are read from their end."""

    rules: dict[str, Rules]
    backwards: bool

    @classmethod
    def learn(cls, items: Sequence[Item], *, path: Path | str | None = None) -> Self:
        """Learn from every item, also from several that give one cell different forms.

        `path` is where the items come from, for the error that a bad one raises.
        """
        for item in items:
            _check_form(item, path)
        check_lengths(items, path, "the rule system learns from", "shorten it or take it out")
        backwards = is_prefixing(items)
        tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
        for item in items:
            lemma, form = (item.lemma[::-1], item.form[::-1]) if backwards else (item.lemma, item.form)
            tallies[item.features.spelling].add(align(lemma, form))
        return cls({features: tally.rules() for features, tally in tallies.items()}, backwards)

    def knows(self, features: Bundle) -> bool:
        """Whether the bundle was seen in training, spelled just so."""
        return features.spelling in self.rules

    def inflect(self, lemma: str, features: Bundle) -> str:
        """The form; with features never seen, the lemma."""
        rules = self.rules.get(features.spelling)
        if rules is None:
            return lemma
        return rules.apply(lemma[::-1])[::-1] if self.backwards else rules.apply(lemma)


def _check_form(item: Item, path: Path | str | None) -> None:
    if item.covered:
        raise InputError(
            f"found no form for {quoted(item.lemma)}",
            "give every item to learn from a form",
            path=path,
            line=item.line or None,
        )


@dataclass(frozen=True, slots=True)
class _Tally:
    """How often each rule was met among the items of one bundle."""

    endings: Counter[Rule] = field(default_factory=Counter)
    beginnings: Counter[Rule] = field(default_factory=Counter)

    def add(self, pairs: Pairs) -> None:
        start = stem_start(pairs)
        self.endings.update(endings(pairs[start:]))
        # Every prefix s of the form's stem makes a rule too (ab- → geab- beside - → ge-). It is never more frequent
        # than the rule without s and never applies where that does not, so ties being settled as they are, only the
        # rule without s can ever win. There is always a stem: a letter pairs with any other for less than two gaps.
        prefix = pairs[:start]
        self.beginnings["".join(x for x, _ in prefix), "".join(y for _, y in prefix)] += 1

    def rules(self) -> Rules:
        best: dict[str, tuple[int, int, str]] = {}
        for (left, right), count in self.endings.items():
            rank = (-count, -len(right), right)
            if left not in best or rank < best[left]:
                best[left] = rank
        beginnings = sorted(self.beginnings.items(), key=lambda met: _beginning_rank(*met))
        return Rules({left: right for left, (_, _, right) in best.items()}, [rule for rule, _ in beginnings])


def _beginning_rank(rule: Rule, count: int) -> tuple[int, int, int, Rule]:
    left, right = rule
    return -count, len(left), -len(right), rule


def endings(pairs: Pairs) -> list[Rule]:
    """A rule for every ending of the aligned words, from nothing at all to the whole."""
    left = right = ""
    rules = [(left, right)]
    for x, y in reversed(pairs):
        left, right = x + left, y + right
        rules.append((left, right))
    return rules


def stem_start(pairs: Pairs) -> int:
    """How many gaps there are at the start, all in the lemma or all in the form.

    With nothing but gaps, there is no stem to put a prefix on: all is suffix.
    """
    lemma_gaps = next((i for i, (x, _) in enumerate(pairs) if x), 0)
    form_gaps = next((i for i, (_, y) in enumerate(pairs) if y), 0)
    return max(lemma_gaps, form_gaps)


def align(lemma: str, form: str) -> Pairs:
    """The cheapest alignment, read from the start; of equally cheap steps pair, then insert, then delete."""
    # Pairing two equal letters is never dearer than anything else and wins ties, so what both words start with
    # needs no table. (It is not so for what they end with: a in aa is paired with the first.)
    same = 0
    for x, y in zip(lemma, form, strict=False):
        if x != y:
            break
        same += 1
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
    """costs[i][j]: what it costs at least to turn source[i:] into target[j:]."""
    last = len(target)
    below = [GAP * left for left in range(last, -1, -1)]
    rows = [below]
    for x in reversed(source):
        diagonal = below[last]
        cost = diagonal + GAP
        row = [cost]
        for j in range(last - 1, -1, -1):
            down = below[j]
            paired = diagonal if x == target[j] else diagonal + SUBSTITUTION
            gap = (down if down < cost else cost) + GAP
            cost = paired if paired < gap else gap
            row.append(cost)
            diagonal = down
        row.reverse()
        rows.append(row)
        below = row
    rows.reverse()
    return rows


def is_prefixing(items: Iterable[Item]) -> bool:
    """Whether forms differ from their lemmas more at the start than at the end, summed over the items.

    Words of several parts, joined by a blank or a hyphen, are left out.
    """
    balance = 0
    for item in items:
        both = item.lemma + item.form
        if " " not in both and "-" not in both:
            leading, trailing = overhangs(item.lemma, item.form)
            balance += leading - trailing
    return balance > 0


def overhangs(lemma: str, form: str) -> tuple[int, int]:
    """How far one word reaches beyond the other at the start and at the end, where they lie best upon each other.

    One word is slid along the other without gaps; the best place has the fewest letters that lie on another letter
    or on none. Of several such places it is the one where the lemma lies furthest to the left.
    """
    places = defaultdict(list)
    for j, y in enumerate(form):
        places[y].append(j)
    matches = Counter(j - i for i, x in enumerate(lemma) for j in places.get(x, ()))
    longer = len(form) - len(lemma)
    matches[min(0, longer)] += 0  # where the shorter word lies wholly on the longer: nothing without a match is better

    def merit(shift: int) -> tuple[int, int]:
        overlap = min(shift + len(lemma), len(form)) - max(shift, 0)
        return overlap + matches[shift], -shift

    best = max(matches, key=merit)
    return abs(best), abs(longer - best)
