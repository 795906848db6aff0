"""What a training may use, how its progress is shown, in bars or lines, and how Ctrl-C stops it."""

import json
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from reinflect.learn.loop import SECONDS_BETWEEN


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    trained: int
    models: int
    """Models that are trained, those of earlier commands included, and models in all."""
    running: Mapping[str, "Epochs"]
    """The packs that are being trained on this machine, by name."""
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

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.epochs}{_best(self.mean_best)}"


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


SECONDS_PER_LINE = 5.0


class Lines(Watcher):
    """For files and pipes: few lines, and no control characters."""

    def __init__(self) -> None:
        self._printed = time.monotonic()

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def progress(self, now: Progress) -> None:
        if time.monotonic() - self._printed >= SECONDS_PER_LINE:
            self._printed = time.monotonic()
            for name, pack in now.running.items():
                if pack.epoch:
                    self.note(f"{name}: {pack}")
            self.note(_all_packs(now))

    def finished(self, pack: str, seconds: float, mean_best: float, now: Progress) -> None:
        self._printed = time.monotonic()
        self.note(f"{pack}: trained in {spell_seconds(seconds)}{_best(mean_best)}; {_all_packs(now)}")


class Bars(Watcher):
    """For terminals: a bar for each running pack, and one for all packs."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"))
        self.bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def note(self, text: str) -> None:
        self.bars.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def working(self, what: str, done: int, total: int) -> None:
        self._show(what, done / total, f"{done} of {total}")
        if done >= total:
            self._hide(what)

    def progress(self, now: Progress) -> None:
        for name in self._tasks.keys() - {*now.running, "all packs"}:
            self._hide(name)
        for name, pack in now.running.items():
            self._show(name, pack.epoch / pack.epochs, str(pack))
        self._show("all packs", now.share, _all_packs(now))

    def _show(self, name: str, share: float, what: str) -> None:
        if name not in self._tasks:
            self._tasks[name] = self.bars.add_task(name, total=1.0, what=what)
        self.bars.update(self._tasks[name], completed=share, what=what)

    def _hide(self, name: str) -> None:
        self.bars.remove_task(self._tasks.pop(name))


@contextmanager
def display() -> Iterator[Watcher]:
    if sys.stderr.isatty():
        with (shown := Bars()).bars:
            yield shown
    else:
        yield Lines()


def _all_packs(now: Progress) -> str:
    left = "" if math.isnan(now.seconds_left) else f"; at most {spell_seconds(now.seconds_left)} left"
    return f"{now.trained} of {now.models} models trained{left if now.trained < now.models else ''}"


def _best(accuracy: float) -> str:
    return "" if math.isnan(accuracy) else f", mean best accuracy {accuracy:.1f} %"


def spell_seconds(seconds: float) -> str:
    """A duration such as 40 s, 3 min 20 s or 2 h 5 min."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
