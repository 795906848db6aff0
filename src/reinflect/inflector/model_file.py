"""A model file: the parameters of all members, and everything else as JSON in its header.

It is a safetensors file, so that nothing in it is ever executed, with a checksum of its own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import torch
from msgspec import Meta
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reinflect import __version__
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensembles.confidence import Confidence
from reinflect.ensembles.member import Member
from reinflect.errors import InputError, quoted, shortened
from reinflect.files import atomic_path, read_bytes
from reinflect.inflector.card import Training
from reinflect.settings import Settings
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.layers.parameters import expected_shapes
from reinflect.systems.system import SYSTEMS

FORMAT = 3
"""The first had all members vote; the second did not say what they had learnt from, nor how sure they are."""
MISFITS = (LookupError, TypeError, ValueError, RecursionError)
"""What is raised where a header is not what it should be."""
HEADER_BYTES = 1 << 26
"""What a header may have; that of five thousand members has a third of it."""
HEADER_VALUES = 2_000_000
"""Values in it, roughly: read, an empty list of two bytes takes thirty times as much memory."""
KINDS = (torch.float32, torch.float16)
"""Of numbers: in single precision, or saved in half of it."""
LARGEST = 1e9
"""Larger numbers, and what is none at all, come from no training, and sums of their products would be none."""


class Letters(msgspec.Struct, frozen=True):
    """An inventory in a header."""

    characters: tuple[Annotated[str, Meta(min_length=1, max_length=1)], ...]
    atoms: tuple[str, ...]

    def __post_init__(self) -> None:
        if any(len(set(symbols)) < len(symbols) for symbols in (self.characters, self.atoms)):
            raise ValueError("it has a letter or a feature twice")


class Told(msgspec.Struct, frozen=True):
    """A member in a header."""

    system: Literal["hacm", "haem", "soft"]
    alignment: str
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    dev_accuracy: Annotated[float, Meta(ge=-100, le=100)]
    inventory: Annotated[int, Meta(ge=0)]
    settings: Settings


class Header(msgspec.Struct, frozen=True):
    """All that a file says besides its numbers, as far as it is needed to use them."""

    inventories: list[Letters]
    members: Annotated[list[Told], Meta(min_length=1)]
    known_runs: dict[str, Annotated[int, Meta(ge=0)]]
    strategy: str = "vote"
    choices: dict[str, tuple[str, ...]] = {}
    """In the first format all members voted."""
    confidences: dict[str, Confidence] = {}
    """This and what follows was not there before the third format."""
    training: Training | None = None
    labels: Labels = NO_LABELS


def write_model(path: Path | str, members: Sequence[Member], about: Mapping[str, Any], *, half: bool = False) -> None:
    """Members, and what else there is to say, which must be fit for JSON; `half`: in half precision."""
    inventories = list(dict.fromkeys(member.inventory for member in members))
    header = {
        "format": FORMAT,
        "version": __version__,
        **about,
        "inventories": [{"characters": i.characters, "atoms": i.atoms} for i in inventories],
        "members": [
            {
                "system": member.system.name,
                "alignment": member.alignment,
                "seed": member.seed,
                "dev_accuracy": member.dev_accuracy,
                "inventory": inventories.index(member.inventory),
                "settings": msgspec.to_builtins(member.settings),
            }
            for member in members
        ],
    }
    tensors = {
        f"{number}.{name}": (_halved(tensor) if half else tensor).contiguous()
        for number, member in enumerate(members)
        for name, tensor in member.parameters.items()
    }
    header["sha256"] = digest(header, tensors)
    with atomic_path(path) as part:
        # Not save_file, which writes a temporary file of its own that a kill would leave behind.
        part.write_bytes(save(tensors, metadata={"reinflect": json.dumps(header, ensure_ascii=False)}))


def read_model(path: Path | str) -> tuple[list[Member], Header]:
    """The members of a file, at least one, and what else it says."""
    about, tensors = _read(path)
    try:
        if about["format"] > FORMAT:
            raise InputError(
                f"this model was made by reinflect {quoted(str(about['version']))}, a newer version",
                "update reinflect (pip install --upgrade reinflect)",
                path=path,
            )
        if about.pop("sha256") != digest(about, tensors):
            raise ValueError("it was changed after it was written")
        header = msgspec.convert(about, Header)
        inventories = [Inventory(one.characters, one.atoms) for one in header.inventories]
        members = [
            _loaded(told, inventories[told.inventory], number, tensors) for number, told in enumerate(header.members)
        ]
        named = {member.name for member in members}
        if not named.issuperset(name for chosen in header.choices.values() for name in chosen):
            raise ValueError("it names members that are not there")
    except MISFITS as error:
        raise not_a_model(path, str(error)) from None
    return members, header


def _read(path: Path | str) -> tuple[Any, dict[str, Tensor]]:
    if not Path(path).is_file():
        read_bytes(path)  # says what is wrong with it
    try:
        _check_claims(Path(path))
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("reinflect")
            if text is None:
                raise not_a_model(path, "another program's file")
            if sum(map(text.count, ",[{")) > HEADER_VALUES:
                raise not_a_model(path, "its header has no end")
            about = json.loads(text)
            json.dumps(about, ensure_ascii=False).encode()  # which half a character cannot be
            return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise not_a_model(path, error.strerror or str(error)) from None
    except (SafetensorError, ValueError, RecursionError):
        raise not_a_model(path, "another kind of file, or one that is damaged") from None


def _check_claims(path: Path) -> None:
    """Refuse a header longer than the file or than any of ours; what it says of its tensors is checked by safe_open."""
    with path.open("rb") as file:
        claimed = int.from_bytes(file.read(8), "little")
    if claimed > min(HEADER_BYTES, path.stat().st_size):
        raise ValueError(f"its header claims to have {claimed:,} bytes")


def _loaded(told: Told, inventory: Inventory, number: int, tensors: Mapping[str, Tensor]) -> Member:
    """One member from what the file says of it."""
    system = SYSTEMS[told.system]
    sizes = expected_shapes(system.shapes(told.settings), system.sizes(inventory, told.settings))
    parameters = {}
    for name, size in sizes.items():
        own = tensors[f"{number}.{name}"]
        if tuple(own.shape) != size:
            raise ValueError(f"{name} has the wrong size")
        if own.dtype not in KINDS or not bool((own.abs() <= LARGEST).all()):
            raise ValueError(f"{name} has numbers that no training gives")
        parameters[name] = own.to(torch.float32)
    return Member(
        system=system,
        alignment=told.alignment,
        seed=told.seed,
        settings=told.settings,
        inventory=inventory,
        dev_accuracy=told.dev_accuracy,
        parameters=parameters,
    )


def _halved(tensor: Tensor) -> Tensor:
    """In half precision, unless numbers are so large that there are none for them."""
    half = tensor.to(torch.float16)
    return half if bool(torch.isfinite(half).all()) else tensor


def digest(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """A mark of everything in the file: a model with a few wrong numbers would inflect, and inflect badly."""
    mark = hashlib.sha256(json.dumps(about).encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        mark.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        mark.update(tensor.numpy().tobytes())
    return mark.hexdigest()


def not_a_model(path: Path | str, reason: str) -> InputError:
    return InputError(
        f"this is no whole reinflect model ({shortened(reason, 100)})",
        "train one with: reinflect train --train FILE --out MODEL",
        path=path,
    )
