"""Train packs: here one after the other, or in several processes, with retries and a stop by Ctrl-C."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from reinflect.execution.processes import Processes, Run
from reinflect.execution.retries import Lost, Retries, final_error, halves, pieces
from reinflect.execution.run import Results, Standing, run_pack
from reinflect.execution.state import State
from reinflect.training.checkpoint import Found
from reinflect.training.lesson import Pack


class Watcher:
    """Hears what happens; a progress display overrides what it wants to show."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def aligning(self, method: str, done: int, total: int) -> None: ...

    def expect(self, trained: int, models: int, weights: Mapping[str, float]) -> None:
        """How many models are there already of how many, and about how long each pack takes beside the others."""

    def begin(self, names: Sequence[str], workers: int) -> None:
        """The packs that are about to be trained; again, with other names, when one was made into two."""

    def standing(self, now: Standing) -> None: ...


def say_what_was_found(found: Sequence[Found], state: State, watcher: Watcher) -> None:
    """Tell what an earlier run left of each pack of this one."""
    begun, finished, other = (found.count(kind) for kind in ("begun", "finished", "other"))
    if begun or finished:
        watcher.note(
            f"note: going on where an earlier run stopped ({finished} of {len(found)} packs of models are trained, "
            f"{begun} begun); to start anew, remove {state.folder} first"
        )
    if other:
        watcher.note(
            f"note: {state.folder} has the state of a run with other data or settings, which cannot be gone on with; "
            "starting anew"
        )


def pieces_of(work: Sequence[Pack], state: State | None) -> list[Pack]:
    return [piece for pack in work for piece in pieces(pack, state)]


def run_packs(
    work: Sequence[Pack],
    run: Run = run_pack,
    *,
    device: str = "cpu",
    workers: int = 1,
    room: int | None = None,
    watcher: Watcher | None = None,
    state: State | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> list[Results | None]:
    """The results of each pack; None where Ctrl-C came before its turn.

    `workers` processes train at once, or as many as have `room` bytes of memory between them.

    A pack that fails is tried in other ways (see `training.retries`), and costs no other: what cannot be helped is an
    error at the end. `enough` is asked now and then, and may stop the run as Ctrl-C does.
    """
    watcher, workers = watcher or Watcher(), min(workers, len(work))
    names = [piece.name for piece in pieces_of(work, state)]

    def halved(pack: Pack) -> None:
        place = names.index(pack.name)
        names[place : place + 1] = [half.name for half in halves(pack)]
        watcher.begin(names, workers)

    retries = Retries(device, state=state, note=watcher.note, halved=halved, processes=workers > 1)
    watcher.begin(names, workers)
    if workers > 1:
        processes = Processes(run, workers, watcher.standing, retries, room)
        with on_interrupt(processes.stop, watcher):
            found = processes.go(work, enough)
    else:
        found = _run_here(work, run, watcher, retries, enough)
    if lost := [one for one in found if isinstance(one, Lost)]:
        raise final_error(lost, state)
    return [one for one in found if not isinstance(one, Lost)]


def _run_here(
    work: Sequence[Pack], run: Run, watcher: Watcher, retries: Retries, enough: Callable[[], bool]
) -> list[Results | Lost | None]:
    """The same in this process, one after the other."""
    interrupted = threading.Event()

    def stop() -> bool:
        return interrupted.is_set() or enough()

    def attempt(pack: Pack, device: str) -> Results:
        return run(pack, watcher.standing, stop, device=device)

    with on_interrupt(interrupted.set, watcher):
        return [retries.see_through(pack, attempt, stop) for pack in work]


@contextmanager
def on_interrupt(stop: Callable[[], None], watcher: Watcher) -> Iterator[None]:
    """Ctrl-C stops the training; a second one stops everything."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    before = signal.getsignal(signal.SIGINT)

    def stopped(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()
        with suppress(RuntimeError):  # where Ctrl-C came in the midst of other words
            watcher.note("stopping, and keeping the best so far (Ctrl-C again: at once)")

    signal.signal(signal.SIGINT, stopped)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
