"""The state of a training run on disk: taken every so often, taken up again after any interruption."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from reinflect import __version__
from reinflect.files import atomic_path
from reinflect.training.fleet import Fleet
from reinflect.training.lesson import Lesson, Pack

FORMAT = 2
SECONDS_BETWEEN = 60.0

Found = Literal["nothing", "other", "begun", "finished"]
"""What a checkpoint's file is: not there, of other work (or damaged), or of this work."""


@dataclass
class Checkpoint:
    """One file that always holds a whole state; `fingerprint` says of which work."""

    path: Path
    fingerprint: str | Callable[[], str]
    """Or what makes one, which is not asked before it is needed: that of a large pack takes a while."""
    seconds_between: float = SECONDS_BETWEEN
    keep_finished: bool = True
    """Whether the end of a run is kept, too; no need to where its results are written at once."""

    def __post_init__(self) -> None:
        self._last = self._begun = time.monotonic()
        self._earlier = 0.0

    @property
    def seconds(self) -> float:
        """That the work has taken so far, with all runs that were interrupted."""
        return self._earlier + time.monotonic() - self._begun

    @cached_property
    def _mark(self) -> str:
        return self.fingerprint if isinstance(self.fingerprint, str) else self.fingerprint()

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds_between

    def save(self, fleet: Fleet, update: int, losses: Tensor, log_size: int) -> None:
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
            "fingerprint": self._mark,
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
            # Not save_file: it writes to a file of its own first, which a killed run would leave behind.
            part.write_bytes(save(stored, metadata={"state": json.dumps(state)}))
        self._last = time.monotonic()

    def find(self) -> Found:
        """What there is to go on from, at a glance."""
        if not self.path.exists():
            return "nothing"
        state, _ = self._read(tensors=False)
        return "other" if state is None else "begun" if state.running else "finished"

    def load(self, fleet: Fleet) -> "Resumed | None":
        """Put a fresh fleet back to where it was; None if there is nothing of this work to go on from."""
        state, tensors = self._read(tensors=True)
        if state is None or not _fits(state, tensors, fleet):
            return None
        for model, saved in zip(fleet.models, state.models, strict=True):
            for name, value in msgspec.structs.asdict(saved).items():
                setattr(model, name, value)
        fleet.resume(state.running, tensors["flat"], tensors["best"])
        optimiser = fleet.optimiser
        optimiser.first = tensors["first"].to(fleet.device)
        optimiser.second = tensors["second"].to(fleet.device)
        optimiser.updates = tensors["updates"].to(fleet.device)
        self._earlier = state.seconds
        return Resumed(state.update, tensors["losses"].to(fleet.device), state.log_size)

    def _read(self, *, tensors: bool) -> "tuple[_State | None, dict[str, Tensor]]":
        try:
            with safe_open(self.path, framework="pt") as file:
                state = msgspec.convert(json.loads((file.metadata() or {}).get("state", "{}")), _State)
                if state.format != FORMAT or state.fingerprint != self._mark:
                    return None, {}
                # Copies, because sums may come out differently in memory that starts at an odd place, as a file's does.
                return state, {name: file.get_tensor(name).clone() for name in file.keys() if tensors}  # noqa: SIM118
        except (OSError, SafetensorError, ValueError, RecursionError):
            return None, {}


@dataclass(frozen=True)
class Resumed:
    """Where in its epoch a run goes on."""

    update: int
    losses: torch.Tensor
    log_size: int


Number = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class _Saved(msgspec.Struct):
    """What is kept of `Progress`, under the same names."""

    seed: Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
    epoch: Number
    best: float
    best_epoch: Number
    restarts: Number
    finished: bool
    loss: float
    curve: list[tuple[int, float, float | None]]


class _State(msgspec.Struct):
    """All that is not numbers."""

    format: int
    fingerprint: str
    running: list[Number]
    update: Number
    log_size: Number
    models: list[_Saved]
    seconds: float = 0.0


def _fits(state: _State, tensors: Mapping[str, Tensor], fleet: Fleet) -> bool:
    """Whether a checkpoint is whole, and of such a fleet: its file may have been changed since it was written."""
    every, width = fleet.best.shape
    running = [model for number, model in enumerate(state.models) if number in state.running]
    if len(state.models) != every or len(running) != len(state.running) or state.running != sorted(state.running):
        return False
    if running and all(model.finished for model in running):
        return False
    found = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    rows = len(running) or next(iter(found.get("flat", ((0,),))[0]), 0)  # of a fleet that is done, the last are left
    return found == {
        **dict.fromkeys(("flat", "first", "second"), ((rows, width), fleet.dtype)),
        "best": ((every, width), fleet.dtype),
        "updates": ((rows,), torch.int64),
        "losses": ((len(running),), fleet.dtype),
    }


def fingerprint(pack: Pack) -> str:
    """A short name for all that decides what becomes of a pack."""
    lessons = list(dict.fromkeys(model.lesson for model in pack.models))
    settings = list(dict.fromkeys(model.settings for model in pack.models))
    parts = {
        "version": __version__,
        "name": pack.name,
        "system": pack.system,
        "settings": msgspec.to_builtins(settings),
        "models": [(lessons.index(model.lesson), settings.index(model.settings), model.seed) for model in pack.models],
        "lessons": [_plain(lesson) for lesson in lessons],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _plain(lesson: Lesson) -> list[Any]:
    items = [[item.lemma, item.form, item.features.spelling] for item in (*lesson.split.train, *lesson.split.dev)]
    return [lesson.label, lesson.alignment, len(lesson.split.train), items, lesson.alignments]
