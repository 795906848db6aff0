"""What a training may use, how its progress is shown, and how Ctrl-C stops it."""

import json
import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reinflect.learn.checkpoint import SECONDS_BETWEEN


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    trained: int
    models: int
    """Models that are trained, those of earlier commands included, and models in all."""
    running: Mapping[str, "Epochs"]
    """The packs that are being trained here, by name."""
    share: float
    """Of this command's work, from 0 to 1."""
    seconds_left: float
    """At most: models may stop before their last epoch. nan at first."""


@dataclass
class Epochs:
    """How far the models of a pack are, by the lines of its log that were read so far."""

    log: Path
    epochs: int
    """The largest number of epochs of any model."""
    epoch: int = 0
    best: dict[str, float] = field(default_factory=dict)
    """The best dev accuracy of each model that was scored."""
    _read: int = 0

    def read_on(self) -> None:
        with suppress(OSError), self.log.open("rb") as log:
            log.seek(self._read)
            for text in log:
                if text.endswith(b"\n"):  # the last line may still be written
                    self._read += len(text)
                    line = json.loads(text)
                    self.epoch = max(self.epoch, line["epoch"])
                    if line["best"] is not None:
                        self.best[line["model"]] = line["best"]

    @property
    def mean_best(self) -> float:
        return sum(self.best.values()) / len(self.best) if self.best else math.nan


class Watcher:
    """Receives what happens in a training; a progress display overrides what it shows."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def working(self, what: str, done: int, total: int) -> None:
        """Work other than training, such as `aligning (smart)`: the parts done, and all parts."""

    def progress(self, now: Progress) -> None:
        """Called several times a second."""

    def finished(self, pack: str, seconds: float, mean_best: float, now: Progress) -> None:
        """A pack is trained."""


@dataclass(frozen=True)
class Resources:
    """What a training may use."""

    device: str = "cpu"
    workers: int = 1
    trainers: int | None = None
    """Processes that train; by default all workers on a CPU, and one on a GPU."""
    scheduler: str | None = None
    """The address of a Dask scheduler whose workers train instead; then `device` may be auto."""
    pack_memory: int | None = None
    """Bytes of GPU memory a pack may take; by default a share of what the GPU has."""
    checkpoint_seconds: float = SECONDS_BETWEEN
    alignment_cache: Path | None = None
    watcher: Watcher = field(default_factory=Watcher)
    enough: Callable[[], bool] = lambda: False
    """Checked regularly; True stops the training as Ctrl-C does."""


@contextmanager
def on_interrupt(stop: Callable[[], None], watcher: Watcher) -> Iterator[None]:
    """Ctrl-C stops the training; a second one interrupts the program."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
        yield  # only the main thread handles signals; under nohup, or in the background of a shell, none does
        return

    def stopped(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()
        with suppress(RuntimeError):  # Ctrl-C came while another message was being written
            watcher.note("stopping, and keeping the best so far (Ctrl-C again: at once)")

    signal.signal(signal.SIGINT, stopped)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
