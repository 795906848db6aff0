"""Alignments kept on disk, so that a data file is aligned once.

A file is named after everything that decides its content, and holds one line of moves for each pair of strings: b
takes a character of both, d one of the lemma only (deleted), i one of the form only (inserted). Nothing in the folder
is needed: anyone may delete it at any time, and a file that is not exactly what was once written is made again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from reinflect.alignment.naive import Naive
from reinflect.alignment.pairs import EPSILON, Aligner, Alignment, Progress, StringPair, replayed
from reinflect.data.catalog import cache_folder
from reinflect.errors import OutputError
from reinflect.files import atomic_path

FORMAT = 1
"""Raise this when the files change, or when an aligner of the same signature comes to align differently."""

BOTH, DELETED, INSERTED = "b", "d", "i"


def aligned(
    aligner: Aligner, pairs: Sequence[StringPair], folder: Path | None, progress: Progress | None = None
) -> list[Alignment]:
    """What `aligner` makes of the pairs, from the folder if it is there; without a folder, always made anew."""
    if folder is None or isinstance(aligner, Naive):  # the naive alignment is made faster than read
        return aligner.align(pairs, progress)
    name = key(aligner, pairs)
    path = folder / f"{name}.moves"
    try:
        return _read(path, name, pairs)
    except (OSError, ValueError):
        alignments = aligner.align(pairs, progress)
    with suppress(OSError, OutputError):  # a folder that cannot be written costs time, not the work
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part:
            part.write_bytes(_content(name, alignments))
    return alignments


def default_folder() -> Path:
    """Where alignments are kept unless someone says otherwise: in the cache, next to downloaded data."""
    return cache_folder() / "alignments"


def key(aligner: Aligner, pairs: Iterable[StringPair]) -> str:
    """A name that two alignments share only if all that decides them is the same."""
    digest = hashlib.sha256(f"reinflect alignments {FORMAT}\n".encode())
    for text in (aligner.signature, *(text for pair in pairs for text in pair)):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)  # the length says where a text ends
    return digest.hexdigest()


def _content(name: str, alignments: Iterable[Alignment]) -> bytes:
    body = "\n".join("".join(_move(x, y) for x, y in alignment) for alignment in alignments).encode("ascii")
    return _header(name, body) + body


def _header(name: str, body: bytes) -> bytes:
    return f"reinflect alignments {FORMAT} {name} {hashlib.sha256(body).hexdigest()}\n".encode("ascii")


def _move(x: str, y: str) -> str:
    if x == EPSILON:
        return INSERTED
    return DELETED if y == EPSILON else BOTH


def _read(path: Path, name: str, pairs: Sequence[StringPair]) -> list[Alignment]:
    """The alignments in a file; ValueError if it is not, to the last byte, the file of these pairs."""
    content = path.read_bytes()
    header, _, body = content.partition(b"\n")
    if header + b"\n" != _header(name, body):
        raise ValueError("the file is damaged, or another one")
    lines = body.decode("ascii").split("\n") if pairs else []
    return [_checked(moves, *pair) for moves, pair in zip(lines, pairs, strict=True)]


def _checked(moves: str, lemma: str, form: str) -> Alignment:
    both, deleted, inserted = (moves.count(move) for move in (BOTH, DELETED, INSERTED))
    if (both + deleted, both + inserted, both + deleted + inserted) != (len(lemma), len(form), len(moves)):
        raise ValueError("the moves do not fit the strings")
    return replayed(moves, lemma, form, inserted=INSERTED, deleted=DELETED)
