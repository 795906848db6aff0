"""What a training may use, how its progress is shown, and how Ctrl-C stops it."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reinflect.learn.checkpoint import SECONDS_BETWEEN
from reinflect.run.train_pack import Standing

if TYPE_CHECKING:
    from reinflect.run.cluster import Where


class Watcher:
    """Receives what happens in a training; a progress display overrides what it shows."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def working(self, what: str, done: int, total: int) -> None:
        """Work other than training, such as `aligning (smart)`: the parts done, and all parts."""

    def expect(self, trained: int, models: int, weights: Mapping[str, float]) -> None:
        """Models trained already, models in all, and the relative duration of each pack."""

    def begin(self, names: Sequence[str], workers: int) -> None:
        """The packs to be trained; called again with new names when a pack is halved."""

    def standing(self, now: Standing) -> None: ...


@dataclass(frozen=True)
class Resources:
    """What a training may use."""

    device: str = "cpu"
    workers: int = 1
    trainers: int | None = None
    """Processes that train; by default all workers on a CPU, and one on a GPU."""
    cluster: "Where | None" = None
    """A Dask cluster whose workers train instead; then `device` may be auto."""
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


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Threads and processes started in the block ignore Ctrl-C, which a terminal sends to every process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
