"""Alignments and tables as lines of text whose columns stay in line in any script.

Every character gets a cell of its own, so a combining mark, which would slip onto its neighbour, sits on a dotted
circle, and what cannot be seen (blanks, control characters, variation selectors) is spelled out. A terminal gives
some characters no room and others twice as much; cells are padded by that width, not by the number of characters.
"""

import unicodedata
from collections.abc import Sequence

from reinflect.alignment.pairs import EPSILON, Alignment, kind

NOTHING = "∅"
BLANK = "␣"
DOTTED_CIRCLE = "◌"
LEFT_TO_RIGHT_MARK = "\u200e"
MARKS = {"copy": "|", "substitution": "×", "insertion": "+", "deletion": "-"}

_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
_UNSEEN = (
    # Printable by their category, but drawn as nothing at all.
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x2800, 0x2800),  # empty Braille cell
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
_CONJOINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))
"""Korean vowels and finals, which join the consonant before them within its room."""


def lay_out(alignment: Alignment) -> list[str]:
    """Three lines: the lemma, what each aligned pair does, and the form."""
    return in_columns(
        [
            [visible(x) for x, _ in alignment],
            [MARKS[kind(x, y)] for x, y in alignment],
            [visible(y) for _, y in alignment],
        ]
    )


def in_columns(rows: Sequence[Sequence[str]], gap: str = " ") -> list[str]:
    """One line a row, the cells of each column below one another.

    Where a letter runs from right to left, a left-to-right mark follows each cell, so that the columns still run
    from left to right; it opens each line, too, as many programs take a line's direction from its first letter.
    All rows have the marks in the same places: a terminal that gives them room keeps the columns nevertheless.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    mark = LEFT_TO_RIGHT_MARK if any(map(runs_right_to_left, (cell for row in rows for cell in row))) else ""
    return [mark + _line(row, widths, gap, mark) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], gap: str, mark: str) -> str:
    cells = (cell + mark + " " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True))
    return gap.join(cells).rstrip(" ")


def visible(character: str) -> str:
    """One character (or `EPSILON`) as it can be seen on its own; no two look the same.

    The signs that stand for nothing and for a blank are escaped where the data itself has them.
    """
    if character == EPSILON:
        return NOTHING
    if character == " ":
        return BLANK
    if character in (NOTHING, BLANK) or not character.isprintable() or _within(character, _UNSEEN):
        return character.encode("unicode_escape").decode("ascii")
    return DOTTED_CIRCLE + character if _leans(character) else character


def visible_text(text: str) -> str:
    """A whole string as it can be seen: marks stay on their letters, and sit on a circle where there is none."""
    shown = ""
    for before, character in zip(["", *text], text, strict=False):
        alone = visible(character)
        shown += character if alone == DOTTED_CIRCLE + character and _carries(before) else alone
    return shown


def display_width(text: str) -> int:
    """The columns a terminal gives to a text."""
    return sum(map(_width, text))


def runs_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text)


def _width(character: str) -> int:
    # Spacing marks (category Mc, such as most vowel signs of India) have room of their own and count as letters.
    if unicodedata.category(character) in _NO_WIDTH or _within(character, _CONJOINING):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _leans(character: str) -> bool:
    """Whether a character is drawn onto the one before it."""
    return unicodedata.category(character).startswith("M") or _width(character) == 0


def _carries(character: str) -> bool:
    """Whether a character is shown as it is, so that a mark can sit on it."""
    return character != "" and visible(character).endswith(character)


def _within(character: str, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)
