"""Letters that look the same but are written in two ways, such as ä: one character, or an a and a mark for its dots.

Unicode calls them canonically equivalent. To a model they are different letters: fields are kept code point for code
point.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from unicodedata import combining, is_normalized, normalize

from reinflect.data.items import Item
from reinflect.errors import quoted, source_name

Files = Sequence[tuple[Path | str, Sequence[Item]]]
SOME = 10_000
"""Letters, and what follows them: more than a language has."""


def two_ways_note(files: Files) -> str | None:
    """One sentence for the user when lemmas and forms, of one file or of several together, have such letters."""
    if all(is_normalized("NFC", word) for word, _, _ in _words(files)):
        return None
    ways: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for word, path, line in _words(files):
        for letter in letters(word):
            known = ways[_composed(letter)]
            if letter not in known:
                known[letter] = f"{_code_points(letter)} in {source_name(path)}, line {line}"
    found = {letter: tuple(known.values()) for letter, known in ways.items() if len(known) > 1}
    if not found:
        return None
    letter, (one, other, *_) = next(iter(found.items()))
    more = len(found) - 1
    which = quoted(letter) + (f" and {more} other letter{'s'[: more != 1]} are" if more else " is")
    return (
        f"note: {which} written in two ways, which look the same but are learnt as different letters ({one}; {other}); "
        "write each in one way throughout (programs that convert text call that normalising to NFC)"
    )


def letters(word: str) -> list[str]:
    """A word cut where Unicode's normal form of it can be: characters that may melt into one stay together."""
    found: list[str] = []
    for character in word:
        if found and _joins(found[-1], character):
            found[-1] += character
        else:
            found.append(character)
    return found


@lru_cache(SOME)
def _joins(before: str, character: str) -> bool:
    return combining(character) != 0 or _composed(before + character) != _composed(before) + _composed(character)


@lru_cache(SOME)
def _composed(text: str) -> str:
    return normalize("NFC", text)


def _words(files: Files) -> Iterator[tuple[str, Path | str, int]]:
    for path, items in files:
        for item in items:
            yield item.lemma, path, item.line
            yield item.form, path, item.line


def _code_points(letter: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in letter)
