"""Checkpoints: files from which an interrupted training resumes."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reinflect.ensemble.member import digest
from reinflect.files import atomic_path, raise_if_too_many_files
from reinflect.learn.fleet import Fleet

FORMAT = 5
SECONDS_BETWEEN = 60.0
OF_OPTIMISER = ("first", "second", "updates")


@dataclass
class Checkpoint:
    """One file, always complete; `fingerprint` identifies the pack."""

    path: Path
    fingerprint: str
    seconds_between: float = SECONDS_BETWEEN

    def __post_init__(self) -> None:
        self._last = self._begun = time.monotonic()
        self._earlier = 0.0

    @property
    def seconds(self) -> float:
        """Training time so far, including commands that were interrupted."""
        return self._earlier + time.monotonic() - self._begun

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds_between

    def save(self, fleet: Fleet, update: int, losses: Tensor, log_size: int) -> None:
        tensors = {"flat": fleet.parameters.flat.detach(), "best": fleet.best, "losses": losses}
        tensors |= {name: getattr(fleet.optimiser, name) for name in OF_OPTIMISER}
        state = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "running": fleet.running,
            "update": update,
            "log_size": log_size,
            "seconds": self.seconds,
            "models": [
                {name: value for name, value in vars(model).items() if name != "task"} for model in fleet.models
            ],
        }
        stored = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
        with atomic_path(self.path) as part:
            # Not save_file, whose temporary file a killed command would leave behind.
            part.write_bytes(_joined(stored, json.dumps(state)))
        self._last = time.monotonic()

    def load(self, fleet: Fleet) -> "Resumed | None":
        """Restore a new fleet; None if there is no checkpoint of this pack, or all its models have finished."""
        found = _read(self.path)
        if found is None or found[0]["fingerprint"] != self.fingerprint or not found[0]["running"]:
            return None
        state, tensors = found
        for model, saved in zip(fleet.models, state["models"], strict=True):
            for name, value in saved.items():
                setattr(model, name, value)
            model.curve = [(epoch, loss, score) for epoch, loss, score in saved["curve"]]
        fleet.resume(state["running"], tensors["flat"], tensors["best"])
        for name in OF_OPTIMISER:
            setattr(fleet.optimiser, name, tensors[name].to(fleet.device))
        self._earlier = state["seconds"]
        return Resumed(state["update"], tensors["losses"].to(fleet.device), state["log_size"])


def fingerprint_of(path: Path) -> str | None:
    """The pack of a checkpoint; None if the file is damaged or of another version, or there is none."""
    found = _read(path)
    return str(found[0]["fingerprint"]) if found else None


class Resumed(NamedTuple):
    """Where in its epoch a training resumes."""

    update: int
    losses: Tensor
    log_size: int


def _joined(tensors: dict[str, Tensor], state: str) -> bytes:
    """The file's content, with a checksum: a training resumed from a few wrong numbers would give a bad model.

    It is one entry of metadata: safetensors writes several in another order every time.
    """
    return save(tensors, metadata={"state": f"{_checksum(state, tensors)} {state}"})


def _checksum(state: str, tensors: Mapping[str, Tensor]) -> str:
    return digest(state, {name: tensor.numpy() for name, tensor in tensors.items()})


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    try:
        path.open("rb").close()  # for which `safe_open` would say of any failure that there is no such file
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            # Copies, because sums may differ in unaligned memory, such as a file's.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        mark, _, text = about["state"].partition(" ")
        if mark != _checksum(text, tensors):
            return None
        state = json.loads(text)
        return (state, tensors) if state["format"] == FORMAT else None
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise_if_too_many_files(error)
        return None
