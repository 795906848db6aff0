"""The numbered lines of a text file, and their greatest length."""

import re
from collections.abc import Iterator
from pathlib import Path

from reinflect.errors import InputError

LONGEST_LINE = 10_000
"""Characters. Anything longer was not meant as a line, and some work grows with the square of the length."""


def lines_of(text: str, path: Path | str) -> Iterator[tuple[int, str]]:
    """The numbers and the text of all lines that are not empty; only LF and CRLF end a line."""
    for number, found in enumerate(re.finditer("(.*)\n?", text), start=1):
        length = found.end(1) - found.start(1)
        if length > LONGEST_LINE:
            remedy = f"write one item per line, in at most {LONGEST_LINE:,} characters"
            raise InputError(f"found a line of {length:,} characters", remedy, path=path, line=number)
        if line := found[1].removesuffix("\r"):
            yield number, line
