"""The state of a training run on disk: taken every so often, taken up again after any interruption."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from reinflect.files import atomic_path
from reinflect.training.fleet import Fleet, Progress

FORMAT = 1
SECONDS_BETWEEN = 60.0


@dataclass
class Checkpoint:
    """One file that always holds a whole state; `fingerprint` says of which work."""

    path: Path
    fingerprint: str
    seconds_between: float = SECONDS_BETWEEN
    _last: float = 0.0

    def __post_init__(self) -> None:
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds_between

    def save(self, fleet: Fleet, update: int, losses: torch.Tensor, log_size: int) -> None:
        optimiser = fleet.optimiser
        tensors = {
            "flat": fleet.parameters.flat.detach(),
            "best": fleet.best,
            "first": optimiser.first,
            "second": optimiser.second,
            "updates": optimiser.updates,
            "losses": losses,
        }
        state = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "running": fleet.running,
            "update": update,
            "log_size": log_size,
            "models": [
                {name: value for name, value in vars(model).items() if name != "task"} for model in fleet.models
            ],
        }
        with atomic_path(self.path) as part:
            save_file(
                {name: tensor.contiguous().cpu() for name, tensor in tensors.items()},
                part,
                metadata={"state": json.dumps(state)},
            )
        self._last = time.monotonic()

    def load(self, fleet: Fleet) -> "Resumed | None":
        """Put a fresh fleet back to where it was; None if there is nothing of this work to go on from."""
        try:
            with safe_open(self.path, framework="pt") as file:
                state = json.loads((file.metadata() or {}).get("state", "{}"))
                if state.get("format") != FORMAT or state.get("fingerprint") != self.fingerprint:
                    return None
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (FileNotFoundError, SafetensorError, ValueError):
            return None
        for model, saved in zip(fleet.models, state["models"], strict=True):
            _restore(model, saved)
        fleet.resume(state["running"], tensors["flat"], tensors["best"])
        optimiser = fleet.optimiser
        optimiser.first = tensors["first"].to(fleet.device)
        optimiser.second = tensors["second"].to(fleet.device)
        optimiser.updates = tensors["updates"].to(fleet.device)
        return Resumed(state["update"], tensors["losses"].to(fleet.device), state["log_size"])


@dataclass(frozen=True)
class Resumed:
    """Where in its epoch a run goes on."""

    update: int
    losses: torch.Tensor
    log_size: int


def _restore(model: Progress, saved: Mapping[str, Any]) -> None:
    for name, value in saved.items():
        setattr(model, name, [tuple(point) for point in value] if name == "curve" else value)


def fingerprint(**parts: Any) -> str:
    """A short name for all that decides a run's outcome."""
    import hashlib

    text = json.dumps(parts, sort_keys=True, default=asdict)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
