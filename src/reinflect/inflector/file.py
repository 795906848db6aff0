"""A model file: the parameters of all members, and everything else as JSON in its header.

It is a safetensors file, so that nothing in it is ever executed, with a checksum of its own over the header's text and
all tensors. A tensor of 8-bit numbers has one scale for each row, in a tensor of its own.
"""

import json
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
from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import Normalisation
from reinflect.ensemble.confidence import Confidence, WordEvidence
from reinflect.ensemble.strategies import Member
from reinflect.errors import InputError, quoted, raise_if_too_many_files, shortened
from reinflect.files import read_bytes, write_bytes
from reinflect.inflector.card import Training
from reinflect.inflector.dictionary import Dictionary
from reinflect.settings import from_table
from reinflect.systems import MOVED, SYSTEMS
from reinflect.systems.symbols import Inventory, expected_shapes
from reinflect.tensors import DIGEST, MISFITS, Array, digest, parse, read_header, read_tensors, signed

ABOUT = "reinflect"
"""The name of the header's text."""
FORMAT, WITH_DICTIONARY = 4, 5
"""The number of a file's format: the second one has a dictionary, which 0.2 cannot read."""
DICTIONARY = "dictionary"
HEADER_BYTES, HEADER_VALUES = 1 << 26, 2_000_000
"""The most bytes of a header, and values in it; that of five thousand members has a third of the bytes."""
LARGEST = 1e9
"""The largest parameter: training gives no larger ones, and sums of their products would not be finite."""
TYPES = {"F32", "F16", "I8"}
"""The types of numbers that a file can have."""
SCALES = ".scales"
SPARE_BITS = 7
"""The bits of a scale's fraction that are zero: then its products with 8-bit numbers are exact, and numbers that were
rounded once stay as they are when they are stored again."""

Numbers = Literal["single", "half", "eighth"]
"""How parameters are stored: 32, 16 or 8 bits each."""


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
    """In files of 0.2; nothing ever read it."""
    cells: tuple[str, ...] = ()
    words: WordEvidence | None = None
    dictionary: tuple[tuple[str, ...], str, str, str] | None = None
    """Its bundles, marks, letters with marks, and credit."""
    card: str = ""
    packages: dict[str, Annotated[str, Meta(max_length=100, pattern=r"^[\w.-]+$")]] = {}
    """The packages that bring systems of its members, by the names of these systems."""


def write_model(path: Path | str, members: Sequence[Member], about: Mapping[str, Any], numbers: Numbers) -> None:
    """Write members, a dictionary, and the further fields of `Header`, which are values of JSON."""
    inventories = list(dict.fromkeys(member.inventory for member in members))
    header = {
        "format": WITH_DICTIONARY if DICTIONARY in about else FORMAT,
        "version": __version__,
        **about,
        "inventories": [{"characters": i.characters, "atoms": i.atoms} for i in inventories],
        "members": [member.facts | {"inventory": inventories.index(member.inventory)} for member in members],
    }
    if packages := {member.system: name for member in members if (name := SYSTEMS.package(member.system))}:
        header["packages"] = packages
    tensors: dict[str, Array] = {}
    for number, member in enumerate(members):
        for name, array in member.parameters.items():
            tensors |= _stored(f"{number}.{name}", np.ascontiguousarray(array), numbers)
    if dictionary := about.get(DICTIONARY):
        header[DICTIONARY] = dictionary.bundles, dictionary.marks, dictionary.letters, dictionary.credit
        tensors[DICTIONARY] = np.frombuffer(dictionary.packed, np.uint8)
    write_bytes(path, signed(tensors, ABOUT, json.dumps(header, ensure_ascii=False)))


def _stored(name: str, array: Array, numbers: Numbers) -> dict[str, Array]:
    if numbers == "half" and bool((np.abs(array) <= np.finfo(np.float16).max).all()):
        return {name: array.astype(np.float16)}
    if numbers == "eighth" and array.ndim > 1 and array.size:
        scales = np.abs(array).max(axis=-1, keepdims=True).astype(np.float32) / np.float32(127)
        scales = (((scales.view(np.int32) - 1 >> SPARE_BITS) + 1) << SPARE_BITS).view(np.float32)  # the next one above
        whole = np.rint(array / np.where(scales > 0, scales, 1)).astype(np.int8)
        return {name: whole, f"{name}{SCALES}": scales.squeeze(-1)}
    return {name: array}


def rounded(member: Member, numbers: Numbers) -> Member:
    """The member as it is in a file with these numbers: what is measured of it then holds for the file."""
    parameters = {name: _loaded(name, _stored(name, array, numbers)) for name, array in member.parameters.items()}
    return replace(member, parameters=parameters)


def _loaded(name: str, tensors: Mapping[str, Array]) -> NDArray[np.float32]:
    """A parameter in single precision."""
    array = tensors[name]
    if array.dtype == np.int8:
        scales = tensors[f"{name}{SCALES}"]
        if scales.shape != array.shape[:-1] or scales.dtype != np.float32 or not _is_sound(scales):
            raise ValueError(f"{name} has the wrong scales")
        array = array * scales[..., np.newaxis]
    return array.astype(np.float32, copy=False)


def _is_sound(array: Array) -> bool:
    return bool((np.abs(array) <= LARGEST).all())  # false for NaN


def read_model(path: Path | str) -> tuple[list[Member], Header, Dictionary | None]:
    """The members of a file, at least one, everything in its header, and its dictionary."""
    text, tensors, claimed = _read(path)
    try:
        about = parse(text, HEADER_VALUES)
        if type(about["format"]) is not int:
            raise ValueError("its format is not a number")
        if about["format"] not in (FORMAT, WITH_DICTIONARY):
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
        for facts in header.members:
            if facts.system not in SYSTEMS:
                finding = f"this model has members of the system {quoted(facts.system)}, which is not installed"
                package = header.packages.get(facts.system) or MOVED.get(facts.system, "the package that brings it")
                raise InputError(finding, f"install {package}, or train a model without it", path=path)
        members = [
            _member(facts, header.inventories[facts.inventory], number, tensors)
            for number, facts in enumerate(header.members)
        ]
        names = {member.name for member in members}
        if any(len(names.intersection(chosen)) < len(chosen) for chosen in header.choices.values()):
            raise ValueError("a strategy has a member twice, or one that is not in the file")
        dictionary = None
        if len({header.dictionary is None, DICTIONARY not in tensors, header.format == FORMAT}) > 1:
            raise ValueError("only a part of a dictionary")
        if header.dictionary:
            bundles, *texts = header.dictionary
            dictionary = Dictionary(bundles, tensors[DICTIONARY].tobytes(), *texts)
    except MISFITS as error:
        raise not_a_model(path, str(error)) from None
    return members, header, dictionary


def _read(path: Path | str) -> tuple[str, dict[str, Array], str]:
    """The header's text, all tensors, and the digest that the file claims. The file is read once."""
    if not Path(path).is_file():
        read_bytes(path)  # raises the right error
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header = read_header(file, size, most_bytes=HEADER_BYTES, most_values=HEADER_VALUES)
            if (text := header.texts.get(ABOUT)) is None:
                raise not_a_model(path, "a file of another program")
            if DIGEST not in header.texts and parse(text, HEADER_VALUES).get("format") in (FORMAT, WITH_DICTIONARY):
                raise not_a_model(path, "it has no checksum")
            if not {entry.dtype for name, entry in header.entries.items() if name != DICTIONARY} <= TYPES:
                raise ValueError("numbers of other types")
            tensors = read_tensors(file, header)
    except OSError as error:
        raise_if_too_many_files(error)
        raise not_a_model(path, error.strerror or str(error)) from None
    except MISFITS:
        raise not_a_model(path, "another kind of file, truncated or damaged") from None
    return text, tensors, header.texts.get(DIGEST, "") if set(header.texts) == {ABOUT, DIGEST} else ""


def _member(facts: MemberHeader, inventory: Inventory, number: int, tensors: Mapping[str, Array]) -> Member:
    system = SYSTEMS[facts.system]
    try:
        bf16 = facts.settings.get("precision") == "bf16"  # in files of 0.2; it never mattered here
        settings = from_table(system.settings, facts.settings | ({"precision": "tf32"} if bf16 else {}), facts.system)
    except InputError as error:
        raise ValueError(error.found) from None
    parameters = {}
    small = any(array.dtype != np.float32 for array in tensors.values())
    for name, size in expected_shapes(system.shapes(settings), system.sizes(inventory, settings)).items():
        if tensors[f"{number}.{name}"].shape != size:
            raise ValueError(f"{name} has the wrong size")
        array = _loaded(f"{number}.{name}", tensors)
        # A view of the file's bytes would keep all of them in memory, beside the numbers made of the small ones.
        parameters[name] = array.copy() if small and array.base is not None else array
        if not _is_sound(array):
            raise ValueError(f"{name} has numbers that training never gives")
    numbers = {"settings": settings, "inventory": inventory, "parameters": parameters}
    return Member(**msgspec.structs.asdict(facts) | numbers)


def not_a_model(path: Path | str, reason: str) -> InputError:
    remedy = "train one with: reinflect train --train FILE --out MODEL"
    return InputError(f"not a valid reinflect model ({shortened(reason, 100)})", remedy, path=path)
