"""Plain text tables that read the same on a terminal and in a file."""

import unicodedata
from collections.abc import Sequence
from typing import Literal

GAP = "  "
BLANK = "␣"
NOTHING = "∅"
CARRIER = "◌"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, sides: Sequence[Literal["left", "right"]]) -> str:
    """Columns as wide as they need to be; numbers go to the right, words to the left."""
    lines = [header, *rows]
    widths = [max(width(line[column]) for line in lines) for column in range(len(header))]
    padded = [
        GAP.join(_pad(text, size, side) for text, size, side in zip(line, widths, sides, strict=True)).rstrip(" ")
        for line in lines
    ]
    return "\n".join(padded) + "\n"


def _pad(text: str, size: int, side: Literal["left", "right"]) -> str:
    gap = " " * (size - width(text))
    return text + gap if side == "left" else gap + text


def width(text: str) -> int:
    """Columns on a terminal: none for a combining mark, two for a wide letter."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def visible(text: str) -> str:
    """Someone's data without surprises for the terminal: what cannot be seen is escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def visible_piece(piece: str) -> str:
    """A piece of a word by itself: nothing, a blank and a mark without its letter are made visible."""
    if not piece:
        return NOTHING
    carried = CARRIER + piece if unicodedata.category(piece[0]) in ("Mn", "Me", "Mc") else piece
    return visible(carried.replace(" ", BLANK))
