"""The trained thing: members that vote."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reinflect import __version__
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decoding.greedy import inflect_all
from reinflect.decoding.repeats import filtered
from reinflect.ensembles import vote_all
from reinflect.errors import InputError
from reinflect.files import atomic_path, read_bytes
from reinflect.models.examples import Examples, Stack
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import expected_shapes
from reinflect.models.systems import SYSTEMS, System, joined_decoder
from reinflect.models.threads import one_thread
from reinflect.settings import Settings

FORMAT = 1


@dataclass(frozen=True)
class Member:
    """One trained model."""

    system: System
    alignment: str
    seed: int
    settings: Settings
    inventory: Inventory
    dev_accuracy: float
    """Of the forms it gives, filtered as they are here; in training they are not."""
    parameters: Mapping[str, Tensor]

    @property
    def name(self) -> str:
        return f"{self.system.name}-{self.alignment}-{self.seed}"


@dataclass(frozen=True)
class Inflector:
    """Inflects lemmas by the vote of its members."""

    members: tuple[Member, ...]
    known_runs: Mapping[str, int]
    """Characters that the training words repeat four times or more; see `decoding.repeats`."""

    def __post_init__(self) -> None:
        # Best dev accuracy first; ties: HACM before HAEM, naive before smart, the lower seed.
        ordered = sorted(self.members, key=lambda m: (-m.dev_accuracy, m.system.name, m.alignment, m.seed))
        object.__setattr__(self, "members", tuple(ordered))

    def inflect(self, lemma: str, features: str) -> str:
        return self.inflect_many([Item(lemma, Bundle(features))])[0]

    def inflect_many(self, items: Sequence[Item]) -> list[str]:
        return vote_all(self.member_forms(items)) if items else []

    def member_forms(self, items: Sequence[Item], device: torch.device | str = "cpu") -> list[list[str]]:
        """What each member says, in the order of `members`."""
        forms: list[list[str]] = [[] for _ in self.members]
        if not items:
            return forms
        for fleet in _fleets(self.members):
            members = [self.members[number] for number in fleet]
            with one_thread(device):
                decoded = decode(members, items, device)
            for number, raw in zip(fleet, decoded, strict=True):
                forms[number] = [
                    item.lemma if form is None else filtered(form, item.lemma, dict(self.known_runs))
                    for item, form in zip(items, raw, strict=True)
                ]
        return forms

    def save(self, path: Path | str) -> None:
        """One file: all parameters, and everything else as JSON in its header."""
        inventories = list(dict.fromkeys(member.inventory for member in self.members))
        about = {
            "format": FORMAT,
            "version": __version__,
            "inventories": [{"characters": i.characters, "atoms": i.atoms} for i in inventories],
            "known_runs": dict(self.known_runs),
            "members": [
                {
                    "system": member.system.name,
                    "alignment": member.alignment,
                    "seed": member.seed,
                    "dev_accuracy": member.dev_accuracy,
                    "inventory": inventories.index(member.inventory),
                    "settings": msgspec.to_builtins(member.settings),
                }
                for member in self.members
            ],
        }
        tensors = {
            f"{number}.{name}": tensor.contiguous()
            for number, member in enumerate(self.members)
            for name, tensor in member.parameters.items()
        }
        about["sha256"] = _digest(about, tensors)
        with atomic_path(path) as part:
            # Not save_file, which writes a temporary file of its own that a kill would leave behind.
            part.write_bytes(save(tensors, metadata={"reinflect": json.dumps(about, ensure_ascii=False)}))

    @classmethod
    def load(cls, path: Path | str) -> "Inflector":
        """Read a model file; nothing in it is ever executed."""
        about, tensors = _read(path)
        try:
            if about["format"] > FORMAT:
                raise InputError(
                    f"this model was made by reinflect {about['version']}, a newer version",
                    "update reinflect (pip install --upgrade reinflect)",
                    path=path,
                )
            if about.pop("sha256") != _digest(about, tensors):
                raise ValueError("it was changed after it was written")
            inventories = [Inventory(tuple(i["characters"]), tuple(i["atoms"])) for i in about["inventories"]]
            members = [
                _loaded(member, inventories[member["inventory"]], number, tensors)
                for number, member in enumerate(about["members"])
            ]
            runs = {str(character): int(run) for character, run in about["known_runs"].items()}
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise _not_a_model(path, str(error)) from None
        if not members:
            raise _not_a_model(path, "it has no members")
        return cls(tuple(members), runs)


def _read(path: Path | str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    if not Path(path).is_file():
        read_bytes(path)  # says what is wrong with it
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("reinflect")
            if text is None:
                raise _not_a_model(path, "another program's file")
            return json.loads(text), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise _not_a_model(path, error.strerror or str(error)) from None
    except (SafetensorError, ValueError, RecursionError):
        raise _not_a_model(path, "another kind of file, or one that is damaged") from None


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


def _digest(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """A mark of everything in the file: a model with a few wrong numbers would inflect, and inflect badly."""
    mark = hashlib.sha256(json.dumps(about).encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        mark.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        mark.update(tensor.numpy().tobytes())
    return mark.hexdigest()


def _not_a_model(path: Path | str, reason: str) -> InputError:
    return InputError(
        f"this is no whole reinflect model ({reason})", "train one with: reinflect train --out MODEL", path=path
    )


def decode(
    members: Sequence[Member], items: Sequence[Item], device: torch.device | str = "cpu"
) -> list[list[str | None]]:
    """Greedy forms of members that share system and settings; None where one did not come to an end."""
    system, settings = members[0].system, members[0].settings
    sizes = [system.sizes(member.inventory, settings) for member in members]
    decoder = joined_decoder(system, settings, sizes, [member.parameters for member in members], device)
    inventories = list(dict.fromkeys(member.inventory for member in members))
    stack = Stack([Examples.to_inflect(system, items, inventory, settings) for inventory in inventories], device)
    files = [inventories.index(member.inventory) for member in members]
    return inflect_all(decoder, stack, files)


def _fleets(members: Sequence[Member]) -> list[list[int]]:
    """The numbers of members that can be decoded together."""
    fleets: dict[tuple[str, Settings], list[int]] = {}
    for number, member in enumerate(members):
        fleets.setdefault((member.system.name, member.settings), []).append(number)
    return list(fleets.values())
