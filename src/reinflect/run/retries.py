"""What is done about packs that fail, so that no other work is lost.

A pack that is too large for the memory becomes two halves, down to single models; what a GPU cannot train is trained on
the CPU; a process that died is started once more.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from reinflect.errors import ReinflectError
from reinflect.run.failures import Kind, PackError
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult

FINAL: dict[Kind, tuple[str, str]] = {
    "process": (
        "the process that trained {} ended unexpectedly (killed, or out of memory)",
        "run the same command again, perhaps with fewer --workers",
    ),
    "memory": (
        "not enough memory for even one model of {}",
        "make the models smaller, such as with --set hidden=50, or their batches",
    ),
    "gpu": ("the GPU failed when it trained {}", "run the same command again with --device cpu"),
}
"""Finding and remedy where no attempt succeeded."""

Attempt = Callable[[Pack, str], PackResult]
"""Trains a pack on a device, or raises a `PackError`."""


@dataclass(frozen=True)
class Lost:
    """In place of a result: no attempt succeeded."""

    pack: str
    kind: Kind


@dataclass
class Retries:
    """Trains packs in spite of failures, in one process or in many, and notes what it does."""

    device: str
    folder: WorkFolder
    note: Callable[[str], None] = lambda _: None
    halved: Callable[[Pack], None] = lambda _: None
    processes: bool = False
    lock: AbstractContextManager[Any] = field(default_factory=threading.RLock)
    """Held during a note; reentrant, because a signal's handler may interrupt its holder."""

    def see_through(
        self, pack: Pack, attempt: Attempt, stopped: Callable[[], bool] = lambda: False
    ) -> PackResult | Lost | None:
        """The result of a pack after as many attempts as needed; None if it was stopped before it began."""
        if stopped():
            return None
        if self.folder.pieces(pack) != [pack]:
            return self._in_halves(pack, attempt, stopped)
        device, died, retried = self.device, False, list[str]()
        while True:
            try:
                result = attempt(pack, device)
                return replace(result, retried=(*retried, *result.retried))
            except PackError as error:
                kind, reason = error.kind, error.reason
            if stopped() and kind != "process":
                return PackResult(pack.name, [], False, retried=tuple(retried))
            if kind == "memory" and len(pack.specs) > 1:
                return self._in_halves(pack, attempt, stopped, *retried, self._halve(pack, device))
            if kind == "process" and not died and not stopped():
                died = True
                retried.append(self._note(f"the process that trained {pack.name} ended unexpectedly; trying again"))
            elif kind != "process" and device != "cpu":
                retried.append(self._to_the_cpu(pack, kind, reason))
                device = "cpu"
            else:
                return Lost(pack.name, kind)

    def _in_halves(self, pack: Pack, attempt: Attempt, stopped: Callable[[], bool], *retried: str) -> PackResult | Lost:
        halves = pack.halves()
        found = [self.see_through(half, attempt, stopped) for half in halves]
        if lost := [one for one in found if isinstance(one, Lost)]:
            names = pack.name if [one.pack for one in lost] == [half.name for half in halves] else None
            return replace(lost[0], pack=names or ", ".join(one.pack for one in lost))
        results = [one for one in found if isinstance(one, PackResult)]
        return PackResult(
            pack.name,
            [model for result in results for model in result.models],
            len(results) == len(found) and all(result.finished for result in results),
            results[-1].device if results else "",
            sum(result.seconds for result in results),
            retried=(*retried, *(text for result in results for text in result.retried)),
        )

    def _halve(self, pack: Pack, device: str) -> str:
        self.folder.halve(pack)
        with self.lock:
            self.halved(pack)
        one, two = pack.halves()
        return self._note(
            f"{pack.name} ({len(pack.specs)} models) needs more memory than "
            f"{'this machine' if device == 'cpu' else 'the GPU'} has; training it in two halves, {one.name} and "
            f"{two.name}"
        )

    def _to_the_cpu(self, pack: Pack, kind: Kind, reason: str) -> str:
        if kind == "memory":
            return self._note(f"{pack.name} (1 model) needs more memory than the GPU has; training it on the CPU")
        rest = "it"
        if not self.processes:
            self.device, rest = "cpu", "it and all further packs"  # this process cannot use the GPU any more
        return self._note(f"the GPU failed while it trained {pack.name} ({reason}); training {rest} on the CPU")

    def _note(self, text: str) -> str:
        with self.lock:
            self.note(f"note: {text}")
        return text


def final_error(lost: Sequence[Lost], folder: WorkFolder | None) -> ReinflectError:
    """The error to raise when all other packs are finished."""
    kept = f" all other work is kept in {folder.state}:" if folder else ""
    found, remedies = [], []
    for kind, (what, remedy) in FINAL.items():
        if names := [one.pack for one in lost if one.kind == kind]:
            found.append(what.format(", ".join(names)))
            remedies.append(remedy)
    return ReinflectError(f"{', and '.join(found)};{kept} {', and '.join(remedies)}")
