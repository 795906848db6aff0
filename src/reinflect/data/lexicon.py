"""Word lists, and lists of lemmas with the forms that are known already."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from unicodedata import category, normalize

from reinflect.data.corrections import Question, question
from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_AUTO, Columns, Item, grouped, parse_items, read_items
from reinflect.data.sheet_file import Note
from reinflect.errors import InputError, source_name
from reinflect.files import kind_of_sheet, lines_of, read_text

MOST_WORDS = 10_000_000
"""Different words, each of about 150 bytes in memory."""
COUNTED = re.compile("(.+)\t *([0-9]{1,15})\\s*")


@dataclass(frozen=True, repr=False)
class WordList:
    """Words known to occur in a language with their counts, in NFC, whatever the encoding of list and forms."""

    name: str
    digest: str
    size: int
    counts: Mapping[str, int]
    """A word with capitals also counts in lower case: a sentence may begin with it."""

    @classmethod
    def read(cls, path: Path | str) -> "WordList":
        """Read a file with a word, or a word, a tab and its count, on each line; or with running text."""
        text, counts = read_text(path), defaultdict[str, int](int)
        for line in StringIO(normalize("NFC", text)):
            match = COUNTED.fullmatch(line) if "\t" in line else None
            times = int(match[2]) if match else 1
            for word in {*match[1].split()} if match else line.replace("/", " ").split():  # gehen/AB, in dictionaries
                counts[word] += times
            if len(counts) > MOST_WORDS:
                raise InputError(f"found more than {MOST_WORDS:,} words", "leave out the rarest", path=path)
        for token in [token for token in counts if not (token[0].isalnum() and token[-1].isalnum())]:
            kept = [at for at, character in enumerate(token) if category(character)[0] in "LMN"]
            count = counts.pop(token)
            counts[token[kept[0] : kept[-1] + 1] if kept else ""] += count
        counts.pop("", None)
        if "\0" in text or not counts:
            problem = "found a NUL character" if counts else "found no words"
            raise InputError(problem, "give a text file, such as one with a word a line", path=path)
        size = len(counts)
        for word in [word for word in counts if word != word.lower()]:
            counts[word.lower()] += counts[word]
        return cls(Path(source_name(path)).name, hashlib.sha256(text.encode()).hexdigest()[:12], size, counts)

    def count(self, form: str) -> int:
        """How often a form occurs: if it has several words, the rarest of them."""
        return min((self.counts.get(word, 0) for word in normalize("NFC", form).split()), default=0)


@dataclass(frozen=True)
class Lexicon:
    """Lemmas, and items of some of them; those with a form are known."""

    lemmas: tuple[str, ...]
    items: tuple[Item, ...] = ()

    def knowing(self, items: list[Item]) -> "Lexicon":
        """With more items of these lemmas; others are ignored."""
        lemmas = set(self.lemmas)
        return Lexicon(self.lemmas, (*self.items, *(item for item in items if item.lemma in lemmas)))

    @cached_property
    def known(self) -> frozenset[Question]:
        """The cells whose forms are known."""
        return frozenset(question(item) for item in self.items if not item.covered)

    def may_have(self, lemma: str, bundle: Bundle) -> bool:
        """Whether a lemma may have such a form: a lemma whose items are verbs has no cases."""
        classes = self._word_classes.get(lemma)
        return not classes or bundle.word_class in ("", *classes)

    @cached_property
    def _word_classes(self) -> dict[str, set[str]]:
        items = grouped(self.items, lambda item: item.lemma)
        return {lemma: {item.features.word_class for item in group} - {""} for lemma, group in items.items()}


def read_lemmas(path: Path | str, columns: Columns = COLUMNS_AUTO, *, note: Note = lambda _: None) -> Lexicon:
    """A file with a lemma on each line, a sheet with a lemma column, or any file of items, with or without forms."""
    items: list[Item] = []
    lemmas: list[str] | None = None
    if kind_of_sheet(path):
        from reinflect.data.sheets import read_lemma_column

        lemmas = read_lemma_column(path, columns)
        if lemmas is None:
            items = read_items(path, columns, forms="optional", note=note)
    elif "\t" in (text := read_text(path)):
        items = parse_items(text, path, columns, forms="optional", note=note)
    else:
        lemmas = [line for _, line in lines_of(text, path)]
    unique = tuple(dict.fromkeys(lemmas if lemmas is not None else (item.lemma for item in items)))
    if not unique:
        raise InputError("found no lemmas", "write one on each line", path=path)
    return Lexicon(unique, tuple(items))
