"""The trained thing: members that vote."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from reinflect.decoding.greedy import Answers, answer_all
from reinflect.decoding.repeats import filtered
from reinflect.ensembles import Best, Run, best_first, kind_of, strategy
from reinflect.errors import InputError
from reinflect.files import atomic_path, read_bytes
from reinflect.models.examples import Examples, Stack
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import expected_shapes
from reinflect.models.systems import SYSTEMS, System, joined_decoder
from reinflect.models.threads import one_thread
from reinflect.settings import Settings

FORMAT = 2


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
    def kind(self) -> str:
        return kind_of(self.system.name, self.alignment)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"


@dataclass(frozen=True)
class Inflector:
    """Inflects lemmas by the vote of its members, or of those that its strategy chose when they had been trained."""

    members: tuple[Member, ...]
    known_runs: Mapping[str, int]
    """Characters that the training words repeat four times or more; see `decoding.repeats`."""
    strategy: str = "vote"
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Who votes, best first: the names of members by the name of the strategy. What dev items decide is kept here."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(best_first(self.members)))

    def using(self, name: str) -> "Inflector":
        """The same members with another strategy: run1 … run7, vote, max, average, ensemble-N."""
        made = replace(self, strategy=name)
        made._voters()
        return made

    @property
    def voters(self) -> tuple[Member, ...]:
        """The members whose vote counts, best first."""
        return tuple(self.members[number] for number in self._voters()[1])

    def _voters(self) -> tuple[Run, list[int]]:
        run, names = strategy(self.strategy), self.choices.get(self.strategy)
        numbers = {member.name: number for number, member in enumerate(self.members)}
        if names is None and run.systems is None and isinstance(run.strategy, Best):
            everyone = self.choices.get("vote", tuple(numbers))
            names = everyone[: run.strategy.most]
        if not names:
            raise InputError(
                f"none of this model's members votes in {self.strategy}", "choose another strategy, such as vote"
            )
        return run, [numbers[name] for name in names]

    def inflect(self, lemma: str, features: str) -> str:
        return self.inflect_many([Item(lemma, Bundle(features))])[0]

    def inflect_many(self, items: Sequence[Item], device: torch.device | str = "cpu") -> list[str]:
        run, numbers = self._voters()
        answers = self._answers(numbers, items, device)
        return run.combine([forms for forms, _ in answers], [scores for _, scores in answers])

    def member_forms(self, items: Sequence[Item], device: torch.device | str = "cpu") -> list[list[str]]:
        """What each member says, in the order of `members`, whoever votes."""
        return [forms for forms, _ in self._answers(range(len(self.members)), items, device)]

    def _answers(
        self, numbers: Sequence[int], items: Sequence[Item], device: torch.device | str
    ) -> list[tuple[list[str], list[float]]]:
        """The forms of some members, filtered, and their log-probabilities before that."""
        said: dict[int, tuple[list[str], list[float]]] = {number: ([], []) for number in numbers}
        known = dict(self.known_runs)
        for fleet in _fleets(self.members, numbers) if items else ():
            with one_thread(device):
                decoded = decode([self.members[number] for number in fleet], items, device)
            for number, (raw, scores) in zip(fleet, decoded, strict=True):
                forms = [
                    item.lemma if form is None else filtered(form, item.lemma, known)
                    for item, form in zip(items, raw, strict=True)
                ]
                said[number] = forms, scores
        return [said[number] for number in numbers]

    def save(self, path: Path | str) -> None:
        """One file: all parameters, and everything else as JSON in its header."""
        inventories = list(dict.fromkeys(member.inventory for member in self.members))
        about = {
            "format": FORMAT,
            "version": __version__,
            "inventories": [{"characters": i.characters, "atoms": i.atoms} for i in inventories],
            "known_runs": dict(self.known_runs),
            "strategy": self.strategy,
            "choices": {name: list(members) for name, members in self.choices.items()},
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
            named = {member.name for member in members}
            choices = {
                str(name): tuple(str(member) for member in chosen)
                for name, chosen in about.get("choices", {}).items()  # in the first format all members voted
            }
            if not named.issuperset(member for chosen in choices.values() for member in chosen):
                raise ValueError("it names members that are not there")
            way = str(about.get("strategy", "vote"))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise _not_a_model(path, str(error)) from None
        if not members:
            raise _not_a_model(path, "it has no members")
        try:
            return cls(tuple(members), runs, choices=choices).using(way)
        except InputError as error:
            raise _not_a_model(path, error.found) from None


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


def decode(members: Sequence[Member], items: Sequence[Item], device: torch.device | str = "cpu") -> list[Answers]:
    """What members that share system and settings say, decoded greedily."""
    system, settings = members[0].system, members[0].settings
    sizes = [system.sizes(member.inventory, settings) for member in members]
    decoder = joined_decoder(system, settings, sizes, [member.parameters for member in members], device)
    inventories = list(dict.fromkeys(member.inventory for member in members))
    stack = Stack([Examples.to_inflect(system, items, inventory, settings) for inventory in inventories], device)
    files = [inventories.index(member.inventory) for member in members]
    return answer_all(decoder, stack, files)


def _fleets(members: Sequence[Member], numbers: Sequence[int]) -> list[list[int]]:
    """The numbers of members, of these, that can be decoded together."""
    fleets: dict[tuple[str, Settings], list[int]] = {}
    for number in numbers:
        fleets.setdefault((members[number].system.name, members[number].settings), []).append(number)
    return list(fleets.values())
