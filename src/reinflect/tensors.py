"""Arrays and texts as one file in the safetensors format, in which nothing is ever executed.

It is the size of the header (8 bytes), the header (JSON with texts, types, shapes, positions), and all numbers.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from io import BytesIO
from typing import Annotated, Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

Array = NDArray[Any]
TEXTS, DIGEST = "__metadata__", "sha256"
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
"""The types of numbers, with NumPy's names for them."""
TYPE_NAMES = {numpy_name: name for name, numpy_name in TYPES.items()}
MISFITS = (LookupError, TypeError, ValueError, RecursionError, AttributeError)
"""The errors that a damaged or hostile file raises here."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor in a header."""

    dtype: str
    shape: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=8)]
    data_offsets: tuple[int, int]


class Header(NamedTuple):
    entries: dict[str, Entry]
    texts: dict[str, str]
    size: int
    """The bytes of all tensors."""


def digest(text: str, tensors: Mapping[str, Array]) -> str:
    """A checksum of a whole file: a model with a few wrong numbers would inflect, and inflect badly."""
    checksum = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        checksum.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode("utf-8", "surrogatepass"))
        checksum.update(np.ascontiguousarray(tensors[name]).data)
    return checksum.hexdigest()


def signed(tensors: Mapping[str, Array], name: str, text: str) -> bytes:
    """A file with one text, and the checksum of text and tensors."""
    return encode(tensors, {name: text, DIGEST: digest(text, tensors)})


def encode(tensors: Mapping[str, Array], texts: Mapping[str, str] = {}) -> bytes:
    """The same content gives the same bytes: the safetensors library has texts in another order every time."""
    header: dict[str, Any] = {TEXTS: dict(texts)} if texts else {}
    pieces, end = [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)):  # so that all are aligned
        array = np.asarray(tensors[name], order="C")
        start, end = end, end + array.nbytes
        header[name] = {"dtype": TYPE_NAMES[array.dtype.str], "shape": array.shape, "data_offsets": (start, end)}
        pieces.append(array.reshape(-1).view(np.uint8).data)
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return b"".join([len(raw).to_bytes(8, "little"), raw, *pieces])


def decode(raw: bytes) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors and texts of a file; one of `MISFITS` is raised for anything else."""
    file = BytesIO(raw)
    header = read_header(file, len(raw))
    return read_tensors(file, header), header.texts


def read_header(
    file: BinaryIO, file_size: int, *, most_bytes: int | None = None, most_values: int | None = None
) -> Header:
    """The header of an open file. Its tensors fill the file, so they are no larger than it is."""
    left, length = file_size - 8, int.from_bytes(file.read(8), "little")
    if length > min(left, most_bytes or left):
        raise ValueError(f"its header claims to have {length:,} bytes")
    content = parse(file.read(length).decode(), most_values)
    texts = msgspec.convert(content.pop(TEXTS, {}), dict[str, str])
    entries = msgspec.convert(content, dict[str, Entry])
    end = 0
    for entry in sorted(entries.values(), key=lambda entry: entry.data_offsets):
        start, end = end, end + math.prod(entry.shape) * np.dtype(TYPES[entry.dtype]).itemsize
        if entry.data_offsets != (start, end):
            raise ValueError("its tensors do not fit")
    if end != left - length:
        raise ValueError("its tensors do not fit")
    return Header(entries, texts, end)


def read_tensors(file: BinaryIO, header: Header) -> dict[str, Array]:
    """All tensors, as views of one array, which never depends on what becomes of the file."""
    content = np.empty(header.size, np.uint8)
    if file.readinto(content.data) < header.size:  # type: ignore[attr-defined]
        raise ValueError("truncated while it was read")
    return {
        name: np.require(content[slice(*entry.data_offsets)].view(TYPES[entry.dtype]).reshape(entry.shape), None, "A")
        for name, entry in header.entries.items()
    }


def parse(text: str, most_values: int | None = None) -> Any:
    """JSON with about `most_values` at most: an empty list has two bytes, and takes thirty times as much memory."""
    if most_values is not None and sum(map(text.count, ",[{")) > most_values:
        raise ValueError("its header is too large")
    return json.loads(text)
