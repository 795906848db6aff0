"""What is done about packs that fail, so that nothing else is lost with them.

One that is too large for the memory there is becomes two halves, down to single models; what a GPU cannot do at all the
CPU does; a process that died has a second chance.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reinflect.errors import ReinflectError
from reinflect.execution.failures import Kind, PackError
from reinflect.execution.run import Results
from reinflect.execution.state import State, half_names
from reinflect.training.checkpoint import fingerprint
from reinflect.training.lesson import Pack

FINAL: dict[Kind, tuple[str, str]] = {
    "process": (
        "the process that trained {} ended before its time (killed, or out of memory)",
        "run the same again, perhaps with fewer --workers",
    ),
    "memory": (
        "there is too little memory for even one model of {}",
        "make the models smaller, such as with --set hidden=50, or their batches",
    ),
    "gpu": ("the GPU failed when it trained {}", "run the same again with --device cpu"),
}
"""What went wrong in the end, and what can be done about it."""

Attempt = Callable[[Pack, str], Results]
"""Trains a pack on a device, or raises a `PackError`."""


@dataclass(frozen=True)
class Lost:
    """In place of a result: nothing could be done about the pack."""

    pack: str
    kind: Kind
    reason: str = ""


class _LostError(Exception):
    """Nothing can be done any more about a pack, or about some of its pieces."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.pack)
        self.lost = lost


def halves(pack: Pack) -> tuple[Pack, Pack]:
    middle = -(-len(pack.models) // 2)
    one, two = half_names(pack.name)
    return replace(pack, name=one, models=pack.models[:middle]), replace(pack, name=two, models=pack.models[middle:])


def pieces(pack: Pack, state: State | None) -> list[Pack]:
    """What a pack was made into by this run, or by an earlier one that this one takes up."""
    mark = state.halves_of(pack.stem) if state else None
    if mark is None or mark != fingerprint(pack):
        return [pack]
    return [piece for half in halves(pack) for piece in pieces(half, state)]


class Retries:
    """Sees the packs of a run through, in one process or in many, and says what it does."""

    def __init__(
        self,
        device: str,
        *,
        state: State | None = None,
        note: Callable[[str], None] = lambda _: None,
        halved: Callable[[Pack], None] = lambda _: None,
        processes: bool = False,
    ) -> None:
        self.device, self.state, self.note, self.halved, self.processes = device, state, note, halved, processes
        self.lock = threading.RLock()
        """Held while something is said; also taken by a signal's handler, which may interrupt its holder."""

    def see_through(
        self, pack: Pack, attempt: Attempt, stopped: Callable[[], bool] = lambda: False
    ) -> Results | Lost | None:
        """The results of a pack, whatever it takes; None if the run was stopped before it began."""
        try:
            return self._whole_or_halved(pack, attempt, stopped)
        except _LostError as error:
            return error.lost

    def _whole_or_halved(self, pack: Pack, attempt: Attempt, stopped: Callable[[], bool]) -> Results | None:
        if stopped():
            return None
        if pieces(pack, self.state) != [pack]:
            return self._in_halves(pack, attempt, stopped)
        device, died, retried = self.device, False, list[str]()
        while True:
            try:
                results = attempt(pack, device)
                return replace(results, retried=(*retried, *results.retried))
            except PackError as one:
                failure = PackError(one.kind, one.reason)  # which holds nothing of what was tried
            if stopped() and failure.kind != "process":
                return Results((), ended=False, retried=tuple(retried))
            if failure.kind == "memory" and len(pack.models) > 1:
                retried.append(self._halve(pack, device))
                results = self._in_halves(pack, attempt, stopped)
                return replace(results, retried=(*retried, *results.retried))
            if failure.kind == "process" and not died and not stopped():
                died = True
                retried.append(self._say(f"the process that trained {pack.name} ended before its time", "trying again"))
            elif failure.kind != "process" and device != "cpu":
                retried.append(self._to_the_cpu(pack, failure))
                device = "cpu"
            else:
                raise _LostError(Lost(pack.name, failure.kind, failure.reason))

    def _in_halves(self, pack: Pack, attempt: Attempt, stopped: Callable[[], bool]) -> Results:
        models, ended, retried, seconds, before = [], True, list[str](), 0.0, 0
        lost: list[Lost] = []
        for half in halves(pack):
            try:
                results = self._whole_or_halved(half, attempt, stopped) or Results((), ended=False)
            except _LostError as error:  # which is no reason to give up the other half
                lost.append(error.lost)
                continue
            models += [replace(one, number=before + one.number) for one in results.models]
            ended = ended and results.ended
            retried += results.retried
            seconds += results.seconds
            before += len(half.models)
        if lost:
            names = [one.pack for one in lost]
            whole = names == [half.name for half in halves(pack)]
            raise _LostError(replace(lost[0], pack=pack.name if whole else ", ".join(names)))
        return Results(models, ended, tuple(retried), seconds)

    def _halve(self, pack: Pack, device: str) -> str:
        if self.state:
            self.state.halve(pack.stem, fingerprint(pack))
        with self.lock:
            self.halved(pack)
        one, two = halves(pack)
        return self._say(
            f"{pack.name} ({len(pack.models)} models) needs more memory than {_place(device)} has",
            f"training it in two halves, {one.name} and {two.name}",
        )

    def _to_the_cpu(self, pack: Pack, failure: PackError) -> str:
        if failure.kind == "memory":
            what = f"{pack.name} needs more memory than the GPU has, though it is one model"
            return self._say(what, "training it on the CPU")
        what = f"the GPU failed while it trained {pack.name} ({failure.reason})"
        if self.processes:
            return self._say(what, "training that on the CPU")
        self.device = "cpu"  # in this process the GPU is of no use any more
        return self._say(what, "going on with that and all the rest on the CPU")

    def _say(self, happened: str, done: str) -> str:
        text = f"{happened}; {done}"
        with self.lock:
            self.note(f"note: {text}")
        return text


def _place(device: str) -> str:
    return "this machine" if device == "cpu" else "the GPU"


def final_error(lost: Sequence[Lost], state: State | None) -> ReinflectError:
    """What to tell the user when all else is done."""
    kept = f" all other work is kept in {state.folder}:" if state else ""
    happened, remedies = [], []
    for kind, (what, remedy) in FINAL.items():
        if names := [one.pack for one in lost if one.kind == kind]:
            happened.append(what.format(", ".join(names)))
            remedies.append(remedy)
    return ReinflectError(f"{', and '.join(happened)};{kept} {', and '.join(remedies)}")
