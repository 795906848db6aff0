"""Progress of a training: bars on a terminal, a line every few seconds elsewhere."""

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from reinflect.run.resources import Watcher
from reinflect.run.train_pack import Standing

SECONDS_PER_LINE = 5.0


class Display(Watcher):
    """Keeps the latest progress of each pack, without showing it."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.workers = 1
        self.latest: dict[str, Standing] = {}
        self.trained, self.models = 0, 0
        self.weights: Mapping[str, float] = {}

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def expect(self, trained: int, models: int, weights: Mapping[str, float]) -> None:
        self.trained, self.models, self.weights = trained, models, weights

    def begin(self, names: Sequence[str], workers: int) -> None:
        self.names, self.workers = list(names), workers
        self.latest = {name: now for name, now in self.latest.items() if name in self.names}

    def standing(self, now: Standing) -> None:
        self.latest[now.pack] = now

    def seconds_left(self) -> float:
        """At most; packs that have not begun are estimated from the others, by their weights."""
        left = [now.seconds_left for now in self.latest.values()]
        begun = sum(self.weights.get(name, 1.0) for name in self.latest)
        if not begun:
            return max(left, default=0.0)
        waiting = sum(self.weights.get(name, 1.0) for name in self.names if name not in self.latest)
        total = sum(now.seconds for now in self.latest.values()) + sum(left)
        return max((sum(left) + waiting * total / begun) / self.workers, *left)

    def mean_best(self) -> float:
        """The mean over all scored models of their best accuracy so far."""
        scored = [now for now in self.latest.values() if not math.isnan(now.mean_best)]
        models = sum(now.models for now in scored)
        return sum(now.mean_best * now.models for now in scored) / models if models else math.nan

    def models_text(self) -> str:
        """How many models are trained; empty if their total is not known."""
        ready = self.trained + sum(now.models - now.running for now in self.latest.values())
        return f"{ready} of {self.models} models trained" if self.models else ""

    def finished(self) -> int:
        return sum(not now.running for now in self.latest.values())


class Lines(Display):
    """For files and pipes: few lines, and no control characters."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: dict[str, float] = {}

    def standing(self, now: Standing) -> None:
        super().standing(now)
        printed = self._printed.setdefault(now.pack, time.monotonic())
        if not now.running:
            what = f"trained in {spell_seconds(now.seconds)}"
        elif time.monotonic() - printed >= SECONDS_PER_LINE:
            self._printed[now.pack] = time.monotonic()
            what = f"epoch {now.epoch} of {now.epochs}, {_running(now)}"
        else:
            return
        left = "" if self.finished() == len(self.names) else f"; at most {spell_seconds(self.seconds_left())} left"
        total = f"; {self.models_text()}{_best(self.mean_best())}" if self.models else ""
        self.note(f"{now.pack}: {what}{_best(now.mean_best)}{total}{left}")


class Bars(Display):
    """For terminals: a bar for each running pack, and one for all packs."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        super().__init__()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"))
        self.bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self.tasks: dict[str, TaskID] = {}

    def note(self, text: str) -> None:
        self.bars.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def begin(self, names: Sequence[str], workers: int) -> None:
        for split_pack in set(self.latest) - set(names):
            self.bars.update(self.tasks[split_pack], visible=False)
        super().begin(names, workers)

    def working(self, what: str, done: int, total: int) -> None:
        self._show(what, done / total, f"{done} of {total}", hidden=done >= total)

    def standing(self, now: Standing) -> None:
        super().standing(now)
        what = f"epoch {now.epoch} of {now.epochs}, {_running(now)}{_best(now.mean_best)}"
        self._show(now.pack, now.share, what, hidden=not now.running)
        share = sum(pack.share for pack in self.latest.values()) / max(1, len(self.names))
        left = f"at most {spell_seconds(self.seconds_left())} left"
        packs = self.models_text() or f"{self.finished()} of {len(self.names)} packs trained"
        self._show("all packs", share, f"{packs}{_best(self.mean_best())}, {left}")

    def _show(self, name: str, share: float, what: str, *, hidden: bool = False) -> None:
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=1.0, what=what)
        self.bars.update(self.tasks[name], completed=share, what=what, visible=not hidden)


@contextmanager
def display() -> Iterator[Display]:
    if sys.stderr.isatty():
        with (shown := Bars()).bars:
            yield shown
    else:
        yield Lines()


def _running(now: Standing) -> str:
    return f"{now.running} of {now.models} models running" if now.models > 1 else "1 model running"


def _best(accuracy: float) -> str:
    return "" if math.isnan(accuracy) else f", mean best accuracy {accuracy:.1f} %"


def spell_seconds(seconds: float) -> str:
    """A duration such as 40 s, 3 min 20 s or 2 h 5 min."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
