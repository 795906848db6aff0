"""Checkpoints: files from which an interrupted training resumes."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reinflect.files import raise_if_too_many_files, write_bytes
from reinflect.learn.fleet import Fleet
from reinflect.tensors import DIGEST, MISFITS, digest, read_header, read_tensors, signed

FORMAT = 6
STATE = "state"
SECONDS_BETWEEN = 60.0


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
        progress, tensors = fleet.state()
        state = {
            **progress,
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "update": update,
            "log_size": log_size,
            "seconds": self.seconds,
        }
        arrays = {name: tensor.contiguous().cpu().numpy() for name, tensor in {**tensors, "losses": losses}.items()}
        write_bytes(self.path, signed(arrays, STATE, json.dumps(state)))
        self._last = time.monotonic()

    def load(self, fleet: Fleet) -> "Resumed | None":
        """Restore a new fleet; None if there is no checkpoint of this pack, or all its models have finished."""
        state, tensors = _read(self.path)
        if state.get("fingerprint") != self.fingerprint or not state["running"]:
            return None
        fleet.restore(state, tensors)
        self._earlier = state["seconds"]
        return Resumed(state["update"], tensors["losses"].to(fleet.device), state["log_size"])


def fingerprint_of(path: Path) -> str | None:
    """The pack of a checkpoint; None if the file is damaged or of another version, or there is none."""
    return _read(path)[0].get("fingerprint")


class Resumed(NamedTuple):
    """Where in its epoch a training resumes."""

    update: int
    losses: Tensor
    log_size: int


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A state and its tensors; empty if the file is not all as it was written: wrong numbers would make a bad model."""
    try:
        with path.open("rb") as file:
            header = read_header(file, path.stat().st_size)
            arrays, text = read_tensors(file, header), header.texts[STATE]
        state = json.loads(text)
        if header.texts[DIGEST] == digest(text, arrays) and state["format"] == FORMAT:
            # Copies, because sums may differ in unaligned memory, such as a file's.
            return state, {name: torch.from_numpy(array).clone() for name, array in arrays.items()}
    except (OSError, *MISFITS) as error:
        raise_if_too_many_files(error)
    return {}, {}
