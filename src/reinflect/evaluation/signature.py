"""Signatures: a line beside a score that names all that could change it, so that like is compared with like."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from reinflect import __version__

DIGEST_LENGTH = 8


def signature(**fields: object) -> str:
    """`data:german-dev|items:1000|…|version:reinflect-0.1.0`"""
    parts = [f"{name}:{_plain(str(value))}" for name, value in fields.items()]
    return "|".join([*parts, f"version:reinflect-{__version__}"])


def digest_of_forms(right: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """A short fingerprint of what counts as right: the same for the same cells, however the file orders them."""
    return digest_of("\t".join((*cell, *sorted(forms))) for cell, forms in sorted(right.items()))


def digest_of(lines: Iterable[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def _plain(value: str) -> str:
    """A file name may hold anything; the marks that give a signature its shape are taken out of it."""
    return "".join(c if c.isprintable() and c not in "|: " else "_" for c in value)
