"""Progress of a training: bars on a terminal, a line every few seconds elsewhere."""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from reinflect.run.watch import Progress, Watcher

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
                    self.note(f"{name}: epoch {pack.epoch} of {pack.epochs}{_best(pack.mean_best)}")
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
            self._show(name, pack.epoch / pack.epochs, f"epoch {pack.epoch} of {pack.epochs}{_best(pack.mean_best)}")
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
