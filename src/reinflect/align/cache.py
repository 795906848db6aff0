"""Alignments kept on disk, so that a data file is aligned once.

A file is named after everything that decides its content. After a checksum it has a line for each pair of strings: the
digits of its moves. The folder may be deleted at any time, and a damaged file is made again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from reinflect.align.pairs import DELETE, DIAGONAL, INSERT, Aligner, Alignment, Progress, StringPair, moves_of, replayed
from reinflect.data.catalog import cache_folder
from reinflect.errors import OutputError
from reinflect.files import atomic_path

FORMAT = 2
"""To be raised when the files change, or when an aligner of the same signature aligns differently."""


def aligned(
    aligner: Aligner, pairs: Sequence[StringPair], folder: Path | None, progress: Progress | None = None
) -> list[Alignment]:
    """The aligner's alignments of the pairs, read from the folder if they are there; without a folder, made anew."""
    if folder is None or not aligner.cached:
        return aligner.align(pairs, progress)
    path = folder / f"{key(aligner, pairs)}.moves"
    try:
        return _read(path, pairs)
    except (OSError, ValueError):
        alignments = aligner.align(pairs, progress)
    body = "\n".join("".join(map(str, moves_of(alignment))) for alignment in alignments).encode()
    with suppress(OSError, OutputError):  # without a writable folder, the next training aligns again
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part:
            part.write_bytes(_checksum(path, body) + b"\n" + body)
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


def _checksum(path: Path, body: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + body).hexdigest().encode()


def _read(path: Path, pairs: Sequence[StringPair]) -> list[Alignment]:
    """The alignments in a file; ValueError unless it is exactly the file of these pairs."""
    checksum, _, body = path.read_bytes().partition(b"\n")
    if checksum != _checksum(path, body):
        raise ValueError("the file is damaged, or belongs to other pairs")
    lines = [[*map(int, line)] for line in body.decode("ascii").split("\n")] if pairs else []
    for moves, (lemma, form) in zip(lines, pairs, strict=True):
        inserted, deleted, both = map(moves.count, (INSERT, DELETE, DIAGONAL))
        if (both + deleted, both + inserted, both + deleted + inserted) != (len(lemma), len(form), len(moves)):
            raise ValueError("the moves do not fit the strings")
    return [replayed(moves, *pair) for moves, pair in zip(lines, pairs, strict=True)]
