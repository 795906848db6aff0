"""A model file: the parameters of all members, and everything else as JSON in its header.

It is a safetensors file, so that nothing in it is ever executed, with a checksum of its own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reinflect import __version__
from reinflect.errors import InputError
from reinflect.files import atomic_path, read_bytes
from reinflect.members import Member
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import expected_shapes
from reinflect.models.systems import SYSTEMS
from reinflect.settings import Settings

FORMAT = 3
"""The first had all members vote; the second did not say what they had learnt from, nor how sure they are."""
MISFITS = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What is raised where a header is not what it should be."""


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


def read_model(path: Path | str) -> tuple[list[Member], dict[str, Any]]:
    """The members of a file, at least one, and its header, whose other parts are as they were written."""
    header, tensors = _read(path)
    try:
        if header["format"] > FORMAT:
            raise InputError(
                f"this model was made by reinflect {header['version']}, a newer version",
                "update reinflect (pip install --upgrade reinflect)",
                path=path,
            )
        if header.pop("sha256") != digest(header, tensors):
            raise ValueError("it was changed after it was written")
        inventories = [Inventory(tuple(i["characters"]), tuple(i["atoms"])) for i in header["inventories"]]
        members = [
            _loaded(member, inventories[member["inventory"]], number, tensors)
            for number, member in enumerate(header["members"])
        ]
    except MISFITS as error:
        raise not_a_model(path, str(error)) from None
    if not members:
        raise not_a_model(path, "it has no members")
    return members, header


def _read(path: Path | str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    if not Path(path).is_file():
        read_bytes(path)  # says what is wrong with it
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("reinflect")
            if text is None:
                raise not_a_model(path, "another program's file")
            return json.loads(text), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise not_a_model(path, error.strerror or str(error)) from None
    except (SafetensorError, ValueError, RecursionError):
        raise not_a_model(path, "another kind of file, or one that is damaged") from None


def _loaded(about: Mapping[str, Any], inventory: Inventory, number: int, tensors: Mapping[str, Tensor]) -> Member:
    """One member from what the file says of it."""
    system, settings = SYSTEMS[about["system"]], msgspec.convert(about["settings"], Settings)
    sizes = expected_shapes(system.shapes(settings), system.sizes(inventory, settings))
    parameters = {name: tensors[f"{number}.{name}"].to(torch.float32) for name in sizes}
    for name, size in sizes.items():
        if tuple(parameters[name].shape) != size:
            raise ValueError(f"{name} has the wrong size")
    return Member(
        system=system,
        alignment=str(about["alignment"]),
        seed=int(about["seed"]),
        settings=settings,
        inventory=inventory,
        dev_accuracy=float(about["dev_accuracy"]),
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
        f"this is no whole reinflect model ({reason})", "train one with: reinflect train --out MODEL", path=path
    )
