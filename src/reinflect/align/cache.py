"""Alignments kept on disk, so that a data file is aligned once.

A file is named after everything that decides its content. After a header it holds one line of moves for each pair of
strings: b takes a character of both strings, d one of the lemma (deleted), i one of the form (inserted). The folder
may be deleted at any time, and a damaged file is made again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from reinflect.align.pairs import Aligner, Alignment, Progress, StringPair, kind, replayed
from reinflect.data.catalog import cache_folder
from reinflect.errors import OutputError
from reinflect.files import atomic_path

FORMAT = 1
"""To be raised when the files change, or when an aligner of the same signature aligns differently."""

MOVES = {"copy": "b", "substitution": "b", "deletion": "d", "insertion": "i"}


def aligned(
    aligner: Aligner, pairs: Sequence[StringPair], folder: Path | None, progress: Progress | None = None
) -> list[Alignment]:
    """The aligner's alignments of the pairs, read from the folder if they are there; without a folder, made anew."""
    if folder is None or not aligner.cached:
        return aligner.align(pairs, progress)
    name = key(aligner, pairs)
    path = folder / f"{name}.moves"
    try:
        return _read(path, name, pairs)
    except (OSError, ValueError):
        alignments = aligner.align(pairs, progress)
    body = "\n".join("".join(MOVES[kind(x, y)] for x, y in alignment) for alignment in alignments).encode("ascii")
    with suppress(OSError, OutputError):  # without a writable folder, the next training aligns again
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part:
            part.write_bytes(_header(name, body) + body)
    return alignments


def default_folder() -> Path:
    """The folder for alignments by default: in the cache, next to downloaded data."""
    return cache_folder() / "alignments"


def key(aligner: Aligner, pairs: Iterable[StringPair]) -> str:
    """A name that depends on everything that decides the alignments."""
    digest = hashlib.sha256(f"reinflect alignments {FORMAT}\n".encode())
    for text in (aligner.signature, *(text for pair in pairs for text in pair)):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)  # the length separates the texts
    return digest.hexdigest()


def _header(name: str, body: bytes) -> bytes:
    return f"reinflect alignments {FORMAT} {name} {hashlib.sha256(body).hexdigest()}\n".encode("ascii")


def _read(path: Path, name: str, pairs: Sequence[StringPair]) -> list[Alignment]:
    """The alignments in a file; ValueError unless it is exactly the file of these pairs."""
    header, _, body = path.read_bytes().partition(b"\n")
    if header + b"\n" != _header(name, body):
        raise ValueError("the file is damaged, or belongs to other pairs")
    lines = body.decode("ascii").split("\n") if pairs else []
    for moves, (lemma, form) in zip(lines, pairs, strict=True):
        both, deleted, inserted = (moves.count(move) for move in "bdi")
        if (both + deleted, both + inserted, both + deleted + inserted) != (len(lemma), len(form), len(moves)):
            raise ValueError("the moves do not fit the strings")
    return [replayed(moves, *pair, inserted="i", deleted="d") for moves, pair in zip(lines, pairs, strict=True)]
