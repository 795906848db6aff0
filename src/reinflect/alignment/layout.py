"""An alignment as three lines of text. Every character gets a cell of its own, seen on its own."""

from reinflect.alignment.pairs import Alignment, kind
from reinflect.text import in_columns, visible

MARKS = {"copy": "|", "substitution": "×", "insertion": "+", "deletion": "-"}


def lay_out(alignment: Alignment) -> list[str]:
    """Three lines: the lemma, what each aligned pair does, and the form."""
    return in_columns(
        [
            [visible(x) for x, _ in alignment],
            [MARKS[kind(x, y)] for x, y in alignment],
            [visible(y) for _, y in alignment],
        ]
    )
