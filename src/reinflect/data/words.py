"""Word lists, and letters that are encoded in two ways: ä as one character, or as an a and a combining mark.

Unicode calls the two canonically equivalent; to a model, which reads code points, they are different letters.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from unicodedata import category, combining, is_normalized, normalize

from reinflect.data.items import Item, place_of
from reinflect.data.sheet_file import Finding
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.files import read_text
from reinflect.text import counted

MOST_WORDS = 10_000_000
"""Different words, each of about 150 bytes in memory."""
COUNTED = re.compile("(.+)\t *([0-9]{1,15})\\s*")
Files = Sequence[tuple[Path | str, Sequence[Item]]]


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


def two_ways(files: Files) -> Finding | None:
    """The letters that some files together encode in two ways, each with its first places."""
    if all(is_normalized("NFC", word) for word, *_ in _words(files)):
        return None
    ways: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for word, path, item, column in _words(files):
        for letter in letters(word):
            encodings = ways[normalize("NFC", letter)]
            if letter not in encodings:
                points = " ".join(f"U+{ord(character):04X}" for character in letter)
                encodings[letter] = f"{points} in {source_name(path)}, {place_of(item, path)}, {column}"
    several = {letter: list(encodings.values()) for letter, encodings in ways.items() if len(encodings) > 1}
    if not several:
        return None
    letter, places = next(iter(several.items()))
    more = f" and {counted(len(several) - 1, 'other letter')} are" if len(several) > 1 else " is"
    return Finding(
        f"note: {quoted(letter)}{more} encoded in two ways, which look the same but are learnt as different letters "
        f"({'; '.join(places[:2])}); --normalise nfc uses one encoding throughout",
        [f"{quoted(letter)}: {'; '.join(places)}" for letter, places in several.items()],
    )


def letters(word: str) -> list[str]:
    """A word cut where its normal form can be cut: characters that may compose stay together."""
    pieces: list[str] = []
    for character in word:
        if pieces and _joins(pieces[-1], character):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


@lru_cache(10_000)  # pairs of a letter and the character after it: more than any language has
def _joins(before: str, character: str) -> bool:
    apart = normalize("NFC", before) + normalize("NFC", character)
    return combining(character) != 0 or normalize("NFC", before + character) != apart


def _words(files: Files) -> Iterator[tuple[str, Path | str, Item, str]]:
    """Each lemma and form with its place."""
    for path, items in files:
        for item in items:
            yield item.lemma, path, item, "lemma"
            yield item.form, path, item, f"form ({printable(item.features.spelling)})"
