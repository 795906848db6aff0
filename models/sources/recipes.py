"""What is known of a language by hand, in `languages.toml`: paradigms, what its sources mean, and how people write.

A source's bundle becomes atoms of ours in three steps: `synonyms` replaces atoms, `rules` adds and removes atoms (by
the ending of a form, where a treebank has lost a feature that the form shows), and `spellings` names the bundle of what
is left. Whatever these say, `bundles.py` still compares the forms.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from models.sources import Row
from models.sources.atoms import Atoms, atoms, part_of_speech

FILE = Path(__file__).parent / "languages.toml"
ABBREVIATED = re.compile(r"[.\d]|-$|^-")
"""Abbreviations, parts of words and figures, which treebanks count as forms of words."""


@dataclass(frozen=True)
class Rule:
    """What a bundle says that has some atoms and lacks others, of a form with an ending."""

    has: frozenset[str]
    lacks: frozenset[str]
    form: re.Pattern[str]
    lemma: re.Pattern[str]
    add: frozenset[str]
    drop: frozenset[str]
    same: bool | None
    """Whether the form is the lemma, where that matters."""

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Rule":
        has, lacks, add, drop = (frozenset(entry.get(name, "").split()) for name in ("has", "lacks", "add", "drop"))
        form, lemma = (re.compile(entry.get(name, "")) for name in ("form", "lemma"))
        return cls(has, lacks, form, lemma, add, drop, entry.get("same"))

    @property
    def looks_at_form(self) -> bool:
        return bool(self.form.pattern) or self.same is not None

    def applied(self, said: set[str], row: Row) -> set[str]:
        fits = self.has <= said and not self.lacks & said and self.same in (None, row.form == row.lemma)
        if fits and self.form.search(row.form) and self.lemma.search(row.lemma):
            return (said - self.drop) | self.add
        return said


@dataclass(frozen=True)
class Recipe:
    """A language's entry."""

    bundles: Sequence[str] = ()
    adjectives_like_nouns: bool = False
    relabelled: Sequence[Rule] = ()
    """What is wrong in UniMorph; the first rule that fits a row is applied."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """What an atom is called here, or as in `N INAN` for a part of speech; nothing if it tells no cells apart."""
    rules: Sequence[Rule] = ()
    alike: Sequence[Rule] = ()
    """Bundles with the same form as another one, such as both genders of adjectives with some endings."""
    spellings: Mapping[Atoms, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    """Patterns in forms of sources, and what is to be there; a form of which nothing is left is left out."""
    lemmas: Mapping[str, str] = field(default_factory=dict)
    """Patterns in lemmas of treebanks, and what is to be there."""
    verb_lemmas: Mapping[str, str] = field(default_factory=dict)
    """Likewise for verbs, of which some treebanks have the stem."""
    nominal_forms: Mapping[str, str] = field(default_factory=dict)
    """Likewise for forms of nouns and adjectives in treebanks, which begin otherwise after some words."""
    marks: str = ""
    """Combining characters that dictionaries write and ordinary text does not."""
    letters: str = ""
    """Letters of the alphabet that have one of these marks."""
    separable: bool = False
    """Whether verbs have prefixes that follow them: `hole ab`, and one word in subordinate clauses."""
    respelled: Mapping[str, str] = field(default_factory=dict)
    """Other characters of dictionaries, and what ordinary text has."""

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Recipe":
        bundles = [bundle for pattern in entry.get("bundles", ()) for bundle in expanded(pattern)]
        lists = ("rules", "relabelled", "alike")
        rules = {name: [Rule.read(rule) for rule in entry.get(name, ())] for name in lists}
        spellings = {tuple(sorted(said.split())): bundle for said, bundle in entry.get("spellings", {}).items()}
        read = {"bundles": bundles, "spellings": spellings, **rules}
        return cls(**{**entry, **read})

    def replaced(self, bundle: Atoms) -> Atoms:
        """A bundle in atoms of ours."""
        if not self.synonyms:
            return bundle
        part = part_of_speech(bundle)
        ours = (self.synonyms.get(f"{part} {atom}", self.synonyms.get(atom, atom)) for atom in bundle)
        return tuple(sorted(atom for atom in ours if atom))

    def corrected(self, bundle: Atoms, row: Row, *, by_form: bool = True) -> Atoms:
        """What rules make of the bundle of a row; those that look at its form only with `by_form`."""
        said = set(bundle)
        for rule in self.rules:
            if by_form or not rule.looks_at_form:
                said = rule.applied(said, row)
        return bundle if said == set(bundle) else tuple(sorted(said))

    def with_same_form(self, bundle: Atoms, row: Row) -> list[Atoms]:
        """Other bundles that have the form of a row."""
        said = set(bundle)
        return [tuple(sorted(other)) for rule in self.alike if (other := rule.applied(set(said), row)) != said]

    def relabel(self, row: Row) -> Row:
        """A row of UniMorph with the right atoms, by the first rule that fits."""
        if not self.relabelled:
            return row
        said = atoms(row.bundle)
        for rule in self.relabelled:
            if (right := rule.applied(set(said), row)) != set(said):
                kept = [atom for atom in said if atom in right]
                return row._replace(bundle=";".join([*kept, *sorted(right - set(said))]))
        return row

    def cleaned(self, row: Row, part: str, *, treebank: bool) -> Row:
        """A row without what is no part of a word; its form is empty if it is none."""
        lemma, form = row.lemma, _replaced(row.form, self.forms)
        if treebank:
            if ABBREVIATED.search(form) and not ABBREVIATED.search(lemma):
                form = ""
            lemma = _first_replaced(_replaced(lemma, self.lemmas), self.verb_lemmas if part == "V" else {})
            form = _first_replaced(form, self.nominal_forms if part in {"N", "ADJ"} else {})
        return row._replace(lemma=lemma, form=form)

    def key(self, form: str) -> str:
        """A form as ordinary text has it; a separable verb is one word, as in a subordinate clause."""
        if self.separable and form.count(" ") == 1:
            form = "".join(reversed(form.split(" ")))
        return self.plain(form)

    def written(self, word: str) -> str:
        """A word with its marks, in the letters of ordinary text."""
        for character, replacement in self.respelled.items():
            word = word.replace(character, replacement)
        return word

    def plain(self, word: str) -> str:
        """A word as ordinary text has it."""
        if not self.marks or word.isascii():
            return word
        word = self.written(word)
        return unicodedata.normalize("NFC", "".join(self._unmarked(word)))

    def _unmarked(self, word: str) -> Iterator[str]:
        base = ""
        for character in unicodedata.normalize("NFD", word):
            if not unicodedata.combining(character):
                base = character
            elif character in self.marks and unicodedata.normalize("NFC", base + character) not in self.letters:
                continue
            yield character


def _replaced(word: str, patterns: Mapping[str, str]) -> str:
    for pattern, replacement in patterns.items():
        word = re.sub(pattern, replacement, word)
    return word


def _first_replaced(word: str, patterns: Mapping[str, str]) -> str:
    return next(
        (re.sub(pattern, to, word, count=1) for pattern, to in patterns.items() if re.search(pattern, word)), word
    )


def expanded(pattern: str) -> list[str]:
    """The bundles of `N;[SG|PL]`: `N;SG` and `N;PL`."""
    before, bracket, rest = pattern.partition("[")
    if not bracket:
        return [pattern]
    choices, _, after = rest.partition("]")
    bundles = (before + choice + ending for choice in choices.split("|") for ending in expanded(after))
    return [bundle.removesuffix(";").replace(";;", ";") for bundle in bundles]


@cache
def _entries() -> dict[str, Any]:
    with FILE.open("rb") as file:
        return tomllib.load(file)


def recipe_of(language: str) -> Recipe:
    """The entry of a language, which may be empty."""
    return Recipe.read(_entries().get(language, {}))
