"""What the user sees while models train: bars on a terminal, a line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from reinflect.execution.execute import Watcher
from reinflect.execution.run import Standing

if TYPE_CHECKING:
    from rich.progress import TaskID

SECONDS_A_LINE = 5.0


class Display(Watcher):
    """Knows how far all packs are."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.workers = 1
        self.last: dict[str, Standing] = {}
        self.trained, self.models = 0, 0
        self.weights: Mapping[str, float] = {}

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: TracebackType | type | BaseException | None) -> None: ...

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def expect(self, trained: int, models: int, weights: Mapping[str, float]) -> None:
        self.trained, self.models, self.weights = trained, models, weights

    def begin(self, names: Sequence[str], workers: int) -> None:
        self.names, self.workers = list(names), workers
        self.last = {name: now for name, now in self.last.items() if name in self.names}

    def standing(self, now: Standing) -> None:
        self.last[now.pack] = now

    def seconds_left(self) -> float:
        """At most, for all packs; those that have not begun are taken to need what the others do, by their weight."""
        known = sum(now.seconds + now.seconds_left for now in self.last.values())
        begun = sum(self.weights.get(name, 1.0) for name in self.last)
        waiting = sum(self.weights.get(name, 1.0) for name in self.names if name not in self.last)
        left = sum(now.seconds_left for now in self.last.values())
        left += waiting * known / begun if begun else 0.0
        return max(left / self.workers, max((now.seconds_left for now in self.last.values()), default=0.0))

    def mean_best(self) -> float:
        """Over the models of all packs that have been scored."""
        scored = [now for now in self.last.values() if not math.isnan(now.mean_best)]
        models = sum(now.models for now in scored)
        return sum(now.mean_best * now.models for now in scored) / models if models else math.nan

    def counted(self) -> str:
        """Models, where we know how many there will be."""
        ready = self.trained + sum(now.models - now.running for now in self.last.values())
        return f"{ready} of {self.models} models trained" if self.models else ""

    def finished(self) -> int:
        return sum(not now.running for now in self.last.values())


class Lines(Display):
    """For files and pipes: not too many lines, and no control characters."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def standing(self, now: Standing) -> None:
        super().standing(now)
        first = self._said.setdefault(now.pack, time.monotonic())
        if not now.running:
            what = f"trained in {spell_seconds(now.seconds)}"
        elif time.monotonic() - first >= SECONDS_A_LINE:
            self._said[now.pack] = time.monotonic()
            what = f"epoch {now.epoch} of {now.epochs}, {_running(now)}"
        else:
            return
        left = self.seconds_left()
        rest = "" if self.finished() == len(self.names) else f"; at most {spell_seconds(left)} left"
        whole = f"; {self.counted()}{_best(self.mean_best())}" if self.models else ""
        self.note(f"{now.pack}: {what}{_best(now.mean_best)}{whole}{rest}")


class Bars(Display):
    """For terminals: a bar for each pack under way, and one for everything."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"))
        self.console = Console(stderr=True)
        self.bars = Progress(*columns, console=self.console, transient=True)
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "Bars":
        self.bars.start()
        return self

    def __exit__(self, *_: TracebackType | type | BaseException | None) -> None:
        self.bars.stop()

    def note(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def begin(self, names: Sequence[str], workers: int) -> None:
        for gone in set(self.last) - set(names):
            self.bars.update(self.tasks[gone], visible=False)
        super().begin(names, workers)

    def aligning(self, method: str, done: int, total: int) -> None:
        self._show(f"aligning ({method})", done / total, f"sweep {done} of {total}", gone=done >= total)

    def standing(self, now: Standing) -> None:
        super().standing(now)
        what = f"epoch {now.epoch} of {now.epochs}, {_running(now)}{_best(now.mean_best)}"
        self._show(now.pack, now.share, what, gone=not now.running)
        share = sum(pack.share for pack in self.last.values()) / max(1, len(self.names))
        left = f"at most {spell_seconds(self.seconds_left())} left"
        packs = self.counted() or f"{self.finished()} of {len(self.names)} packs trained"
        self._show("everything", share, f"{packs}{_best(self.mean_best())}, {left}")

    def _show(self, name: str, share: float, what: str, *, gone: bool = False) -> None:
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=1.0, what=what)
        self.bars.update(self.tasks[name], completed=share, what=what, visible=not gone)


def display() -> Display:
    return Bars() if sys.stderr.isatty() else Lines()


def _running(now: Standing) -> str:
    return f"{now.running} of {now.models} models running" if now.models > 1 else "1 model running"


def _best(accuracy: float) -> str:
    return "" if math.isnan(accuracy) else f", mean best {accuracy:.1f} %"


def spell_seconds(seconds: float) -> str:
    """Such as 40 s, 3 min 20 s or 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
