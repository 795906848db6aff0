"""The lines of a text file, numbered, and how long they may be."""

from collections.abc import Iterator
from pathlib import Path

from reinflect.errors import InputError

LONGEST_LINE = 10_000
"""Characters. What is longer was not meant as a line, and some work grows with the square of it."""


def lines_of(text: str, path: Path | str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, without their ends (LF or CRLF, and nothing else), and their numbers."""
    start, number = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if end - start > LONGEST_LINE:
            raise InputError(
                f"found a line of {end - start:,} characters",
                f"write one item a line, of {LONGEST_LINE:,} characters at most",
                path=path,
                line=number,
            )
        line = text[start:end].removesuffix("\r")
        if line:
            yield number, line
        start = end + 1
