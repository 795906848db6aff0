"""Which cells of a table a pocket model learns from: `python -m models.sources` writes the tables.

The model does not learn from a twentieth of the lemmas, nor from half of those that running text has once and no
dictionary has: on these its confidence is fitted, as they are like the words that the table lacks.
"""

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reinflect.data.features import Bundle
from reinflect.data.items import Item

UNSEEN = 20
"""Of so many lemmas the model learns from all but one."""
DEV_ITEMS = 1_500
"""Cells of unseen lemmas by which a model's best epoch is chosen."""
VARIANTS = " / "


class Word(NamedTuple):
    """A cell of a table."""

    lemma: str
    bundle: str
    forms: tuple[str, ...]
    """The usual one first."""
    uses: int = 0

    @property
    def items(self) -> list[Item]:
        return [Item(self.lemma, Bundle(self.bundle), form) for form in self.forms]


class Choice(NamedTuple):
    """What a model learns from, and what it is judged by."""

    table: list[Word]
    learnt: list[Item]
    dev: list[Item]
    rare: list[Item]
    """Words of running text that it does not learn from."""
    about: dict[str, Any]
    """The table's `LANGUAGE.json`: bundles, marks, credits."""


def read_table(path: Path) -> list[Word]:
    """The cells of `LANGUAGE.tsv` or `LANGUAGE.rare.tsv`, in NFC."""
    text = unicodedata.normalize("NFC", path.read_text(encoding="utf-8"))
    rows = (line.split("\t") for line in text.split("\n") if line)
    return [Word(lemma, bundle, tuple(forms.split(VARIANTS)), int(uses)) for lemma, bundle, forms, uses, *_ in rows]


def choose(folder: Path, language: str, most: int) -> Choice:
    """Choose at most so many cells to learn from."""
    table, rare = read_table(folder / f"{language}.tsv"), read_table(folder / f"{language}.rare.tsv")
    about = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
    held = {word.lemma for word in rare if number_of(word.lemma) % (2 * UNSEEN) < UNSEEN}
    learnt = [word for word in table if not is_unseen(word.lemma) and word.lemma not in held]
    dev = chosen([word for word in table if is_unseen(word.lemma)], DEV_ITEMS)
    lemmas = {word.lemma for word in learnt}
    return Choice(
        table,
        [word.items[0] for word in chosen(learnt, most)],
        [word.items[0] for word in dev],
        [item for word in rare if word.lemma not in lemmas for item in word.items],
        about,
    )


def number_of(lemma: str) -> int:
    """A number by chance, the same for every table."""
    return int.from_bytes(hashlib.sha256(lemma.encode()).digest()[:4])


def is_unseen(lemma: str) -> bool:
    """Whether a lemma is of the twentieth that models do not learn from."""
    return number_of(lemma) % UNSEEN == 0


def chosen(words: Sequence[Word], most: int) -> list[Word]:
    """At most so many cells, in the order of the table.

    A bundle has the more of them the more cells it has, and the more it is used: rare cells of verbs do not crowd out
    nouns. Half of a bundle's are those of the most used lemmas, half are spread evenly over the others.
    """
    uses, cells = Counter[str](), Counter[str]()
    for word in words:
        uses[word.bundle] += word.uses
        cells[word.bundle] += 1
    quotas = shares({bundle: math.cbrt(count * (1 + uses[bundle])) for bundle, count in cells.items()}, cells, most)
    seen, numbers = Counter[str](), []
    for number, word in enumerate(words):
        rank, quota, count = seen[word.bundle], quotas[word.bundle], cells[word.bundle]
        seen[word.bundle] += 1
        frequent = quota // 2
        spread = quota - frequent
        others = count - frequent
        if rank < frequent or (rank - frequent) * spread // others < (rank - frequent + 1) * spread // others:
            numbers.append(number)
    return [words[number] for number in numbers]


def shares(weights: dict[str, float], limits: Counter[str], most: int) -> dict[str, int]:
    """Parts of `most` by weight, none larger than its limit; what that leaves is shared out among the others."""
    left, parts = dict(weights), dict[str, int]()
    while left:
        factor = (most - sum(parts.values())) / sum(left.values())
        full = [name for name, weight in left.items() if weight * factor >= limits[name]]
        if not full:
            return parts | {name: int(weight * factor) for name, weight in left.items()}
        for name in full:
            parts[name] = limits[name]
            del left[name]
    return parts
