"""Words of any script on a screen, and names that were not spelled right.

A terminal gives some characters no room and others twice as much, a combining mark slips onto whatever stands before
it, some characters cannot be seen at all, and some run from right to left. Columns stay in line nevertheless.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from reinflect.errors import escaped

NOTHING = "∅"
BLANK = "␣"
DOTTED_CIRCLE = "◌"
LEFT_TO_RIGHT_MARK = "\u200e"

Side = Literal["left", "right"]

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


def in_columns(rows: Sequence[Sequence[str]], gap: str = " ", sides: Sequence[Side] | None = None) -> list[str]:
    """One line a row, the cells of each column below one another; words go to the left, numbers to the right.

    Where a letter runs from right to left, a left-to-right mark follows each cell, so that the columns still run
    from left to right; it opens each line, too, as many programs take a line's direction from its first letter.
    All rows have the marks in the same places: a terminal that gives them room keeps the columns nevertheless.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    mark = LEFT_TO_RIGHT_MARK if any(map(runs_right_to_left, (cell for row in rows for cell in row))) else ""
    return [mark + _line(row, widths, sides or ["left"] * len(widths), gap, mark) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], sides: Sequence[Side], gap: str, mark: str) -> str:
    cells = (_padded(cell, width, side, mark) for cell, width, side in zip(row, widths, sides, strict=True))
    return gap.join(cells).rstrip(" ")


def _padded(cell: str, width: int, side: Side, mark: str) -> str:
    room = " " * (width - display_width(cell))
    return cell + mark + room if side == "left" else room + cell + mark


def visible(character: str) -> str:
    """One character, or none, as it can be seen on its own; no two look the same.

    The signs that stand for nothing and for a blank are escaped where the data itself has them.
    """
    if not character:
        return NOTHING
    if character == " ":
        return BLANK
    if character in (NOTHING, BLANK) or not character.isprintable() or _within(character, _UNSEEN):
        return escaped(character)
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


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """A remedy for a name we do not know: the nearest ones that we do, or else what `otherwise` says."""
    close = close_names(name, known)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The names we know that are spelled much like this one, the nearest first; case is passed over."""
    from difflib import get_close_matches

    spelled = {own.lower(): own for own in sorted(known)}
    return [spelled[own] for own in get_close_matches(name.lower(), spelled)]


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
