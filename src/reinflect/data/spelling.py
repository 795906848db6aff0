"""Letters that look the same but are encoded in two ways, such as ä: one character, or an a and a combining mark.

Unicode calls them canonically equivalent. To a model they are different letters, because fields are kept code point for
code point.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from unicodedata import combining, is_normalized, normalize

from reinflect.data.items import Item
from reinflect.errors import quoted, source_name

Files = Sequence[tuple[Path | str, Sequence[Item]]]


def two_ways_note(files: Files) -> str | None:
    """One sentence for the user if the lemmas and forms of some files together encode a letter in two ways."""
    if all(is_normalized("NFC", word) for word, _, _ in _words(files)):
        return None
    ways: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for word, path, line in _words(files):
        for letter in letters(word):
            known = ways[normalize("NFC", letter)]
            if letter not in known:
                points = " ".join(f"U+{ord(character):04X}" for character in letter)
                known[letter] = f"{points} in {source_name(path)}, line {line}"
    found = {letter: tuple(known.values()) for letter, known in ways.items() if len(known) > 1}
    if not found:
        return None
    letter, (one, other, *_) = next(iter(found.items()))
    more = len(found) - 1
    which = quoted(letter) + (f" and {more} other letter{'s'[: more != 1]} are" if more else " is")
    return (
        f"note: {which} encoded in two ways, which look the same but are learnt as different letters ({one}; {other}); "
        "use one encoding throughout (a text converter can normalise the files to NFC)"
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


def _words(files: Files) -> Iterator[tuple[str, Path | str, int]]:
    for path, items in files:
        for item in items:
            yield item.lemma, path, item.line
            yield item.form, path, item.line
