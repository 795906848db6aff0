"""Text of any script in the columns of a terminal.

A character may take no column, one or two, be invisible, join the character before it, or run from right to left.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from reinflect.errors import escaped

NOTHING = "∅"
SIGNS = {"": NOTHING, " ": "␣"}
DOTTED_CIRCLE = "◌"
LEFT_TO_RIGHT_MARK = "\u200e"

Side = Literal["left", "right"]

_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_UNSEEN = re.compile(
    # Printable by category, but drawn as nothing: the grapheme joiner, Hangul fillers, Khmer inherent vowels, the empty
    # Braille cell and variation selectors.
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def in_columns(rows: Sequence[Sequence[str]], gap: str = " ", sides: Sequence[Side] | None = None) -> list[str]:
    """One line per row, with aligned columns; `sides` says on which side (all left by default).

    If any letter runs from right to left, a left-to-right mark follows each cell to keep the columns in order, and
    opens each line, because many programs take a line's direction from its first letter.
    """
    from wcwidth import ljust, rjust

    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    sign = LEFT_TO_RIGHT_MARK if any(runs_right_to_left(cell) for row in rows for cell in row) else ""
    pads = [rjust if side == "right" else ljust for side in sides or ["left"] * len(widths)]
    padded = ([pad(cell + sign, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in rows)
    return [sign + gap.join(cells).rstrip(" ") for cells in padded]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, sides: Sequence[Side]) -> str:
    """Plain text for a terminal or a file: columns as wide as their contents, each aligned to a side."""
    return "\n".join(in_columns([header, *rows], "  ", sides)) + "\n"


def visible(character: str) -> str:
    """One character, or the empty string, made visible on its own; different characters never look the same."""
    if character in SIGNS:
        return SIGNS[character]
    if character in SIGNS.values() or not character.isprintable() or _UNSEEN.match(character):
        return escaped(character)
    joins_previous = unicodedata.category(character).startswith("M") or display_width(character) == 0
    return DOTTED_CIRCLE + character if joins_previous else character


def visible_text(text: str) -> str:
    """A whole string made visible: marks stay on their letters, or sit on a dotted circle where there is no letter."""
    characters, previous_is_plain = "", False
    for character in text:
        alone = visible(character)
        characters += character if alone == DOTTED_CIRCLE + character and previous_is_plain else alone
        previous_is_plain = alone.endswith(character)
    return characters


def display_width(text: str) -> int:
    """The number of columns a terminal gives to a text."""
    from wcwidth import width

    return width(text)


def runs_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text)


def visible_piece(piece: str) -> str:
    """A piece of a word with every character visible; ∅ for an empty one."""
    return visible_text(piece) or NOTHING
