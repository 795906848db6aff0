"""The first words of a textbook in each language: `first_words.tsv`, and what the tables of words have for them.

A line has a language, a lemma, a bundle, the form (or several, with `/`), by what it was checked (`hand`, or the source
that it is from), and `table`, or `model` where no source that may be shipped has the cell: a pocket model must know it.
"""

import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from models.sources.bundles import FOLDER
from models.sources.recipes import recipe_of

TABLES = Path(os.environ.get("REINFLECT_TABLES", "models/tables"))
"""What `python -m models.sources --out` wrote, where it is there."""
HAND, FROM_SOURCE = 25, 10
"""The fewest cells of a language with running text, and of others."""


class Word(NamedTuple):
    """A cell that every learner knows."""

    language: str
    lemma: str
    bundle: str
    forms: list[str]
    checked: str
    asked: str


def words() -> dict[str, list[Word]]:
    """By language."""
    result = defaultdict(list)
    lines = (Path(__file__).parent / "first_words.tsv").read_text(encoding="utf-8").splitlines()
    for language, lemma, bundle, forms, checked, asked in (line.split("\t") for line in lines):
        result[language].append(Word(language, lemma, bundle, forms.split("/"), checked, asked))
    return result


WORDS = words()


def test_each_language_has_first_words() -> None:
    assert sorted(WORDS) == sorted(path.stem for path in FOLDER.glob("*.tsv"))
    for language, several in WORDS.items():
        by_hand = {word.checked for word in several} == {"hand"}
        assert len(several) >= (HAND if by_hand else FROM_SOURCE), language
        assert len({(word.lemma, word.bundle) for word in several}) == len(several), language
        assert {word.asked for word in several} <= {"table", "model"}


@pytest.mark.long
@pytest.mark.parametrize("language", sorted(WORDS))
def test_tables_have_them(language: str) -> None:
    path = TABLES / f"{language}.tsv"
    if not path.exists():
        pytest.skip("the tables are not here")
    recipe = recipe_of(language)
    table: dict[tuple[str, str], str] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            lemma, bundle, forms, _, _ = line.rstrip("\n").split("\t")
            table.setdefault((recipe.plain(lemma), bundle), forms.split(" / ")[0])
    for word in WORDS[language]:
        first = table.get((recipe.plain(word.lemma), word.bundle))
        if word.asked == "model":
            continue
        assert first is not None, word
        assert recipe.key(first) in map(recipe.key, word.forms), word
