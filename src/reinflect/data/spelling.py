"""Letters that look the same but are encoded in two ways, such as ä: one character, or an a and a combining mark.

Unicode calls them canonically equivalent. To a model they are different letters, because fields are kept code point for
code point.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from unicodedata import combining, is_normalized, normalize

from reinflect.data.items import Item, place_of
from reinflect.data.sheet_files import Finding
from reinflect.errors import printable, quoted, source_name

Files = Sequence[tuple[Path | str, Sequence[Item]]]


def two_ways(files: Files) -> Finding | None:
    """The letters that the lemmas and forms of some files together encode in two ways, each with its first places."""
    if all(is_normalized("NFC", word) for word, *_ in _words(files)):
        return None
    ways: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for word, path, item, column in _words(files):
        for letter in letters(word):
            known = ways[normalize("NFC", letter)]
            if letter not in known:
                points = " ".join(f"U+{ord(character):04X}" for character in letter)
                known[letter] = f"{points} in {source_name(path)}, {place_of(item, path)}, {column}"
    found = {letter: list(known.values()) for letter, known in ways.items() if len(known) > 1}
    if not found:
        return None
    letter, places = next(iter(found.items()))
    more = len(found) - 1
    which = quoted(letter) + (f" and {more} other letter{'s'[: more != 1]} are" if more else " is")
    return Finding(
        f"note: {which} encoded in two ways, which look the same but are learnt as different letters "
        f"({'; '.join(places[:2])}); --normalise nfc uses one encoding throughout",
        [f"{quoted(letter)}: {'; '.join(places)}" for letter, places in found.items()],
    )


def letters(word: str) -> list[str]:
    """A word cut where its normal form can be cut: characters that may compose into one stay together."""
    found: list[str] = []
    for character in word:
        if found and _joins(found[-1], character):
            found[-1] += character
        else:
            found.append(character)
    return found


@lru_cache(10_000)  # pairs of a letter and the character after it: more than any language has
def _joins(before: str, character: str) -> bool:
    apart = normalize("NFC", before) + normalize("NFC", character)
    return combining(character) != 0 or normalize("NFC", before + character) != apart


def _words(files: Files) -> Iterator[tuple[str, Path | str, Item, str]]:
    """Each lemma and form, with its place: the column of a form is named by its features too, as in a wide sheet."""
    for path, items in files:
        for item in items:
            yield item.lemma, path, item, "lemma"
            yield item.form, path, item, f"form ({printable(item.features.spelling)})"
