"""A model file: the parameters of all members, and everything else as JSON in its header.

It is a safetensors file, so that nothing in it is ever executed, with a checksum of its own over the header's text and
all tensors. A tensor of 8-bit numbers has one scale for each row, in a tensor of its own.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from reinflect import __version__
from reinflect.data.items import Normalisation
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensemble.confidence import Confidence
from reinflect.ensemble.evidence import WordEvidence
from reinflect.ensemble.member import FACTS, TrainedModel, digest
from reinflect.errors import InputError, quoted, shortened
from reinflect.files import atomic_path, raise_if_too_many_files, read_bytes
from reinflect.inflector.card import Training
from reinflect.layers.inventory import Inventory
from reinflect.layers.shapes import expected_shapes
from reinflect.settings import from_table
from reinflect.systems import SYSTEMS

FORMAT = 4
MISFITS = (LookupError, TypeError, ValueError, RecursionError)
"""The errors that an invalid header raises."""
HEADER_BYTES = 1 << 26
"""The most bytes of a header; that of five thousand members has a third of it."""
HEADER_VALUES = 2_000_000
"""The most values in a header, roughly: an empty list has two bytes, and takes thirty times as much memory."""
LARGEST = 1e9
"""The largest parameter: training gives no larger ones, and sums of their products would not be finite."""
KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I8": np.dtype("i1")}
"""The kinds of numbers that a file can have, by their names in its header."""
SCALES = ".scales"
SPARE_BITS = 7
"""The bits of a scale's fraction that are zero: then its products with 8-bit numbers are exact, and numbers that were
rounded once stay as they are when they are stored again."""
ABOUT, DIGEST = "reinflect", "sha256"

Numbers = Literal["single", "half", "eighth"]
"""How parameters are stored: 32, 16 or 8 bits each."""


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place of a tensor in a file."""

    dtype: str
    shape: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=8)]
    data_offsets: tuple[int, int]


class MemberHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member in a header."""

    system: str
    alignment: str
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    fold: Annotated[int, Meta(ge=0, le=10_000)] | None
    restarts: Annotated[int, Meta(ge=0, le=1000)]
    dev_accuracy: Annotated[float, Meta(ge=-100, le=100)]
    inventory: Annotated[int, Meta(ge=0)]
    settings: dict[str, Any]
    variant: Annotated[str, Meta(max_length=100, pattern=r"^[\w+-]*$")] = ""


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything in a file but the parameters; `Inflector` explains the fields that it has too."""

    format: int
    version: str
    inventories: list[Inventory]
    members: Annotated[list[MemberHeader], Meta(min_length=1)]
    known_runs: dict[str, Annotated[int, Meta(ge=0)]]
    strategy: str
    choices: dict[str, tuple[str, ...]]
    confidences: dict[str, Confidence]
    training: Training | None
    labels: Labels = NO_LABELS
    attested: tuple[tuple[str, str, str], ...] = ()
    """Lemma, form, features."""
    normalisation: Normalisation = "none"
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    words: WordEvidence | None = None
    card: str = ""


def write_model(
    path: Path | str, members: Sequence[TrainedModel], about: Mapping[str, Any], numbers: Numbers = "single"
) -> None:
    """Write members and the further fields of `Header`, which are values of JSON."""
    from safetensors.numpy import save

    inventories = list(dict.fromkeys(member.inventory for member in members))
    header = {
        "format": FORMAT,
        "version": __version__,
        **about,
        "inventories": [{"characters": i.characters, "atoms": i.atoms} for i in inventories],
        "members": [member.facts | {"inventory": inventories.index(member.inventory)} for member in members],
    }
    tensors: dict[str, NDArray[Any]] = {}
    for number, member in enumerate(members):
        for name, array in member.parameters.items():
            tensors |= _stored(f"{number}.{name}", np.ascontiguousarray(array), numbers)
    text = json.dumps(header, ensure_ascii=False)
    with atomic_path(path) as part:
        part.write_bytes(_joined(save(tensors), {ABOUT: text, DIGEST: digest(text, tensors)}))


def _joined(raw: bytes, metadata: dict[str, str]) -> bytes:
    """A safetensors file with metadata, which the library itself would write in another order every time."""
    start = 8 + int.from_bytes(raw[:8], "little")
    header = {"__metadata__": metadata, **json.loads(raw[8:start])}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + raw[start:]


def _stored(name: str, array: NDArray[Any], numbers: Numbers) -> dict[str, NDArray[Any]]:
    if numbers == "half" and bool((np.abs(array) <= np.finfo(np.float16).max).all()):
        return {name: array.astype(np.float16)}
    if numbers == "eighth" and array.ndim > 1 and array.size:
        scales = np.abs(array).max(axis=-1, keepdims=True).astype(np.float32) / np.float32(127)
        scales = (((scales.view(np.int32) - 1 >> SPARE_BITS) + 1) << SPARE_BITS).view(np.float32)  # the next one above
        whole = np.rint(array / np.where(scales > 0, scales, 1)).astype(np.int8)
        return {name: whole, f"{name}{SCALES}": scales.squeeze(-1)}
    return {name: array}


def rounded(member: TrainedModel, numbers: Numbers) -> TrainedModel:
    """The member as it is in a file with these numbers: what is measured of it then holds for the file."""
    made = {name: _loaded(name, _stored(name, array, numbers)) for name, array in member.parameters.items()}
    return replace(member, parameters=made)


def _loaded(name: str, tensors: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """A parameter in single precision."""
    own = tensors[name]
    if own.dtype == np.int8:
        scales = tensors[f"{name}{SCALES}"]
        sound = scales.shape == own.shape[:-1] and scales.dtype == np.float32
        if not sound or not bool((np.abs(scales) <= LARGEST).all()):
            raise ValueError(f"{name} has the wrong scales")
        own = own * scales[..., np.newaxis]
    return own.astype(np.float32, copy=False)


def read_model(path: Path | str) -> tuple[list[TrainedModel], Header]:
    """The members of a file, at least one, and everything else in it."""
    text, tensors, claimed = _read(path)
    try:
        about = _parsed(text, path)
        if type(about["format"]) is not int:
            raise ValueError("its format is not a number")
        if about["format"] != FORMAT:
            age, remedy = "a newer version", "update reinflect (pip install --upgrade reinflect)"
            if about["format"] < FORMAT:
                age = "an older version whose files cannot be read any more"
                remedy = "train it again with the same data, or use that version (pip install reinflect==0.1.0)"
            made_by = f"this model was made by reinflect {quoted(str(about['version']))}, {age}"
            raise InputError(made_by, remedy, path=path)
        if claimed != digest(text, tensors):
            raise ValueError("changed after it was written")
        json.dumps(about, ensure_ascii=False).encode()  # half a surrogate pair cannot be encoded
        header = msgspec.convert(about, Header)
        for member in header.members:
            if member.system not in SYSTEMS:
                found = f"this model has members of the system {quoted(member.system)}, which is not installed"
                raise InputError(found, "install the package that brings it, or train a model without it", path=path)
        known = header.inventories
        members = [_member(one, known[one.inventory], number, tensors) for number, one in enumerate(header.members)]
        named = {member.name for member in members}
        if any(len(named.intersection(chosen)) < len(chosen) for chosen in header.choices.values()):
            raise ValueError("a strategy has a member twice, or one that is not in the file")
    except MISFITS as error:
        raise not_a_model(path, str(error)) from None
    return members, header


def _read(path: Path | str) -> tuple[str, dict[str, NDArray[Any]], str]:
    """The header's text, all tensors, and the digest that the file claims.

    The file is read once, so that a model in use never depends on what becomes of it; tensors are views of these bytes.
    """
    if not Path(path).is_file():
        read_bytes(path)  # raises the right error
    try:
        with Path(path).open("rb") as file:
            left, length = os.fstat(file.fileno()).st_size - 8, int.from_bytes(file.read(8), "little")
            if length > min(HEADER_BYTES, left):
                raise ValueError(f"its header claims to have {length:,} bytes")
            header = _parsed(file.read(length).decode(), path)
            metadata = msgspec.convert(header.pop("__metadata__", {}), dict[str, str])
            if ABOUT not in metadata:
                raise not_a_model(path, "a file of another program")
            text = metadata[ABOUT]
            if DIGEST not in metadata and _parsed(text, path).get("format") == FORMAT:
                raise not_a_model(path, "it has no checksum")
            places = msgspec.convert(header, dict[str, Place])
            _check_places(places, left - length)
            content = np.empty(left - length, np.uint8)
            if file.readinto(content.data) < len(content):
                raise ValueError("truncated while it was read")
    except OSError as error:
        raise_if_too_many_files(error)
        raise not_a_model(path, error.strerror or str(error)) from None
    except (*MISFITS, AttributeError):
        raise not_a_model(path, "another kind of file, truncated or damaged") from None
    tensors = {
        name: np.require(content[slice(*own.data_offsets)].view(KINDS[own.dtype]).reshape(own.shape), None, "A")
        for name, own in places.items()
    }
    return text, tensors, metadata.get(DIGEST, "") if set(metadata) == {ABOUT, DIGEST} else ""


def _parsed(text: str, path: Path | str) -> Any:
    if sum(map(text.count, ",[{")) > HEADER_VALUES:
        raise not_a_model(path, "its header is too large")
    return json.loads(text)


def _check_places(places: Mapping[str, Place], size: int) -> None:
    """Check that the tensors fill the file, without gaps or overlaps: then they are no larger than it is."""
    end = 0
    for place in sorted(places.values(), key=lambda own: own.data_offsets):
        start, after = place.data_offsets
        if start != end or after - start != math.prod(place.shape) * KINDS[place.dtype].itemsize:
            raise ValueError("its tensors do not fit")
        end = after
    if end != size:
        raise ValueError("its tensors do not fit")


def _member(
    about: MemberHeader, inventory: Inventory, number: int, tensors: Mapping[str, NDArray[Any]]
) -> TrainedModel:
    system = SYSTEMS[about.system]
    try:
        settings = from_table(system.settings, about.settings, about.system)
    except InputError as error:
        raise ValueError(error.found) from None
    parameters = {}
    small = any(own.dtype != np.float32 for own in tensors.values())
    for name, size in expected_shapes(system.shapes(settings), system.sizes(inventory, settings)).items():
        if tensors[f"{number}.{name}"].shape != size:
            raise ValueError(f"{name} has the wrong size")
        own = _loaded(f"{number}.{name}", tensors)
        # A view of the file's bytes would keep all of them in memory, beside the numbers made of the small ones.
        parameters[name] = own.copy() if small and own.base is not None else own
        if not bool((np.abs(parameters[name]) <= LARGEST).all()):
            raise ValueError(f"{name} has numbers that training never gives")
    facts: dict[str, Any] = {name: getattr(about, name) for name in FACTS}
    return TrainedModel(settings=settings, inventory=inventory, parameters=parameters, **facts)


def not_a_model(path: Path | str, reason: str) -> InputError:
    remedy = "train one with: reinflect train --train FILE --out MODEL"
    return InputError(f"not a valid reinflect model ({shortened(reason, 100)})", remedy, path=path)
