"""Plain text tables that read the same on a terminal and in a file."""

from collections.abc import Sequence

from reinflect.text import NOTHING, Side, in_columns, visible_text

GAP = "  "


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, sides: Sequence[Side]) -> str:
    """Columns as wide as they need to be; numbers go to the right, words to the left."""
    return "\n".join(in_columns([header, *rows], GAP, sides)) + "\n"


def visible_piece(piece: str) -> str:
    """A piece of a word by itself: even nothing is seen."""
    return visible_text(piece) or NOTHING
